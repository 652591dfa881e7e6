"""The tools: what each brings, and what it answers when it is asked for what is not there."""

from dataclasses import replace
from datetime import datetime

import jsonschema
import pytest

from sodamem.planner.pool import Pool
from sodamem.planner.tools import TOOLS, ToolError, Tools, schema
from sodamem.types import Interval, Role


@pytest.fixture
def bench(asked, recalled, desk):
    """bench(found, around) -> (tools, pool, desk) over a pool of two items."""

    def make(found=(), around=()):
        pool = Pool(recalled("Ann: I live in Oslo.", "Bob: It rains."))
        made = desk([], {"": list(found)}, list(around))
        return Tools(question=asked(), desk=made, pool=pool, per_search=3, radius=2, longest=50), pool, made

    return make


def others(recalled, *lines, **fields):
    return [replace(item, id=f"o:{n}", turn_ids=(f"o:{n}",)) for n, item in enumerate(recalled(*lines, **fields))]


def test_every_tool_of_the_schema_can_be_run(bench):
    tools, _, _ = bench()
    assert [name for name in TOOLS if name != "stop"] == [name for name in TOOLS if hasattr(tools, name)]
    assert set(TOOLS) == {"stop", "search", "inspect", "session_expand", "timeline", "count", "compute"}


@pytest.mark.parametrize(
    "call",
    [
        {"tool": "search", "query": "x"},
        {"tool": "search", "query": "x", "since": "May", "until": None},
        {"tool": "inspect", "id": "../etc"},
        {"tool": "count", "ids": [], "by": "item"},
        {"tool": "count", "ids": ["e1"], "by": "colour"},
        {"tool": "compute", "expression": "1", "shell": "true"},
        {"tool": "delete", "id": "e1"},
        {"tool": "stop", "answer": "x"},
    ],
)
def test_arguments_are_typed(call):
    assert not jsonschema.Draft202012Validator(schema()).is_valid({"reasoning": "r", "call": call})


def test_search_adds_what_is_new_under_labels_that_stay(bench, recalled):
    tools, pool, desk = bench(
        found=[*recalled("Ann: I live in Oslo."), *others(recalled, "Ann: I moved.", "Ann: To Rome.")]
    )
    seen = tools.run({"tool": "search", "query": "moved", "since": None, "until": None})
    assert seen.new == ("e3", "e4") and seen.said == "3 found, 2 of them new"
    assert desk.queries == ["moved"] and pool.get("e4").quotable == ("To Rome.",)
    assert [record[:4] for record in seen.records] == ["[e3]", "[e4]"]


def test_search_keeps_the_days_it_is_given_both_included(bench, recalled):
    tools, pool, _ = bench(found=others(recalled, "A: 1", "A: 2", "A: 3", "A: 4", at=datetime(2024, 5, 1, 23)))
    seen = tools.search("x", "2024-05-02", "2024-05-03")
    assert [pool.get(label).quotable[0] for label in seen.new] == ["2", "3"]
    with pytest.raises(ToolError, match="a query must have words"):
        tools.search(" ", None, None)
    with pytest.raises(ToolError, match="there is no day 2024-02-30"):
        tools.search("x", "2024-02-30", None)


def test_timeline_is_in_the_order_of_happening(bench, recalled):
    earlier = Interval(start=datetime(2020, 1, 1), end=datetime(2021, 1, 1), grain="year")
    said = others(recalled, "A: now", "A: then")
    tools, _, _ = bench(found=[said[0], replace(said[1], occurred=earlier)])
    seen = tools.timeline("x", None, None)
    assert [record.split()[0] for record in seen.records] == ["2020-01-01", "2024-01-01"]


def test_inspect_shows_the_whole_turn_and_what_holds(bench, talk, fact):
    tools, pool, _ = bench()
    source = talk({"a 2024-03-15": ["Ann: I live in Leeds."]}).sessions[0].turns[0]
    old = fact("f", source, status="superseded", valid_until=datetime(2024, 6, 1))
    item = replace(pool.get("e1"), id="x", facts=(old,), quotable=("I live in Leeds. " + "word " * 200,))
    pool.add([item])
    shown = "\n".join(tools.inspect("e3").records)
    assert "superseded" in shown and "until 2024-06-01" in shown and shown.count("word") == 200


def test_session_expand_brings_the_neighbours(bench, recalled):
    tools, pool, _ = bench(around=others(recalled, "Ann: before.", "Ann: after."))
    assert tools.session_expand("e1").new == ("e3", "e4") and len(pool) == 4


def test_count_tells_items_from_what_they_say(bench, recalled, talk, fact):
    tools, pool, _ = bench()
    turns = (
        talk({"a 2024-03-15": ["Ann: I have a cat.", "Ann: My cat sleeps.", "Ann: I have a dog."]}).sessions[0].turns
    )
    made = [
        fact(f"f{n}", turn, predicate="has_pet", roles=(Role(name="value", entity="", words=pet),))
        for n, (turn, pet) in enumerate(zip(turns, ("cat", "Cat", "dog"), strict=True))
    ]
    pool.add(
        replace(item, id=f.id, kind="fact", fact=f, session_id="s")
        for item, f in zip(others(recalled, "A: 1", "A: 2", "A: 3"), made, strict=True)
    )
    labels = ["e3", "e4", "e5", "e5"]
    assert [tools.count(labels, by).said for by in ("item", "value", "session", "day")] == [
        "3 different by item",
        "2 different by value",
        "3 different by session",  # said on three days
        "3 different by day",
    ]


def test_compute_is_exact_and_says_why_not(bench):
    tools, _, _ = bench()
    assert tools.compute("2024-03-01 - 2024-02-28").said.endswith("= 2 days")
    with pytest.raises(ToolError, match="divide by zero"):
        tools.compute("1/0")


@pytest.mark.parametrize("label", ["e0", "e3", "e9999", "e", "x", "e-1", "e01x", "e²"])
def test_an_item_that_is_not_there_is_an_error_for_the_model(bench, label):
    tools, pool, _ = bench()
    assert pool.get(label) is None
    with pytest.raises(ToolError, match=r"they go from e1 to e2"):
        tools.inspect(label)


def test_a_pool_holds_an_item_once_also_where_it_was_merged(recalled):
    one, two = recalled("Ann: a", "Ann: b")
    pool = Pool([replace(one, members=("t:1",))])
    assert pool.add([one, two]) == [] and pool.label(two) == "e1"


def test_what_was_looked_for_stands_before_the_tail_of_the_recall(recalled):
    pool = Pool(recalled("A: 1", "A: 2", "A: 3"))
    pool.add(others(recalled, "A: found"))
    ordered = pool.gathered(2)
    assert [item.id for item in ordered] == ["t:0", "t:1", "o:0", "t:2"] and [item.rank for item in ordered] == [
        1,
        2,
        3,
        4,
    ]
