"""The closed vocabulary of time expressions: numbers, ordinals, months, weekdays, units.

Written for this project; abbreviations are those found in chats and in date stamps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MONTHS = {
    **dict.fromkeys(["january", "jan"], 1),
    **dict.fromkeys(["february", "feb"], 2),
    **dict.fromkeys(["march", "mar"], 3),
    **dict.fromkeys(["april", "apr"], 4),
    "may": 5,
    **dict.fromkeys(["june", "jun"], 6),
    **dict.fromkeys(["july", "jul"], 7),
    **dict.fromkeys(["august", "aug"], 8),
    **dict.fromkeys(["september", "sept", "sep"], 9),
    **dict.fromkeys(["october", "oct"], 10),
    **dict.fromkeys(["november", "nov"], 11),
    **dict.fromkeys(["december", "dec"], 12),
}
WEEKDAYS = {
    **dict.fromkeys(["monday", "mon"], 0),
    **dict.fromkeys(["tuesday", "tues", "tue"], 1),
    **dict.fromkeys(["wednesday", "weds", "wed"], 2),
    **dict.fromkeys(["thursday", "thurs", "thur", "thu"], 3),
    **dict.fromkeys(["friday", "fri"], 4),
    **dict.fromkeys(["saturday", "sat"], 5),
    **dict.fromkeys(["sunday", "sun"], 6),
}
FULL_WEEKDAYS = frozenset(name for name in WEEKDAYS if name.endswith("day"))
UNITS = {
    **dict.fromkeys(["minute", "minutes", "min", "mins"], "minute"),
    **dict.fromkeys(["hour", "hours", "hr", "hrs"], "hour"),
    **dict.fromkeys(["day", "days", "night", "nights"], "day"),
    **dict.fromkeys(["week", "weeks", "wk", "wks"], "week"),
    **dict.fromkeys(["fortnight", "fortnights"], "fortnight"),
    **dict.fromkeys(["weekend", "weekends"], "weekend"),
    **dict.fromkeys(["month", "months"], "month"),
    **dict.fromkeys(["quarter", "quarters"], "quarter"),
    **dict.fromkeys(["year", "years", "yr", "yrs"], "year"),
    **dict.fromkeys(["decade", "decades"], "decade"),
    **dict.fromkeys(["century", "centuries"], "century"),
}
SEASONS = ("spring", "summer", "autumn", "fall", "winter")
SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
# How many "a few" is: the middle of what speakers mean, always marked approximate.
LOOSE = {"couple": 2.0, "few": 3.0, "several": 5.0, "dozen": 12.0}
ORDINALS = {
    **{word: n for n, word in enumerate(["first", "second", "third", "fourth", "fifth", "sixth"], start=1)},
    **{word: n for n, word in enumerate(["seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"], start=7)},
    **{
        word: n
        for n, word in enumerate(["thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth"], start=13)
    },
    **{"eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30, "last": -1, "final": -1},
    **{
        f"twenty-{word}": 20 + n
        for n, word in enumerate(["first", "second", "third", "fourth", "fifth", "sixth"], start=1)
    },
    **{"twenty-seventh": 27, "twenty-eighth": 28, "twenty-ninth": 29, "thirty-first": 31},
}


def one_of(words: Iterable[str]) -> str:
    """A regex group over words, the longest first so that none hides behind its own prefix."""
    return "(?:" + "|".join(sorted(map(re.escape, words), key=lambda w: (-len(w), w))) + ")"


MONTH = one_of(MONTHS) + r"(?:\.(?=\s?\d))?"
WEEKDAY = one_of(WEEKDAYS) + r"(?:\.(?=\s?\d))?"
UNIT = one_of(UNITS)
SEASON = one_of(SEASONS)
WORD_NUMBER = rf"(?:{one_of(TENS)}(?:[- ]{one_of(SMALL[1:10])})?|{one_of(SMALL[1:])})"
_PLAIN_NUMBER = rf"(?:\d+|an?|{WORD_NUMBER})"
_EITHER = rf"\d+ ?[-\u2013] ?\d+|{_PLAIN_NUMBER} (?:or|to) {_PLAIN_NUMBER}"
NUMBER = (
    rf"(?:{_EITHER}|\d+(?:\.\d+)?|(?:a )?(?:couple|few)(?: of)?|several|(?:a )?dozen|(?:a )?half(?: an?)?|an?"
    rf"|{WORD_NUMBER})(?: and a half)?"
)
AMOUNT = (
    rf"(?P<n>{NUMBER}) (?:more |whole |full |long |short |entire )?(?P<unit>{UNIT})"
    r"(?P<half> and a half)?(?P<so> or (?:so|two|three))?"
)
ORDINAL = rf"(?:{one_of(ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th))"
# What makes a number a quantity and not a year or a day.
COUNTED = re.compile(
    r"\s*(?:miles?|km|kilometers?|meters?|people|persons|times|steps|points|pages|pounds|lbs|dollars|bucks|calories|words|"
    r"of\s+(?:us|them|my|the)|or\s+\w+\s+(?:miles|people|times)|percent|%|cups?|tsps?|tbsps?|inch(?:es)?|feet|ft|pieces?|"
    r"players|votes|fans|copies|units|square|stars?|hours?|minutes?|days?|weeks?|followers|subscribers|degrees)\b",
    re.IGNORECASE,
)
YEAR = r"(?:1[89]|20)\d\d(?![\d%\u00b0]|[.,:/]\d|-(?!(?:1[89]|20)\d\d\b)\d)"
DAY = r"(?:3[01]|[12]\d|0?[1-9])"
DAY_TH = rf"{DAY}(?:st|nd|rd|th)?"


def starting(words: str, *more: Iterable[str]) -> frozenset[str]:
    """The first words of a rule, as a spaced list and further collections."""
    return frozenset(words.split()).union(*more)


def rx(pattern: str) -> re.Pattern[str]:
    """Compile: a space stands for any white space, a straight apostrophe for none or any kind of one."""
    pattern = pattern.replace(" ?", r"\s*").replace(" ", r"\s+").replace("'", "['\u2019]?")
    return re.compile(rf"(?:{pattern})(?!(?<=\w)\w)", re.IGNORECASE)


def number(words: str) -> tuple[float, bool]:
    """What a NUMBER says, and whether it says it loosely ("a few", "two or three")."""
    text = " ".join(words.lower().split())
    either = re.fullmatch(r"(.+?)(?: (?:or|to) | ?\u2013 ?|(?<=\d) ?- ?(?=\d))(.+)", text)
    if either:
        # The lower middle, so that "a day or two" stays a day.
        return float((number(either[1])[0] + number(either[2])[0]) // 2), True
    extra = 0.5 if text.endswith(" and a half") else 0.0
    text = text.removesuffix(" and a half")
    for loose, value in LOOSE.items():
        if loose in text:
            return value, True
    if text.startswith(("half", "a half")):
        return 0.5, True
    if text in ("a", "an"):
        return 1.0 + extra, extra > 0
    if text[0].isdigit():
        return float(text) + extra, extra > 0
    value = sum(TENS.get(part) or SMALL.index(part) for part in text.replace("-", " ").split())
    return value + extra, extra > 0


def ordinal(word: str) -> int:
    """What an ORDINAL counts to; -1 is the last one."""
    text = "-".join(word.lower().split())
    return ORDINALS[text] if text in ORDINALS else int(re.sub(r"\D", "", text))


def month_number(word: str) -> int:
    return MONTHS[word.lower().rstrip(".")]


def weekday_number(word: str) -> int:
    return WEEKDAYS[word.lower().rstrip(".")]
