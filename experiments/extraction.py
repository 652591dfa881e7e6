"""How much the rule extractor finds, and how much of it is right: hand-labelled sentences and the synthetic gold.

    python experiments/extraction.py [tests/data/labelled_sentences.yaml]

Expected: on the labelled sentences precision above 0.9 and recall above 0.85; on the synthetic gold, see README.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sodamem.config import compose
from sodamem.build import build

ALIASES = {"weight": "weighs", "favourite_food": "favourite", "favourite_colour": "favourite"}
