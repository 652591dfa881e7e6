"""Time expressions with their gold interval: the words come from the date, never the date from the words.

Calendar arithmetic of its own, so that it can serve as a second implementation to the rules of sodamem.timeline.
Weeks begin on Monday; last/next weekday is the nearest one, strictly before/after; N weeks (months) ago is the
whole week (month) that holds the day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from random import Random

from sodamem.types import Grain, Interval

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_HOLIDAYS = {
    "last Christmas": (12, 25), "on Boxing Day": (12, 26), "on New Year's Eve": (12, 31),
    "on New Year's Day": (1, 1), "on Valentine's Day": (2, 14), "on Halloween": (10, 31),
}  # fmt: skip
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrase:
    """Words that fit after "I did it ..." and the stretch of time they mean."""

    words: str
    interval: Interval


def midnight(day: date) -> datetime:
    return datetime.combine(day, time.min)


def stretch(first: date, days: int, grain: Grain) -> Interval:
    return Interval(start=midnight(first), end=midnight(first + timedelta(days=days)), grain=grain)


def week_of(day: date) -> Interval:
    return stretch(day - timedelta(days=day.weekday()), 7, "week")


def month_of(year: int, month: int) -> Interval:
    """The calendar month; `month` may run over either end of the year."""
    first, after = (date(year + (m - 1) // 12, (m - 1) % 12 + 1, 1) for m in (month, month + 1))
    return Interval(start=midnight(first), end=midnight(after), grain="month")


def weekend_before(day: date) -> date:
    """The Saturday of the last weekend that is over before `day`, or before the weekend `day` is in."""
    monday = day - timedelta(days=day.weekday())
    return monday - timedelta(days=2)


def spoken(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def describe(interval: Interval) -> str:
    """The gold answer to a when-question, at the grain of the interval."""
    first, last = interval.start.date(), (interval.end - _ONE_DAY).date()
    match interval.grain:
        case "day":
            return f"{_WEEKDAYS[first.weekday()]} {spoken(first)}"
        case "month":
            return f"{_MONTHS[first.month - 1]} {first.year}"
        case "year":
            return str(first.year)
        case "season":
            name = next(name for name, month in _SEASONS.items() if month == first.month)
            return f"{name} {first.year}" if first.year == last.year else f"{name} {first.year}/{last.year}"
        case _:
            return f"the {interval.grain} of {spoken(first)} to {spoken(last)}"


def _days(rng: Random, now: datetime, day: date) -> Iterator[Phrase]:
    today = now.date()
    yield Phrase(words="yesterday", interval=stretch(today - _ONE_DAY, 1, "day"))
    yield Phrase(words="the day before yesterday", interval=stretch(today - 2 * _ONE_DAY, 1, "day"))
    for count in range(2, 10):
        yield Phrase(words=f"{_NUMBERS[count]} days ago", interval=stretch(today - count * _ONE_DAY, 1, "day"))


def _weekdays(rng: Random, now: datetime, day: date) -> Iterator[Phrase]:
    for back in range(1, 8):
        then = now.date() - back * _ONE_DAY
        lead = "on" if back < 7 and rng.random() < 0.3 else "last"
        yield Phrase(words=f"{lead} {_WEEKDAYS[then.weekday()]}", interval=stretch(then, 1, "day"))


def _weeks(rng: Random, now: datetime, day: date) -> Iterator[Phrase]:
    today = now.date()
    yield Phrase(words="last week", interval=week_of(today - timedelta(days=7)))
    for count in range(2, 9):
        words = "the week before last" if count == 2 and rng.random() < 0.3 else f"{_NUMBERS[count]} weeks ago"
        yield Phrase(words=words, interval=week_of(today - timedelta(days=7 * count)))


def _weekends(rng: Random, now: datetime, day: date) -> Iterator[Phrase]:
    saturday = weekend_before(now.date())
    yield Phrase(words="last weekend", interval=stretch(saturday, 2, "weekend"))
    for count in (2, 3):
        then = saturday - timedelta(days=7 * (count - 1))
        yield Phrase(words=f"{_NUMBERS[count]} weekends ago", interval=stretch(then, 2, "weekend"))


def _months(rng: Random, now: datetime, day: date) -> Iterator[Phrase]:
    yield Phrase(words="last month", interval=month_of(now.year, now.month - 1))
    for count in range(2, 10):
        then = month_of(now.year, now.month - count)
        words = f"{_NUMBERS[count]} months ago" if rng.random() < 0.5 else f"in {_MONTHS[then.start.month - 1]}"
        yield Phrase(words=words, interval=then)


def _seasons(rng: Random, now: datetime, day: date) -> Iterator[Phrase]:
    yield Phrase(words="last year", interval=Interval(start=datetime(now.year - 1, 1, 1), end=datetime(now.year, 1, 1),
                                                      grain="year"))  # fmt: skip
    for name, month in _SEASONS.items():
        for year in (now.year, now.year - 1):
            first, after = month_of(year, month), month_of(year, month + 3)
            if after.start <= now:
                yield Phrase(
                    words=f"last {name}", interval=Interval(start=first.start, end=after.start, grain="season")
                )
                break


def _holidays(rng: Random, now: datetime, day: date) -> Iterator[Phrase]:
    for words, (month, number) in _HOLIDAYS.items():
        then = date(now.year, month, number)
        then = then if then < now.date() else date(now.year - 1, month, number)
        yield Phrase(words=words, interval=stretch(then, 1, "day"))


def _dates(rng: Random, now: datetime, day: date) -> Iterator[Phrase]:
    month = _MONTHS[day.month - 1]
    recent = timedelta() < now.date() - day < timedelta(days=300)
    forms = [f"on {spoken(day)}", f"on {month} {day.day}, {day.year}"]
    if recent:
        forms += [f"on {day.day} {month}", f"on {month} {day.day}"]
    yield Phrase(words=rng.choice(forms), interval=stretch(day, 1, "day"))


def _beside_dates(rng: Random, now: datetime, day: date) -> Iterator[Phrase]:
    pin = spoken(day)
    yield Phrase(words=f"the week before {pin}", interval=week_of(day - timedelta(days=7)))
    yield Phrase(words=f"the weekend before {pin}", interval=stretch(weekend_before(day), 2, "weekend"))
    friday = day - timedelta(days=(day.weekday() - 4 - 1) % 7 + 1)
    yield Phrase(words=f"the Friday before {pin}", interval=stretch(friday, 1, "day"))


def _ordinals(rng: Random, now: datetime, day: date) -> Iterator[Phrase]:
    first = day.replace(day=1)
    saturday = first + timedelta(days=(5 - first.weekday()) % 7)
    words = f"on the first weekend of {_MONTHS[day.month - 1]} {day.year}"
    yield Phrase(words=words, interval=stretch(saturday, 2, "weekend"))


_KINDS: tuple[Callable[[Random, datetime, date], Iterator[Phrase]], ...] = (
    _days, _days, _weekdays, _weekdays, _weeks, _weeks, _weekends, _weekends, _months, _months, _dates, _dates,
    _seasons, _holidays, _beside_dates, _ordinals,
)  # common ways of speaking count twice  # fmt: skip


def pick(
    rng: Random, now: datetime, after: datetime, before: datetime, grains: frozenset[Grain] | None = None
) -> Phrase | None:
    """A phrase said at `now` for a time that starts after `after` and ends by the day of `before`; None if none fits.

    Kinds of phrase are tried in random order, so that the many dates of a range do not drown the rest.
    """
    limit = midnight(min(before, now).date())
    room = (limit.date() - after.date()).days
    if room < 1:
        return None
    for kind in rng.sample(_KINDS, len(_KINDS)):
        day = after.date() + timedelta(days=rng.randint(1, room))
        fits = [
            phrase
            for phrase in kind(rng, now, day)
            if phrase.interval.start > after
            and phrase.interval.end <= limit
            and (grains is None or phrase.interval.grain in grains)
        ]
        if fits:
            return rng.choice(fits)
    return None
