"""The calendar timeline: small rules, longest match, one written policy per ambiguity; no model, no clock.

arXiv 2608.08055, section 4.3 (T(tau, t_s, context)) and section 4.5 (temporal intent of a query: W and its direction).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import get_args

from sodamem.dates import Policy, read
from sodamem.dates.policy import DayMonth, Direction, Nearness
from sodamem.errors import ConfigError
from sodamem.protocols import Timeline
from sodamem.types import Interval, Order, TimeValue, Window

_WEEK_STARTS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_FROM_FIRST = re.compile(
    r"\b(?:first(?!\s+(?:name|class|aid|grade|floor|lady|hand|person|language|responder|date)s?\b)|firstly|originally|initially|"
    r"earliest|oldest|at\s+the\s+(?:start|outset)|to\s+begin\s+with|in\s+the\s+beginning)\b",
    re.IGNORECASE,
)
_MOST = re.compile(r"\bmost\s+$", re.IGNORECASE)
_OPEN = re.compile(r"\b(?P<side>before|prior\s+to|after|until|till|up\s+to)\s+(?:the\s+)?$", re.IGNORECASE)
_LONG_AGO = datetime(1, 1, 1)


@dataclass(frozen=True, kw_only=True)
class CalendarTimeline(Timeline):
    """Reads time expressions by rule.

    week_start: name of a weekday · weekday: "nearest" (next = first strictly after, last = last strictly before) or
    "calendar" (the day in the week before or after) · untensed: "past" or "future" · day_month_order: "both",
    "day_first" or "month_first" · country: ISO 3166 code for feast days · recent_days: reach of "recently", days, >= 1.
    """

    week_start: str
    weekday: Nearness
    untensed: Direction
    day_month_order: DayMonth
    country: str
    recent_days: int

    def __post_init__(self) -> None:
        for name, options in (
            ("week_start", _WEEK_STARTS),
            ("weekday", get_args(Nearness)),
            ("untensed", get_args(Direction)),
            ("day_month_order", get_args(DayMonth)),
        ):
            if getattr(self, name) not in options:
                raise ConfigError(
                    f"{name} must be one of {', '.join(options)}, got {getattr(self, name)}. Choose one of them."
                )
        if not re.fullmatch("[A-Z]{2}", self.country):
            raise ConfigError(f"country must be a two-letter ISO 3166 code, got {self.country}. Write it as US or GB.")
        if self.recent_days < 1:
            raise ConfigError(f"recent_days must be >= 1, got {self.recent_days}. Give a number of days.")

    @cached_property
    def policy(self) -> Policy:
        return Policy(
            week_start=_WEEK_STARTS.index(self.week_start),
            weekday=self.weekday,
            untensed=self.untensed,
            day_month_order=self.day_month_order,
            country=self.country,
            recent_days=self.recent_days,
        )

    def read(self, text: str, at: datetime) -> tuple[TimeValue, ...]:
        """All time expressions of the text, in order of position, against the floating time it was said at."""
        return read(text, at, self.policy)

    def window(self, question: str, asked_at: datetime) -> Window:
        """The stretch of time a question asks about (None without a cue) and which end of the past it prefers.

        Approximate phrases widen by their own length, at most 30 days, on either side; several phrases span from the
        first to the last.
        """
        values = self.read(question, asked_at)
        order: Order = "near_to_far"
        for cue in _FROM_FIRST.finditer(question):
            if not any(v.start <= cue.start() < v.end for v in values):
                order = "far_to_near"
        named = [
            _widened(question, v)
            for v in values
            if v.interval and not (v.rule == "recently" and _MOST.search(question, 0, v.start))
        ]
        if not named:
            return Window(order=order)
        if len(named) == 1:
            return Window(interval=named[0], order=order)
        start, end = min(i.start for i in named), max(i.end for i in named)
        return Window(interval=Interval(start=start, end=end, grain="span"), order=order)


def _widened(question: str, value: TimeValue) -> Interval:
    interval = value.interval
    assert interval is not None
    start, end = interval.start, interval.end
    for other in value.alternatives:
        start, end = min(start, other.start), max(end, other.end)
    if value.approximate and interval.grain != "span":
        slack = min(end - start, timedelta(days=30))
        start, end = start - slack, end + slack
    side = _OPEN.search(question, max(0, value.start - 14), value.start)
    if side and side["side"].lower().split()[0] in ("before", "prior"):
        return Interval(start=_LONG_AGO, end=interval.start, grain="span")
    if (side and side["side"].lower() in ("until", "till")) or (side and side["side"].lower().startswith("up")):
        return Interval(start=_LONG_AGO, end=end, grain="span")
    if side:
        return Interval(start=interval.end, end=max(interval.end + timedelta(days=1), value.anchor), grain="span")
    return (
        interval
        if (start, end) == (interval.start, interval.end)
        else Interval(start=start, end=end, grain=interval.grain)
    )
