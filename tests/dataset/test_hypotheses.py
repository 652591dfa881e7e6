"""Answers to judge again: every row joined or listed, nobody graded twice, no verdict read out of what is none."""

import json
import os
from collections import Counter

import pytest

from sodamem import build, config
from sodamem.dataset.hypotheses import HypothesesFile
from sodamem.errors import ConfigError, DataError

REFERENCE = [
    {"question_id": "a1", "question": "Which pet?", "answer": "a cat", "question_type": "single-session-user"},
    {"question_id": "a2", "question": "How many?", "answer": "15", "question_type": "temporal-reasoning"},
    {
        "question_id": "a3_abs",
        "question": "Which dog?",
        "answer": "You did not say.",
        "question_type": "knowledge-update",
    },
]
ASKED = {"id": "question_id", "text": "question", "gold": "answer", "category": "question_type"}
FIELDS = {
    "id": "id",
    "text": "question",
    "gold": "gold",
    "answer": "said",
    "published": "judge.ok",
    "judge": "judge.model",
}


@pytest.fixture
def opened(tmp_path):
    def make(rows, *, reference=REFERENCE, lines=False, fields=FIELDS, join="text", **more):
        path, other = tmp_path / "answers.json", tmp_path / "questions.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)) if lines else json.dumps(rows))
        other.write_text("\n".join(map(json.dumps, reference or [])) + "\n\n")
        given = {
            "name": "x",
            "path": str(path),
            "fields": fields,
            "reference": str(other) if reference else None,
            "reference_fields": ASKED if reference else {},
            "join": join,
            "abstention": "_abs",
            "errata": None,
        }
        return HypothesesFile(**given | more).open()

    return make


def said(question, words="a cat", ok=True, **more):
    return {"id": "q001", "question": question, "said": words, "judge": {"ok": ok, "model": "m"}, **more}


def test_rows_with_ids_of_their_own_are_joined_by_the_words_of_the_question(opened):
    found = opened([said("How many?", "15", gold=15), said("Which pet?", "a cat", False, gold="a cat")])
    assert [(given.question.id, given.answer.text, given.published) for given in found.answers] == [
        ("a2", "15", "correct"),
        ("a1", "a cat", "incorrect"),
    ]
    assert found.published_by == "m"


def test_whole_numbers_as_golds_are_text_and_are_counted(opened):
    found = opened([said("How many?", 15, gold=15)])
    assert found.answers[0].question.gold == "15" and found.answers[0].answer.text == "15"
    assert found.notes["gold_not_text"] == ["a2"] and "gold_differs" not in found.notes


def test_a_question_that_nobody_answered_stays_in_the_denominator(opened):
    found = opened([said("Which pet?")])
    assert [question.id for question in found.missing] == ["a2", "a3_abs"] == list(found.notes["not_answered"])
    assert len(found.questions) == 3


def test_a_row_that_fits_no_question_is_listed_not_dropped(opened):
    found = opened([said("Which pet?"), said("Which bird?", id="q007")])
    assert found.notes["not_in_reference"] == ["q007"] and len(found.answers) == 1


def test_a_gold_or_type_that_differs_from_the_reference_is_listed(opened):
    rows = [said("Which pet?", gold="a dog", kind="multi-session")]
    found = opened(rows, fields=FIELDS | {"category": "kind"})
    assert found.notes["gold_differs"] == found.notes["category_differs"] == ["a1"]
    assert found.answers[0].question.gold == "a cat" and found.answers[0].question.category == "single-session-user"


def test_abstention_is_told_by_the_id_and_not_by_the_type(opened):
    found = opened([said("Which dog?", "I don't know"), said("Which pet?")])
    assert [given.question.answerable for given in found.answers] == [False, True]


@pytest.mark.parametrize("join", ["id", "text"])
def test_a_question_answered_twice_is_refused(opened, join):
    rows = [said("Which pet?", id="a1"), said("Which pet?", id="a1")]
    with pytest.raises(DataError, match="second answer to a1"):
        opened(rows, join=join)


def test_questions_with_the_same_words_cannot_be_joined_by_them(opened):
    with pytest.raises(DataError, match="a text of its own to be joined by"):
        opened([said("Which pet?")], reference=[REFERENCE[0], REFERENCE[0] | {"question_id": "b"}])


