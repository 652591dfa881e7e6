"""Times and lengths in words: an interval in the words of its grain, a number with its unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from sodamem.types import Interval

# Names written out: strftime would follow the locale of whoever runs it.
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_SEASONS = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}


def day(moment: datetime) -> str:
    return f"{moment.day} {month(moment)}"


def month(moment: datetime) -> str:
    return f"{MONTHS[moment.month - 1]} {moment.year}"


def show(interval: Interval) -> str:
    """A time in the words of its grain: "7 May 2023", "2023", "the week of 1 May 2023", "1 to 7 May 2023"."""
    start, last = interval.start, interval.end - timedelta(microseconds=1)
    worded = _BY_GRAIN.get(interval.grain)
    if worded:
        return worded(start)
    return day(start) if start.date() == last.date() else _range(start, last)


def _range(start: datetime, last: datetime) -> str:
    if (start.year, start.month) == (last.year, last.month):
        return f"{start.day} to {day(last)}"
    return f"{day(start)} to {day(last)}"


_BY_GRAIN: Mapping[str, Callable[[datetime], str]] = {
    "minute": lambda start: f"{day(start)}, {start.hour:02}:{start.minute:02}",
    "day": day,
    "week": lambda start: f"the week of {day(start)}",
    "weekend": lambda start: f"the weekend of {day(start)}",
    "month": month,
    "season": lambda start: f"{_SEASONS[start.month]} {start.year}",
    "quarter": lambda start: f"quarter {(start.month + 2) // 3} of {start.year}",
    "year": lambda start: str(start.year),
    "decade": lambda start: f"the {start.year}s",
}


def count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
