"""Arithmetic that is exact, knows the calendar, and evaluates nothing."""

from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.planner.amounts import ComputeError
from sodamem.planner.compute import DEEPEST, LONGEST, compute


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * -3", "-9"),
        ("8 / 2 / 2", "2"),
        ("10 - 3 - 2", "5"),
        ("0.1 + 0.2", "0.3"),
        ("2.50", "2.5"),
        ("-1/8", "-0.125"),
        ("10 / 3", "10/3 (about 3.333)"),
        ("2023-05-08 - 2023-05-01", "7 days"),
        ("2023-05-01 - 2023-05-08", "-7 days"),
        ("2024-03-01 - 2024-02-28", "2 days"),  # leap year
        ("2023-03-01 - 2023-02-28", "1 day"),
        ("2024-01-31 + 1 month", "2024-02-29"),  # a day that is not there becomes the last
        ("2024-02-29 + 1 year", "2025-02-28"),
        ("2024-03-31 - 1 month", "2024-02-29"),
        ("2023-12-30 + 3 days", "2024-01-02"),
        ("1 week + 2024-01-01", "2024-01-08"),
        ("2023-05-08T10:30 - 90 minutes", "2023-05-08 09:00"),
        ("2023-05-08 12:00 - 2023-05-07", "36 hours"),
        ("(2023-05-11 - 2023-05-01) / 1 week", "10/7 (about 1.429)"),
        ("weeks_between(2023-05-01, 2023-05-15)", "2"),
        ("days_between(2023-05-01, 2023-05-15)", "14"),
        ("months_between(2023-05-31, 2023-07-30)", "1"),  # whole ones
        ("years_between(1990-06-15, 2023-06-14)", "32"),
        ("weekday(2024-02-29)", "Thursday"),
        ("sum(12, 7.5) / 2", "9.75"),
        ("mean(1, 2)", "1.5"),
        ("min(3, 2, 5)", "2"),
        ("max(2023-05-08, 2022-01-01)", "2023-05-08"),
        ("2 * 3 days", "6 days"),
        ("1 year / 2", "6 months"),
        ("1 month + 3 days", "1 month and 3 days"),
        ("0 days", "0 days"),
    ],
)
def test_values_that_can_be_checked_on_paper(expression, value):
    assert compute(expression) == value


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("", "ends too early"),
        ("1 +", "ends too early"),
        ("(1", r"a '\)' is missing"),
        ("1 2", "cannot go on at '2'"),
        ("2 ** 3", r"cannot begin with '\*'"),
        ("1 / 0", "divide by zero"),
        ("1 / (2 - 2)", "divide by zero"),
        ("2023-02-30", "there is no date 2023-02-30"),
        ("3 days + 2", "cannot add a number and a length"),
        ("2023-01-01 + 2023-01-02", "cannot add a date and a date"),
        ("2 * 2023-01-01", "cannot multiply a number by a date"),
        ("1.5 months", "months must be whole"),
        ("1 month / 1 day", "cannot divide a length by a length"),
        ("weekday(3)", "weekday must be given one date"),
        ("days_between(2023-01-01)", "days_between must be given two dates"),
        ("min(1, 2023-01-01)", "only numbers, or only dates"),
        ("0001-01-01 - 1 day", "outside the years"),
        ("2023-01-01 + 99999999999999999999 days", "outside the years"),
        ("9" * 200, "too large"),
        ("(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1), "deep"),
        ("1" + "+1" * LONGEST, "at most"),
        ("__import__('os').system('true')", "cannot read"),
        ("open('x')", "cannot read"),
        ("exec(1)", "there is no 'exec'"),
        ("().__class__", "cannot read"),
        ("()", "cannot begin with"),
        ("1e9", "cannot read"),
        ("x", "there is no 'x'"),
    ],
)
def test_what_cannot_be_worked_out_says_why(expression, said):
    with pytest.raises(ComputeError, match=said) as caught:
        compute(expression)
    assert "\n" not in str(caught.value)


@given(st.integers(-999, 999), st.integers(-999, 999), st.integers(1, 999), st.sampled_from("+-*/"))
def test_fractions_stay_exact(a, b, c, sign):
    said = compute(f"(({a}) {sign} (({b}) / {c})) - ({a})") if sign != "/" or b else "0"
    ratio = Fraction(b, c)
    exact = {"+": a + ratio, "-": a - ratio, "*": a * ratio, "/": a / ratio if b else Fraction(a)}[sign] - a
    assert Fraction(said.partition(" ")[0]) == exact


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(-20_000, 20_000))
def test_dates_go_forth_and_back(day, days):
    there = day + timedelta(days=days)
    assert compute(f"{day} + {days} days") == there.isoformat()
    assert compute(f"days_between({day}, {there})") == str(days)


@given(st.text(alphabet="0123456789-+*/(),. dayswekmonth_T:", max_size=60))
def test_any_text_gives_a_value_or_a_reason(expression):
    try:
        assert compute(expression)
    except ComputeError as error:
        assert str(error)
