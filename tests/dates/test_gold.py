"""Hand-typed golds: every spelling is read, and what names no date by itself is None."""

from __future__ import annotations

from datetime import datetime

import pytest

from sodamem.dates import Policy, agrees, parse_gold, read, spans

POLICY = Policy(week_start=0, weekday="nearest", untensed="past", day_month_order="both", country="US", recent_days=30)


@pytest.mark.parametrize(
    ("gold", "start", "end", "grain"),
    [
        ("7 May 2023", "2023-05-07", "2023-05-08", "day"),
        ("10 July, 2022.", "2022-07-10", "2022-07-11", "day"),
        (" 23 July, 2023", "2023-07-23", "2023-07-24", "day"),
        ("August 15, 2023", "2023-08-15", "2023-08-16", "day"),
        ("21Janury, 2022", "2022-01-21", "2022-01-22", "day"),
        ("Januarty 2, 2022", "2022-01-02", "2022-01-03", "day"),
        ("Febuary 3, 2022", "2022-02-03", "2022-02-04", "day"),
        (2022, "2022-01-01", "2023-01-01", "year"),
        (2022.0, "2022-01-01", "2023-01-01", "year"),
        ("In 2013", "2013-01-01", "2014-01-01", "year"),
        ("Since 2016", "2016-01-01", "2017-01-01", "year"),
        ("April.2023", "2023-04-01", "2023-05-01", "month"),
        ("November, 2023.", "2023-11-01", "2023-12-01", "month"),
        ("Around August 2022", "2022-08-01", "2022-09-01", "month"),
        ("The week before 9 June 2023", "2023-05-29", "2023-06-05", "week"),
        ("the week before 21Janury, 2022", "2022-01-10", "2022-01-17", "week"),
        ("The sunday before 25 May 2023", "2023-05-21", "2023-05-22", "day"),
        ("The sunday before 3` July 2023", "2023-07-02", "2023-07-03", "day"),
        ("two weekends before 17 July 2023", "2023-07-08", "2023-07-10", "weekend"),
        ("The weekend of 24June, 2022.", "2022-06-25", "2022-06-27", "weekend"),
        ("first weekend of August 2023", "2023-08-05", "2023-08-07", "weekend"),
        ("last week of September 2023", "2023-09-24", "2023-10-01", "week"),
        ("Last week before 13 October 2022.", "2022-10-03", "2022-10-10", "week"),
        ("The summer of 2021", "2021-06-01", "2021-09-01", "season"),
        ("early August, 2023", "2023-08-01", "2023-08-11", "span"),
        ("between October 19 and 24, 2023", "2023-10-19", "2023-10-25", "span"),
        ("November 5-6, 2022", "2022-11-05", "2022-11-07", "span"),
        ("few days before November 22, 2022", "2022-11-16", "2022-11-22", "span"),
        ("On the night of October 30 to 31, 2022", "2022-10-30", "2022-10-31", "day"),
    ],
)
def test_gold_is_not_read(gold: object, start: str, end: str, grain: str) -> None:
    found = parse_gold(gold)
    assert found is not None
    assert (found.start.date().isoformat(), found.end.date().isoformat(), found.grain) == (start, end, grain)


@pytest.mark.parametrize(
    "gold",
    [
        *("4 years", "three weeks", "nearly two months", "10 years ago", "yesterday", "last Friday", "A few years ago"),
        *(
            "her mother",
            "Max",
            "Yes",
            "one",
            "Whispering Falls",
            "They decided in 2022 to rent a flat",
            "",
            "13 August",
        ),
    ],
)
def test_gold_without_a_date_of_its_own_gets_one(gold: str) -> None:
    assert parse_gold(gold) is None


def test_year_that_the_data_gives_is_not_used() -> None:
    found = parse_gold("13 August", 2023)
    assert found == spans.date(2023, 8, 13)
    assert parse_gold("13 August 2021", 2023) == spans.date(2021, 8, 13)


def first(text: str, at: datetime):  # type: ignore[no-untyped-def]
    return read(text, at, POLICY)[0]


def test_either_start_of_the_week_is_not_granted() -> None:
    gold = parse_gold("The week before 9 June 2023")
    assert gold is not None
    assert agrees(first("last week", datetime(2023, 6, 9)), gold)
    seven_back = spans.between(datetime(2023, 6, 2), datetime(2023, 6, 9), "week")
    assert agrees(seven_back, gold)
    assert not agrees(spans.date(2023, 6, 2), gold)  # a day is no week
    first_week = parse_gold("first week of April, 2023")
    assert first_week is not None and agrees(first("last week", datetime(2023, 4, 9)), first_week)
    assert not agrees(first("two weeks ago", datetime(2023, 6, 9)), gold)


def test_night_meets_only_one_of_its_days() -> None:
    gold = parse_gold("On the night of October 30 to 31, 2022")
    assert gold is not None
    assert agrees(spans.date(2022, 10, 30), gold) and agrees(spans.date(2022, 10, 31), gold)
    assert agrees(first("last night", datetime(2022, 10, 31, 0, 37)), gold)
    assert not agrees(spans.date(2022, 10, 29), gold)


def test_finer_reading_counts_only_when_asked() -> None:
    gold = parse_gold("June 2023")
    assert gold is not None
    value = first("last week", datetime(2023, 6, 19))
    assert not agrees(value, gold)
    assert agrees(value, gold, finer=True)
    assert not agrees(first("last year", datetime(2024, 6, 19)), gold, finer=True)


def test_unresolved_agrees_with_something() -> None:
    assert not agrees(first("ages ago", datetime(2023, 6, 19)), spans.year(2022))
    assert not agrees(None, spans.year(2022))
