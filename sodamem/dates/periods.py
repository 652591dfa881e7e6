"""Rules for months, seasons, quarters, years, decades and centuries: in August, last summer, Q3 2022, the nineties.

Month and season names are also names of people and plain words, so alone they need a preposition.
"""

from __future__ import annotations

import re
from datetime import datetime

from sodamem.dates import spans
from sodamem.dates.relative import NUMBER_STARTS
from sodamem.dates.scan import Context, Reading, Rule
from sodamem.dates.words import (
    COUNTED,
    MONTH,
    MONTHS,
    NUMBER,
    ORDINALS,
    SEASON,
    SEASONS,
    YEAR,
    month_number,
    number,
    one_of,
    ordinal,
    rx,
)
from sodamem.dates.yearly import WHICH, WHICH_STARTS, OfYear, named_yearly, year_meant, yearly, years_ago
from sodamem.types import Interval

_IN = frozenset(
    [
        "in",
        "since",
        "until",
        "till",
        "by",
        "during",
        "before",
        "after",
        "around",
        "about",
        "of",
        "through",
        "throughout",
        "over",
        "between",
        "all",
        "from",
        "to",
        "year",
        "for",
        "and",
    ]
)
# Months that are also names or verbs need a plainer preposition than the others.
_NAMES = frozenset({"april", "may", "june", "august", "jan", "march"})
_NAMES_IN = _IN - {"from", "of", "to", "all", "for", "about", "and"}
_SEASON_IN = frozenset(
    [
        "in",
        "since",
        "until",
        "till",
        "during",
        "over",
        "before",
        "through",
        "throughout",
        "of",
        "all",
        "for",
        "from",
        "between",
        "sub",
    ]
)
_FALL_IN = frozenset(["in", "during", "since", "until", "by", "sub"])
_ATTRIBUTE = re.compile(
    r"\s+(?:of|break|camp|love|semester|program|school|house|sports?|coats?|dress(?:es)?)\b", re.IGNORECASE
)
_NAME_NEXT = re.compile(r"\s+[A-Z][a-z]+")
_SHORT = frozenset(name for name in MONTHS if len(name) <= 4) | {"march"}


def month_year(ctx: Context, m: re.Match[str]) -> Reading:
    return Reading(interval=spans.month(_year(m), month_number(m["month"])))


def _year(m: re.Match[str]) -> int:
    """A year in four digits, or in two after an apostrophe (69 and later are of the last century)."""
    if m["year"]:
        return int(m["year"])
    short = int(m["short"])
    return short + (1900 if short > 68 else 2000)


def bare_month(ctx: Context, m: re.Match[str]) -> Reading | None:
    word = m["month"]
    low = word.lower().rstrip(".")
    if ctx.licence not in (_NAMES_IN if low in _NAMES else _IN) and ctx.licence != "sub":
        return None
    if low in _SHORT and word[0].islower() and (low == "mar" or ctx.licence not in ("in", "since", "until", "sub")):
        return None
    if low in _NAMES and ctx.licence != "sub" and _NAME_NEXT.match(ctx.text, m.end()):
        return None  # a play by August Wilson
    number_ = month_number(word)
    return yearly(ctx, m.start(), m.end(), lambda year: spans.month(year, number_))


def named_month(ctx: Context, m: re.Match[str]) -> Reading | None:
    word = m["month"]
    if word.lower() in ("may", "march", "mar") and word[0].islower():
        return None
    number_ = month_number(word)
    return named_yearly(ctx, m["which"].lower(), lambda year: spans.month(year, number_), m.start(), m.end())


def month_range(ctx: Context, m: re.Match[str]) -> Reading | None:
    """May to July, Jan-Mar 2022: both ends need their capital."""
    if not (m["first"][0].isupper() and m["last"][0].isupper()):
        return None
    first, last = month_number(m["first"]), month_number(m["last"])

    def of_year(year: int) -> Interval:
        return spans.hull(spans.month(year - (first > last), first), spans.month(year, last))

    if m["year"]:
        return Reading(interval=of_year(int(m["year"])))
    return yearly(ctx, m.start(), m.end(), of_year)


