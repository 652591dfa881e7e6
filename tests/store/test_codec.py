"""Facts survive being written down: nothing is lost, rounded or re-typed."""

import json
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sodamem.errors import DataError, ProvenanceError
from sodamem.store import codec
from sodamem.types import (
    GRAINS,
    KINDS,
    MODALITIES,
    STATUSES,
    Entity,
    FactEvent,
    Interval,
    MessagePiece,
    Quantity,
    Role,
    TimeValue,
)

words = st.text(max_size=20)
moments = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9000, 1, 1))


@st.composite
def intervals(draw):
    start = draw(moments)
    length = draw(st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(days=9000)))
    return Interval(start=start, end=start + length, grain=draw(st.sampled_from(GRAINS)))


@st.composite
def pieces(draw):
    text, start = draw(st.text(min_size=1, max_size=20)), draw(st.integers(0, 10**6))
    return MessagePiece(turn_id=draw(words), start=start, end=start + len(text), text=text)


times = st.builds(
    TimeValue,
    words=words,
    start=st.integers(0, 99),
    end=st.integers(0, 99),
    anchor=moments,
    interval=st.none() | intervals(),
    rule=words,
    version=words,
    approximate=st.booleans(),
    alternatives=st.lists(intervals(), max_size=2).map(tuple),
)


@st.composite
def facts(draw):
    start = draw(st.none() | moments)
    end = None if start is None else draw(st.none() | st.just(start + timedelta(microseconds=1)))
    return FactEvent(
        id=draw(words),
        kind=draw(st.sampled_from(KINDS)),
        predicate=draw(words),
        modality=draw(st.sampled_from(MODALITIES)),
        subject=draw(words),
        text=draw(words),
        pieces=tuple(draw(st.lists(pieces(), min_size=1, max_size=3))),
        mentioned_at=draw(moments),
        order=(draw(words), draw(st.integers(0, 99)), draw(st.integers(0, 99))),
        speaker=draw(words),
        polarity=draw(st.booleans()),
        roles=tuple(draw(st.lists(st.builds(Role, name=words, entity=words, words=words), max_size=2))),
        quantity=draw(st.none() | st.builds(Quantity, value=st.floats(allow_nan=False), unit=words, words=words)),
        times=tuple(draw(st.lists(times, max_size=2))),
        occurred=draw(st.none() | intervals()),
        valid_from=start,
        valid_until=end,
        status=draw(st.sampled_from(STATUSES)),
        flags=tuple(draw(st.lists(words, max_size=2))),
    )


@settings(deadline=None)
@given(fact=facts())
def test_a_fact_comes_back_equal(fact):
    row = codec.dump(fact)
    assert codec.fact(row) == fact
    assert codec.dump(codec.fact(row)) == row and row.isascii()


@given(entity=st.builds(Entity, id=words, type=words, surfaces=st.lists(words, max_size=3).map(tuple)))
def test_an_entity_comes_back_equal(entity):
    assert codec.entity(codec.dump(entity)) == entity


def test_a_row_that_was_tampered_with_is_refused(fact, talk):
    row = json.loads(codec.dump(fact("f", talk({"a 2024-01-01": ["Ann: Hi."]}).sessions[0].turns[0])))
    with pytest.raises(ProvenanceError, match=r"must span its text"):
        codec.fact(json.dumps({**row, "pieces": [{"turn_id": "a:0", "start": 0, "end": 9, "text": "Hi."}]}))
    with pytest.raises(ProvenanceError, match=r"must cite at least one piece"):
        codec.fact(json.dumps({**row, "pieces": []}))
    with pytest.raises(DataError, match=r"must end after it starts"):
        codec.fact(json.dumps({**row, "valid_from": "2024-01-02T00:00:00", "valid_until": "2024-01-01T00:00:00"}))


def test_what_json_does_not_know_is_not_guessed(fact, talk):
    turn = talk({"a 2024-01-01": ["Ann: Hi."]}).sessions[0].turns[0]
    with pytest.raises(TypeError, match="cannot store a set"):
        codec.dump(fact("f", turn, flags={"a set"}))
