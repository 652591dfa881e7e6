"""What is scored, and how far a score spreads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.errors import ConfigError
from sodamem.tunnel.documents import Documents


def documents(**fields):
    return Documents(**{"scope": "item", "kinds": ["turn"], "context": [], **fields})


@pytest.fixture(scope="module")
def snapshot(talk, remember, piece, fact):
    history = talk(
        {"a 2024-01-01": ["Ann: one. uno", "Bob: two", "Ann: three"], "b 2024-01-02": ["Ann: four", "Bob: five"]}
    )
    first = history.sessions[0].turns
    return remember(history, pieces=[piece(first[0], "one.")], facts=[fact("f", first[1])])


def test_a_score_spreads_to_both_sides_and_never_into_another_session(snapshot):
    grouping = documents(context=[0.5, 0.25]).of(snapshot)
    spread = [grouping.spread(np.eye(5)[row]).tolist() for row in range(5)]
    assert spread == [
        [1, 0.5, 0.25, 0, 0],
        [0.5, 1, 0.5, 0, 0],
        [0.25, 0.5, 1, 0, 0],
        [0, 0, 0, 1, 0.5],
        [0, 0, 0, 0.5, 1],
    ]


@given(
    lengths=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    shares=st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=6),
)
def test_the_context_of_any_length_stays_within_the_session(lengths, shares):
    class Turns:
        kind = np.zeros(sum(lengths), dtype=np.uint8)
        session = np.repeat(np.arange(len(lengths)), lengths)
        sessions = lengths

    spread = documents(context=shares).of(Turns()).spread
    for row in range(sum(lengths)):
        column = spread(np.eye(sum(lengths))[row])
        for other, score in enumerate(column.tolist()):
            near = abs(row - other)
            share = 1.0 if near == 0 else shares[near - 1] if near <= len(shares) else 0.0
            assert score == (share if Turns.session[row] == Turns.session[other] else 0.0)


def test_kinds_choose_the_rows(snapshot):
    assert documents().of(snapshot).rows.tolist() == [0, 1, 2, 3, 4]
    assert documents(kinds=["fact"]).of(snapshot).rows.tolist() == [6]
    assert documents(kinds=["fact", "piece"]).of(snapshot).rows.tolist() == [5, 6]
    assert documents(kinds=["fact", "piece"]).of(snapshot).texts() == ["one.", "two"]


def test_a_session_is_one_document_of_all_its_turns(snapshot):
    grouping = documents(scope="session").of(snapshot)
    assert grouping.texts() == ["one. uno\ntwo\nthree", "four\nfive"]
    assert grouping.spread(np.array([0.5, 0.25])).tolist() == [0.5, 0.5, 0.5, 0.25, 0.25]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"scope": "turn"}, r"documents\.scope must be one of item, session, got 'turn'"),
        ({"kinds": []}, r"documents\.kinds must be some of turn, piece, fact, got \[\]"),
        ({"kinds": ["words"]}, r"documents\.kinds must be some of turn, piece, fact, got \['words'\]"),
        (
            {"kinds": ["turn", "fact"], "context": [0.5]},
            r"documents\.kinds must be \[turn\] with scope session or context",
        ),
        ({"kinds": ["fact"], "scope": "session"}, r"documents\.kinds must be \[turn\] with scope session or context"),
        ({"context": [1.5]}, r"documents\.context must hold shares between 0 and 1, got \[1\.5\]"),
        ({"context": [float("nan")]}, r"documents\.context must hold shares between 0 and 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(fields, said):
    with pytest.raises(ConfigError, match=said):
        documents(**fields)
