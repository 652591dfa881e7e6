"""All parts that ask a model in one run: what they cost, what a failure leaves, and that a second run pays nothing."""

import dataclasses
from datetime import datetime

import pytest

from sodamem import build, config
from sodamem.chat.metered import MeteredChat
from sodamem.chat.scripted import ScriptedChat
from sodamem.currency import llm as llm_currency
from sodamem.errors import ModelError
from sodamem.evaluate import evaluate
from sodamem.extractor import llm_schema
from sodamem.planner import tools
from sodamem.planner.heuristic import HeuristicPlanner
from sodamem.planner.llm import LlmPlanner
from sodamem.reader.llm import LlmReader
from sodamem.reader.llm import schema as reader_schema
from sodamem.types import Question, Usage

MODELS = ("extractor=llm", "currency=llm", "planner=llm", "reader=llm", "chat=scripted")
RULES = [
    {"phase": "plan", "pattern": r"of them new", "data": {"reasoning": "r", "call": {"tool": "stop"}}},
    {
        "phase": "plan",
        "data": {"reasoning": "r", "call": {"tool": "search", "query": "home", "since": None, "until": None}},
    },
    {
        "phase": "read",
        "pattern": r"\[(e2)\]",
        "data": {"reasoning": "r", "text": "so", "citations": [r"\1"], "abstained": False},
    },
    {
        "phase": "extract",
        "pattern": r"To be read:\n<<\w+\n\[t1\] [^:\n]+: (?P<quote>(?:\w+ ){2}\w+)",
        "data": {
            "reasoning": "r",
            "facts": [
                {
                    "turn": "t1",
                    "quote": r"\g<quote>",
                    "subject": "speaker",
                    "predicate": "says",
                    "value": r"\g<quote>",
                    "roles": [],
                    "quantity": None,
                    "kind": "state",
                    "modality": "current_state",
                    "flags": [],
                    "polarity": True,
                }
            ],
        },
    },
]
HISTORY = {
    "a 2024-01-05T10:00": ["Ann: I live in Bergen.", "Bob: Nice."],
    "b 2024-02-05T10:00": ["Ann: I moved to Rome.", "Bob: When?"],
}


@pytest.fixture
def question():
    return Question(
        id="q",
        history_id="h",
        text="Where does Ann live?",
        asked_at=datetime(2024, 4, 1),
        category="c",
        category_name="c",
        gold="Rome",
    )


def test_a_whole_run_is_made_by_a_scripted_model_and_paid_for_once(compose):
    cfg = compose(*MODELS)
    cfg.chat.rules = RULES
    corpus, judge = build.component(cfg, "dataset").open(), build.component(cfg, "judge")
    answers = []
    report = evaluate(build.pipeline(cfg), corpus, judge, sink=lambda result: answers.append(result.answer))
    metrics = report.metrics
    for phase in ("extract", "adjudicate", "plan", "read"):
        assert metrics[f"tokens/{phase}/calls"] > 0 and metrics[f"tokens/{phase}/prompt"] > 0, phase
    assert metrics["store/facts"] > 0 and all(answer.citations for answer in answers)
    assert all([step.get("stop") for step in answer.trace].count("said so") == 1 for answer in answers)
    again = []
    second = evaluate(build.pipeline(cfg), corpus, judge, sink=lambda result: again.append(result.answer))
    assert second.metrics["tokens/extract/calls"] == 0 and second.stores == report.stores  # the store is there
    assert all(usage.cache_hit for answer in again for usage in answer.usage)
    assert [answer.text for answer in again] == [answer.text for answer in answers]


def test_schemas_are_such_as_servers_enforce():
    """Strict servers refuse fields that may be missing, unknown ones, and lengths of text."""

    def nodes(node):
        if isinstance(node, dict):
            yield node
        for part in node.values() if isinstance(node, dict) else node if isinstance(node, list | tuple) else ():
            yield from nodes(part)

    schemas = (llm_schema.schema(9), tools.schema(), llm_currency.SCHEMA, reader_schema(True), reader_schema(False))
    objects = [node for schema in schemas for node in nodes(schema) if "properties" in node and "type" in node]
    assert len(objects) >= 15
    for node in objects:
        assert node["required"] == list(node["properties"]) and node["additionalProperties"] is False
    assert not [
        node for schema in schemas for node in nodes(schema) if {"minLength", "maxLength", "oneOf", "allOf"} & set(node)
    ]


def test_the_default_double_needs_no_rules(compose):
    cfg = compose(*MODELS)
    corpus, judge = build.component(cfg, "dataset").open(), build.component(cfg, "judge")
    assert evaluate(build.pipeline(cfg), corpus, judge).metrics["questions"] > 0


@pytest.fixture
def pipeline(runs):
    built = build.pipeline(config.compose("tracker=none"))
    return lambda **parts: dataclasses.replace(built, stores=runs / "stores", cache=None, **parts)


@pytest.mark.parametrize("part", ["planner", "reader"])
def test_a_failed_call_is_a_failed_answer_that_says_what_it_cost(pipeline, talk, question, option, saying, part):
    paid = Usage(phase="plan", model="m", prompt=9)
    chat = MeteredChat(chat=saying(ModelError("m is gone", reason="unreachable", usage=(paid, paid))))
    kind = {"planner": LlmPlanner, "reader": LlmReader}[part]
    made = pipeline(**{part: kind(chat=chat, **option(f"{part}/llm"))})
    with made.open(talk(HISTORY)) as memory:
        answer, _ = made.answer(memory, question)
    assert answer.status == "failed" and answer.text == "" and answer.usage == (paid, paid)
    assert answer.trace[-1] == {"failed": "unreachable", "said": "m is gone"}


def test_an_answer_carries_the_steps_and_the_cost_of_its_plan(pipeline, talk, question, option):
    chat = MeteredChat(chat=ScriptedChat(model="scripted", rules=RULES))
    made = pipeline(
        planner=LlmPlanner(chat=chat, **option("planner/llm")), reader=LlmReader(chat=chat, **option("reader/llm"))
    )
    with made.open(talk(HISTORY)) as memory:
        answer, pool = made.answer(memory, question)
    assert [usage.phase for usage in answer.usage] == ["plan", "plan", "read"]
    assert [next(iter(step)) for step in answer.trace] == ["step", "step", "stop", "read"]
    assert [item.rank for item in pool] == list(range(1, len(pool) + 1))


def test_a_desk_looks_around_an_item_within_its_session(pipeline, talk, question):
    made = pipeline()
    with made.open(talk(HISTORY)) as memory:
        item = next(item for item in made.recall(memory, question) if item.id == "b:0")
        near = made.around(memory, item, 2)
        assert [(one.id, one.kind, one.quotable, one.confidence) for one in near] == [("b:1", "turn", ("When?",), 0.0)]
        assert made.around(memory, item, 0) == ()


def test_a_plan_without_a_model_costs_nothing_and_is_traced_alike(pipeline, talk, question, option):
    made = pipeline(planner=HeuristicPlanner(**option("planner/heuristic")))
    with made.open(talk(HISTORY)) as memory:
        answer, pool = made.answer(memory, question)
    assert answer.usage == () and pool and all("call" in step for step in answer.trace[:2])
