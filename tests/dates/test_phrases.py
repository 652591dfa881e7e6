"""The coverage that a reader of chats expects, kind by kind; anchor Sunday 7 May 2023, 14:00."""

from __future__ import annotations

from datetime import datetime

import pytest

from sodamem.dates import Policy, read
from sodamem.dates.feasts import FEASTS

POLICY = Policy(
    week_start=0, weekday="nearest", untensed="past", day_month_order="month_first", country="US", recent_days=30
)
AT = datetime(2023, 5, 7, 14)


@pytest.mark.parametrize(
    "line",
    """
    two weeks ago | 2023-04-17 2023-04-24 week
    a fortnight ago | 2023-04-17 2023-04-24 week
    3 months ago | 2023-02-01 2023-03-01 month
    five years ago | 2018-01-01 2019-01-01 year
    a decade ago | 2010-01-01 2020-01-01 decade
    1.5 years ago | 2021-11-01 2021-12-01 month
    a year and a half ago | 2021-11-01 2021-12-01 month
    two and a half weeks ago | 2023-04-19 2023-04-20 day
    two or three weeks ago | 2023-04-17 2023-04-24 week
    a week or two ago | 2023-04-24 2023-05-01 week
    twenty-five years ago | 1998-01-01 1999-01-01 year
    two weekends ago | 2023-04-22 2023-04-24 weekend
    a week ago today | 2023-04-30 2023-05-01 day
    a week ago Friday | 2023-04-28 2023-04-29 day
    two Fridays ago | 2023-04-28 2023-04-29 day
    two summers ago | 2021-06-01 2021-09-01 season
    two Christmases ago | 2021-12-25 2021-12-26 day
    20 minutes ago | 2023-05-07T13:40 2023-05-07T13:41 minute
    in two weeks | 2023-05-21 2023-05-22 day
    3 days from now | 2023-05-10 2023-05-11 day
    a week from Friday | 2023-05-12 2023-05-13 day
    two days after Christmas 2022 | 2022-12-27 2022-12-28 day
    this week | 2023-05-01 2023-05-08 week
    next month | 2023-06-01 2023-07-01 month
    last quarter | 2023-01-01 2023-04-01 quarter
    this year | 2023-01-01 2024-01-01 year
    last weekend | 2023-04-29 2023-05-01 weekend
    this past weekend | 2023-04-29 2023-05-01 weekend
    this weekend | 2023-05-06 2023-05-08 weekend
    next weekend | 2023-05-13 2023-05-15 weekend
    the week before last | 2023-04-17 2023-04-24 week
    the summer before last | 2021-06-01 2021-09-01 season
    the last two weeks | 2023-04-23 2023-05-08 span
    for the past two years | 2021-05-07 2023-05-08 span
    I have lived here for five years | 2018-05-07 2023-05-08 span
    since 2016 | 2016-01-01 2023-05-08 span
    since last May | 2022-05-01 2023-05-08 span
    earlier this week | 2023-05-01 2023-05-07 span
    later this month | 2023-05-08 2023-06-01 span
    tomorrow night | 2023-05-08T18:00 2023-05-09T06:00 day
    this morning | 2023-05-07T05:00 2023-05-07T12:00 day
    tonight | 2023-05-07T18:00 2023-05-08T06:00 day
    late last night | 2023-05-07 2023-05-07T06:00 day
    tomorrow at 7 | 2023-05-08T19:00 2023-05-08T19:01 minute
    tonight at 8 | 2023-05-07T20:00 2023-05-07T20:01 minute
    at 17:30 | 2023-05-07T17:30 2023-05-07T17:31 minute
    at 3pm on Friday | 2023-05-05T15:00 2023-05-05T15:01 minute
    half past six | 2023-05-07T06:30 2023-05-07T06:31 minute
    8 in the evening | 2023-05-07T20:00 2023-05-07T20:01 minute
    noon tomorrow | 2023-05-08T12:00 2023-05-08T12:01 minute
    from 5pm to 7pm | 2023-05-07T17:00 2023-05-07T19:00 span
    Friday, May 12th at 3pm | 2023-05-12T15:00 2023-05-12T15:01 minute
    12th of May 2021 | 2021-05-12 2021-05-13 day
    Sept. 5, 2022 | 2022-09-05 2022-09-06 day
    5-Jan-2022 | 2022-01-05 2022-01-06 day
    2023-05-07 14:30 | 2023-05-07T14:30 2023-05-07T14:31 minute
    2022-05 | 2022-05-01 2022-06-01 month
    25/12/2022 | 2022-12-25 2022-12-26 day
    7.5.2023 | 2023-07-05 2023-07-06 day
    the first of May | 2023-05-01 2023-05-02 day
    on the 3rd | 2023-05-03 2023-05-04 day
    the 3rd of next month | 2023-06-03 2023-06-04 day
    next month on the 15th | 2023-06-15 2023-06-16 day
    I started in March | 2023-03-01 2023-04-01 month
    I will visit in August | 2023-08-01 2023-09-01 month
    I visited in August | 2022-08-01 2022-09-01 month
    last August | 2022-08-01 2022-09-01 month
    Jan '22 | 2022-01-01 2022-02-01 month
    the summer of 2021 | 2021-06-01 2021-09-01 season
    the summer of '69 | 1969-06-01 1969-09-01 season
    spring of last year | 2022-03-01 2022-06-01 season
    Q3 last year | 2022-07-01 2022-10-01 quarter
    the first quarter of 2022 | 2022-01-01 2022-04-01 quarter
    H1 2022 | 2022-01-01 2022-07-01 span
    the second half of 2021 | 2021-07-01 2022-01-01 span
    in the '80s | 1980-01-01 1990-01-01 decade
    the nineties | 1990-01-01 2000-01-01 decade
    the late 1990s | 1996-09-01 2000-01-01 span
    the 19th century | 1800-01-01 1900-01-01 span
    early next month | 2023-06-01 2023-06-11 span
    mid-2021 | 2021-05-01 2021-09-01 span
    the end of last year | 2022-09-01 2023-01-01 span
    end of October 2022 | 2022-10-22 2022-11-01 span
    the last day of the month | 2023-05-31 2023-06-01 day
    first week of April 2022 | 2022-04-01 2022-04-08 week
    last week of July 2022 | 2022-07-25 2022-08-01 week
    the last two weeks of April | 2023-04-17 2023-05-01 span
    the first weekend of August last year | 2022-08-06 2022-08-08 weekend
    Friday of next week | 2023-05-12 2023-05-13 day
    Tuesday last week | 2023-04-25 2023-04-26 day
    next week on Tuesday | 2023-05-09 2023-05-10 day
    the week of August 21 | 2023-08-21 2023-08-28 week
    the weekend before Easter | 2023-04-01 2023-04-03 weekend
    the Saturday after 11 September, 2022 | 2022-09-17 2022-09-18 day
    two weeks before 11 August 2022 | 2022-07-25 2022-08-01 week
    two weekends before 17 July 2023 | 2023-07-08 2023-07-10 weekend
    a few days before May 24, 2022 | 2022-05-18 2022-05-24 span
    the night before Christmas 2022 | 2022-12-24T18:00 2022-12-25T06:00 day
    on the eve of Easter | 2023-04-08 2023-04-09 day
    the day before Thanksgiving 2022 | 2022-11-23 2022-11-24 day
    New Year's Eve 2022 | 2022-12-31 2023-01-01 day
    Mother's Day last year | 2022-05-08 2022-05-09 day
    on Black Friday 2022 | 2022-11-25 2022-11-26 day
    during Diwali 2022 | 2022-10-24 2022-10-25 day
    on Halloween we went out | 2022-10-31 2022-11-01 day
    from 3 to 7 May 2022 | 2022-05-03 2022-05-08 span
    between October 19 and 24, 2022 | 2022-10-19 2022-10-25 span
    between 26 March and 20 April 2022 | 2022-03-26 2022-04-21 span
    May 3-7, 2022 | 2022-05-03 2022-05-08 span
    from June to August 2022 | 2022-06-01 2022-09-01 span
    between 2010 and 2015 | 2010-01-01 2016-01-01 span
    5 May 2022 - 9 June 2022 | 2022-05-05 2022-06-10 span
    from December 28, 2021 to January 3, 2022 | 2021-12-28 2022-01-04 span
    on Labor Day weekend we left | 2022-09-03 2022-09-05 weekend
    We loved this Easter | 2023-04-09 2023-04-10 day
    within two weeks | 2023-05-07 2023-05-22 span
    over the weekend we hiked | 2023-05-06 2023-05-08 weekend
    the other day | 2023-04-30 2023-05-07 span
    recently | 2023-04-07 2023-05-08 span
    """.strip().splitlines(),
)
def test_kind_of_phrase_is_not_covered(line: str) -> None:
    text, expected = (part.strip() for part in line.split("|"))
    values = read(text, AT, POLICY)
    assert len(values) == 1, values
    found = values[0].interval
    assert found is not None, values
    got = [moment.isoformat(timespec="minutes").removesuffix("T00:00") for moment in (found.start, found.end)]
    assert [*got, found.grain] == expected.split()


@pytest.mark.parametrize(
    ("text", "at", "start"),
    [
        ("He broke his arm on December 30.", datetime(2023, 1, 2), "2022-12-30"),
        ("December 30", datetime(2023, 1, 2), "2022-12-30"),
        ("We leave; the flight will be on January 5.", datetime(2023, 12, 30), "2024-01-05"),
        ("last week", datetime(2023, 1, 1), "2022-12-19"),
        ("next month", datetime(2022, 12, 31), "2023-01-01"),
        ("last winter", datetime(2023, 1, 20), "2021-12-01"),
        ("next quarter", datetime(2022, 12, 31), "2023-01-01"),
    ],
)
def test_new_year_is_crossed_the_wrong_way(text: str, at: datetime, start: str) -> None:
    found = read(text, at, POLICY)[0].interval
    assert found is not None and found.start.date().isoformat() == start


def test_feast_of_the_table_is_not_read() -> None:
    for name in FEASTS:
        values = read(f"We met on {name.title()} 2022.", AT, POLICY)
        assert len(values) == 1 and values[0].interval is not None, (name, values)
        assert values[0].interval.start.year == 2022
