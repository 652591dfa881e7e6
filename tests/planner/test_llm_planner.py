"""A plan made by a model: when it stops, what it notes, and what of a prompt a server can reuse."""

from dataclasses import replace

import pytest

from sodamem.errors import ConfigError, ModelError, PromptError, ReplyError
from sodamem.planner.llm import LlmPlanner
from sodamem.text import estimate_tokens


@pytest.fixture
def planner(option):
    return lambda chat, **changes: LlmPlanner(chat=chat, **{**option("planner/llm"), **changes})


def step(tool, **arguments):
    return {"reasoning": f"because of {tool}", "call": {"tool": tool, **arguments}}


def search(words):
    return step("search", query=words, since=None, until=None)


def numbered(recalled, *names):
    items = recalled(*(f"Ann: {name}." for name in names))
    return [replace(item, id=f"{name}:0", turn_ids=(f"{name}:0",)) for name, item in zip(names, items, strict=True)]


def stops(desk):
    return [note["stop"] for note in desk.steps if "stop" in note]


def test_it_stops_when_it_says_so(planner, desk, asked, recalled, saying):
    made = desk(recalled("Ann: a."))
    pool = planner(saying(step("stop"))).gather(asked(), made)
    assert stops(made) == ["said so"] and [item.id for item in pool] == ["t:0"]


def test_it_stops_at_its_budget_of_steps(planner, desk, asked, recalled, saying):
    found = {f"w{n}": numbered(recalled, f"n{n}") for n in range(9)}
    made = desk(recalled("Ann: a."), found)
    chat = saying(*(search(f"w{n}") for n in range(9)))
    pool = planner(chat, max_steps=3).gather(asked(), made)
    assert stops(made) == ["budget"] and len(chat.asked) == 3 and len(pool) == 4


@pytest.mark.parametrize("patience", [1, 2])
def test_it_stops_when_calls_bring_nothing_new(planner, desk, asked, recalled, saying, patience):
    made = desk(recalled("Ann: a."))
    chat = saying(*[search("nothing")] * 6)
    planner(chat, patience=patience).gather(asked(), made)
    assert stops(made) == ["nothing new"] and len(chat.asked) == patience


def test_an_answer_that_was_given_before_is_nothing_new(planner, desk, asked, recalled, saying):
    made = desk(recalled("Ann: a."))
    chat = saying(
        step("compute", expression="1+1"), step("compute", expression="1+1"), step("compute", expression="1+1")
    )
    planner(chat, patience=2).gather(asked(), made)
    assert stops(made) == ["nothing new"] and len(chat.asked) == 3


def test_it_stops_before_its_prompt_grows_too_long(planner, desk, asked, recalled, saying):
    chat = saying()
    made = desk(recalled("Ann: a."))
    planner(chat, prompt_tokens=50).gather(asked(), made)
    assert stops(made) == ["prompt budget"] and not chat.asked


def test_a_reply_that_cannot_be_used_ends_the_plan_and_is_noted(planner, desk, asked, recalled, saying, cut_off):
    for said, reason in (
        (ReplyError("no", reason="invalid"), "unusable: invalid"),
        (PromptError("long", reason="prompt_too_long"), "unusable: prompt_too_long"),
        (cut_off('{"reason'), "unusable: truncated"),
    ):
        made = desk(recalled("Ann: a."))
        assert len(planner(saying(said)).gather(asked(), made)) == 1 and stops(made) == [reason]


def test_an_outage_is_no_plan(planner, desk, asked, recalled, saying):
    with pytest.raises(ModelError):
        planner(saying(ModelError("gone", reason="unreachable"))).gather(asked(), desk(recalled("Ann: a.")))


def test_every_step_is_noted_with_what_it_brought(planner, desk, asked, recalled, saying):
    made = desk(recalled("Ann: a."), {"moved": numbered(recalled, "b", "c")})
    planner(saying(search("moved"), step("inspect", id="e7"), step("stop"))).gather(asked(), made)
    one, two, three, last = made.steps
    assert one["call"]["query"] == "moved" and one["new"] == ["b:0", "c:0"] and one["reasoning"] == "because of search"
    assert two["new"] == [] and "there is no item e7, they go from e1 to e3" in two["said"]
    assert three["call"] == {"tool": "stop"} and last == {"stop": "said so", "steps": 2, "pool": 3}


def test_a_growing_conversation_keeps_its_beginning(planner, desk, asked, recalled, saying):
    made = desk(recalled("Ann: a."), {"moved": numbered(recalled, "b")})
    chat = saying(search("moved"), step("compute", expression="1+1"), step("stop"))
    planner(chat).gather(asked(), made)
    one, two, three = (request.messages for request in chat.asked)
    assert two[: len(one)] == one and three[: len(two)] == two and len(three) == 6


def test_a_folded_plan_stays_one_message_and_shows_what_was_found(planner, desk, asked, recalled, saying):
    made = desk(recalled("Ann: a."), {"moved": numbered(recalled, "b")})
    chat = saying(search("moved"), step("compute", expression="1+1"), step("stop"))
    planner(chat, layout="fold").gather(asked(), made)
    assert [len(request.messages) for request in chat.asked] == [2, 2, 2]
    last = chat.prompts[-1]
    assert "[e2]" in last and "1. {" in last and "2. {" in last and "1+1 = 2" in last


def test_the_day_of_asking_is_in_every_prompt(planner, desk, asked, recalled, saying):
    for layout in ("append", "fold"):
        chat = saying(search("x"), step("stop"))
        planner(chat, layout=layout).gather(asked(), desk(recalled("Ann: a.")))
        assert all("2024-04-09" in prompt for prompt in chat.prompts)


def test_the_recall_is_shown_up_to_its_budget(planner, desk, asked, recalled, saying):
    assert estimate_tokens("[e1] Mon 2024-01-01 10:00 Ann: one.") == 16
    for budget, shown in ((0, 0), (32, 2), (33, 2), (9999, 9)):
        chat = saying(step("stop"))
        planner(chat, shown_tokens=budget).gather(asked(), desk(recalled(*["Ann: one."] * 9)))
        assert chat.asked[0].messages[1].content.count(" Ann: one.") == shown


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"max_steps": 0}, r"planner\.max_steps must be >= 1, got 0"),
        ({"head": -1}, r"planner\.head must be >= 0, got -1"),
        ({"layout": "grow"}, r"planner\.layout must be append or fold, got 'grow'"),
        ({"prompt": "planning"}, r"planner\.prompt must be one of"),
    ],
)
def test_a_wrong_value_is_named(planner, saying, changes, said):
    with pytest.raises(ConfigError, match=said):
        planner(saying(), **changes)
