"""The card of a fact: a few canonical words and the words it was said in, which is what an index should hold.

Cards show predicate text, times and provenance (arXiv 2608.08055, section 4.4).
"""

from __future__ import annotations

from datetime import datetime

from sodamem.extractor.lexicon import Predicate
from sodamem.extractor.when import Times
from sodamem.types import Interval, Role

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def card(
    name: str, declared: Predicate | None, roles: tuple[Role, ...], quote: str, *, polarity: bool, times: Times
) -> str:
    """For example "Caroline lives in Leeds (since 1 May 2023). I moved to Leeds in May."

    An open predicate (`declared` None) is its own words: "Caroline (8 May 2023): I painted a mural yesterday."
    """
    if declared is None:
        return f"{name}{_dated(times)}: {quote}"
    value = next((role.words for role in roles if role.name == "value"), "")
    scope = next((role.words for role in roles if role.name == declared.scope), "")
    said = " ".join(part for part in (name, "" if polarity else "(not)", declared.say, scope, value) if part)
    return f"{said}{_dated(times)}. {quote}"


def _dated(times: Times) -> str:
    parts = []
    if times.since:
        parts.append(f"since {_day(times.since)}")
    if times.until:
        parts.append(f"until {_day(times.until)}")
    if times.occurred:
        parts.append(_interval(times.occurred))
    return f" ({', '.join(parts)})" if parts else ""


def _interval(interval: Interval) -> str:
    start = interval.start
    if interval.grain == "year":
        return str(start.year)
    if interval.grain == "month":
        return f"{_MONTHS[start.month - 1]} {start.year}"
    if interval.grain in ("minute", "day"):
        return _day(start)
    return f"{interval.grain} of {_day(start)}" if interval.grain != "span" else f"from {_day(start)}"


def _day(moment: datetime) -> str:
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
