"""Where something that comes once a year falls: 5 May, in August, Christmas, last summer, in May of last year.

A missing year comes from the anchor and the tense, never from today.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from sodamem.dates import spans
from sodamem.dates.scan import Context, Reading
from sodamem.dates.words import rx
from sodamem.types import Interval

OfYear = Callable[[int], Interval]
# Without a tense the anchor's year holds, unless the occurrence across New Year is nearer than this.
_WRAP = timedelta(days=62)
WHICH = "this|last|next|past|coming|upcoming|previous"
WHICH_STARTS = frozenset(WHICH.split("|"))


def yearly(ctx: Context, start: int, end: int, of_year: OfYear) -> Reading:
    """The occurrence that the tense points to: the latest that has begun, or the next that has not ended.

    Without a tense it is the anchor's year, or across New Year when that is within two months.
    """
    if ctx.year is not None:
        return Reading(interval=of_year(ctx.year))
    told = "past" if ctx.licence == "since" else ctx.tense(start, end)
    here = of_year(ctx.at.year)
    if told == "past":
        return Reading(interval=here if here.start <= ctx.at else of_year(ctx.at.year - 1))
    if told == "future":
        return Reading(interval=here if here.end > ctx.at else of_year(ctx.at.year + 1))
    there = of_year(ctx.at.year + (-1 if here.start > ctx.at else 1))
    if there.start != here.start and min(abs(there.start - ctx.at), abs(there.end - ctx.at)) < _WRAP:
        return Reading(interval=there, alternatives=(here,))
    return Reading(interval=here)


def named_yearly(ctx: Context, which: str, of_year: OfYear, start: int, end: int) -> Reading:
    """last: the latest that is over; next: the first to begin; this: the one under way or coming, by the tense."""
    around = [of_year(year) for year in range(ctx.at.year - 2, ctx.at.year + 3)]
    if which in ("last", "past", "previous"):
        return Reading(interval=[i for i in around if i.end <= spans.midnight(ctx.at)][-1])
    if which in ("next", "coming", "upcoming"):
        found = next(i for i in around if i.start > ctx.at)
        # "next summer" said in spring may mean the one after the coming one.
        doubtful = which == "next" and found.start.year == ctx.at.year
        return Reading(interval=found, alternatives=(of_year(found.start.year + 1),) if doubtful else ())
    if ctx.tense(start, end) == "past":
        return Reading(interval=[i for i in around if i.start <= ctx.at][-1])
    return Reading(interval=next(i for i in around if i.end > ctx.at))


def years_ago(ctx: Context, count: int, of_year: OfYear) -> Interval:
    """Two summers ago: the latest that is over is the first to be counted."""
    around = [of_year(year) for year in range(ctx.at.year - 2, ctx.at.year + 1)]
    last = [i for i in around if i.end <= spans.midnight(ctx.at)][-1]
    return of_year(last.start.year - count + 1)


_YEARLY = ("named_date", "numeric", "bare_month", "bare_season", "quarter", "feast", "days_of_month", "month_range")
OF_YEAR = rx(r"(?:,|'s)?(?: of| in| from)? (?P<which>last|this|next) year")


def year_meant(ctx: Context, match: re.Match[str]) -> int:
    return ctx.at.year + {"last": -1, "this": 0, "next": 1}[match["which"].lower()]


def add_year(ctx: Context, base: Reading, start: int) -> Reading | None:
    """In May + last year, Christmas + of this year: the same words, read in that year."""
    match = OF_YEAR.match(ctx.text, base.end) if base.rule in _YEARLY else None
    if match is None:
        return None
    again = ctx.phrase(start, ctx.licence or "in", year=year_meant(ctx, match), extend=False)
    return replace(again, end=match.end(), rule="of_year") if again else None


SUFFIXES = (add_year,)