@pytest.mark.parametrize(
    ("value", "label"),
    [(True, "correct"), (False, "incorrect"), ("false", "incorrect"), ("No", "incorrect"), ("yes", "correct"),
     ("CORRECT", "correct"), ("incorrect", "incorrect"), ("unjudged", "unjudged"), (1, "correct"), (0, "incorrect")],
)  # fmt: skip
def test_published_verdicts_are_read_by_what_they_say(opened, value, label):
    assert opened([said("Which pet?", ok=value)]).answers[0].published == label


@pytest.mark.parametrize("value", ["maybe", "", [], 0.5, "yes and no", {"x": 1}])
def test_what_is_no_verdict_is_none_and_listed(opened, value):
    found = opened([said("Which pet?", ok=value)])
    assert found.answers[0].published is None and found.notes["published_unreadable"] == ["a1"]


def test_an_answer_that_is_not_there_failed_and_is_listed(opened):
    found = opened([said("Which pet?", None)])
    assert found.answers[0].answer.status == "failed" and found.notes["no_answer"] == ["a1"]


def test_json_lines_are_read_like_a_list_and_a_bad_line_is_named(opened, tmp_path):
    rows = [said("Which pet?"), said("How many?")]
    assert opened(rows, lines=True).answers == opened(rows).answers
    (tmp_path / "broken.jsonl").write_text(json.dumps(rows[0]) + '\n{"id": "q')
    with pytest.raises(DataError, match="line 2 is none"):
        opened([], path=str(tmp_path / "broken.jsonl"))


def test_half_a_surrogate_pair_in_an_answer_does_not_stop_the_file(opened):
    assert opened([said("Which pet?", "a \ud83d cat\0")]).answers[0].answer.text == "a \ufffd cat\ufffd"


def test_rows_that_hold_their_questions_need_no_reference(opened):
    fields = {"id": "id", "history": "talk", "text": "question", "gold": "gold", "category": "kind", "answer": "said",
              "answerable": "answerable", "abstained": "silent", "status": "status", "erratum": "why"}  # fmt: skip
    row = {"id": "1", "talk": "h", "question": "Which?", "gold": 3, "kind": "k", "said": "", "answerable": False,
           "silent": True, "status": "failed", "why": "disputed"}  # fmt: skip
    (given,) = opened([row], reference=None, fields=fields, join="id").answers
    question, answer = given.question, given.answer
    assert (question.history_id, question.gold, question.answerable, question.erratum) == ("h", "3", False, "disputed")
    assert answer.abstained and answer.status == "failed" and given.published is None


def test_the_hash_changes_with_the_answers_and_with_the_questions(opened):
    rows = [said("Which pet?")]
    longer = [*REFERENCE, REFERENCE[0] | {"question_id": "z", "question": "?"}]
    hashes = {opened(rows).sha256, opened([*rows, said("How many?")]).sha256, opened(rows, reference=longer).sha256}
    assert len(hashes) == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"join": "order"}, r"hypotheses\.join must be one of id, text"),
        ({"fields": {"id": "id"}}, r"must say where answer is"),
        ({"fields": FIELDS | {"colour": "c"}}, r"must be some of .*, got colour"),
        ({"reference_fields": {}}, r"reference_fields must say where id is"),
    ],
)
def test_a_mapping_that_cannot_work_is_refused_before_any_file_is_read(opened, change, said):
    with pytest.raises(ConfigError, match=said):
        opened([], **change)


def test_a_file_that_is_not_there_is_one_line(opened):
    with pytest.raises(DataError, match=r"hypotheses\.path must name a readable file, got /nowhere/x.json"):
        opened([], path="/nowhere/x.json")


def test_a_file_without_any_known_question_is_refused(opened):
    with pytest.raises(DataError, match="must hold an answer to a question"):
        opened([said("Which bird?")])


@pytest.mark.data
@pytest.mark.skipif(
    "SODAMEM_DATA" not in os.environ, reason="needs sodamem_release/ and longmemeval/ under SODAMEM_DATA"
)
def test_all_500_rows_of_the_release_are_joined():
    found = build.component(config.compose("+hypotheses=sodamem_release"), "hypotheses").open()
    assert len(found.answers) == 500 and not found.missing
    assert {reason: len(ids) for reason, ids in found.notes.items()} == {"gold_not_text": 32}
    assert Counter(given.published for given in found.answers) == {"correct": 464, "incorrect": 36}
    silent = [given.question for given in found.answers if not given.question.answerable]
    assert len(silent) == 30 and all(question.id.endswith("_abs") for question in silent)
    assert sum(bool(given.question.erratum) for given in found.answers) == 7