def bare_year(ctx: Context, m: re.Match[str]) -> Reading | None:
    licensed = ctx.licence in _IN or ctx.licence in ("sub", "back", "than")
    if not licensed or COUNTED.match(ctx.text, m.end()):
        return None
    return Reading(interval=spans.year(int(m["year"])))


def year_range(ctx: Context, m: re.Match[str]) -> Reading:
    return Reading(interval=spans.hull(spans.year(int(m["first"])), spans.year(int(m["last"]))))


def _of_year(name: str) -> OfYear:
    """A season or a month by name, for any year."""
    if name in SEASONS:
        return lambda year: spans.season(name, year)
    return lambda year: spans.month(year, month_number(name))


def season_year(ctx: Context, m: re.Match[str]) -> Reading:
    name, year = m["season"].lower(), _year(m)
    # Most of a winter lies in the year after the one it begins in, so both are called by that year.
    other = (spans.season(name, year - 1),) if name == "winter" else ()
    return Reading(interval=spans.season(name, year), alternatives=other)


def bare_season(ctx: Context, m: re.Match[str]) -> Reading | None:
    name = m["season"].lower()
    if ctx.licence not in (_FALL_IN if name == "fall" else _SEASON_IN) or _ATTRIBUTE.match(ctx.text, m.end()):
        return None
    if m["season"][0].isupper() and _NAME_NEXT.match(ctx.text, m.end()):
        return None  # the Winter Garden
    return yearly(ctx, m.start(), m.end(), _of_year(name))


def named_season(ctx: Context, m: re.Match[str]) -> Reading:
    return named_yearly(ctx, m["which"].lower(), _of_year(m["season"].lower()), m.start(), m.end())


def of_year(ctx: Context, m: re.Match[str]) -> Reading | None:
    """Spring of last year, August this year."""
    if m["what"].lower() in ("may", "march", "fall", "spring") and m["what"][0].islower() and not m["of"]:
        return None
    return Reading(interval=_of_year(m["what"].lower())(year_meant(ctx, m)))


def before_last(ctx: Context, m: re.Match[str]) -> Reading:
    return Reading(interval=years_ago(ctx, 2, _of_year(m["what"].lower())))


def yearly_ago(ctx: Context, m: re.Match[str]) -> Reading:
    count, loose = number(m["n"])
    return Reading(interval=years_ago(ctx, int(count), _of_year(m["what"].lower())), approximate=loose)


def quarter(ctx: Context, m: re.Match[str]) -> Reading:
    month = 3 * int(m["q"])
    if m["year"]:
        return Reading(interval=spans.unit("quarter", datetime(int(m["year"]), month, 1), 0))
    return yearly(ctx, m.start(), m.end(), lambda year: spans.unit("quarter", datetime(year, month, 1), 0))


def half_year(ctx: Context, m: re.Match[str]) -> Reading:
    return Reading(interval=spans.slice_of(spans.year(int(m["year"])), int(m["half"]) - 1, 2))


_THE_PART = re.compile(r"\bthe\s+(?:early|mid|late)[\s-]+$", re.IGNORECASE)
DECADES = {
    name: 10 * n
    for n, name in enumerate(
        ["twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"], start=2
    )
}


def decade(ctx: Context, m: re.Match[str]) -> Reading | None:
    if m["century"]:
        start = int(m["century"]) * 100 + int(m["tens"]) * 10
    elif not m["the"] and (ctx.licence != "sub" or (m["word"] and not _THE_PART.search(ctx.text[: m.start()]))):
        return None  # "in her thirties"
    else:
        tens = DECADES[m["word"].lower()] if m["word"] else int(m["decade"]) * 10
        start = (ctx.at.year - tens) // 100 * 100 + tens
    return Reading(interval=spans.year(start, 10, "decade"))


