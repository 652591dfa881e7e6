"""Rules that take another time phrase inside: first weekend of August, the week before 9 June, early May, from A to B.

After arXiv 2608.08055, section 4.3; the inner phrase is read by the same rules, so they nest.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from sodamem.dates import spans
from sodamem.dates.relative import NUMBER_STARTS, amount, inner
from sodamem.dates.scan import UNRESOLVED, Context, Reading, Rule
from sodamem.dates.words import (
    AMOUNT,
    NUMBER,
    ORDINAL,
    ORDINALS,
    WEEKDAY,
    WEEKDAYS,
    number,
    ordinal,
    rx,
    starting,
    weekday_number,
)
from sodamem.types import Interval


def over(
    found: Reading, interval: Interval, *, approximate: bool = False, alternatives: tuple[Interval, ...] = ()
) -> Reading:
    """The outer reading, with the end and the looseness of the inner one."""
    return Reading(
        interval=interval, end=found.end, approximate=found.approximate or approximate, alternatives=alternatives
    )


def nth_of(period: Interval, nth: int, what: str, week_start: int) -> Interval:
    """The nth day, week, weekend, weekday ... of a period; week n of a month is its days 7n-6 to 7n."""
    if what in WEEKDAYS:
        return spans.nth_weekday(period, weekday_number(what), nth)
    if what == "weekend":
        return spans.weekend(spans.nth_weekday(period, 5, nth).start)
    if what == "day":
        return spans.day(period.start if nth > 0 else period.end, nth - 1 if nth > 0 else nth)
    if what == "half":
        return spans.slice_of(period, nth - 1 if nth > 0 else 1, 2)
    if what == "week":
        start = period.start + timedelta(days=7 * (nth - 1)) if nth > 0 else period.end + timedelta(days=7 * nth)
        found = spans.between(start, start + timedelta(days=7), "week")
    elif nth > 0:
        found = spans.unit(what, period.start, week_start, nth - 1)
    else:
        found = spans.unit(what, period.end - spans.ONE_DAY, week_start, nth + 1)
    if not found.meets(period):
        raise ValueError(f"the period has no {what} number {nth}")
    return found


def ordinal_in(ctx: Context, m: re.Match[str]) -> Reading | None:
    found = inner(ctx, m.end())
    if found is None:
        return None
    if found.interval is None:
        return replace(UNRESOLVED, end=found.end)
    if found.interval.end - found.interval.start <= spans.ONE_DAY:
        return None
    what = m["what"].lower().rstrip(".")
    nth = ordinal(m["nth"])
    others = tuple(nth_of(a, nth, what, ctx.policy.week_start) for a in found.alternatives)
    return over(found, nth_of(found.interval, nth, what, ctx.policy.week_start), alternatives=others)


def some_of(ctx: Context, m: re.Match[str]) -> Reading | None:
    """The last two weeks of April, the first few days of May."""
    found = inner(ctx, m.end())
    if found is None or found.interval is None:
        return found
    name, count, loose = amount(m)
    whole = found.interval
    if m["side"].lower() == "first":
        return over(found, spans.between(whole.start, spans.shift(whole.start, name, count)), approximate=loose)
    return over(found, spans.between(spans.shift(whole.end, name, -count), whole.end), approximate=loose)


def beside(ctx: Context, m: re.Match[str]) -> Reading | None:
    """The week before 9 June, the weekend after Easter, the Friday before last Christmas, the weekend of 5 May."""
    found = inner(ctx, m.end())
    if found is None:
        return _by_event(ctx, m)
    if found.interval is None:
        return replace(UNRESOLVED, end=found.end)
    what, where = m["what"].lower().rstrip("."), " ".join(m["where"].lower().split())
    side = 0 if where == "of" else 1 if where in ("after", "following") else -1
    if side == 0 and (what == "day" or (what in WEEKDAYS and found.interval.grain == "day")):
        return None  # "the day of the race"
    if side == 0 and what in _DAYS and (found.interval.end - found.interval.start).days > _DAYS[what]:
        return None  # "a quarter of a century"
    base = found.interval
    near, other = neighbour(ctx, what, base, side)
    return over(found, near, alternatives=other)


# The most days that a unit "of" something may hold: the week of 3 to 9 April.
_DAYS = {"weekend": 4, "week": 7, "month": 31, "quarter": 92, "year": 366}
_EVENT = re.compile(r"(?:the|my|his|her|our|their|your|i|we|she|he|they|you|that|this)\b", re.IGNORECASE)


def _by_event(ctx: Context, m: re.Match[str]) -> Reading | None:
    """The week before the wedding, two days after we met: dated by an event that only the story knows."""
    if m["where"].lower() not in ("before", "after", "following", "prior to") or not _EVENT.match(ctx.text, m.end()):
        return None
    if (
        not re.match(r"(?:the|an?|one|two|\d|a (?:few|couple))\b", m.group(), re.IGNORECASE)
        and "n" not in m.groupdict()
    ):
        return None  # "a quiet weekend after we came back"
    return replace(UNRESOLVED, end=m.end("where"))


def neighbour(ctx: Context, what: str, base: Interval, side: int) -> tuple[Interval, tuple[Interval, ...]]:
    """The unit on one side of an interval (-1 before, 0 around, 1 after), and the second reading where there is one."""
    last = base.end - spans.ONE_DAY if base.end - base.start >= spans.ONE_DAY else base.start
    if what in WEEKDAYS:
        weekday = weekday_number(what)
        if side == 0:
            return spans.nth_weekday(base, weekday, 1), ()
        return (spans.weekday_after(last, weekday) if side > 0 else spans.weekday_before(base.start, weekday)), ()
    if what in spans.PARTS:
        shifted = spans.day(last, 1) if side > 0 else spans.day(base.start, side)
        return spans.part_of(shifted, what), ()
    if what == "day":
        return (spans.day(last, 1) if side > 0 else spans.day(base.start, side)), ()
    if what == "weekend":
        own = spans.weekend(base.start)
        if side == 0:
            # A Monday's weekend may be the one just over.
            return own, (() if own.meets(base) else (spans.weekend(base.start, -1),))
        if side > 0:
            return (own if own.start >= base.end else spans.weekend(last, 1)), ()
        return (own if own.end <= base.start else spans.weekend(base.start, -1)), ()
    if what == "week" and side:
        seven = 7 * spans.ONE_DAY
        days = (
            spans.between(base.start - seven, base.start, "week")
            if side < 0
            else spans.between(base.end, base.end + seven, "week")
        )
        return spans.week(last if side > 0 else base.start, ctx.policy.week_start, side), (days,)
    return spans.unit(what, last if side > 0 else base.start, ctx.policy.week_start, side), ()


def counted_from(ctx: Context, m: re.Match[str]) -> Reading | None:
    """Two weeks before 11 August, three days after Christmas, a week from Friday, a few days before November."""
    found = inner(ctx, m.end())
    if found is None:
        return _by_event(ctx, m)
    if found.interval is None:
        return replace(UNRESOLVED, end=found.end)
    sign = -1 if m["where"].lower() in ("before", "prior to") else 1
    name, count, loose = amount(m)
    base = found.interval
    if loose and name == "day":
        # "a few days before" is the stretch right before: its near end is the date itself.
        reach = spans.shift(base.start, name, -2 * count) if sign < 0 else spans.shift(base.end, name, 2 * count)
        near = (reach, base.start) if sign < 0 else (base.end, reach)
        return over(found, spans.between(*near), approximate=True)
    if name == "weekend":
        step, _ = neighbour(ctx, "weekend", base, sign)
        return over(found, spans.weekend(step.start, sign * (count - 1)), approximate=loose)
    moved = spans.shift(base.start, name, sign * count)
    grain = "day" if sign > 0 or name == "day" else name
    return over(found, spans.unit(grain, moved, ctx.policy.week_start), approximate=loose)


def day_of_named_month(ctx: Context, m: re.Match[str]) -> Reading | None:
    """The 3rd of next month."""
    found = inner(ctx, m.end())
    if found is None or found.interval is None or found.interval.grain != "month":
        return None
    start = found.interval.start
    return over(found, spans.date(start.year, start.month, ordinal(m["nth"])))


def weekdays_from(ctx: Context, m: re.Match[str]) -> Reading | None:
    found = inner(ctx, m.end())
    if found is None or found.interval is None:
        return found
    count, loose = number(m["n"])
    side = -1 if m["where"].lower() == "before" else 1
    near, _ = neighbour(ctx, m["day"].lower(), found.interval, side)
    return over(found, spans.day(near.start, 7 * side * (int(count) - 1)), approximate=loose)


_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}


def third_of(ctx: Context, m: re.Match[str]) -> Reading | None:
    """Early May, mid-2019, the end of next month, late last night: a third of it, or half of a day, loosely."""
    found = inner(ctx, m.end())
    if found is None or found.interval is None:
        return found
    whole = found.interval
    if found.rule == "day_of_month":
        return None
    index = _THIRDS[m["third"].lower().split()[0]]
    if whole.grain == "minute":
        return None
    if whole.grain == "day":
        if index == 1:
            return None
        # early tomorrow, late last night: the first or last half of the hours named
        middle = whole.start + (whole.end - whole.start) / 2
        start, end = (middle, whole.end) if index else (whole.start, middle)
        return over(found, spans.between(start, end, "day"), approximate=True)
    others = tuple(spans.slice_of(a, index, 3) for a in found.alternatives if a.end - a.start > 2 * spans.ONE_DAY)
    return over(found, spans.slice_of(whole, index, 3), approximate=True, alternatives=others)


def hedged(ctx: Context, m: re.Match[str]) -> Reading | None:
    found = ctx.phrase(m.end(), ctx.licence or ("in" if "in" in m.group().lower().split() else "around"))
    return None if found is None else replace(found, approximate=True)


_WHAT = rf"(?P<what>weekend|week|month|quarter|year|day|half|decade|{WEEKDAY})"
RULES = (
    Rule(
        "ordinal_in",
        starting("the # very", ORDINALS),
        rx(rf"(?:the )?(?:very )?(?P<nth>{ORDINAL}) (?:full )?{_WHAT} (?:of|in) (?=\w|')"),
        ordinal_in,
    ),
    Rule(
        "some_of",
        starting("the first last"),
        rx(rf"(?:the )?(?P<side>first|last) {AMOUNT} (?:of|in) (?=\w)"),
        some_of,
    ),
    Rule(
        "beside",
        starting("the a one last week weekend month quarter year day night evening morning afternoon", WEEKDAYS),
        rx(
            r"(?:the |a |one |last (?=week|weekend))?(?:very |whole )?"
            rf"(?P<what>weekend|week|month|quarter|year|day|night|evening|morning|afternoon|{WEEKDAY}) "
            r"(?:right |just )?(?P<where>before|after|following|prior to|preceding|leading up to|of) (?=\w)"
        ),
        beside,
    ),
    Rule(
        "counted_from",
        NUMBER_STARTS,
        rx(rf"{AMOUNT} (?P<where>before|after|from|prior to|following) (?=\w)"),
        counted_from,
    ),
    Rule(
        "day_of_named_month",
        starting("the #"),
        rx(r"(?:the )?(?P<nth>\d{1,2}(?:st|nd|rd|th)) of (?=(?:next|last|this|the|that) month)"),
        day_of_named_month,
    ),
    Rule(
        "weekdays_from",
        NUMBER_STARTS,
        rx(rf"(?P<n>{NUMBER}) (?P<day>{WEEKDAY})s? (?P<where>before|after|from) (?=\w)"),
        weekdays_from,
    ),
    Rule(
        "third_of",
        starting("the early mid middle late beginning start end"),
        rx(
            r"(?:(?:the )?(?P<third>beginning of|start of|middle of|end of|early(?: in)?|mid|late(?: in)?)(?: |-))"
            r"(?=\w|')"
        ),
        third_of,
    ),
    Rule(
        "hedged",
        starting("around about approximately roughly circa sometime"),
        rx(r"(?:around|about|approximately|roughly|circa|sometime(?: in| around| during)?) (?:the )?(?=\w)"),
        hedged,
    ),
)
