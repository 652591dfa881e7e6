"""Numbers, dates and lengths of time as exact values: how they add, multiply, are spelt, and which functions take them.

Numbers are fractions, dates have no zone, and lengths keep months apart from minutes: no month has a fixed length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from dateutil.relativedelta import relativedelta

MONTHS_OF = {"month": 1, "year": 12}
MINUTES_OF = {"minute": 1, "hour": 60, "day": 1440, "week": 10080}
_BITS = 512  # of a number's numerator or denominator: what dialogue is about is smaller
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class ComputeError(ValueError):
    """The expression cannot be worked out; the message says why, for whoever wrote it."""


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time: whole months, and minutes besides."""

    months: int = 0
    minutes: Fraction = Fraction(0)


Value = Fraction | datetime | Length | str  # a str is the name of a weekday: only ever a result


def show(value: Value) -> str:
    """A number as it is written (a fraction with its decimals), a date, or a length in days and months."""
    if isinstance(value, Fraction):
        return _number(value)
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        shown = f"{value:%Y-%m-%d}" if value.time() == datetime.min.time() else f"{value:%Y-%m-%d %H:%M}"
        return shown.rjust(len(shown) + 4 - len(shown.partition("-")[0]), "0")  # %Y drops zeros on some platforms
    return _length(value)


def _number(value: Fraction) -> str:
    places, rest = 0, value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1:  # a finite decimal
        while (value * 10**places).denominator != 1:
            places += 1
        digits = f"{abs(value * 10**places).numerator:0{places + 1}d}"
        return ("-" if value < 0 else "") + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
    return f"{value.numerator}/{value.denominator} (about {float(value):.4g})"


def _length(value: Length) -> str:
    parts = []
    if value.months:
        parts.append(_plural(Fraction(value.months), "month"))
    unit = "day" if value.minutes % MINUTES_OF["day"] == 0 else "hour" if value.minutes % 60 == 0 else "minute"
    if value.minutes or not parts:
        parts.append(_plural(value.minutes / MINUTES_OF[unit], unit))
    return " and ".join(parts)


def _plural(number: Fraction, unit: str) -> str:
    return f"{_number(number)} {unit}" + ("" if abs(number) == 1 else "s")


def date(text: str) -> datetime:
    """A day or a minute, as ISO writes it."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ComputeError(f"there is no date {text}") from None


def length(number: Fraction, unit: str) -> Length:
    """So many of a unit; raises ComputeError for a part of a month."""
    if unit in MINUTES_OF:
        return Length(minutes=bounded(number * MINUTES_OF[unit]))
    months = number * MONTHS_OF[unit]
    if months.denominator != 1:
        raise ComputeError(f"months must be whole, got {_number(months)}")
    return Length(months=bounded(months).numerator)


# --- working out ----------------------------------------------------------------------------------------------


def added(one: Value, other: Value, sign: int) -> Value:
    """Their sum, or with sign -1 their difference; raises ComputeError for what does not go together."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return bounded(one + sign * other)
    if isinstance(one, Length) and isinstance(other, Length):
        return Length(one.months + sign * other.months, bounded(one.minutes + sign * other.minutes))
    if isinstance(one, datetime) and isinstance(other, Length):
        return _moved(one, other, sign)
    if isinstance(one, Length) and isinstance(other, datetime) and sign > 0:
        return _moved(other, one, sign)
    if isinstance(one, datetime) and isinstance(other, datetime) and sign < 0:
        return Length(minutes=_minutes(one - other))
    raise ComputeError(f"cannot {'add' if sign > 0 else 'subtract'} {_kind(other)} and {_kind(one)}")


def _moved(moment: datetime, by: Length, sign: int) -> datetime:
    """Months first, a day that the month lacks becoming its last (31 Jan + 1 month = 28 Feb), then minutes."""
    if abs(by.months) > 120_000:
        raise OverflowError
    try:
        shifted: datetime = moment + relativedelta(months=sign * by.months)
    except ValueError:
        raise OverflowError from None
    return shifted + timedelta(microseconds=int(sign * by.minutes * 60_000_000))


