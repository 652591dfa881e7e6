"""Amounts as values: counts, lengths of time and money, however they are written ("two weeks" is 14 days).

The benchmark's tolerance of one unit (LongMemEval's rubric for temporal reasoning) is for lengths of time that a
"how many" question asks for; a date is never one off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sodamem import text
from sodamem.judge.words import is_number, spelt

_DAYS = {"day": 1, "night": 1, "week": 7, "fortnight": 14}
_MONTHS = {"month": 1, "year": 12, "decade": 120}
_MINUTES = {"minute": 1, "min": 1, "hour": 60, "hr": 60, "second": 1 / 60}
_LENGTHS = ("day", "month", "minute")
_MONEY = re.compile(r"[$€£]\s?\d|\b(?:dollar|euro|pound|buck)s?\b", re.IGNORECASE)
_AROUND = frozenset(
    text.words(
        "about around roughly approximately almost nearly over at least total of for ago in the a an some only just "
        "exactly times time"
    )
)
_HOW_MANY = re.compile(r"\bhow (?:many|long|old|often|much)\b", re.IGNORECASE)
_FIRST_SENTENCE = re.compile(r".+?(?=\.\s|\s\(|;|$)")
_OR = frozenset({"or", "to", "maybe"})


@dataclass(frozen=True, slots=True)
class Amount:
    """A value with what it counts: `base` is "" (a bare count), money, minute, day, month, or the noun that follows."""

    value: float
    base: str
    place: int
    scale: float = 1.0


def amounts(value: str) -> list[Amount]:
    """All amounts of a text in order; numbers that belong to dates and names come along as bare counts."""
    tokens = spelt(value)
    money = bool(_MONEY.search(value))
    found = []
    for place, token in enumerate(tokens):
        if is_number(token):
            after = tokens[place + 1].removesuffix("s") if place + 1 < len(tokens) else ""
            found.append(_amount(float(token), after, place, money))
    return found


def _amount(value: float, unit: str, place: int, money: bool) -> Amount:
    for base, table in (("day", _DAYS), ("month", _MONTHS), ("minute", _MINUTES)):
        if unit in table:
            return Amount(value * table[unit], base, place, table[unit])
    return Amount(value, "money" if money else unit, place)


def sole(gold: str, question: str) -> Amount | None:
    """The amount that a gold consists of ("two", "about 18 days", "$1,200"), or None when it says more than that.

    To a "how many" question the one number of a gold's first sentence is its answer, whatever the rest explains.
    """
    asked = asks_amount(question)
    head = _FIRST_SENTENCE.match(gold) if asked else None
    gold = head[0] if head else gold
    found, tokens = amounts(gold), spelt(gold)
    if len(found) != 1:
        return None
    rest = [token for place, token in enumerate(tokens) if place != found[0].place and token not in _AROUND]
    return found[0] if asked or len(rest) <= 1 else None


def same_amount(gold: Amount, answer: str, *, off_by_one: bool) -> bool | None:
    """Whether the answer's first or last amount of this kind is the gold's; None when it names no amount.

    "$350,000 - $325,000 = $25,000" states its result last, "two, since 2019" first. Alternatives ("4 or 5") are no
    answer. With `off_by_one` a length of time may differ by one unit.
    """
    given = [amount for amount in amounts(answer) if _alike(gold, amount) and not _is_year(amount, gold)]
    if not given:
        return None
    tokens = spelt(answer)
    others = [a for a in given[1:] if a.value != given[0].value and a.place - given[0].place <= 3]
    if any(_OR & set(tokens[given[0].place : other.place]) for other in others):
        return False
    slack = gold.scale if off_by_one and (gold.base or given[-1].base) in _LENGTHS else 0
    values = [amount.value if gold.base else amount.value / amount.scale for amount in (given[0], given[-1])]
    return any(abs(value - gold.value) <= slack + 1e-9 for value in values)


def _alike(gold: Amount, other: Amount) -> bool:
    counts = gold.base not in _LENGTHS and other.base not in _LENGTHS
    return counts or gold.base == other.base or not gold.base or not other.base


def _is_year(amount: Amount, gold: Amount) -> bool:
    return not amount.base and 1900 <= amount.value < 2100 and not 1900 <= gold.value < 2100


def numbers(tokens: Sequence[str]) -> set[str]:
    return {token for token in tokens if is_number(token)}


def asks_amount(question: str) -> bool:
    return bool(_HOW_MANY.search(question))
