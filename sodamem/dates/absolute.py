"""Rules for days with a number: 5 May 2023, March 3rd, 2023-05-07, 03/04, on the 15th, Friday the 13th.

Day-month order is a policy; where it leaves the order open both days are kept.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sodamem.dates import spans
from sodamem.dates.scan import UNRESOLVED, Context, Reading, Rule
from sodamem.dates.words import (
    COUNTED,
    DAY_TH,
    MONTH,
    MONTHS,
    ORDINALS,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    month_number,
    one_of,
    ordinal,
    rx,
    weekday_number,
)
from sodamem.dates.yearly import OfYear, yearly
from sodamem.types import Interval

END_OF_PHRASE = re.compile(
    r"\s*(?:$|[.,;:!?)\]\"'\u2014\n])|\s+-|\s+(?:(?:and|or|to)(?!\s+\d+\w\w\s+cent)|or|at|in|on|after|before|for|with|from|of|we|i|he|she|they|you|it|but|"
    r"so|because|when|while|is|was|will|then|my|our|the|that|this|next|last)\b",
    re.IGNORECASE,
)
_DATED_IN = ("on", "by", "since", "until", "till", "from", "before", "after", "between")
_DAY_IN = ("on", "since", "until", "till", "by", "before", "after", "from", "sub", "between")


def _same_day(month: int, day: int) -> OfYear:
    """A day of any year; for 29 February the last leap year is meant."""

    def of_year(year: int) -> Interval:
        while (month, day) == (2, 29) and not (year % 4 == 0 and (year % 100 or year % 400 == 0)):
            year -= 1
        return spans.date(year, month, day)

    return of_year


def named_date(ctx: Context, m: re.Match[str]) -> Reading | None:
    """A day and a month in words, in either order, with or without weekday and year."""
    written, day = m["month"] or m["month2"], m["day"] or m["day2"]
    year = m["year"] or m["year2"]
    bare = not year and day.isdigit()
    # "I may 10 times ..", "march 5 miles": a plain number after a plain word is no date.
    if bare and (
        COUNTED.match(ctx.text, m.end()) or (written.lower() in ("may", "march", "mar") and written[0].islower())
    ):
        return None
    number, of_month = month_number(written), ordinal(day)
    if year:
        return Reading(interval=spans.date(int(year), number, of_month))
    return yearly(ctx, m.start(), m.end(), _same_day(number, of_month))


def iso(ctx: Context, m: re.Match[str]) -> Reading:
    whole = spans.date(int(m["y"]), int(m["m"]), int(m["d"]))
    if m["h"]:
        return Reading(interval=spans.unit("minute", whole.start.replace(hour=int(m["h"]), minute=int(m["min"])), 0))
    return Reading(interval=whole)


def iso_month(ctx: Context, m: re.Match[str]) -> Reading:
    return Reading(interval=spans.month(int(m["y"]), int(m["m"])))


def dashed(ctx: Context, m: re.Match[str]) -> Reading:
    return Reading(interval=spans.date(_full(m["year"]), month_number(m["month"]), int(m["day"])))


def _full(year: str) -> int:
    return int(year) if len(year) == 4 else int(year) + (1900 if int(year) > 68 else 2000)


def numeric(ctx: Context, m: re.Match[str]) -> Reading | None:
    """Day and month in digits. Both orders stand while both are dates and the policy leaves the order open."""
    first, second, year = int(m["a"]), int(m["b"] or m["b2"]), m["y"] or m["y2"]
    if year is None:
        padded = len(m["a"]) == 2 and len(m["b"]) == 2
        if not (padded or ctx.licence in _DATED_IN) or COUNTED.match(ctx.text, m.end()):
            return None
    if not (1 <= min(first, second) <= 12 and max(first, second) <= 31):
        return None
    day_first, month_first = (first, second), (second, first)
    order = ctx.policy.day_month_order
    pairs = [day_first, month_first] if order == "day_first" else [month_first, day_first]
    readings = []
    for day, month in pairs:
        if month <= 12:
            of_year = _same_day(month, day)
            found = Reading(interval=of_year(_full(year))) if year else yearly(ctx, m.start(), m.end(), of_year)
            readings.append(found.interval)
    kept = [i for i in readings if i is not None]
    return Reading(interval=kept[0], alternatives=tuple(kept[1:]) if order == "both" else ())


def day_of_month(ctx: Context, m: re.Match[str]) -> Reading | None:
    """On the 15th, Friday the 13th: of the month that the tense points to."""
    weekday = m["weekday"]
    if not weekday and (ctx.licence not in _DAY_IN or not END_OF_PHRASE.match(ctx.text, m.end())):
        return None
    of_month, told = ordinal(m["day"]), ctx.side(m.start(), m.end())
    for steps in range(30):
        start = spans.unit("month", ctx.at, 0, steps if told == "future" else -steps).start
        try:
            found = spans.date(start.year, start.month, of_month)
        except ValueError:
            continue  # a month without a 31st
        if weekday and found.start.weekday() != weekday_number(weekday):
            continue
        if (found.end > ctx.at) if told == "future" else (found.start <= ctx.at):
            return Reading(interval=found)
    return UNRESOLVED


_OF_NAMED_MONTH = rx(r"(?:,)? (?:on )?the (?P<day>\d{1,2}(?:st|nd|rd|th))")


def add_day(ctx: Context, base: Reading, start: int) -> Reading | None:
    """Next month + on the 15th."""
    if base.interval is None or base.interval.grain != "month" or base.rule not in ("named_unit", "named_month"):
        return None
    m = _OF_NAMED_MONTH.match(ctx.text, base.end)
    if m is None:
        return None
    month = base.interval.start
    return replace(base, interval=spans.date(month.year, month.month, ordinal(m["day"])), end=m.end())


SUFFIXES = (add_day,)
_COUNTING = [word for word in ORDINALS if word not in ("last", "final")]
_AFTER_MONTH = [word for word in _COUNTING if word != "second"]  # "March second" is rarer than "May second that"
_LEAD = rf"(?:{WEEKDAY},? )?(?:the )?"
_Y = rf"(?:(?:,| of|,? in)? ?(?P<year>{YEAR}))?"
_Y2 = _Y.replace("<year>", "<year2>")
RULES = (
    Rule(
        "named_date",
        frozenset({"#", "the", *MONTHS, *WEEKDAYS, *ORDINALS, *("twenty", "thirty")}),
        rx(
            rf"{_LEAD}(?P<day>{DAY_TH}|{one_of(_COUNTING)})(?: of)?,? ?(?P<month>{MONTH}){_Y}"
            rf"|{_LEAD}(?P<month2>{MONTH}) (?:the )?(?P<day2>{DAY_TH}|{one_of(_AFTER_MONTH)})(?![\d:]){_Y2}"
        ),
        named_date,
    ),
    Rule(
        "iso",
        frozenset("#"),
        rx(
            r"(?P<y>\d{4})(?P<sep>[-/.])(?P<m>0?[1-9]|1[0-2])(?P=sep)(?P<d>\d{1,2})"
            r"(?:[T ](?P<h>[01]\d|2[0-3]):(?P<min>[0-5]\d)(?::\d\d)?)?(?![-/.]?\d)"
        ),
        iso,
    ),
    Rule("iso_month", frozenset("#"), rx(r"(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])(?![-\d])"), iso_month),
    Rule(
        "dashed",
        frozenset("#"),
        rx(rf"(?P<day>\d{{1,2}})[-/](?P<month>{one_of(MONTHS)})[-/](?P<year>\d{{4}}|\d\d)"),
        dashed,
    ),
    Rule(
        "numeric",
        frozenset("#"),
        rx(
            r"(?P<a>\d{1,2})(?:/(?P<b>\d{1,2})(?:/(?P<y>\d{4}|\d\d))?"
            r"|(?P<s>[.-])(?P<b2>\d{1,2})(?P=s)(?P<y2>\d{4}))(?![-/\d]|\.\d|%)"
        ),
        numeric,
    ),
    Rule(
        "day_of_month",
        frozenset({"the", "#", *WEEKDAYS}),
        rx(rf"(?:(?P<weekday>{WEEKDAY}),? )?(?:the )?(?P<day>\d{{1,2}}(?:st|nd|rd|th))"),
        day_of_month,
    ),
)
