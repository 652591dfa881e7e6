"""Golds and answers as intervals of time: the same day in any spelling is the same answer.

Golds are read by `sodamem.dates.gold`; of an answer's words only dates that name themselves count, since an answer has
no anchor against which "last Friday" could be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from sodamem.dates import Policy, read
from sodamem.dates.gold import agrees, parse_gold
from sodamem.types import Answer, Interval, Question

_POLICY = Policy(
    week_start=0, weekday="nearest", untensed="past", day_month_order="month_first", country="US", recent_days=30
)
_ANCHORS = (datetime(2099, 12, 31), datetime(2058, 3, 3))  # what moves with the anchor does not name its date by itself
_YEAR = re.compile(r"(?<![\d$€£.,/-])(?:19|20)\d\d(?![\d/-])")
_COARSE = ("month", "season", "quarter", "year", "decade")
_BETWEEN_ALTERNATIVES = re.compile(r"\b(?:or|either)\b", re.IGNORECASE)


def gold_time(question: Question) -> Interval | None:
    """The time that the gold names, or None when the gold is no time."""
    return question.gold_interval or parse_gold(question.gold)


def answer_times(answer: Answer) -> list[Interval]:
    """The interval the answer was resolved to, else all dates its words name, in order."""
    if answer.interval:
        return [answer.interval]
    whole = parse_gold(answer.text)
    return [whole] if whole else [interval for _, interval in sorted(_dates(answer.text), key=lambda pair: pair[0])]


def _dates(words: str) -> Iterator[tuple[int, Interval]]:
    fixed, *others = (
        {(value.start, value.end): value.interval for value in read(words, anchor, _POLICY)} for anchor in _ANCHORS
    )
    taken = []
    for span, interval in fixed.items():
        if interval and all(other.get(span) == interval for other in others):
            taken.append(span)
            yield span[0], interval
    for year in _YEAR.finditer(words):
        if not any(start <= year.start() < end for start, end in taken) and (found := parse_gold(year.group())):
            yield year.start(), found


def alternatives(answer: Answer) -> bool:
    """True when the answer offers several dates to choose from instead of one."""
    return not answer.interval and len(answer_times(answer)) > 1 and bool(_BETWEEN_ALTERNATIVES.search(answer.text))


def same_time(given: Interval, gold: Interval, *, finer: bool) -> bool:
    """The same stretch in the same grain; with `finer`, also one inside a gold of a month or longer."""
    if agrees(given, gold):
        return True
    inside = gold.start <= given.start and given.end <= gold.end
    return finer and inside and gold.grain in _COARSE and given.grain != gold.grain
