"""The traps of LongMemEval's files on small look-alikes, the hub without a network, and the real file if at hand."""

import json
import os
import tracemalloc
from datetime import datetime
from pathlib import Path

import pytest

from sodamem.dataset.longmemeval import LongMemEvalDataset, read_errata, split_of
from sodamem.errors import ConfigError, DataError, ServiceError


def instance(name="65240037", **more):
    return {
        "question_id": name,
        "question_type": "multi-session",
        "question": "How many?",
        "answer": 15,
        "question_date": "2023/05/30 (Tue) 08:00",
        "haystack_dates": ["2023/05/30 (Tue) 18:00", "2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:57"],
        "haystack_session_ids": ["answer_77_1", "ultra", "ultra"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I bought three.", "has_answer": True},
                {"role": "assistant", "content": "OK"},
            ],
            [
                {"role": "assistant", "content": "Hello"},
                {"role": "user", "content": " "},
                {"role": "user", "content": "Hi"},
            ],
            [{"role": "user", "content": "Twelve more.", "has_answer": False}],
        ],
        "answer_session_ids": ["answer_77_1"],
        **more,
    }


def dataset(path, **options):
    hub = {"hub_name": "xiaowu0162/longmemeval-cleaned", "hub_file": "s.json", "hub_revision": "main"}
    return LongMemEvalDataset(
        **{"path": path and str(path), **hub, "split": "all", "later_sessions": "keep", "errata": "keep", **options}
    )


def opened(tmp_path, *instances, **options):
    path = tmp_path / "lme.json"
    path.write_text(json.dumps(instances))
    return dataset(path, **options).open()


def test_ids_and_golds_that_look_like_numbers_stay_text(tmp_path):
    corpus = opened(tmp_path, instance(), instance(name=65240038))
    assert corpus.history_ids == ("65240037", "65240038")
    (question,) = corpus.questions("65240037")
    assert (question.id, question.history_id, question.gold) == ("65240037", "65240037", "15")


def test_sessions_are_in_order_of_time_but_named_by_position_since_file_ids_repeat(tmp_path):
    corpus = opened(tmp_path, instance())
    history = corpus.history("65240037")
    assert [(s.id, s.at) for s in history.sessions] == [
        ("s001", datetime(2023, 5, 20, 2, 21)),
        ("s002", datetime(2023, 5, 21, 2, 57)),
        ("s000", datetime(2023, 5, 30, 18, 0)),
    ]
    assert corpus.notes["repeated_session_id"] == ["65240037"]


def test_blank_turns_are_skipped_without_renumbering_and_the_assistants_turns_are_kept(tmp_path):
    first = opened(tmp_path, instance()).history("65240037").sessions[0]
    assert [(t.id, t.index, t.role, t.text) for t in first.turns] == [
        ("s001:00", 0, "assistant", "Hello"),
        ("s001:02", 2, "user", "Hi"),
    ]


def test_gold_is_by_position_and_nothing_that_marks_it_reaches_the_history(tmp_path):
    corpus = opened(tmp_path, instance())
    (question,) = corpus.questions("65240037")
    assert (question.gold_turns, question.gold_sessions) == (("s000:00",), ("s000",))
    assert "answer" not in repr(corpus.history("65240037"))


@pytest.mark.parametrize(
    ("later", "shown", "gold", "note"),
    [("keep", 3, ("s000:00",), "later_sessions_kept"), ("hide", 2, (), "later_sessions_hidden")],
)
def test_sessions_after_the_questions_date_are_kept_or_hidden_and_noted(tmp_path, later, shown, gold, note):
    corpus = opened(tmp_path, instance(), later_sessions=later)
    (question,) = corpus.questions("65240037")
    assert question.asked_at == datetime(2023, 5, 30, 8, 0)
    assert len(corpus.history("65240037").sessions) == shown
    assert question.gold_turns == gold
    assert question.exclude == ("" if gold else "no_evidence")
    assert corpus.notes[note] == ["65240037"]


def test_abstention_is_in_the_id_and_the_type_stays(tmp_path):
    corpus = opened(tmp_path, instance(name="0862e8bf_abs"))
    (question,) = corpus.questions("0862e8bf_abs")
    assert (question.answerable, question.category, question.exclude) == (False, "multi-session", "abstention")


def test_questions_without_evidence_in_a_user_turn_are_listed_for_the_benchmarks_smaller_n(tmp_path):
    said = [[{"role": "assistant", "content": "x", "has_answer": True}]] * 3
    corpus = opened(tmp_path, instance(name="a", haystack_sessions=said), instance(name="b"))
    assert corpus.notes["no_user_target"] == ["a"]


def test_characters_that_are_none_are_replaced_in_place_and_noted(tmp_path):
    said = [[{"role": "user", "content": "a\0b \ud83d c"}]] * 3
    corpus = opened(tmp_path, instance(haystack_sessions=said))
    assert corpus.history("65240037").sessions[0].turns[0].text == "a\ufffdb \ufffd c"
    assert corpus.notes["repaired_characters"] == ["65240037"]


def test_an_abstention_variant_is_in_the_split_of_its_question():
    assert split_of("0862e8bf_abs") == split_of("0862e8bf")


