"""The traps of LoCoMo's file on a small look-alike, and the counts of the released file where it is at hand."""

import json
import os
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

from sodamem.dataset.locomo import RELEASE_COUNTS, RELEASE_SHA256, LocomoDataset
from sodamem.errors import ConfigError, DataError


def turn(place, text, speaker="Ann", **more):
    return {"speaker": speaker, "dia_id": place, "text": text, **more}


def asked(question, evidence, category=4, **gold):
    return {"question": question, "evidence": evidence, "category": category, **(gold or {"answer": "x"})}


def sample(name="conv-26", qa=()):
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                turn("D1:1", "Hi Bob!"),
                turn("D1:2", "Look.", "Bob", blip_caption="a red boat", query="secret search", img_url=["u"]),
                turn("D1:3", "  "),
                turn("D1:4", "Nice."),
            ],
            "session_10_date_time": "12:05 am on 3 January, 2024",
            "session_10": [turn("D10:1", "Happy new year.")],
            "session_2_date_time": "12:30 pm on 9 June, 2023",
            "session_2": [turn("D2:1", "Later.")],
            "session_11_date_time": "not even a date",
        },
        "qa": list(qa),
    }


def opened(tmp_path, *samples, **options):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(samples))
    return dataset(path, **options).open()


def dataset(path, **options):
    defaults = {"split": "all", "categories": [1, 2, 3, 4, 5], "captions": "index", "errata": "keep"}
    return LocomoDataset(**{"path": str(path), **defaults, "errata_path": None, **options})


def questions(corpus):
    return [q for name in corpus.history_ids for q in corpus.questions(name)]


def test_sessions_are_in_order_of_time_and_dates_without_sessions_are_ignored(tmp_path):
    history = opened(tmp_path, sample()).history("conv-26")
    assert [(s.id, s.at) for s in history.sessions] == [
        ("S1", datetime(2023, 5, 8, 13, 56)),
        ("S2", datetime(2023, 6, 9, 12, 30)),
        ("S10", datetime(2024, 1, 3, 0, 5)),
    ]
    assert history.speakers == ("Ann", "Bob")


def test_a_blank_turn_is_skipped_and_nothing_is_renumbered(tmp_path):
    first = opened(tmp_path, sample()).history("conv-26").sessions[0]
    assert [(t.id, t.index, t.role) for t in first.turns] == [
        ("D1:1", 0, "speaker"),
        ("D1:2", 1, "speaker"),
        ("D1:4", 3, "speaker"),
    ]


@pytest.mark.parametrize(("captions", "caption"), [("index", "a red boat"), ("drop", "")])
def test_a_caption_stays_apart_from_the_words_and_the_search_query_is_never_read(tmp_path, captions, caption):
    history = opened(tmp_path, sample(), captions=captions).history("conv-26")
    assert (history.sessions[0].turns[1].text, history.sessions[0].turns[1].caption) == ("Look.", caption)
    assert "secret" not in repr(history)


@pytest.mark.parametrize(
    ("evidence", "turns", "dead"),
    [
        (["D1:1; D2:1"], ("D1:1", "D2:1"), []),
        (["D1:1 D2:1 D1:4", "D2:1"], ("D1:1", "D2:1", "D1:4"), []),
        (["D:10:1"], ("D10:1",), []),
        (["D2:01"], ("D2:1",), []),
        (["D1:1", "D"], ("D1:1",), ["D"]),
        (["D1:1", "D10:19"], ("D1:1",), ["D10:19"]),
    ],
)
def test_misspelt_evidence_is_repaired_and_what_stays_dead_is_reported(tmp_path, evidence, turns, dead):
    corpus = opened(tmp_path, sample(qa=[asked("Who?", evidence)]))
    (question,) = questions(corpus)
    assert (question.gold_turns, question.exclude) == (turns, "")
    assert question.gold_sessions == tuple(dict.fromkeys("S" + t[1:].split(":")[0] for t in turns))
    assert [note.split()[-1] for note in corpus.notes.get("dead_evidence", [])] == dead


def test_a_question_without_living_evidence_stays_but_is_excluded_with_the_reason(tmp_path):
    corpus = opened(tmp_path, sample(qa=[asked("None?", []), asked("Dead?", ["D9:9"])]))
    none, dead = questions(corpus)
    assert (none.exclude, dead.exclude) == ("no_evidence", "dead_evidence")
    assert corpus.notes["no_evidence"] == [none.id]


def test_golds_are_text_and_adversarial_ones_do_not_need_an_answer(tmp_path):
    qa = [asked("Year?", ["D1:1"], 2, answer=2022), asked("Trap?", ["D1:1"], 5, adversarial_answer="a kite")]
    year, trap = questions(opened(tmp_path, sample(qa=qa)))
    assert (year.gold, year.answerable, year.trap) == ("2022", True, "")
    assert (trap.gold, trap.answerable, trap.trap) == ("not answerable", False, "a kite")
    assert (year.category, year.category_name) == ("category_2", "temporal")


def test_questions_are_named_by_content_and_a_repeated_one_is_flagged(tmp_path):
    qa = [asked("One?", ["D1:1"]), asked("Two?", ["D1:1"]), asked("One?", ["D2:1"], 5, adversarial_answer="y")]
    corpus = opened(tmp_path, sample(qa=qa))
    one, two, again = questions(corpus)
    assert again.id == f"{one.id}-2"
    assert corpus.notes["duplicate_question"] == [again.id]
    turned = questions(opened(tmp_path, sample(qa=[qa[1], qa[0]])))
    assert [q.id for q in turned] == [two.id, one.id]
    filtered = questions(opened(tmp_path, sample(qa=qa), categories=[5]))
    assert [q.id for q in filtered] == [again.id]


