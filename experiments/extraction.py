"""How much the rule extractor finds, and how much of it is right: hand-labelled sentences and the synthetic gold.

    python experiments/extraction.py [tests/data/labelled_sentences.yaml]

Expected: on the labelled sentences precision above 0.9 and recall above 0.85; on the synthetic gold, see README.
"""

from __future__ import annotations

ALIASES = {"weight": "weighs", "favourite_food": "favourite", "favourite_colour": "favourite"}
