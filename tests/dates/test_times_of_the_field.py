"""Time expressions that parsers and memories in the field got wrong, each with the date it should have had."""

from __future__ import annotations

from datetime import datetime

import pytest

from sodamem.dates import Policy, read
from sodamem.types import Interval, TimeValue

POLICY = Policy(week_start=0, weekday="nearest", untensed="past", day_month_order="both", country="US", recent_days=30)


def one(text: str, at: str, policy: Policy = POLICY) -> TimeValue:
    values = read(text, datetime.fromisoformat(at), policy)
    assert len(values) == 1, values
    return values[0]


def span(interval: Interval | None) -> tuple[str, str, str]:
    """(start, end, grain) with the clock left out where it is midnight."""
    assert interval is not None
    start, end = (
        moment.isoformat(timespec="minutes").removesuffix("T00:00") for moment in (interval.start, interval.end)
    )
    return start, end, interval.grain


@pytest.mark.parametrize(
    ("text", "at", "start", "end", "grain"),
    [
        # just after midnight, "last night" is the night that is ending
        ("held a tourney last night", "2022-10-31T00:37", "2022-10-30T18:00", "2022-10-31T06:00", "day"),
        ("watched it last night", "2022-05-02T11:54", "2022-05-01T18:00", "2022-05-02T06:00", "day"),
        # last <weekday> said on that weekday, or the day after it
        ("I made vegan ice cream last Friday", "2022-06-24", "2022-06-17", "2022-06-18", "day"),
        ("last friday", "2012-10-13", "2012-10-12", "2012-10-13", "day"),
        ("next Friday", "2015-06-15", "2015-06-19", "2015-06-20", "day"),
        ("last Friday", "2015-06-15", "2015-06-12", "2015-06-13", "day"),
        ("this Monday", "2015-06-15", "2015-06-15", "2015-06-16", "day"),
        ("We plan to play next Saturday", "2023-01-27", "2023-01-28", "2023-01-29", "day"),
        # a bare weekday follows the verb
        ("what was the weather on Friday", "2017-06-21", "2017-06-16", "2017-06-17", "day"),
        ("what will it be on Friday", "2017-06-21", "2017-06-23", "2017-06-24", "day"),
        ("I won my fourth tournament on Friday!", "2022-07-10", "2022-07-08", "2022-07-09", "day"),
        ("Did you see the game on Friday?", "2017-06-21", "2017-06-16", "2017-06-17", "day"),
        ("The meeting on Tuesday was great", "2023-05-07", "2023-05-02", "2023-05-03", "day"),
        ("See you on Sunday", "2023-05-07", "2023-05-14", "2023-05-15", "day"),
        ("We went hiking, and on Friday we will climb", "2023-05-07", "2023-05-12", "2023-05-13", "day"),
        ("Sun 9am", "2025-01-01", "2024-12-29T09:00", "2024-12-29T09:01", "minute"),
        # weeks and weekends stay whole
        ("my school event last week", "2023-06-09", "2023-05-29", "2023-06-05", "week"),
        ("last week", "2023-04-16", "2023-04-03", "2023-04-10", "week"),
        ("last week", "2018-12-09", "2018-11-26", "2018-12-03", "week"),
        ("in the next two weeks", "2018-12-09", "2018-12-09", "2018-12-24", "span"),
        ("the week before 9 June 2023", "2024-01-01", "2023-05-29", "2023-06-05", "week"),
        ("gaming party two weekends later", "2022-06-03", "2022-06-11", "2022-06-13", "weekend"),
        ("first weekend of August", "2023-08-09", "2023-08-05", "2023-08-07", "weekend"),
        ("1st Friday of next month", "2021-01-29", "2021-02-05", "2021-02-06", "day"),
        ("3rd Friday of next month", "2021-01-29", "2021-02-19", "2021-02-20", "day"),
        # phrases that fail silently elsewhere
        ("last Christmas", "2024-01-10", "2023-12-25", "2023-12-26", "day"),
        ("a couple of days ago", "2023-03-10", "2023-03-08", "2023-03-09", "day"),
        ("last summer", "2023-03-10", "2022-06-01", "2022-09-01", "season"),
        ("Q3", "2023-03-10", "2023-07-01", "2023-10-01", "quarter"),
        ("half a year ago", "2023-03-15", "2022-09-01", "2022-10-01", "month"),
        ("the day before yesterday", "2023-06-26", "2023-06-24", "2023-06-25", "day"),
        ("the day before yesterday", "2023-03-01", "2023-02-27", "2023-02-28", "day"),
        # month ends and leap days
        ("last month", "2023-03-31", "2023-02-01", "2023-03-01", "month"),
        ("in one year", "2024-02-29", "2025-02-28", "2025-03-01", "day"),
        ("in one month", "2023-01-31", "2023-02-28", "2023-03-01", "day"),
        ("yesterday", "2024-03-01", "2024-02-29", "2024-03-01", "day"),
        ("on 29 February", "2023-05-07", "2020-02-29", "2020-03-01", "day"),
        ("03/04", "2023-06-01", "2023-03-04", "2023-03-05", "day"),
        ("postponed until Monday", "2015-02-22", "2015-02-23", "2015-02-24", "day"),
        ("yesterday I went to the store", "2023-05-07", "2023-05-06", "2023-05-07", "day"),
        # calendar days, not 24 hours
        ("I said so yesterday", "2023-02-03T11:15", "2023-02-02", "2023-02-03", "day"),
        ("I said so today", "2023-11-06T20:15", "2023-11-06", "2023-11-07", "day"),
        # a modifier never falls off
        ("next friday afternoon", "2016-10-19", "2016-10-21T12:00", "2016-10-21T18:00", "day"),
        ("what did you earn last Thursday?", "2023-05-30", "2023-05-25", "2023-05-26", "day"),
        ("I earned it last Thursday", "2023-05-23", "2023-05-18", "2023-05-19", "day"),
    ],
)
def test_phrase_gets_the_date_it_means(text: str, at: str, start: str, end: str, grain: str) -> None:
    assert span(one(text, at).interval) == (start, end, grain)