def multiplied(one: Value, other: Value, *, over: bool) -> Value:
    """Their product, or the first over the second."""
    if over and isinstance(other, Length):
        if isinstance(one, Length) and not one.months and not other.months and other.minutes:
            return bounded(one.minutes / other.minutes)
        raise ComputeError(f"cannot divide {_kind(one)} by {_kind(other)}")
    if isinstance(one, Fraction) and isinstance(other, Length):
        one, other = other, one
    if isinstance(one, datetime | str) or not isinstance(other, Fraction):
        raise ComputeError(f"cannot {'divide' if over else 'multiply'} {_kind(one)} by {_kind(other)}")
    if over and not other:
        raise ComputeError("cannot divide by zero")
    factor = 1 / other if over else other
    if isinstance(one, Fraction):
        return bounded(one * factor)
    months = one.months * factor
    if months.denominator != 1:
        raise ComputeError("months must stay whole")
    return Length(bounded(months).numerator, bounded(one.minutes * factor))


def bounded(value: Fraction) -> Fraction:
    """The same number; raises ComputeError for one whose digits would go on and on."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS:
        raise ComputeError("the number is too large")
    return value


def _minutes(gap: timedelta) -> Fraction:
    return Fraction(gap // timedelta(microseconds=1), 60_000_000)


def _kind(value: Value) -> str:
    return {Fraction: "a number", datetime: "a date", Length: "a length", str: "words"}[type(value)]


# --- functions ------------------------------------------------------------------------------------------------


def _pair(name: str, given: Sequence[Value]) -> tuple[datetime, datetime]:
    if len(given) != 2 or not isinstance(given[0], datetime) or not isinstance(given[1], datetime):
        raise ComputeError(f"{name} must be given two dates")
    return given[0], given[1]


def _between(unit: str) -> Callable[[Sequence[Value]], Value]:
    """From the first date to the second, in the unit: exact for days and weeks, whole ones for months and years."""

    def count(given: Sequence[Value]) -> Value:
        first, second = _pair(f"{unit}s_between", given)
        if unit in MINUTES_OF:
            return _minutes(second - first) / MINUTES_OF[unit]
        gap = relativedelta(second, first)
        return Fraction((gap.years * 12 + gap.months) if unit == "month" else gap.years)

    return count


def _numbers(name: str, of: Callable[[list[Fraction]], Fraction]) -> Callable[[Sequence[Value]], Value]:
    def work(given: Sequence[Value]) -> Value:
        numbers = [value for value in given if isinstance(value, Fraction)]
        if len(numbers) < len(given):
            raise ComputeError(f"{name} must be given numbers")
        return bounded(of(numbers))

    return work


def _extreme(name: str, *, last: bool) -> Callable[[Sequence[Value]], Value]:
    def work(given: Sequence[Value]) -> Value:
        numbers = sorted(value for value in given if isinstance(value, Fraction))
        dates = sorted(value for value in given if isinstance(value, datetime))
        if len(given) not in (len(numbers), len(dates)):
            raise ComputeError(f"{name} must be given only numbers, or only dates")
        return (numbers or dates)[-1 if last else 0]

    return work


def _weekday(given: Sequence[Value]) -> Value:
    if len(given) != 1 or not isinstance(given[0], datetime):
        raise ComputeError("weekday must be given one date")
    return _DAYS[given[0].weekday()]


FUNCTIONS: Mapping[str, Callable[[Sequence[Value]], Value]] = {
    **{f"{unit}s_between": _between(unit) for unit in ("day", "week", "month", "year")},
    "sum": _numbers("sum", lambda numbers: sum(numbers, Fraction(0))),
    "mean": _numbers("mean", lambda numbers: sum(numbers, Fraction(0)) / len(numbers)),
    "min": _extreme("min", last=False),
    "max": _extreme("max", last=True),
    "weekday": _weekday,
}
