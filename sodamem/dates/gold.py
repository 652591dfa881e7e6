"""Gold answers of a benchmark to intervals, and whether a prediction agrees with one.

LoCoMo's temporal golds are typed by hand ("21Janury, 2022", "The week before 9 June 2023", the int 2022); a gold must
name its date by itself, so lengths ("3 weeks"), relative words and dates without a year are not intervals.
"""

from __future__ import annotations

import re
from datetime import datetime
from difflib import get_close_matches

from sodamem.dates.policy import Policy
from sodamem.dates.rules import GRAMMAR
from sodamem.dates.scan import scan
from sodamem.dates.words import MONTHS
from sodamem.types import Interval, TimeValue

_POLICY = Policy(
    week_start=0, weekday="nearest", untensed="past", day_month_order="month_first", country="US", recent_days=30
)
# Read against two distant anchors: what moves with the anchor does not name its date by itself.
_ANCHORS = (datetime(2099, 12, 31), datetime(2058, 3, 3))
_MONTH_NAMES = tuple(name for name in MONTHS if len(name) > 4)
_FILLER = re.compile(
    r"\b(?:on|in|at|the|a|an|of|since|around|about|approximately|sometime|by|during|early|ago)\b|[\W_]+", re.IGNORECASE
)


def parse_gold(text: object) -> Interval | None:
    """The interval a gold answer names (any type; ints are years), or None for durations, words and open dates."""
    plain = _repaired(str(text))
    if re.fullmatch(r"(?:1[89]|20)\d\d", plain):
        plain = f"in {plain}"
    readings = [_whole(plain, anchor) for anchor in _ANCHORS]
    return readings[0] if readings[0] == readings[1] else None


def _repaired(text: str) -> str:
    """Missing spaces put in, stray marks taken out, misspelt months set right."""
    text = re.sub(r"(?<=\d)(?=[A-Za-z]{3,})", " ", text.replace("`", ""))
    text = re.sub(r"(?<=[a-z])\.(?=\d)", " ", text).strip().rstrip(".")
    text = re.sub(r"(?<=,)(?=\d)", " ", text)

    def spelt(match: re.Match[str]) -> str:
        close = get_close_matches(match.group().lower(), _MONTH_NAMES, n=1, cutoff=0.85)
        return close[0].capitalize() if close else match.group()

    text = re.sub(r"[A-Za-z]{5,}", spelt, text)
    return re.sub(r"^since\s+|^last (?=week before)", "", text, flags=re.IGNORECASE)


def _whole(text: str, anchor: datetime) -> Interval | None:
    """The one time expression of a text that holds nothing else but filler words."""
    values = scan(text if text[:1].isupper() is False else text[0].lower() + text[1:], anchor, _POLICY, GRAMMAR)
    if len(values) != 1:
        values = scan(f"in {text}", anchor, _POLICY, GRAMMAR)
        text = f"in {text}"
    if len(values) != 1:
        return None
    rest = text[: values[0].start] + " " + text[values[0].end :]
    return values[0].interval if not _FILLER.sub("", rest) else None


def agrees(predicted: TimeValue | Interval | None, gold: Interval) -> bool:
    """True when a reading, or one of its alternatives, meets the gold in the same grain.

    A clock time tells its day. A gold span ("early August", "between 3 and 7 May") has no unit of its own, so any
    reading that is not longer than a month may meet it. The week before a date may be counted by calendar weeks or as the
    seven days before, a night belongs to both its days: such readings share a day, so they meet.
    """
    if predicted is None:
        return False
    if isinstance(predicted, TimeValue):
        readings = () if predicted.interval is None else (predicted.interval, *predicted.alternatives)
        return any(agrees(reading, gold) for reading in readings)
    return predicted.meets(gold) and _same_grain(predicted, gold)


def _same_grain(predicted: Interval, gold: Interval) -> bool:
    if predicted.grain == gold.grain or (predicted.grain, gold.grain) == ("minute", "day"):
        return True
    return gold.grain == "span" and (predicted.end - predicted.start).days <= 31
