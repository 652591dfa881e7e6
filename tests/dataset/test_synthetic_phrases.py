"""Gold time expressions: each form against dates one can look up in a calendar."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.dataset.synthetic import phrases
from sodamem.dataset.synthetic.phrases import describe, month_of, pick, stretch, week_of, weekend_before


def _said(now: datetime, words: str, day: date | None = None) -> tuple[date, date]:
    """First and last day of the interval that `words` gets at `now`."""
    for kind in dict.fromkeys(phrases._KINDS):
        for draw in range(40):
            for phrase in kind(Random(draw), now, day or now.date() - timedelta(days=30)):
                if phrase.words == words:
                    return phrase.interval.start.date(), (phrase.interval.end - timedelta(days=1)).date()
    raise AssertionError(words)


@pytest.mark.parametrize(
    ("now", "words", "first", "last"),
    [
        ("2022-06-24", "last Friday", "2022-06-17", "2022-06-17"),  # said on a Friday: never the same day
        ("2012-10-13", "last Friday", "2012-10-12", "2012-10-12"),
        ("2022-07-10", "on Friday", "2022-07-08", "2022-07-08"),
        ("2023-03-01", "the day before yesterday", "2023-02-27", "2023-02-27"),
        ("2025-01-01", "last Sunday", "2024-12-29", "2024-12-29"),
        ("2023-06-09", "last week", "2023-05-29", "2023-06-04"),
        ("2023-06-09", "two weeks ago", "2023-05-22", "2023-05-28"),
        ("2023-06-09", "last weekend", "2023-06-03", "2023-06-04"),
        ("2023-06-10", "last weekend", "2023-06-03", "2023-06-04"),  # said on a Saturday
        ("2023-06-09", "two weekends ago", "2023-05-27", "2023-05-28"),
        ("2024-03-31", "last month", "2024-02-01", "2024-02-29"),
        ("2023-01-15", "two months ago", "2022-11-01", "2022-11-30"),
        ("2024-01-10", "last Christmas", "2023-12-25", "2023-12-25"),
        ("2023-12-25", "last Christmas", "2022-12-25", "2022-12-25"),
        ("2023-07-01", "last summer", "2022-06-01", "2022-08-31"),
        ("2023-07-01", "last winter", "2022-12-01", "2023-02-28"),
        ("2023-07-01", "last year", "2022-01-01", "2022-12-31"),
    ],
)
def test_a_relative_phrase_means_its_calendar_days(now: str, words: str, first: str, last: str) -> None:
    at = datetime.fromisoformat(now).replace(hour=0, minute=37)
    assert _said(at, words) == (date.fromisoformat(first), date.fromisoformat(last))


def test_phrases_beside_a_date_stay_strictly_before_it() -> None:
    now, friday = datetime(2023, 7, 1, 9), date(2023, 6, 9)
    assert _said(now, "the week before 9 June 2023", friday) == (date(2023, 5, 29), date(2023, 6, 4))
    assert _said(now, "the weekend before 9 June 2023", friday) == (date(2023, 6, 3), date(2023, 6, 4))
    assert _said(now, "the Friday before 9 June 2023", friday) == (date(2023, 6, 2), date(2023, 6, 2))
    august = datetime(2023, 8, 9), date(2023, 8, 2)
    assert _said(august[0], "on the first weekend of August 2023", august[1]) == (date(2023, 8, 5), date(2023, 8, 6))


@given(
    now=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)), days=st.integers(1, 400), draw=st.integers(0, 10**6)
)
def test_a_picked_phrase_lies_between_its_bounds(now: datetime, days: int, draw: int) -> None:
    after = now - timedelta(days=days)
    phrase = pick(Random(draw), now, after, now)
    if phrase:
        assert after < phrase.interval.start
        assert phrase.interval.end <= now


def test_nothing_fits_into_no_time() -> None:
    now = datetime(2023, 6, 9, 20)
    assert pick(Random(1), now, now - timedelta(hours=3), now) is None


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)))
def test_weeks_begin_on_monday_and_weekends_on_saturday(day: date) -> None:
    week = week_of(day)
    assert week.start.weekday() == 0
    assert week.start.date() <= day < week.end.date()
    assert weekend_before(day).weekday() == 5
    assert timedelta(days=2) <= day - weekend_before(day) <= timedelta(days=8)


def test_a_month_may_run_over_either_end_of_the_year() -> None:
    assert month_of(2023, 0).start == datetime(2022, 12, 1)
    assert month_of(2023, 13).end == datetime(2024, 2, 1)


def test_the_gold_answer_is_said_at_the_grain_of_the_interval() -> None:
    assert describe(stretch(date(2023, 5, 12), 1, "day")) == "Friday 12 May 2023"
    assert describe(stretch(date(2023, 5, 13), 2, "weekend")) == "the weekend of 13 May 2023 to 14 May 2023"
    assert describe(month_of(2023, 5)) == "May 2023"
