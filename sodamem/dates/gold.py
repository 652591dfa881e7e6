"""Gold answers of a benchmark to intervals, and whether a prediction agrees with one.

LoCoMo's temporal golds are typed by hand ("21Janury, 2022", "The week before 9 June 2023", the int 2022). A gold must
name its date by itself: lengths ("3 weeks"), relative words ("yesterday") and plain answers are no intervals.
"""

from __future__ import annotations

import re
from datetime import datetime
from difflib import get_close_matches

from sodamem.dates.policy import Policy
from sodamem.dates.rules import GRAMMAR
from sodamem.dates.scan import scan
from sodamem.dates.words import MONTHS, WEEKDAYS
from sodamem.types import Interval, TimeValue

_POLICY = Policy(
    week_start=0, weekday="nearest", untensed="past", day_month_order="month_first", country="US", recent_days=30
)
# Read against two distant anchors: what moves with the anchor does not name its date by itself.
_ANCHORS = (datetime(2099, 12, 31), datetime(2058, 3, 3))
_NAMES = tuple(name for name in (*MONTHS, *WEEKDAYS) if len(name) > 4)
_FILLER = re.compile(
    r"\b(?:on|in|at|the|a|an|of|since|around|about|approximately|sometime|by|during)\b|[\W_]+", re.IGNORECASE
)


def parse_gold(gold: object, year: int | None = None) -> Interval | None:
    """The interval that a gold answer names; None for lengths, words, and dates that need an anchor.

    gold: a string of any quality, or a number (LoCoMo has years as ints). year: the year of dates written without one
    ("13 August"), where the data gives it; else they are None.
    """
    text = _repaired(str(int(gold)) if isinstance(gold, float) and gold.is_integer() else str(gold))
    if re.fullmatch(r"(?:1[89]|20)\d\d", text):
        text = f"in {text}"
    first, second = (_whole(text, anchor, year) for anchor in _ANCHORS)
    return first if first == second else None


def _repaired(text: str) -> str:
    """Missing spaces put in, stray marks taken out, misspelt months and weekdays set right."""
    text = re.sub(r"(?<=\d)(?=[A-Za-z]{3,})", " ", text.replace("`", ""))
    text = re.sub(r"(?<=[A-Za-z])\.?(?=\d{4})|(?<=,)(?=\d)", " ", text).strip().rstrip(".!")

    def spelt(match: re.Match[str]) -> str:
        close = get_close_matches(match.group().lower(), _NAMES, n=1, cutoff=0.82)
        return close[0].capitalize() if close else match.group()

    text = re.sub(r"[A-Za-z]{5,}", spelt, text)
    # "Since 2016" names when it began; "last week before" says no more than "week before".
    return re.sub(r"^since\s+|^last\s+(?=week before)", "", text, flags=re.IGNORECASE)


def _whole(text: str, anchor: datetime, year: int | None) -> Interval | None:
    """The one time expression of a text that holds nothing else but filler words."""
    for candidate in (text, f"in {text}"):
        values = scan(candidate, anchor, _POLICY, GRAMMAR, year=year)
        if len(values) == 1:
            rest = candidate[: values[0].start] + " " + candidate[values[0].end :]
            return None if _FILLER.sub("", rest) else values[0].interval
    return None


def agrees(predicted: TimeValue | Interval | None, gold: Interval, *, finer: bool = False) -> bool:
    """True when a reading, or one of its alternatives, meets the gold in the same grain.

    A clock time tells its day. A gold span ("early August", "between 3 and 7 May") has no unit of its own: any reading
    up to a month may meet it. Calendar weeks and "seven days back" of the same words share a day, and a night belongs
    to both its days, so such readings meet. finer: a reading that lies within a gold month or longer counts as well
    ("last week" for "June 2023"): the coarser answer follows from it.
    """
    if predicted is None:
        return False
    if isinstance(predicted, TimeValue):
        readings = () if predicted.interval is None else (predicted.interval, *predicted.alternatives)
        return any(agrees(reading, gold, finer=finer) for reading in readings)
    if finer and gold.grain in ("month", "season", "quarter", "year") and predicted.grain != "span":
        return predicted.meets(gold) and predicted.end - predicted.start <= gold.end - gold.start
    return predicted.meets(gold) and _same_grain(predicted, gold)


def _same_grain(predicted: Interval, gold: Interval) -> bool:
    if predicted.grain == gold.grain or (predicted.grain, gold.grain) == ("minute", "day"):
        return True
    return gold.grain == "span" and (predicted.end - predicted.start).days <= 31
