"""What the server keeps of a prompt, under each layout of a plan: as it says itself, from a cold cache on."""

import pytest

from experiments import prompt_layouts

STEPS, QUESTIONS = 5, 2
SMALL = ("recall.top_k=12", "planner.item_tokens=60", "reader.reasoning=false", "reader.max_tokens=8")
SMALL += ("dataset.sessions=12", "dataset.turns_per_session=24")


@pytest.fixture(scope="module")
def measured(server, tmp_path_factory):
    """Layout of the plan -> (results, figures of each phase), for the same steps of the same plans."""
    runs = f"runs={tmp_path_factory.mktemp('layouts')}"
    found = {}
    for name in ("append, ranked", "fold, ranked"):
        results, _ = prompt_layouts.asked(name, [*server.overrides, *SMALL, runs], QUESTIONS, STEPS)
        figures = {row["phase"]: row for row in prompt_layouts.rows(name, results)}
        found[name.partition(",")[0]] = results, figures
    return found


def steps(results):
    return [[note["call"] for note in result.answer.trace if "call" in note] for result in results]


def test_the_plans_compared_are_the_same(measured):
    append, fold = (steps(results) for results, _ in measured.values())
    assert append == fold and [len(calls) for calls in append] == [STEPS] * QUESTIONS
    assert all(calls[-1] == {"tool": "stop"} for calls in append)


def test_each_layout_starts_on_a_cold_cache(measured):
    for results, _ in measured.values():
        assert results[0].answer.usage[0].cached == 0


def test_the_instructions_of_a_plan_are_read_once_for_all_questions(measured):
    for results, _ in measured.values():
        plan, read = results[1].answer.usage[0], results[1].answer.usage[-1]
        assert (plan.phase, read.phase) == ("plan", "read")
        assert plan.cached >= 450 and read.cached >= 400, "more than the instructions is new with each question"


def test_a_growing_conversation_is_read_anew_less_than_a_folded_one(measured):
    append, fold = (figures["plan, later"] for _, figures in measured.values())
    assert append["calls"] == fold["calls"] == QUESTIONS * (STEPS - 1)
    assert append["share"] > fold["share"] > 0.8 and append["fresh"] < fold["fresh"], (append, fold)
