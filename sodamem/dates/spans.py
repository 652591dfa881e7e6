"""Calendar arithmetic on floating times: units, weekends, seasons, parts of the day, and steps between them.

The half-open intervals of arXiv 2608.08055, section 3.2; month steps clamp to the month's end (29 February
plus one year is 28 February), which is dateutil's rule.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from dateutil.relativedelta import relativedelta

from sodamem.types import Grain, Interval

ONE_DAY = timedelta(days=1)
SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
# Hours of the part's begin and end, counted from midnight of its day.
PARTS = {
    "dawn": (5, 7),
    "morning": (5, 12),
    "noon": (12, 13),
    "lunchtime": (12, 14),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 30),
}
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
GRAIN_OF: dict[str, Grain] = {"hour": "minute", "century": "span"}


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def between(start: datetime, end: datetime, grain: Grain = "span") -> Interval:
    return Interval(start=start, end=end, grain=grain)


def day(moment: datetime, steps: int = 0) -> Interval:
    start = midnight(moment) + steps * ONE_DAY
    return between(start, start + ONE_DAY, "day")


def date(year: int, month: int, day_of_month: int) -> Interval:
    """One day; raises ValueError where the calendar has no such day."""
    return day(datetime(year, month, day_of_month))


def month(year: int, number: int) -> Interval:
    start = datetime(year, number, 1)
    return between(start, start + relativedelta(months=1), "month")


def year(number: int, count: int = 1, grain: Grain = "year") -> Interval:
    return between(datetime(number, 1, 1), datetime(number + count, 1, 1), grain)


def season(name: str, number: int) -> Interval:
    """Meteorological season that begins in the given year: winter 2022 runs from December 2022 to February 2023."""
    start = datetime(number, SEASON_STARTS[name], 1)
    return between(start, start + relativedelta(months=3), "season")


def week(moment: datetime, week_start: int, steps: int = 0) -> Interval:
    start = midnight(moment) - ((moment.weekday() - week_start) % 7) * ONE_DAY + steps * 7 * ONE_DAY
    return between(start, start + 7 * ONE_DAY, "week")


def weekend(moment: datetime, steps: int = 0) -> Interval:
    """The Saturday and Sunday of the week (from Monday) that holds the moment, some weeks on."""
    start = week(moment, 0, steps).start + 5 * ONE_DAY
    return between(start, start + 2 * ONE_DAY, "weekend")


def unit(name: str, moment: datetime, week_start: int, steps: int = 0) -> Interval:
    """The calendar unit that holds the moment, moved by whole units."""
    if name == "minute":
        start = moment.replace(second=0, microsecond=0) + timedelta(minutes=steps)
        return between(start, start + timedelta(minutes=1), "minute")
    if name == "hour":
        start = moment.replace(minute=0, second=0, microsecond=0) + timedelta(hours=steps)
        return between(start, start + timedelta(hours=1), "minute")
    if name == "day":
        return day(moment, steps)
    if name == "week":
        return week(moment, week_start, steps)
    if name == "weekend":
        return weekend(moment, steps)
    size = MONTHS_IN[name]
    first = (moment.year * 12 + moment.month - 1) // size * size + steps * size
    start = datetime(first // 12, first % 12 + 1, 1)
    return between(start, start + relativedelta(months=size), GRAIN_OF.get(name) or name)  # type: ignore[arg-type]


def shift(moment: datetime, name: str, steps: int) -> datetime:
    """The moment moved by whole units, keeping the clock."""
    if name in ("minute", "hour", "day", "week"):
        return moment + timedelta(**{name + "s": steps})
    if name == "weekend":
        return moment + timedelta(weeks=steps)
    return moment + relativedelta(months=steps * MONTHS_IN[name])


def weekday_after(moment: datetime, weekday: int, *, today: bool = False) -> Interval:
    """First such weekday after the moment's day, or on it when today counts."""
    ahead = (weekday - moment.weekday()) % 7
    return day(moment, ahead if ahead or today else 7)


def weekday_before(moment: datetime, weekday: int) -> Interval:
    """Last such weekday strictly before the moment's day."""
    return day(moment, -((moment.weekday() - weekday - 1) % 7 + 1))


def nth_weekday(period: Interval, weekday: int, nth: int) -> Interval:
    """The nth (from 1; -1 is the last) such weekday of a period; raises ValueError beyond its end."""
    if nth > 0:
        found = day(weekday_after(period.start, weekday, today=True).start, 7 * (nth - 1))
    else:
        found = day(weekday_before(period.end, weekday).start, 7 * (nth + 1))
    if not (period.start <= found.start < period.end):
        raise ValueError(f"no weekday {weekday} number {nth} in the period")
    return found


def part_of(whole: Interval, part: str) -> Interval:
    """A part of a day keeps the grain of the day: it is the finest calendar unit that was named."""
    begin, end = PARTS[part]
    start = midnight(whole.start)
    return between(start + timedelta(hours=begin), start + timedelta(hours=end), "day")


def slice_of(whole: Interval, index: int, pieces: int) -> Interval:
    """One of equal pieces of an interval: on whole months where they divide it, else on whole days."""
    months = (whole.end.year - whole.start.year) * 12 + whole.end.month - whole.start.month
    if whole.start.day == whole.end.day == 1 and months % pieces == 0:
        first = whole.start + relativedelta(months=months // pieces * index)
        return between(first, first + relativedelta(months=months // pieces))
    days = (whole.end - whole.start) / ONE_DAY
    start = whole.start + round(days * index / pieces) * ONE_DAY
    end = whole.start + round(days * (index + 1) / pieces) * ONE_DAY
    return between(start, end)


def hull(first: Interval, last: Interval, grain: Grain = "span") -> Interval:
    """From the start of one to the end of the other; raises DataError when that runs backwards."""
    return between(first.start, last.end, grain)
