"""The calendar timeline as a component, and the windows of questions."""

from __future__ import annotations

import inspect
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from sodamem.errors import ConfigError
from sodamem.timeline.calendar import CalendarTimeline
from sodamem.timeline.none import NoTimeline

CONF = Path(__file__).parents[2] / "conf" / "timeline"
ASKED = datetime(2023, 5, 30, 23, 40)


def settings(**changes: Any) -> dict[str, Any]:
    values = yaml.safe_load((CONF / "calendar.yaml").read_text(encoding="utf-8"))
    del values["_target_"]
    return {**values, **changes}


TIMELINE = CalendarTimeline(**settings())


def window(question: str) -> tuple[str, str] | None:
    found = TIMELINE.window(question, ASKED).interval
    return found and (found.start.date().isoformat(), found.end.date().isoformat())


def test_yaml_keys_are_not_the_constructor_fields() -> None:
    assert list(settings()) == list(inspect.signature(CalendarTimeline).parameters)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("week_start", "moonday"), ("weekday", "closest"), ("untensed", "now"), ("day_month_order", "dm")),
        *(("country", "usa"), ("recent_days", 0)),
    ],
)
def test_value_out_of_range_is_accepted(field: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"^{field} must be .*got {value}"):
        CalendarTimeline(**settings(**{field: value}))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did Caroline go to the support group?", None),
        ("How many weeks ago did I meet up with my aunt?", None),
        ("How long ago did we move?", None),
        ("How many days before my best friend's birthday did I order her gift?", None),
        ("Which streaming service did I start using most recently?", None),
        ("What did I buy 10 days ago?", ("2023-05-20", "2023-05-21")),
        ("What did I earn last Thursday?", ("2023-05-25", "2023-05-26")),
        ("Who did I meet on Friday?", ("2023-05-26", "2023-05-27")),
        ("Which shoes did I clean last month?", ("2023-04-01", "2023-05-01")),
        ("Where was John between August 11 and August 15 2022?", ("2022-08-11", "2022-08-16")),
        ("What airline did I fly with on Valentine's day?", ("2023-02-14", "2023-02-15")),
        ("What have I been reading lately?", ("2023-04-30", "2023-05-31")),
        ("What is the order of the trips I took in the past three months?", ("2023-02-28", "2023-05-31")),
        ("What did she do before 2020?", ("0001-01-01", "2020-01-01")),
        ("What did she do after March 2023?", ("2023-04-01", "2023-05-30")),
        ("Did I run more in March 2022 or in May 2022?", ("2022-03-01", "2022-06-01")),
    ],
)
def test_window_misses_what_the_question_names(question: str, expected: tuple[str, str] | None) -> None:
    assert window(question) == expected


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("Where did she live first?", "far_to_near"),
        ("What did he originally want to study?", "far_to_near"),
        ("List the museums from earliest to latest.", "far_to_near"),
        ("What did I do in the first week of April?", "near_to_far"),
        ("What is her first name?", "near_to_far"),
        ("Where does she live?", "near_to_far"),
        ("Which one did I use most recently?", "near_to_far"),
    ],
)
def test_direction_is_not_turned_by_its_cue(question: str, order: str) -> None:
    assert TIMELINE.window(question, ASKED).order == order


def test_approximate_window_is_as_narrow_as_an_exact_one() -> None:
    loose = TIMELINE.window("What did I cook a couple of days ago?", ASKED).interval
    exact = TIMELINE.window("What did I cook 2 days ago?", ASKED).interval
    assert loose and exact and loose.start < exact.start and exact.end < loose.end


def test_ambiguous_window_leaves_a_reading_out() -> None:
    found = TIMELINE.window("What is planned for next Saturday?", datetime(2023, 1, 27)).interval
    assert found and found.holds(datetime(2023, 1, 28, 9)) and found.holds(datetime(2023, 2, 4, 9))


def test_same_timeline_reads_a_fact_and_a_question_from_their_own_anchors() -> None:
    said = TIMELINE.read("I earned it last Thursday", datetime(2023, 5, 23))[0].interval
    assert said and said.start == datetime(2023, 5, 18)
    assert window("What did I earn last Thursday?") == ("2023-05-25", "2023-05-26")


def test_ablation_reads_a_time() -> None:
    assert NoTimeline().read("yesterday", ASKED) == ()
    assert NoTimeline().window("What did I do yesterday?", ASKED).interval is None
