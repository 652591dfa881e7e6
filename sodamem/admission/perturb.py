"""Declared changes to a gold: other forms of it that stay right, and near-misses that are wrong.

Each takes a gold and gives an answer, or None where it does not apply. What a change does is its name; no model is
asked, so the label of what comes out is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
          "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NAMES = "|".join(MONTHS)
_DAY = re.compile(rf"\b(\d{{1,2}}) ({_NAMES}),? (\d{{4}})\b", re.IGNORECASE)
_DAY_LAST = re.compile(rf"\b({_NAMES}) (\d{{1,2}}),? (\d{{4}})\b", re.IGNORECASE)
_MONTH = re.compile(rf"\b({_NAMES}),? (\d{{4}})\b", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBER = re.compile(r"(?<![\d:.,-])\d{1,3}(?![\d:.,-]\d|\d|(?:st|nd|rd|th)\b)")
_CLOCKED = re.compile(r"(\d{1,2}):(\d{2})")
_SPOKEN = re.compile(r"(\d{1,2}) minutes?(?:,| and)? (\d{1,2}) seconds?", re.IGNORECASE)
_POUNDS = re.compile(r"(\d[\d,]*) (pounds|dollars|euros)", re.IGNORECASE)
_SIGNS = {"pounds": "£", "dollars": "$", "euros": "€"}
_LIST = re.compile(r"\s*(?:,\s*and\s+|,\s*|\s+and\s+)")
_POLAR = re.compile(r"(?:yes|no|not|none|never|likely|neither)\b", re.IGNORECASE)
_LENGTH = re.compile(r"\b(?:day|week|month|year|hour|minute|night)s?\b", re.IGNORECASE)

Change = Callable[[str], str | None]


# --- what a gold is -----------------------------------------------------------------------------------------


def shape(gold: str) -> str:
    """date, number, list or words: golds of one shape can stand in for each other."""
    if _DAY.search(gold) or _DAY_LAST.search(gold) or _MONTH.search(gold) or _YEAR.fullmatch(gold.strip()):
        return "date"
    if len(_NUMBER.findall(gold)) == 1 and len(gold.split()) <= 4:
        return "number"
    return "list" if parts(gold) else "words"


def parts(gold: str) -> tuple[str, ...]:
    """The parts of a short list such as "beekeeping and chess"; empty for anything else.

    "Pride and Prejudice" is a name and no list: two capitalised parts are not taken apart.
    """
    found = tuple(part.strip(" .") for part in _LIST.split(gold))
    short = all(0 < len(part.split()) <= 4 for part in found)
    named = len(found) == 2 and all(part[:1].isupper() for part in found)
    listed = " and " in gold and short and not named and not re.search(r"\d|[:;()]", gold)
    return found if listed and not polar(gold) else ()


def polar(gold: str) -> bool:
    """Whether a gold says yes or no, or begins with a denial."""
    return bool(_POLAR.match(gold.strip()))


# --- right in another form ----------------------------------------------------------------------------------


def other_form(gold: str) -> str | None:
    """The same thing written otherwise: a date, a running time, a sum, a list or a number."""
    for change in (_other_date, _other_time, _other_sum, _other_list, _other_number):
        if (found := change(gold)) is not None and found != gold:
            return found
    return None


def _other_date(gold: str) -> str | None:
    if match := _DAY.search(gold):
        return _put(gold, match, f"{match[2]} {match[1]}, {match[3]}")
    if match := _DAY_LAST.search(gold):
        return _put(gold, match, f"{match[2]} {match[1]} {match[3]}")
    return None


def _other_time(gold: str) -> str | None:
    if match := _SPOKEN.fullmatch(gold.strip(" .")):
        return f"{match[1]}:{int(match[2]):02d}"
    if match := _CLOCKED.fullmatch(gold.strip(" .")):
        return f"{int(match[1])} minutes and {int(match[2])} seconds"
    return None


def _other_sum(gold: str) -> str | None:
    match = _POUNDS.fullmatch(gold.strip(" ."))
    return None if match is None else f"{_SIGNS[match[2].lower()]}{match[1]}"


def _other_list(gold: str) -> str | None:
    if not (found := parts(gold)):
        return None
    first, *others = found
    return f"{', '.join(reversed(others))} and {first}"


def _other_number(gold: str) -> str | None:
    match = _NUMBER.search(gold)
    return None if match is None or shape(gold) != "number" else _put(gold, match, spelt(int(match[0])))


def spelt(number: int) -> str:
    """A whole number below 1,000 in words."""
    if number >= 100:
        rest = f" and {spelt(number % 100)}" if number % 100 else ""
        return f"{_UNITS[number // 100]} hundred{rest}"
    if number < 20:
        return _UNITS[number]
    return _TENS[number // 10] + (f"-{_UNITS[number % 10]}" if number % 10 else "")


# --- near-misses --------------------------------------------------------------------------------------------


def other_date(gold: str) -> str | None:
    """A date one step off in its own grain: the next day, month or year."""
    for pattern, order in ((_DAY, (3, 2, 1)), (_DAY_LAST, (3, 1, 2))):
        if match := pattern.search(gold):
            year, month, day = (match[place] for place in order)
            try:
                moved = date(int(year), _month(month), int(day)) + timedelta(days=1)
            except ValueError:
                return None
            said = f"{moved.day} {MONTHS[moved.month - 1]} {moved.year}"
            return said if len(gold.split()) <= 6 else None
    if match := _MONTH.fullmatch(gold.strip(" .")):
        place = _month(match[1]) % 12
        return f"{MONTHS[place]} {int(match[2]) + (place == 0)}"
    return str(int(gold) + 1) if _YEAR.fullmatch(gold.strip()) else None


def other_number(gold: str) -> str | None:
    """A number one more than the gold's; two more for a length of time, of which rubrics grant one unit."""
    if shape(gold) != "number" or (match := _NUMBER.search(gold)) is None:
        return None
    return _put(gold, match, str(int(match[0]) + (2 if _LENGTH.search(gold) else 1)))


def half(gold: str) -> str | None:
    """Only the first half of a list."""
    found = parts(gold)
    return " and ".join(found[: len(found) // 2]) if found else None


def negation(gold: str) -> str | None:
    """The gold, denied; None for a gold that denies something itself, or is a yes or no."""
    if polar(gold) or len(gold.split()) > 12:
        return None
    return f"It is definitely not {gold.rstrip('.')}."


def _put(gold: str, match: re.Match[str], words: str) -> str:
    return gold[: match.start()] + words + gold[match.end() :]


def _month(name: str) -> int:
    return [month.lower() for month in MONTHS].index(name.lower()) + 1


NEAR_MISSES: Mapping[str, Change] = {"date": other_date, "number": other_number, "half": half, "negation": negation}