def test_second_reading_is_lost() -> None:
    saturday = one("We plan to play next Saturday", "2023-01-27")
    assert [span(i)[0] for i in saturday.alternatives] == ["2023-02-04"] and saturday.ambiguous
    weekends = one("gaming party two weekends later", "2022-06-03")
    assert [span(i)[0] for i in weekends.alternatives] == ["2022-06-18"]
    numbers = one("03/04", "2023-06-01")
    assert [span(i)[0] for i in numbers.alternatives] == ["2023-04-03"]
    friday = one("Friday", "2023-05-10")
    assert {span(i)[0] for i in (friday.interval, *friday.alternatives)} == {"2023-05-05", "2023-05-12"}


def test_policy_does_not_decide() -> None:
    def with_(**changes: object) -> Policy:
        return Policy(**{**{name: getattr(POLICY, name) for name in POLICY.__dataclass_fields__}, **changes})  # type: ignore[arg-type]

    assert span(one("03/04", "2023-06-01", with_(day_month_order="day_first")).interval)[0] == "2023-04-03"
    assert not one("03/04", "2023-06-01", with_(day_month_order="month_first")).alternatives
    assert span(one("last week", "2023-04-09", with_(week_start=6)).interval)[0] == "2023-04-02"
    assert span(one("next Saturday", "2023-01-27", with_(weekday="calendar")).interval)[0] == "2023-02-04"
    assert span(one("Friday", "2023-05-10", with_(untensed="future")).interval)[0] == "2023-05-12"
    assert span(one("on Thanksgiving 2022", "2023-05-10", with_(country="CA")).interval)[0] == "2022-10-10"
    assert span(one("on Independence Day 2022", "2023-05-10", with_(country="IN")).interval)[0] == "2022-08-15"


def test_approximate_words_pass_for_exact() -> None:
    for text in ("a couple of days ago", "a few weeks ago", "about a year ago", "half a year ago", "early May 2022"):
        assert one(text, "2023-03-10").approximate, text
    assert not one("3 days ago", "2023-03-10").approximate


@pytest.mark.parametrize(
    "text",
    [
        "ages ago",
        "when I was 12",
        "as a kid",
        "the following day",
        "every Friday",
        "a week before the wedding",
        "We stayed for three weeks",
        "February 30",
        "31 April 2022",
        "5000 years ago",
        "We met and three days later we married",
        "I finished it in two days",
    ],
)
def test_unresolvable_words_get_a_guess_or_are_dropped(text: str) -> None:
    value = one(text, "2023-03-10")
    assert value.interval is None and value.words


def test_words_span_and_record_do_not_match_the_text() -> None:
    text = "Já — \U0001f600 I moved here two weeks ago, near “Café”."
    value = one(text, "2023-03-10T09:30")
    assert text[value.start : value.end] == value.words == "two weeks ago"
    assert value.anchor == datetime(2023, 3, 10, 9, 30) and value.rule and value.version


def test_several_expressions_come_in_order() -> None:
    values = read("Yesterday we met, in 2019 we moved, and next week we leave.", datetime(2023, 3, 10), POLICY)
    assert [value.words for value in values] == ["Yesterday", "2019", "next week"]
    assert [value.start for value in values] == sorted(value.start for value in values)
