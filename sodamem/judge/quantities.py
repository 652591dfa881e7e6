"""Amounts as values: counts, lengths of time and money, however they are written ("two weeks" is 14 days).

The benchmark's tolerance of one unit (LongMemEval's rubric for temporal reasoning) is for lengths of time that a
"how many" question asks for; a date is never one off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sodamem import text
from sodamem.judge.numerals import NAMES, is_number
from sodamem.judge.words import DENIED, spelt

_SCALES = {
    "day": {"day": 1.0, "night": 1.0, "week": 7.0, "fortnight": 14.0},
    "month": {"month": 1.0, "year": 12.0, "decade": 120.0},
    "minute": {"minute": 1.0, "min": 1.0, "hour": 60.0, "hr": 60.0, "second": 1 / 60, "sec": 1 / 60},
}
_UNITS = {name: (base, scale) for base, table in _SCALES.items() for name, scale in table.items()}
_LENGTHS = tuple(_SCALES)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
_TIMES = ("minute", "clock", "time")
_MONEY = re.compile(r"[$€£]\s?\d|\b(?:dollar|euro|pound|buck)s?\b", re.IGNORECASE)
_AROUND = frozenset(
    text.words(
        "about around roughly approximately almost nearly over at least total of for ago in the a an some only just "
        "exactly times time"
    )
)
_HOW_MANY = re.compile(r"\bhow (?:many|long|old|often|much)\b", re.IGNORECASE)
_FIRST_SENTENCE = re.compile(r".+?(?=\.\s|\s\(|;|$)")
_OR = frozenset({"or", "to", "between"})


@dataclass(frozen=True, slots=True)
class Amount:
    """A value with what it counts, and its words: those from `place` to before `end`.

    base: "" (a bare count), money, minute, day, month, clock ("23:55": minutes and seconds, or hours and minutes), time
    (a time of day, in minutes), or the noun that follows · scale: of its unit, in the base.
    """

    value: float
    base: str
    place: int
    end: int
    scale: float = 1.0


def amounts(value: str) -> list[Amount]:
    """All amounts of a text in order; numbers that belong to dates and names come along as bare counts.

    Units that follow each other are one length ("25 minutes and 50 seconds"); "an hour" is one where nothing is counted
    before it.
    """
    tokens = spelt(value)
    money = bool(_MONEY.search(value))
    found: list[Amount] = []
    for place, token in enumerate(tokens):
        after = tokens[place + 1].removesuffix("s") if place + 1 < len(tokens) else ""
        if (made := _amount(token, after, place, money)) is None:
            if not (token in ("a", "an") and after in _UNITS and not found):
                continue
            made = _amount("1", after, place, money)
        if made and found and _continues(found[-1], made, tokens):
            made = Amount(found[-1].value + made.value, made.base, found.pop().place, made.end, made.scale)
        found += [made] if made else []
    return found


def _amount(token: str, unit: str, place: int, money: bool) -> Amount | None:
    half_day = {"am": 0, "pm": 12 * 60}.get(unit)
    if clock := _CLOCK.fullmatch(token):
        first, second = int(clock[1]), int(clock[2])
        if clock[3]:
            return Amount(60 * first + second + int(clock[3]) / 60, "minute", place, place + 1)
        if half_day is not None:
            return Amount(60 * (first % 12) + second + half_day, "time", place, place + 2)
        return Amount(first + second / 60, "clock", place, place + 1)
    if not is_number(token):
        return None
    if half_day is not None:
        return Amount(60 * (float(token) % 12) + half_day, "time", place, place + 2)
    if unit in _UNITS:
        base, scale = _UNITS[unit]
        return Amount(float(token) * scale, base, place, place + 2, scale)
    return Amount(float(token), "money" if money else unit, place, place + 1)


def _continues(before: Amount, after: Amount, tokens: Sequence[str]) -> bool:
    """Whether a length goes on in a smaller unit: "2 hours and 30 minutes"."""
    smaller = before.base == after.base and before.base in _LENGTHS and after.scale < before.scale
    return smaller and tokens[before.end : after.place] in ([], ["and"])


def sole(gold: str, question: str) -> Amount | None:
    """The amount that a gold consists of ("two", "about 18 days", "$1,200"), or None when it says more than that.

    To a "how many" question the one number of a gold's first sentence is its answer, whatever the rest explains. Else a
    number may be part of a name ("the Four Robbers", "FIFA 23"), whose words are to be compared.
    """
    asked = asks_amount(question)
    head = _FIRST_SENTENCE.match(gold) if asked else None
    gold = head[0] if head else gold
    found, tokens = amounts(gold), spelt(gold)
    if len(found) != 1:
        return None
    (amount,) = found
    before = [token for token in tokens[: amount.place] if token not in _AROUND]
    after = [token for token in tokens[amount.end :] if token not in _AROUND]
    counted = not before and len(after) == 1 and not NAMES & set(text.words(gold))
    return amount if asked or not (before or after) or counted else None


def same_amount(gold: Amount, answer: str, *, off_by_one: bool) -> bool | None:
    """Whether the answer's first or last amount of this kind is the gold's; None when it names no amount.

    "$350,000 - $325,000 = $25,000" states its result last, "two, since 2019" first. Alternatives ("4 or 5") are no
    answer. With `off_by_one` a length of time may differ by one unit.
    """
    given = [amount for amount in amounts(answer) if _alike(gold, amount) and not _is_year(amount, gold)]
    if not given:
        return None
    tokens = spelt(answer)
    others = [a for a in given[1:] if a.value != given[0].value and a.place - given[0].place <= 4]
    if any(_OR & set(tokens[max(0, given[0].place - 1) : other.place]) for other in others):
        return False
    slack = gold.scale if off_by_one and (gold.base or given[-1].base) in _LENGTHS else 0
    return any(_distance(gold, amount) <= slack + 1e-6 for amount in (given[0], given[-1]))


def _distance(gold: Amount, other: Amount) -> float:
    """How far apart two amounts are, in the gold's base."""
    bases = {gold.base, other.base}
    if bases == {"clock", "minute"}:  # 25:50 is minutes and seconds of a run, hours and minutes of a journey
        clock, minutes = sorted((gold, other), key=lambda amount: amount.base)
        return min(abs(clock.value - minutes.value), abs(60 * clock.value - minutes.value))
    if bases == {"clock", "time"}:  # one names no half of the day
        clock, time = sorted((gold, other), key=lambda amount: amount.base)
        return min(abs(60 * clock.value - time.value) % 720, -abs(60 * clock.value - time.value) % 720)
    return abs(gold.value - (other.value if gold.base else other.value / other.scale))


def _alike(gold: Amount, other: Amount) -> bool:
    if "clock" in (gold.base, other.base) or "time" in (gold.base, other.base):
        return gold.base in _TIMES and other.base in _TIMES and {gold.base, other.base} != {"minute", "time"}
    counts = gold.base not in _LENGTHS and other.base not in _LENGTHS
    return counts or gold.base == other.base or not gold.base or not other.base


def _is_year(amount: Amount, gold: Amount) -> bool:
    return not amount.base and 1900 <= amount.value < 2100 and not 1900 <= gold.value < 2100


def restates(left: str, right: str) -> bool:
    """Whether "or" joins the same amount twice: "two weeks or 14 days"."""
    before, after = amounts(left), amounts(right)
    return bool(before and after) and _alike(before[-1], after[0]) and _distance(before[-1], after[0]) < 1e-6


def numbers(tokens: Sequence[str]) -> set[str]:
    """Of canonical words, signed or not, those that are numbers or clock times."""
    return {token for token in tokens if token.removeprefix(DENIED)[:1].isdigit()}


def asks_amount(question: str) -> bool:
    return bool(_HOW_MANY.search(question))
