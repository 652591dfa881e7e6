"""What must not matter: when a week was, in which order sessions arrived, what else the folder of runs holds."""

import dataclasses
import itertools
from datetime import datetime, timedelta

import pytest

from sodamem import build, config
from sodamem.types import History, Question

SAID = {
    "a 2024-05-03T10:00": [
        "Ann: I adopted a puppy named Biscuit yesterday.",
        "Bob: What breed?",
        "Ann: A corgi. He loves snow.",
    ],
    "b 2024-05-10T10:00": ["Ann: I live in Bergen now.", "Bob: I ran a race last Friday.", "Ann: How long was it?"],
    "c 2024-05-24T18:00": ["Bob: The race is in two weeks.", "Ann: I moved to Oslo three days ago.", "Bob: Nice!"],
    "d 2024-05-24T18:00": ["Ann: Biscuit ran after a cat this morning.", "Bob: Did he catch it?"],
}
ASKED = (
    "When did Bob run a race?",
    "Where does Ann live?",
    "What did Ann do three days before?",
    "What happened last week?",
)
ASKED_AT = datetime(2024, 5, 28, 12)
SYSTEMS = {
    "default": (),
    "published": ("experiment=paper",),
    "rank fusion": ("fusion=rrf",),
}


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request):
    return build.pipeline(config.compose(*SYSTEMS[request.param]))


@pytest.fixture
def ranked(system, tmp_path):
    """ranked(history, days) -> for each question the ranking of turns with their confidence; `days` moves its time."""
    number = itertools.count()

    def run(history, days=0):
        fresh = dataclasses.replace(system, stores=tmp_path / str(next(number)), cache=None)
        with fresh.open(history) as memory:
            found = []
            for words in ASKED:
                question = Question(
                    id="q",
                    history_id=history.id,
                    text=words,
                    asked_at=ASKED_AT + timedelta(days=days),
                    category="c",
                    category_name="c",
                    gold="",
                )
                evidence = fresh.recall(memory, question)
                found.append([(item.turn_ids, item.kind, round(item.confidence, 6)) for item in evidence])
        return found

    return run


def shifted(history: History, days: int) -> History:
    step = timedelta(days=days)
    return dataclasses.replace(
        history,
        sessions=tuple(
            dataclasses.replace(
                session,
                at=session.at + step,
                turns=tuple(dataclasses.replace(turn, at=turn.at + step) for turn in session.turns),
            )
            for session in history.sessions
        ),
    )


def test_moving_everything_by_whole_weeks_moves_nothing_in_the_ranking(talk, ranked):
    history = talk(SAID)
    expected = ranked(history)
    assert all(expected)
    for weeks in (1, 52, -1043):
        assert ranked(shifted(history, 7 * weeks), 7 * weeks) == expected, weeks


def test_the_order_of_arrival_moves_nothing_in_the_ranking(talk, ranked):
    history = talk(SAID)
    expected = ranked(history)
    for order in ((3, 2, 1, 0), (1, 3, 0, 2)):
        arrived = dataclasses.replace(history, sessions=tuple(history.sessions[place] for place in order))
        assert ranked(arrived) == expected, order


def test_a_memory_that_grew_session_by_session_ranks_like_one_that_was_filled_at_once(talk, ranked, system, tmp_path):
    history = talk(SAID)
    grown = dataclasses.replace(system, stores=tmp_path / "grown", cache=None)
    for size in range(1, 5):
        with grown.open(dataclasses.replace(history, sessions=history.sessions[:size])):
            pass
    with grown.open(history) as memory:
        growing = memory.snapshot.fingerprint
    whole = dataclasses.replace(system, stores=tmp_path / "whole", cache=None)
    with whole.open(history) as memory:
        assert memory.snapshot.fingerprint == growing
