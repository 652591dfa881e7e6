"""Answers that are times: the expression that belongs to the matching sentence, resolved once, where it was read.

Every value was read against the moment of its own turn (paper section 4.3); nothing here reads a relative phrase again,
so "yesterday" in a turn of 15 March is 14 March, once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from dateutil.relativedelta import relativedelta

from sodamem.reader.matching import Match
from sodamem.reader.questions import Asked
from sodamem.reader.sentences import Sentence
from sodamem.reader.wording import count
from sodamem.types import Grain, Interval, TimeValue

# Expressions that say how long or how often, or nothing definite: not when something happened.
_NOT_WHEN = frozenset({"recently", "recurring", "long_ago", "at_an_age", "told_elsewhere"})
_JUST = re.compile(
    r"\bjust (?:\w+ly )?(?:\w+ed|got|had|went|met|made|came|won|bought|took|found|did|saw)\b", re.IGNORECASE
)
_STARTED = re.compile(r"\b(?:start|begin|began|first|since|join|adopt|move)\w*\b", re.IGNORECASE)
_LENGTH = re.compile(
    r"\b(?:(?:about|around|over|almost|nearly|at least|more than) )?"
    r"(?:\d[\d,.]*(?:[-–]\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|"
    r"a few|a couple of|several|half an?)(?: and a half)?[ -]"
    r"(?:second|minute|hour|day|week|month|year|decade)s?(?: ago)?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeWeights:
    """Shares of a full match that a candidate gains. here: the expression stands in the matching sentence · near: in
    another sentence of its turn · fits: its direction (done or planned) or the question's own time agrees.
    """

    here: float
    near: float
    fits: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Dated:
    """A candidate answer: a time, the matching sentence, and the one the time stands in (the same, mostly)."""

    interval: Interval
    said: Sentence
    support: Sentence
    score: float
    rule: str  # the date rule that read it, or "said" for the day of the turn


def dated(asked: Asked, found: Sequence[Match], weights: TimeWeights, undated: bool) -> list[Dated]:
    """Candidates, best first: of each turn, its best sentence with each time that may belong to it.

    With `undated`, a turn that reports something and names no time stands for the day on which it was said.
    """
    candidates: list[Dated] = []
    by_turn = sorted(found, key=lambda m: (m.sentence.item.rank, m.sentence.item.id, m.sentence.turn_id))
    for _, group in groupby(by_turn, key=lambda m: (m.sentence.item.id, m.sentence.turn_id)):
        turn = sorted(group, key=lambda m: (-m.score, m.sentence.place))
        timed = list(_timed(asked, turn, weights))
        candidates += timed
        best = turn[0].sentence
        if undated and not best.planned and not asked.ahead:
            interval = said_on(best)
            score = turn[0].score + weights.fits * (asked.done + _within(asked, interval))
            if _JUST.search(best.quote):
                score += weights.here  # "I just got accepted" names its day as plainly as "today"
            candidates.append(Dated(interval=interval, said=best, support=best, score=score, rule="said"))
    return sorted(candidates, key=lambda c: (-c.score, c.said.item.rank, c.support.place))


def said_on(sentence: Sentence) -> Interval:
    start = sentence.item.at.replace(hour=0, minute=0, second=0, microsecond=0)
    return Interval(start=start, end=start + timedelta(days=1), grain="day")


def _timed(asked: Asked, turn: Sequence[Match], weights: TimeWeights) -> Iterator[Dated]:
    best = turn[0]
    for match in turn:
        for value in match.sentence.times:
            interval = _usable(asked, value)
            if interval is None or (asked.done and match.sentence.planned and interval.start > value.anchor):
                continue  # a plan does not tell when a thing was done
            same = match.sentence.place == best.sentence.place
            # Alone, a sentence with a time may be the better half of a turn: its own fit counts then.
            score = max(best.score + (weights.here if same else weights.near), match.score + weights.here)
            score += weights.fits * (_direction(asked, interval, value.anchor) + _within(asked, interval))
            said = match.sentence if match.score + weights.here >= best.score + weights.near else best.sentence
            yield Dated(interval=interval, said=said, support=match.sentence, score=score, rule=value.rule)


def _usable(asked: Asked, value: TimeValue) -> Interval | None:
    if value.interval is None or value.rule in _NOT_WHEN:
        return None
    if value.rule == "lasting":
        return _begun(value.interval, value.words) if _STARTED.search(asked.text) else None
    return value.interval


def _begun(lasted: Interval, words: str) -> Interval | None:
    """When a thing began that has lasted "four months": no finer than the unit it is told in."""
    start = lasted.start
    if "year" in words:
        return Interval(start=datetime(start.year, 1, 1), end=datetime(start.year + 1, 1, 1), grain="year")
    if "month" in words:
        begin = datetime(start.year, start.month, 1)
        return Interval(start=begin, end=begin + relativedelta(months=1), grain="month")
    return None


def _direction(asked: Asked, interval: Interval, said: datetime) -> int:
    """+1 when the time lies on the side of its turn that is asked for, -1 when on the other, 0 without a side."""
    if asked.ahead:
        return 1 if interval.end > said else -1
    if asked.done:
        return -1 if interval.start > said else 1
    return 0


def _within(asked: Asked, interval: Interval) -> bool:
    return asked.within is not None and asked.within.meets(interval)


def coarsened(interval: Interval, asked: Asked) -> Interval:
    """The interval in the unit that the question names: "what year" answers with the year of a day."""
    grain: Grain
    start = interval.start
    if asked.unit == "year" or re.search(r"\b(?:what|which) year\b", asked.text, re.IGNORECASE):
        grain, begin, step = "year", datetime(start.year, 1, 1), relativedelta(years=1)
    elif re.search(r"\b(?:what|which) month\b", asked.text, re.IGNORECASE) and interval.grain != "year":
        grain, begin, step = "month", datetime(start.year, start.month, 1), relativedelta(months=1)
    else:
        return interval
    return Interval(start=begin, end=begin + step, grain=grain)


# --- lengths --------------------------------------------------------------------------------------------------------


def length_said(quote: str) -> str | None:
    """The length of time that a sentence states in words, if any: "four years", "10 years ago"."""
    match = _LENGTH.search(quote)
    return match[0] if match else None


def distance(first: Interval, second: Interval, unit: str) -> str | None:
    """How far apart two times begin, in whole units of the question; None when their grain is too coarse to tell.

    Days need two days; weeks also hold between weeks, months between months, years between years.
    """
    early, late = sorted((first, second), key=lambda interval: interval.start)
    coarsest = max(_SIZE.get(early.grain, _SIZE["year"]), _SIZE.get(late.grain, _SIZE["year"]))
    unit = {"": "day", "hour": "day", "minute": "day", "weekend": "week"}.get(unit, unit)
    if coarsest > _SIZE[unit]:
        return None
    days = (late.start.date() - early.start.date()).days
    return count(round(days / _DAYS[unit]), unit)


_SIZE = {"minute": 0, "day": 0, "weekend": 1, "week": 1, "month": 2, "year": 3}
_DAYS = {"day": 1.0, "week": 7.0, "month": 365.25 / 12, "year": 365.25}  # of an average month and year
