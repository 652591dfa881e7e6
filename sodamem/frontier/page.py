"""The map as a page to play with: run, cost, judge, prices and ingest as knobs, the dominated set beside the table.

One HTML file without anything from outside.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any


def page(figures: Mapping[str, Any]) -> str:
    """The whole page for the figures of `report.figures`."""
    template = (resources.files("sodamem.frontier") / "page.html").read_text(encoding="utf-8")
    # Within a script element only "<" can end the data early.
    return template.replace("/*DATA*/", json.dumps(figures, ensure_ascii=False).replace("<", "\\u003c"))