def test_questions_are_asked_after_everything_was_said(tmp_path):
    (question,) = questions(opened(tmp_path, sample(qa=[asked("Who?", ["D1:1"])])))
    assert question.asked_at == datetime(2024, 1, 3, 0, 5)


@pytest.mark.parametrize(
    ("split", "names"), [("dev", ("conv-26",)), ("test", ("conv-44",)), ("all", ("conv-26", "conv-44"))]
)
def test_tuning_cannot_see_a_test_conversation(tmp_path, split, names):
    assert opened(tmp_path, sample(), sample("conv-44"), split=split).history_ids == names


@pytest.mark.parametrize(("errata", "left"), [("keep", ["", "temporal_error"]), ("drop", [""])])
def test_disputed_questions_are_marked_or_dropped_with_a_note(tmp_path, errata, left):
    audit = tmp_path / "errors.json"
    audit.write_text('[{"question_id": "locomo_0_qa1", "question": "Two?", "error_type": "TEMPORAL_ERROR"}]')
    talk = sample(qa=[asked("One?", ["D1:1"]), asked("Two?", ["D1:1"])])
    corpus = opened(tmp_path, talk, errata=errata, errata_path=str(audit))
    assert [q.erratum for q in questions(corpus)] == left
    assert len(corpus.notes.get("dropped_erratum", [])) == 2 - len(left)


def test_an_audit_of_another_file_is_refused_and_not_applied_by_position(tmp_path):
    audit = tmp_path / "errors.json"
    audit.write_text('[{"question_id": "locomo_0_qa0", "question": "Other?", "error_type": "AMBIGUOUS"}]')
    with pytest.raises(
        DataError, match=r"errata_path must be of this file, its entry for \[0\]\.qa\[0\] asks 'Other\?'"
    ):
        opened(tmp_path, sample(qa=[asked("One?", ["D1:1"])]), errata_path=str(audit))


def test_equal_content_has_an_equal_digest_and_a_changed_word_another(tmp_path):
    digest = opened(tmp_path, sample()).history("conv-26").digest
    assert opened(tmp_path, sample()).history("conv-26").digest == digest
    changed = sample()
    changed["conversation"]["session_2"][0]["text"] = "Later!"
    assert opened(tmp_path, changed).history("conv-26").digest != digest


def test_a_missing_file_says_how_to_get_it(tmp_path):
    with pytest.raises(
        DataError, match=r"path must name a readable file, got .*locomo10\.json \(no such file .*Get locomo10"
    ):
        dataset(tmp_path / "locomo10.json").open()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda s: s["conversation"].update(session_1_date_time="8 May"),
            r"\[0\]\.conversation\.session_1_date_time must",
        ),
        (lambda s: s["conversation"].pop("session_2_date_time"), "must have the key 'session_2_date_time'"),
        (lambda s: s["conversation"]["session_1"][0].pop("text"), r"session_1\[0\] must have the key 'text'"),
        (lambda s: s["conversation"]["session_1"][1].update(dia_id="D1:1"), "its own dia_id, D1:1 occurs twice"),
        (lambda s: s["qa"].append(asked("?", ["D1:1"], 6)), r"qa\[0\]\.category must be one of 1, 2, 3, 4, 5, got 6"),
        (lambda s: s["qa"].append(asked("?", "D1:1")), r"qa\[0\]\.evidence must be a list, got 'D1:1'"),
        (lambda s: s["qa"].append(asked("?", [], 1, answer=[1])), r"answer must be a string or a number, got a list"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line_that_says_where(tmp_path, damage, message):
    talk = sample()
    damage(talk)
    with pytest.raises(DataError, match=message) as caught:
        opened(tmp_path, talk)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"), [("[{", "line 1, column 3"), ("{}", "must be a list"), ("[" * 99999, "nested")]
)
def test_a_file_that_is_not_locomo_is_refused(tmp_path, text, message):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        dataset(path).open()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "train"}, "split must be one of dev, test, all, got 'train'"),
        ({"captions": "yes"}, "captions must be one of index, drop"),
        ({"errata": "x"}, "errata must be one of keep, drop"),
        ({"categories": [6]}, r"categories must be some of 1, 2, 3, 4, 5, got \[6\]"),
        ({"categories": []}, r"got \[\]"),
        ({"errata": "drop"}, r"errata_path must name the audit's errors\.json when errata is drop"),
    ],
)
def test_an_option_out_of_range_is_refused_before_anything_is_read(options, message):
    with pytest.raises(ConfigError, match=message):
        dataset("nowhere.json", **options)


@pytest.mark.data
@pytest.mark.skipif("SODAMEM_DATA" not in os.environ, reason="needs locomo/locomo10.json under SODAMEM_DATA")
def test_the_released_file_holds_what_its_paper_says():
    root = Path(os.environ["SODAMEM_DATA"])
    corpus = dataset(root / "locomo/locomo10.json", errata_path=str(root / "locomo_audit/errors.json")).open()
    found = questions(corpus)
    histories = [corpus.history(name) for name in corpus.history_ids]
    assert corpus.sha256 == RELEASE_SHA256
    assert Counter(int(q.category[-1]) for q in found) == RELEASE_COUNTS
    assert sum(len(h.sessions) for h in histories) == 272
    assert sum(len(s.turns) for h in histories for s in h.sessions) == 5882
    assert [note.split()[-1] for note in corpus.notes["dead_evidence"]] == ["D10:19", "D", "D4:36"]
    assert Counter((q.category, q.exclude) for q in found if q.exclude) == {("category_3", "no_evidence"): 4}
    assert sum(bool(q.erratum) for q in found) == 156
    assert len({q.id for q in found}) == 1986
    assert len(corpus.notes["duplicate_question"]) == 12
