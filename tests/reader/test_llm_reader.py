"""A model's answers: asked with the day of the question, checked against the pool, repaired once, never invented."""

from dataclasses import replace
from datetime import datetime

import pytest

from sodamem.errors import ConfigError, ModelError, ReplyError
from sodamem.reader.llm import LlmReader
from sodamem.types import Citation, Question

QUESTION = Question(
    id="q",
    history_id="h",
    text="Where does Ann live?",
    asked_at=datetime(2024, 4, 9, 8, 15),
    category="",
    category_name="",
    gold="",
)


@pytest.fixture
def reader(option):
    return lambda chat, **changes: LlmReader(chat=chat, **{**option("reader/llm"), **changes})


@pytest.fixture
def pool(recalled):
    return recalled("Ann: I live in Oslo.", "Bob: It rains in Bergen.", "Ann: I moved to Rome.")


def says(text="Oslo", citations=("e1",), abstained=False, **more):
    return {"reasoning": "r", "text": text, "citations": list(citations), "abstained": abstained, **more}


def test_an_answer_cites_the_words_of_the_items_it_names(reader, pool, saying):
    chat = saying(says("Rome, before Oslo", ["e3", "e1"]))
    answer = reader(chat).read(QUESTION, pool)
    assert answer.text == "Rome, before Oslo" and answer.status == "ok"
    assert answer.citations == (
        Citation(evidence_id="t:2", turn_id="t:2", quote="I moved to Rome."),
        Citation(evidence_id="t:0", turn_id="t:0", quote="I live in Oslo."),
    )


@pytest.mark.parametrize("layout", ["ranked", "folded"])
@pytest.mark.parametrize("asked", [datetime(2024, 4, 9, 8, 15), datetime(1999, 12, 31)])
def test_every_prompt_holds_the_day_of_the_question(reader, pool, saying, layout, asked):
    chat = saying(says(citations=["e9"]), says())
    reader(chat, layout=layout).read(replace(QUESTION, asked_at=asked), pool)
    assert len(chat.prompts) == 2 and all(asked.date().isoformat() in prompt for prompt in chat.prompts)


def test_a_label_that_does_not_exist_is_sent_back_once(reader, pool, saying):
    chat = saying(says(citations=["e1", "e99"]), says(citations=["e1"]))
    answer = reader(chat).read(QUESTION, pool)
    assert "there is no record e99" in chat.prompts[1] and chat.asked[1].messages[:2] == chat.asked[0].messages
    assert [citation.evidence_id for citation in answer.citations] == ["t:0"]
    assert answer.trace == ({"read": 3, "left_out": 0, "repaired": "there is no record e99"},)


def test_an_answer_that_rests_on_nothing_twice_is_kept_and_marked(reader, pool, saying):
    answer = reader(saying(says(citations=["e99"]), says(citations=["e0", "e4"]))).read(QUESTION, pool)
    assert answer.citations == () and answer.status == "uncited" and answer.text == "Oslo"
    answer = reader(saying(says(citations=[]), says(citations=[]))).read(QUESTION, pool)
    assert answer.status == "uncited"


def test_an_empty_answer_is_sent_back(reader, pool, saying):
    chat = saying(says(" "), says("Oslo"))
    assert reader(chat).read(QUESTION, pool).text == "Oslo" and "it is empty" in chat.prompts[1]


def test_an_abstention_needs_no_citation_and_keeps_none(reader, pool, saying):
    answer = reader(saying(says("Not known.", ["e1"], abstained=True))).read(QUESTION, pool)
    assert answer.abstained and answer.citations == () and answer.status == "ok"


def test_nothing_is_asked_about_nothing(reader, saying):
    answer = reader(saying()).read(QUESTION, [])
    assert answer.abstained and answer.text


def test_a_failure_is_not_an_answer(reader, pool, saying, cut_off):
    with pytest.raises(ReplyError, match=r"cut off at 700 tokens .* Raise reader\.max_tokens") as caught:
        reader(saying(cut_off('{"reasoning": "so'))).read(QUESTION, pool)
    assert caught.value.reason == "truncated"
    with pytest.raises(ModelError):
        reader(saying(ModelError("gone", reason="unreachable"))).read(QUESTION, pool)


def test_evidence_beyond_the_budget_is_left_out_and_counted(reader, pool, saying):
    chat = saying(says())
    answer = reader(chat, evidence_tokens=25).read(QUESTION, pool)
    assert answer.trace[0]["left_out"] == 2 and "Bergen" not in chat.prompts[0]


def test_instructions_come_first_and_never_change(reader, pool, recalled, saying):
    chat = saying(says(), says())
    for items in (pool, recalled("Eve: I paint.")):
        reader(chat).read(QUESTION, items)
    first, second = (request.messages for request in chat.asked)
    assert first[0] == second[0] and first[0].role == "system"
    assert first[1].content.rstrip().endswith("Where does Ann live?")  # the question stands after the evidence


def test_reasons_come_before_the_answer_or_not_at_all(reader, pool, saying):
    chat = saying(says(), {"text": "Oslo", "citations": ["e1"], "abstained": False})
    reader(chat).read(QUESTION, pool)
    reader(chat, reasoning=False).read(QUESTION, pool)
    assert [next(iter(request.schema["properties"])) for request in chat.asked] == ["reasoning", "text"]


def test_folded_evidence_is_in_order_of_time_with_each_moment_once(reader, recalled, saying):
    later, earlier, same = (
        *recalled("Ann: second.", at=datetime(2024, 2, 2)),
        *recalled("Ann: first.", "Bob: next day.", at=datetime(2024, 2, 1)),
    )
    items = [later, earlier, replace(same, id="t:9", turn_ids=("t:9",))]
    chat = saying(says())
    reader(chat, layout="folded").read(QUESTION, items)
    prompt = chat.prompts[0]
    assert prompt.count("2024-02-02") == 1
    assert prompt.index("first.") < prompt.index("second.") < prompt.index("next day.")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"evidence_tokens": 0}, r"reader\.evidence_tokens must be >= 1, got 0"),
        ({"max_tokens": 0}, r"reader\.max_tokens must be >= 1, got 0"),
        ({"layout": "flat"}, r"reader\.layout must be ranked or folded, got 'flat'"),
        ({"prompt": "reed"}, r"reader\.prompt must be one of .*read"),
    ],
)
def test_a_wrong_value_is_named(reader, saying, changes, said):
    with pytest.raises(ConfigError, match=said):
        reader(saying(), **changes)
