"""Planning without a model: several queries, one ranking, and every session where a number is asked for."""

from dataclasses import replace
from datetime import datetime

import pytest

from sodamem.errors import ConfigError
from sodamem.planner.heuristic import HeuristicPlanner, queries, spread
from sodamem.types import TimeValue


@pytest.fixture
def planner(option):
    return lambda **changes: HeuristicPlanner(**{**option("planner/heuristic"), **changes})


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How many days passed between the trip to Rome and the birthday party?", "the trip to Rome"),
        ("How many days passed between the trip to Rome and the birthday party?", "the birthday party"),
        ("Which did I buy first, the lamp or the desk?", "the desk"),
        ('Who wrote "The Long Way"?', "The Long Way"),
        ("How many bikes did I ride?", "bikes ride"),
        ("Did Ann and Bob visit Oslo?", "Bob visit"),
    ],
)
def test_a_question_is_also_asked_in_parts(question, wanted):
    found = queries(question, ())
    assert found[0] == question and wanted in found and len(set(found)) == len(found)


def test_the_topic_leaves_out_the_time_that_is_asked_about():
    when = TimeValue(
        words="last May", start=17, end=25, anchor=datetime(2024, 1, 1), interval=None, rule="r", version="v"
    )
    assert queries("What did I break last May at home?", (when,))[1:] == ["break home"]


def test_rankings_are_fused_by_reciprocal_rank(planner, desk, asked, recalled):
    one, two, three = recalled("A: 1", "A: 2", "A: 3")
    made = desk([one, two], {"?": [one, two], "long way": [three, two]})
    pool = planner(queries=2, k=60, own=1.0).gather(asked('Who wrote "long way"?'), made)
    # two: 1/62 + 1/62 beats one and three with 1/61 each; those two are tied and told apart by id
    assert [item.id for item in pool] == ["t:1", "t:0", "t:2"] and [item.rank for item in pool] == [1, 2, 3]
    assert [step["new"] for step in made.steps] == [[], ["t:2"]]


def test_every_query_is_noted(planner, desk, asked, recalled):
    made = desk(recalled("A: 1"))
    planner().gather(asked("How many bikes do I own?"), made)
    assert [step["call"]["query"] for step in made.steps] == made.queries == queries("How many bikes do I own?", ())


def test_one_query_is_plain_recall(planner, desk, asked, recalled):
    items = recalled("A: 1", "A: 2")
    assert list(planner(queries=1).gather(asked(), desk(items))) == items


def test_a_number_looks_into_every_session_before_it_looks_deeper(planner, desk, asked, recalled):
    items = [replace(item, session_id=name) for item, name in zip(recalled(*["A: x"] * 5), "aaabc", strict=True)]
    assert [item.session_id for item in spread(items, 1)] == list("abcaa")
    assert [item.session_id for item in spread(items, 2)] == list("aabca")
    many = planner(queries=1, per_session=1).gather(asked("How many?"), desk(items))
    one = planner(queries=1, per_session=1).gather(asked("Which?"), desk(items))
    never = planner(queries=1, per_session=None).gather(asked("How many?"), desk(items))
    assert "".join(item.session_id for item in many) == "abcaa"
    assert "".join(item.session_id for item in one) == "".join(item.session_id for item in never) == "aaabc"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"queries": 0}, r"planner\.queries must be >= 1, got 0"),
        ({"k": 0}, r"planner\.k must be > 0, got 0"),
        ({"per_session": 0}, r"per_session must be >= 1"),
    ],
)
def test_a_wrong_value_is_named(planner, changes, said):
    with pytest.raises(ConfigError, match=said):
        planner(**changes)
