"""Dates in text without a model: (phrase, anchor) -> interval, and gold answers -> interval. Pure functions, no clock.

After arXiv 2608.08055, sections 3.2 and 4.3.
"""

from __future__ import annotations

from datetime import datetime

from sodamem.dates.gold import agrees, parse_gold
from sodamem.dates.policy import RULES_VERSION, Policy
from sodamem.dates.rules import GRAMMAR
from sodamem.dates.scan import scan
from sodamem.types import TimeValue

__all__ = ["RULES_VERSION", "Policy", "agrees", "parse_gold", "read"]


def read(text: str, at: datetime, policy: Policy) -> tuple[TimeValue, ...]:
    """All time expressions of a text, in order of position, read against the floating time `at`."""
    return scan(text, at, policy, GRAMMAR)
