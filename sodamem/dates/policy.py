"""The choices a time expression leaves open, each settled by one written rule.

After arXiv 2608.08055, section 4.3; values come from conf/timeline/*.yaml.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Nearness = Literal["nearest", "calendar"]
DayMonth = Literal["both", "day_first", "month_first"]
Direction = Literal["past", "future"]

RULES_VERSION = "calendar-1"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """One reading for each ambiguity; where a second reading is common it is kept as an alternative.

    week_start: 0 = Monday .. 6 = Sunday · weekday: what "next/last Friday" mean · untensed: where a bare weekday
    falls when no verb tells · day_month_order: 03/04 · country: ISO code whose feast days are known ·
    recent_days: how far back "recently" reaches, in days.
    """

    week_start: int
    weekday: Nearness
    untensed: Direction
    day_month_order: DayMonth
    country: str
    recent_days: int