def century(ctx: Context, m: re.Match[str]) -> Reading:
    return Reading(interval=spans.year((ordinal(m["nth"]) - 1) * 100, 100, "span"))


_COUNTING = one_of(word for word in ORDINALS if word not in ("last", "final"))
_M = frozenset(MONTHS)
_S = frozenset(SEASONS)
_LONG_MONTH = one_of(name for name in MONTHS if name not in _SHORT or name in ("june", "july", "march", "may"))
_TAIL = rf"(?:(?P<year>{YEAR})|[\x27\u2019](?P<short>\d\d)(?!\d|s\b))"
_JOIN = r"(?: (?:to|until|till|through|thru) | ?[-\u2013\u2014] ?)"
RULES = (
    Rule("month_year", _M, rx(rf"(?P<month>{MONTH})\.?,?(?: of)? ?{_TAIL}"), month_year),
    Rule("bare_month", _M, rx(rf"(?P<month>{MONTH})"), bare_month),
    Rule("named_month", WHICH_STARTS, rx(rf"(?:this )?(?P<which>{WHICH}) (?P<month>{MONTH})(?! \d)"), named_month),
    Rule(
        "month_range",
        _M,
        rx(rf"(?P<first>{MONTH}){_JOIN}(?P<last>{MONTH})(?! \d{{1,2}}\b)(?:,?(?: of)? (?P<year>{YEAR}))?"),
        month_range,
    ),
    Rule("bare_year", frozenset("#"), rx(rf"(?P<year>{YEAR})"), bare_year),
    Rule("year_range", frozenset("#"), rx(rf"(?P<first>{YEAR}){_JOIN}(?P<last>{YEAR})"), year_range),
    Rule(
        "season_year",
        _S | {"the"},
        rx(rf"(?:the )?(?P<season>{SEASON})(?: of|,)? {_TAIL}"),
        season_year,
    ),
    Rule("bare_season", _S | {"the"}, rx(rf"(?:the )?(?P<season>{SEASON})(?:time)?"), bare_season),
    Rule("named_season", WHICH_STARTS, rx(rf"(?:this )?(?P<which>{WHICH}) (?P<season>{SEASON})"), named_season),
    Rule(
        "of_year",
        _M | _S | {"the"},
        rx(rf"(?:the )?(?P<what>{SEASON}|{_LONG_MONTH})(?P<of>,| of| in)? (?P<which>last|this|next) year"),
        of_year,
    ),
    Rule("before_last", _M | _S | {"the"}, rx(rf"(?:the )?(?P<what>{SEASON}|{_LONG_MONTH}) before last"), before_last),
    Rule(
        "yearly_ago",
        NUMBER_STARTS,
        rx(rf"(?P<n>{NUMBER}) (?P<what>{SEASON}|{_LONG_MONTH})s? (?:ago|back)"),
        yearly_ago,
    ),
    Rule("quarter", frozenset("q"), rx(rf"q(?P<q>[1-4])(?:(?: of|,)? (?P<year>{YEAR}))?"), quarter),
    Rule("half_year", frozenset("h"), rx(rf"h(?P<half>[12])(?: of|,)? (?P<year>{YEAR})"), half_year),
    Rule(
        "decade",
        frozenset({"the", "#", "'", *DECADES}),
        rx(
            r"(?P<the>the )?(?:(?P<century>1[89]|20)(?P<tens>\d)0'?s|'?(?P<decade>[3-9])0'?s"
            rf"|(?P<word>{one_of(DECADES)}))"
        ),
        decade,
    ),
    Rule(
        "century",
        frozenset({"the", "#", *ORDINALS}),
        rx(rf"(?:the )?(?P<nth>\d{{1,2}}(?:st|nd|rd|th)|{_COUNTING})[ -]century"),
        century,
    ),
)
