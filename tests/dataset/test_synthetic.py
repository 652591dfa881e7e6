"""The synthetic dataset: same bytes everywhere, exact gold, lazy at any size, every type of question."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sodamem.dataset.synthetic import CATEGORIES, SyntheticCorpus, SyntheticDataset
from sodamem.errors import ConfigError, DataError
from sodamem.types import Turn

SMALL = SyntheticDataset(
    split="all",
    seed=7,
    histories=6,
    sessions=12,
    turns_per_session=12,
    questions_per_history=10,
    days_between_sessions=9,
    distractors=1,
    hard=False,
)
HARD = replace(SMALL, histories=8, sessions=30, questions_per_history=15, distractors=3, hard=True)
DIGEST = """
from hashlib import sha256
from sodamem.dataset.synthetic import SyntheticDataset
corpus = SyntheticDataset(split="all", seed=7, histories=2, sessions=12, turns_per_session=12,
    questions_per_history=10, days_between_sessions=9, distractors=1, hard=True).open()
seen = sha256(corpus.sha256.encode())
for name in corpus.history_ids:
    seen.update(repr([*corpus.history(name).sessions]).encode())
    seen.update(repr((corpus.questions(name), corpus.gold(name))).encode())
print(seen.hexdigest())
"""


def _turns(corpus: SyntheticCorpus, name: str) -> dict[str, Turn]:
    return {turn.id: turn for session in corpus.history(name).sessions for turn in session.turns}


@pytest.fixture(params=[SMALL, HARD], ids=["small", "hard"])
def corpus(request: pytest.FixtureRequest) -> SyntheticCorpus:
    return request.param.open()


def test_bytes_do_not_depend_on_the_hash_seed_or_the_time_zone() -> None:
    digests = set()
    for hash_seed, zone in (("0", "UTC"), ("4242", "Pacific/Auckland")):
        env = os.environ | {"PYTHONHASHSEED": hash_seed, "TZ": zone, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run([sys.executable, "-c", DIGEST], env=env, capture_output=True, text=True, check=True)
        digests.add(run.stdout)
    assert len(digests) == 1


def test_a_history_does_not_depend_on_how_many_there_are_or_what_was_read_before() -> None:
    one, many = SMALL.open(), replace(SMALL, histories=60).open()
    name = one.history_ids[3]
    assert one.sha256 == many.sha256
    assert one.history(name).digest == many.history(name).digest
    assert one.history(name).sessions[5] == [*many.history(name).sessions][5]


def test_other_parameters_are_another_corpus() -> None:
    changed = [replace(SMALL, seed=8), replace(SMALL, hard=True), replace(SMALL, distractors=0)]
    assert len({dataset.open().sha256 for dataset in [SMALL, *changed]}) == 4
    assert SMALL.open().history("syn7-0001").digest != replace(SMALL, hard=True).open().history("syn7-0001").digest


def test_spans_hold_the_value_in_the_words_of_the_right_speaker(corpus: SyntheticCorpus) -> None:
    seen = 0
    for name in corpus.history_ids:
        turns = _turns(corpus, name)
        for statement in corpus.gold(name).statements:
            turn = turns[statement.turn_id]
            clause = turn.text[statement.start : statement.end]
            assert statement.value in clause
            assert clause.endswith((".", "?"))
            assert turn.role == ("assistant" if statement.modality == "advice" else "user")
            assert statement.subject == "user" or statement.subject in clause
            seen += 1
    assert seen > 100


def test_gold_turns_exist_and_hold_what_the_answer_needs(corpus: SyntheticCorpus) -> None:
    for name in corpus.history_ids:
        turns = _turns(corpus, name)
        for question in corpus.questions(name):
            texts = [turns[turn_id].text for turn_id in question.gold_turns]
            assert {turns[turn_id].session_id for turn_id in question.gold_turns} == set(question.gold_sessions)
            assert bool(texts) == question.answerable
            if question.category in {"single-session-user", "single-session-assistant"}:
                assert question.gold in texts[0]
            if question.category == "knowledge-update" and not question.gold.startswith(("Yes", "No")):
                assert all(any(value in text for text in texts) for value in question.gold.split(" and "))


def test_every_category_and_no_other_occurs(corpus: SyntheticCorpus) -> None:
    counts = Counter(question.category for name in corpus.history_ids for question in corpus.questions(name))
    assert set(counts) == set(CATEGORIES)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_abstention_has_no_gold_turn_and_one_gold_text(corpus: SyntheticCorpus) -> None:
    for name in corpus.history_ids:
        for question in corpus.questions(name):
            if question.category == "abstention":
                assert not question.answerable
                assert question.gold_turns == question.gold_sessions == ()
                assert question.gold == "You have not told me that."


def test_questions_are_asked_after_the_last_session(corpus: SyntheticCorpus) -> None:
    for name in corpus.history_ids:
        last = corpus.history(name).sessions[-1].at
        assert all(question.asked_at > last for question in corpus.questions(name))


def test_sessions_run_forward_over_months_on_many_weekdays(corpus: SyntheticCorpus) -> None:
    times = [session.at for session in corpus.history(corpus.history_ids[0]).sessions]
    assert times == sorted(set(times))
    assert times[-1] - times[0] > timedelta(days=90)
    assert len({time.weekday() for time in times}) >= 4


def test_a_slot_holds_one_value_at_a_time_and_as_of_agrees_with_its_timeline(corpus: SyntheticCorpus) -> None:
    chains = 0
    for name in corpus.history_ids:
        gold = corpus.gold(name)
        for slot in gold.slots:
            key = (slot.subject, slot.predicate)
            current = tuple(spell.value for spell in slot.timeline if spell.valid_until is None)
            assert gold.current(*key, scope=slot.scope) == current
            if slot.cardinality == "single":
                assert len(current) == 1
                for spell, after in zip(slot.timeline, slot.timeline[1:], strict=False):
                    assert spell.valid_from < after.valid_from == spell.valid_until
                    assert gold.as_of(*key, after.valid_from, slot.scope) == (after.value,)
                    assert gold.as_of(*key, after.valid_from - timedelta(minutes=1), slot.scope) == (spell.value,)
                    chains += 1
            assert gold.as_of(*key, slot.timeline[0].valid_from - timedelta(minutes=1), slot.scope) == ()
    assert chains >= 3


def test_statements_alone_give_the_gold_slots(corpus: SyntheticCorpus) -> None:
    """Replaying asserted statements by effective time, whatever the order told, yields the current values."""
    for name in corpus.history_ids:
        gold = corpus.gold(name)
        for slot in gold.slots:
            held: list[str] = []
            said = [s for s in gold.statements if s.asserted]
            said = [s for s in said if (s.subject, s.predicate, s.scope) == (slot.subject, slot.predicate, slot.scope)]
            for statement in sorted(said, key=lambda s: s.effective_at):
                if not statement.polarity:
                    held.remove(statement.value)
                elif slot.cardinality == "single":
                    held = [statement.value]
                else:
                    held.append(statement.value)
            assert set(held) == set(gold.current(slot.subject, slot.predicate, slot.scope))


def test_hard_cases_of_currency_all_occur() -> None:
    corpus = replace(HARD, histories=20).open()
    flags: Counter[str] = Counter()
    modalities: Counter[str] = Counter()
    for name in corpus.history_ids:
        for statement in corpus.gold(name).statements:
            flags.update(statement.flags)
            modalities[statement.modality] += 1
    wanted = ("change", "correction", "corrected", "ended", "drift", "told_late", "temporary", "hypothetical")
    assert all(flags[flag] for flag in wanted), flags
    assert all(modalities[m] for m in ("past_event", "current_state", "future_plan", "preference", "advice"))


def test_a_million_turns_are_read_at_random_without_making_them() -> None:
    dataset = replace(SMALL, histories=1, sessions=83_334)
    history = dataset.open().history("syn7-0001")
    assert len(history.sessions) * 12 > 1_000_000
    tracemalloc.start()
    session = history.sessions[83_000]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert session.id == "s83001"
    assert len(session.turns) == 12
    assert history.sessions[82_999].at < session.at < history.sessions[-1].at
    assert session == history.sessions[83_000 - len(history.sessions)]
    assert peak < 1_000_000


def test_sessions_can_be_sliced_and_refuse_what_is_not_there() -> None:
    sessions = SMALL.open().history("syn7-0001").sessions
    assert list(sessions[2:4]) == [sessions[2], sessions[3]]
    with pytest.raises(IndexError):
        sessions[12]


def test_dev_and_test_share_no_history_and_lose_none() -> None:
    ids = {split: replace(SMALL, split=split, histories=40).open().history_ids for split in ("all", "dev", "test")}
    assert len(ids["dev"]) == len(ids["test"]) == 20
    assert not set(ids["dev"]) & set(ids["test"])
    assert sorted(ids["dev"] + ids["test"]) == list(ids["all"])


def test_an_odd_number_of_turns_ends_with_the_user() -> None:
    session = replace(SMALL, turns_per_session=13).open().history("syn7-0001").sessions[0]
    assert [turn.role for turn in session.turns] == ["user", "assistant"] * 6 + ["user"]


@pytest.mark.parametrize(
    ("knob", "value"),
    [
        ("split", "train"),
        ("seed", -1),
        ("histories", 0),
        ("sessions", 3),
        ("sessions", 1_000_001),
        ("turns_per_session", 1),
        ("questions_per_history", 0),
        ("questions_per_history", 43),
        ("days_between_sessions", 0),
        ("distractors", 7),
    ],
)
def test_a_knob_out_of_range_is_refused_in_one_line(knob: str, value: object) -> None:
    with pytest.raises(ConfigError, match=rf"^{knob} must .*, got {value}\..*$") as caught:
        replace(SMALL, **{knob: value})
    assert "\n" not in str(caught.value)


def test_a_half_of_one_history_is_refused() -> None:
    with pytest.raises(ConfigError, match="histories must be between 2"):
        replace(SMALL, split="dev", histories=1)


def test_too_many_facts_for_the_sessions_are_refused() -> None:
    with pytest.raises(ConfigError, match="sessions must leave room for 48 exchanges of facts, got room for 6"):
        replace(SMALL, sessions=4)


def test_an_unknown_history_is_a_data_error() -> None:
    with pytest.raises(DataError, match="got h1"):
        SMALL.open().history("h1")


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    sessions=st.integers(4, 60),
    turns=st.integers(2, 20),
    questions=st.integers(1, 42),
    distractors=st.integers(0, 6),
    days=st.sampled_from([0.01, 1, 3, 9, 60]),
    hard=st.booleans(),
)
def test_whatever_the_constructor_accepts_can_be_planned(
    seed: int, sessions: int, turns: int, questions: int, distractors: int, days: float, hard: bool
) -> None:
    try:
        dataset = SyntheticDataset(
            split="all",
            seed=seed,
            histories=3,
            sessions=sessions,
            turns_per_session=turns,
            questions_per_history=questions,
            days_between_sessions=days,
            distractors=distractors,
            hard=hard,
        )
    except ConfigError:
        return
    corpus = dataset.open()
    for name in corpus.history_ids:
        assert len(corpus.questions(name)) == questions
        assert len(corpus.history(name).sessions) == sessions
