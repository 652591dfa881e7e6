"""Rules for stretches: from A to B, 3-7 May, between October 19 and 24, since 2016, for the past two years.

A month or year said once holds for both ends; "since" keeps the moment it began as its other reading.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from sodamem.dates import spans
from sodamem.dates.compose import over
from sodamem.dates.relative import HEDGE, HEDGE_STARTS, NUMBER_STARTS, amount, inner
from sodamem.dates.scan import UNRESOLVED, Context, Reading, Rule
from sodamem.dates.words import AMOUNT, DAY_TH, MONTH, MONTHS, YEAR, month_number, ordinal, rx, starting
from sodamem.dates.yearly import yearly
from sodamem.types import Interval

_DASH = r" ?[-\u2013\u2014] ?"
_TO = re.compile(r"(?:\s+(?:to|until|till|through|thru)\s+|\s*[-\u2013\u2014]\s*)(?:the\s+)?", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|to)\s+(?:the\s+)?|\s*[-\u2013\u2014]\s*", re.IGNORECASE)
_DATED = (
    "named_date",
    "iso",
    "numeric",
    "month_year",
    "bare_year",
    "bare_month",
    "bare_weekday",
    "named_weekday",
    "clock",
)
# "have been", "I've known": what began then still goes on.
_PERFECT = re.compile(
    r"\b(?:have|has|haven['\u2019]?t|hasn['\u2019]?t|\w+['\u2019]ve|\w+['\u2019]s(?=\s+been))"
    r"(?:\s+(?:not|never|also|only|just|really|\w+ly))*\s+"
    r"(?:been|had|known|\w{2,}ed|gone|done|seen|taken|made|kept|held|spent|met|worn|driven|written|read|run|built)\b[^.!?]*$",
    re.IGNORECASE,
)


def since(ctx: Context, m: re.Match[str]) -> Reading | None:
    """From the start of the named time until the anchor; raises DataError when that lies ahead."""
    found = inner(ctx, m.end()) if m["lead"] is None else None
    found = ctx.phrase(m.end(), "since") or found
    if found is None or found.interval is None:
        return found
    end = spans.day(ctx.at).end
    return over(found, spans.between(found.interval.start, end), alternatives=(found.interval,))


def lasting(ctx: Context, m: re.Match[str]) -> Reading | None:
    """For three years (now): anchored when the sentence says that it still goes on, else a length without a date."""
    name, count, loose = amount(m)
    if name in ("minute", "hour"):
        return None
    sentence = re.split(r"[.!?\n]", ctx.text[: m.start()])[-1]
    still = m["now"] or _PERFECT.search(sentence)
    if m["for"] is None and not m["now"]:
        return None
    if not still:
        return UNRESOLVED
    today = spans.day(ctx.at)
    start = spans.shift(today.start, name, -count)
    began = spans.unit(name, start, ctx.policy.week_start)
    return Reading(
        interval=spans.between(start, today.end), approximate=loose or bool(m["hedge"]), alternatives=(began,)
    )


def ranged(ctx: Context, m: re.Match[str]) -> Reading | None:
    lead = m["lead"].lower()
    first = ctx.phrase(m.end(), "between")
    if first is None or first.interval is None:
        return None
    if first.rule == "range":
        return first
    joint = (_TO if lead == "from" else _AND).match(ctx.text, first.end)
    return _joined(ctx, m.end(), first, joint.end()) if joint else None


def _joined(ctx: Context, start: int, first: Reading, position: int) -> Reading | None:
    last = ctx.phrase(position, "between")
    if first.interval is None or last is None or last.interval is None:
        return None
    begin = first.interval
    if begin.start >= last.interval.start or last.interval.start - begin.start > timedelta(days=366):
        again = ctx.phrase(start, "since", at=last.interval.start, extend=False)
        if again is not None and again.interval is not None and again.alternatives == ():
            begin = again.interval
    # A clock time ends a stretch, the hour named last is not part of it.
    end = last.interval.start if last.interval.grain == "minute" else last.interval.end
    return over(last, spans.between(begin.start, end), approximate=first.approximate)


def days_of_month(ctx: Context, m: re.Match[str]) -> Reading | None:
    """3-7 May 2023, May 3 to 7, between October 19 and 24, 2023."""
    month = month_number(m["month"] or m["month2"])
    first, last = ordinal(m["a"] or m["a2"]), ordinal(m["b"] or m["b2"])
    if m["lead"] is None and " and " in f" {' '.join(m.group().lower().split())} ":
        return None
    written = m["year"] or m["year2"]

    def days(year: int) -> Interval:
        return spans.hull(spans.date(year, month, first), spans.date(year, month, last))

    return Reading(interval=days(int(written))) if written else yearly(ctx, m.start(), m.end(), days)


def add_range(ctx: Context, base: Reading, start: int) -> Reading | None:
    """5 May 2023 - 9 June 2023, Monday to Wednesday, 2019-2021."""
    if base.rule not in _DATED or base.interval is None:
        return None
    joint = _TO.match(ctx.text, base.end)
    joined = _joined(ctx, start, base, joint.end()) if joint else None
    return replace(joined, rule="range") if joined else None


SUFFIXES = (add_range,)
_JOIN = rf"(?: to | and | until | till | through | thru |{_DASH})(?:the )?"
_NOW = r"(?P<now> (?:now|and counting)| already now)"
RULES = (
    Rule("since", starting("since ever"), rx(r"(?P<lead>ever )?since (?=\w)"), since),
    Rule(
        "lasting",
        NUMBER_STARTS | HEDGE_STARTS | {"for"},
        rx(rf"(?P<for>for )?{HEDGE}{AMOUNT}{_NOW}?"),
        lasting,
    ),
    Rule("range", starting("from between"), rx(r"(?P<lead>from|between) (?:the )?(?=\w)"), ranged),
    Rule(
        "days_of_month",
        starting("from between #", MONTHS),
        rx(
            r"(?:(?P<lead>from|between) )?(?:"
            rf"(?:the )?(?P<a>{DAY_TH}){_JOIN}(?P<b>{DAY_TH})(?: of)?,? (?P<month>{MONTH})(?:,? (?P<year>{YEAR}))?"
            rf"|(?P<month2>{MONTH}) (?:the )?(?P<a2>{DAY_TH}){_JOIN}(?P<b2>{DAY_TH})(?![\d:])(?:,? (?P<year2>{YEAR}))?)"
        ),
        days_of_month,
    ),
)
