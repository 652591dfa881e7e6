"""Numbers in digits, however they are written: "one hundred and thirty-four" is 134, "1,000" 1000, "7th" 7.

Times of day and lengths of time written as a clock stay one word; "half past seven in the evening" is 7:30 pm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
# First to third tell an order more often than a number ("the bake sale first"), so they stay words.
_ORDINALS = "zeroth - - - fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {word: value for names in (_UNITS, _ORDINALS) for value, word in enumerate(names.split()) if word != "-"}
_VALUES |= {word: 10 * value for value, word in enumerate(_TENS, start=2)}
_VALUES |= {"once": 1, "twice": 2, "thrice": 3}
_ENDS = {"first": 1, "third": 3}  # of a number: "twenty-first"; "second" is a unit of time more often
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000}
NAMES = frozenset({*_VALUES, *_SCALES})  # numbers that are spelt as words
_DIGITS = re.compile(r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:st|nd|rd|th)?")

_LENGTH = r"(minute|hour|day|week|month|year|decade)"
_HOUR = r"(\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_PAST = {"half past": 30, "quarter past": 15, "quarter to": -15}  # minutes
_CLOCK = re.compile(rf"\b(?:(?P<past>{'|'.join(_PAST)}) {_HOUR}|{_HOUR} o'?clock)\b", re.IGNORECASE)
_SPELLINGS = tuple(
    (re.compile(pattern, re.IGNORECASE), spelling)
    for pattern, spelling in (
        (r"(?<=[$€£])(\d+(?:\.\d+)?)\s?k\b", r"\1 thousand"),
        (r"\bno one\b", "nobody"),
        (r"\bhalf a dozen\b", "6"),
        (rf"\bhalf (?:an? )?(?={_LENGTH}\b)", "0.5 "),
        (rf"\b(?:an?|one) {_LENGTH} and a half\b", r"1.5 \1s"),
        (r"\b([ap])\.\s?m\b\.?", r"\1m"),
        (r"(?<=:\d\d)\s?(?:at night|in the (?:evening|afternoon))\b", " pm"),
        (r"(?<=:\d\d)\s?in the morning\b", " am"),
        (r"\b(\d{1,2}):00\s?([ap]m)\b", r"\1 \2"),
        (r"(?<=[a-z])(?=\d)|(?<=\d)(?=(?!(?:st|nd|rd|th|s)\b)[a-z])", " "),
    )
)


def respelt(value: str) -> str:
    """The text with halves, clocks and sums of money in one spelling, and "15April" and "10GB" taken apart."""
    value = _CLOCK.sub(_clock, value)
    for pattern, spelling in _SPELLINGS:
        value = pattern.sub(spelling, value)
    return value


def _clock(match: re.Match[str]) -> str:
    said = (match[2] or match[3]).lower()
    hour = _VALUES.get(said) or int(said)
    minutes = 60 * hour + _PAST.get((match["past"] or "").lower(), 0)
    return f"{minutes // 60}:{minutes % 60:02d}"


def in_digits(words: Sequence[str]) -> list[str]:
    """Normalised words with every number in digits; number words that belong together become one number."""
    found, place = [], 0
    while place < len(words):
        value, after = _number(words, place)
        found.append(words[place] if value is None else _plain(value))
        place = max(after, place + 1)
    return found


def _number(words: Sequence[str], place: int) -> tuple[float | None, int]:
    """The number that begins at a place, None without one, and the place after it."""
    start, thousands, group, room = place, 0.0, 0.0, 1000.0  # room: the next number word must be below it to be added
    if words[place] == "a" and words[place + 1 : place + 2] and words[place + 1] in _SCALES:
        place += 1
    while place < len(words):
        word = words[place]
        value = _value(word) if room != 10 else _ENDS.get(word, _value(word))
        if word in ("hundred", "dozen"):
            group, room = (group or 1) * _SCALES[word], 100.0 if word == "hundred" else 0.0
        elif word in _SCALES:
            thousands, group, room = thousands + (group or 1) * _SCALES[word], 0.0, 1000.0
        elif value is not None and value < room and (value or place == start):
            group, room = group + value, 10.0 if word in _TENS else 0.0
        elif value is not None and place == start:  # digits may be of any size
            group, room = value, 0.0
        elif not (word == "and" and _joins(words, place, room)):
            break
        place += 1
    if place == start:
        return None, place
    halved = list(words[place : place + 3]) == ["and", "a", "half"]
    return thousands + group + 0.5 * halved, place + 3 * halved


def _joins(words: Sequence[str], place: int, room: float) -> bool:
    """Whether an "and" stands within a number: after hundred or thousand, before a number word below it."""
    named = place > 0 and words[place - 1] in _SCALES and place + 1 < len(words)
    return named and words[place + 1] in _VALUES and _VALUES[words[place + 1]] < room


def _value(word: str) -> float | None:
    match = _DIGITS.fullmatch(word)
    return float(match["number"].replace(",", "")) if match else _VALUES.get(word)


def _plain(number: float) -> str:
    return f"{number:.10g}" if number < 1e9 else f"{number:.0f}"


def is_number(word: str) -> bool:
    return bool(re.fullmatch(r"\d+(?:\.\d+)?", word))