def test_each_question_is_in_exactly_one_split(tmp_path):
    instances = [instance(name=f"q{i}") for i in range(40)]
    dev = opened(tmp_path, *instances, split="dev").history_ids
    test = opened(tmp_path, *instances, split="test").history_ids
    assert sorted(dev + test) == sorted(f"q{i}" for i in range(40))
    assert min(len(dev), len(test)) > 10


@pytest.mark.parametrize(("errata", "kept"), [("keep", ("ad7109d1", "b")), ("drop", ("b",))])
def test_disputed_golds_are_marked_or_dropped_with_a_note(tmp_path, errata, kept):
    corpus = opened(tmp_path, instance(name="ad7109d1"), instance(name="b"), errata=errata)
    assert corpus.history_ids == kept
    if errata == "keep":
        assert corpus.questions("ad7109d1")[0].erratum == "contradicted_by_filler"
    else:
        assert corpus.notes["dropped_erratum"] == ["ad7109d1"]


def test_errata_ids_survive_yaml_as_text():
    assert "370a8ff4" in read_errata("longmemeval")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"question_date": "2023-05-30"}, r"\[1\]\.question_date must be a time like .*, got '2023-05-30'"),
        ({"question_date": "2023/02/30 (Tue) 08:00"}, "question_date must be a time"),
        ({"haystack_dates": []}, r"\[1\] must have as many haystack_dates .*, got 0, 3 and 3"),
        ({"haystack_sessions": [[], [], {}]}, r"\[1\]\.haystack_sessions\[2\] must be a list, got an object"),
        ({"haystack_sessions": [[], [], [{"role": "system", "content": ""}]]}, r"\[2\]\[0\]\.role must be one of user"),
        ({"haystack_sessions": [[], [], [{"role": "user", "content": 3}]]}, r"content must be a string, got 3"),
        ({"answer": None}, r"\[1\] must have the key 'answer', it has none"),
        ({"question_id": "65240037"}, "question_id must be unique"),
    ],
)
def test_a_damaged_instance_is_refused_when_opened_and_named(tmp_path, more, message):
    with pytest.raises(DataError, match=message) as caught:
        opened(tmp_path, instance(), instance(**{"question_id": "q1", **more}))
    assert "\n" not in str(caught.value)


def test_histories_are_built_one_at_a_time(tmp_path):
    said = [[{"role": "user", "content": f"{i} {j}"} for j in range(100)] for i in range(3)]
    corpus = opened(tmp_path, *(instance(name=f"q{i}", haystack_sessions=said) for i in range(30)))
    tracemalloc.start()
    corpus.history("q0")
    one = tracemalloc.get_traced_memory()[1]
    for name in corpus.history_ids:
        corpus.history(name)
    assert tracemalloc.get_traced_memory()[1] < 2 * one
    tracemalloc.stop()


def test_the_same_history_is_built_twice_alike(tmp_path):
    corpus = opened(tmp_path, instance())
    assert corpus.history("65240037") == corpus.history("65240037")


@pytest.fixture
def offline(monkeypatch, tmp_path):
    datasets = pytest.importorskip("datasets")
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("offline")
def test_without_the_hub_one_line_says_what_to_do():
    with pytest.raises(
        ServiceError, match=r"cannot get s\.json of xiaowu0162/.* and set dataset\.path to the file"
    ) as caught:
        dataset(None).open()
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("offline")
def test_a_file_that_comes_through_the_hub_client_keeps_its_types_and_its_hash(tmp_path):
    mixed = (instance(), instance(name="b", answer="fifteen"))
    local = opened(tmp_path, *mixed)
    remote = dataset(None, hub_name=str(tmp_path), hub_file="lme.json").open()
    assert remote.sha256 == local.sha256
    assert [remote.questions(name) for name in remote.history_ids] == [
        local.questions(name) for name in local.history_ids
    ]


@pytest.mark.parametrize("option", ["split", "later_sessions", "errata"])
def test_an_option_out_of_range_is_refused_before_anything_is_read(option):
    with pytest.raises(ConfigError, match=f"{option} must be one of .*, got 'x'"):
        dataset("nowhere.json", **{option: "x"})


def test_a_split_that_the_file_does_not_hold_is_refused_and_not_empty(tmp_path):
    other = "test" if split_of("65240037") == "dev" else "dev"
    with pytest.raises(DataError, match=f"must hold a question of split {other}, it has none. Set split=all"):
        opened(tmp_path, instance(), split=other)


@pytest.mark.data
@pytest.mark.skipif("SODAMEM_DATA" not in os.environ, reason="needs longmemeval/ under SODAMEM_DATA")
def test_the_real_instances_open_and_their_evidence_agrees_with_the_list_of_all_questions():
    root = Path(os.environ["SODAMEM_DATA"]) / "longmemeval"
    corpus = dataset(root / "longmemeval_s_partial.json").open()
    lines = (root / "questions_500_meta.jsonl").read_text().splitlines()
    listed = {m["question_id"]: m for m in map(json.loads, lines)}
    for name in corpus.history_ids:
        (question,) = corpus.questions(name)
        history = corpus.history(name)
        assert question.gold == str(listed[name]["answer"])
        assert len(question.gold_sessions) == len(listed[name]["answer_session_ids"])
        assert set(question.gold_turns) <= {turn.id for s in history.sessions for turn in s.turns}
        assert {turn.split(":")[0] for turn in question.gold_turns} <= set(question.gold_sessions)
    ids = [m["question_id"] for m in listed.values()]
    assert sum(split_of(i) == "dev" for i in ids) == 252
