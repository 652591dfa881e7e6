"""A finished store as columns: rows in one canonical order, times as they were said or happened."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier
from time import sleep

import numpy as np
import pytest

from sodamem.store.snapshot import FACT, PIECE, TURN, Snapshot
from sodamem.store.sqlite import Store
from sodamem.types import Edge, Extraction, Interval, Role


def span(start, end, grain="span"):
    return Interval(start=datetime.fromisoformat(start), end=datetime.fromisoformat(end), grain=grain)


@pytest.fixture(scope="module")
def history(talk):
    return talk(
        {
            "b 2024-03-01T18:30": ["Ann: I ran. It rained.", "Bob: Really?"],
            "a 2024-01-01T09:00": ["Ann: Tomorrow I run.", "Bob: Good luck!", "Ann: Thanks."],
        }
    )


@pytest.fixture(scope="module")
def memory(history, remember, piece, fact):
    ran, _ = history.sessions[0].turns
    plan = history.sessions[1].turns[0]
    return remember(
        history,
        pieces=[piece(ran, "I ran."), piece(ran, "It rained."), piece(plan, "Tomorrow I run.")],
        facts=[
            fact(
                "z", ran, "I ran.", occurred=span("2024-02-29", "2024-03-01", "day"), valid_from=datetime(2024, 2, 29)
            ),
            fact("y", plan, status="superseded", valid_from=datetime(2024, 1, 2), valid_until=datetime(2024, 3, 1)),
            fact("x", plan, "run", status="invalid", roles=(Role(name="who", entity="person:bob", words="Bob"),)),
        ],
        edges=[
            Edge(source="z", target="y", kind="SEMANTIC", weight=0.4),
            Edge(source="y", target="z", kind="RELATION", label="person:ann", weight=0.9),
            Edge(source="x", target="y", kind="SUPERSEDES"),
            Edge(source="x", target="gone", kind="SEMANTIC"),
        ],
    )


def test_rows_are_turns_in_time_then_pieces_then_facts(memory):
    assert memory.ids == ["a:0", "a:1", "a:2", "b:0", "b:1", "a:0#11-14", "b:0#0-6", "b:0#7-17", "y", "x", "z"]
    assert memory.kind.tolist() == [TURN] * 5 + [PIECE] * 3 + [FACT] * 3
    assert memory.turn.tolist() == [0, 1, 2, 3, 4, 0, 3, 3, 0, 0, 3]
    assert memory.sessions == ["a", "b"] and memory.session.tolist() == [0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 1]
    assert [memory.row[id] for id in memory.ids] == list(range(11))


def test_a_piece_that_is_its_whole_turn_is_not_a_second_item(memory):
    assert "a:0#0-15" not in memory.row


def test_times_are_the_day_it_was_said_unless_an_occurrence_is_known(memory):
    day = np.datetime64("2024-03-01", "s"), np.datetime64("2024-03-02", "s")
    assert (memory.start[3], memory.end[3]) == (memory.start[6], memory.end[6]) == day
    assert memory.said[6] == np.datetime64("2024-03-01T18:30", "s")
    z = memory.row["z"]
    assert (memory.start[z], memory.end[z]) == (np.datetime64("2024-02-29", "s"), np.datetime64("2024-03-01", "s"))


def test_validity_is_unknown_where_it_was_not_said(memory):
    y, z = memory.row["y"], memory.row["z"]
    assert np.isnat(memory.valid_from[:5]).all() and np.isnat(memory.valid_until[z])
    assert memory.valid_until[y] == np.datetime64("2024-03-01", "s")
    assert memory.active.tolist() == [True] * 8 + [False, False, True]
    assert memory.retired.tolist() == [False] * 9 + [True, False]


def test_a_fact_that_cites_several_turns_stands_for_them_and_is_known_when_it_was_last_said(history, remember, fact):
    first, _, last = history.sessions[1].turns
    pieces = (*fact("f", first).pieces, *fact("f", last).pieces)
    memory = remember(
        history, facts=[dataclasses.replace(fact("f", first, mentioned_at=datetime(2024, 1, 2, 8)), pieces=pieces)]
    )
    row = memory.row["f"]
    assert memory.sources(row) == [0, 2] and memory.turn[row] == 0 and memory.sources(3) == [3]
    assert memory.said[row] == np.datetime64("2024-01-02T08:00", "s")
    assert memory.start[row] == np.datetime64("2024-01-02", "s")


def test_ids_rank_as_text(memory):
    assert sorted(memory.ids) == [memory.ids[row] for row in np.argsort(memory.id_rank)]


def test_equal_content_gives_equal_rows_whatever_the_order_of_ingest(history, remember, memory):
    flipped = dataclasses.replace(history, sessions=tuple(reversed(history.sessions)))
    again = remember(flipped, facts=memory.facts, pieces=memory.pieces, edges=memory.edges)
    assert again.ids == memory.ids and again.texts == memory.texts and again.session.tolist() == memory.session.tolist()


def test_links_go_both_ways_strongest_first_and_only_along_expansion_edges(memory):
    x, y, z = (memory.row[name] for name in "xyz")
    assert memory.linked == {y: [(z, 0.9), (z, 0.4)], z: [(y, 0.9), (y, 0.4)]}
    assert x not in memory.linked


def test_a_fact_is_mentioned_by_its_subject_and_its_roles(memory):
    assert {entity: rows.tolist() for entity, rows in memory.mentions.items()} == {
        "person:ann": [8, 9, 10],
        "person:bob": [9],
    }


def test_spans_of_a_turn_are_in_order_of_offset(memory):
    assert memory.spans == [[5], [], [], [6, 7], []]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("2024-02-29", "2024-03-01", ["z"]),
        ("2024-02-29T23:59:59.999999", "2024-02-29T23:59:59.9999999", ["z"]),
        ("2024-03-01", "2024-03-02", ["b:0", "b:1", "b:0#0-6", "b:0#7-17"]),
        ("2024-03-01T23:59:59.5", "2024-03-01T23:59:59.7", ["b:0", "b:1", "b:0#0-6", "b:0#7-17"]),  # below a second
        ("2024-03-02", "2025-01-01", []),
    ],
)
def test_meeting_a_window_is_half_open_down_to_the_second(memory, start, end, expected):
    window = (
        span(start, end)
        if start < end[:26]
        else Interval(
            start=datetime.fromisoformat(start),
            end=datetime.fromisoformat(start) + timedelta(microseconds=1),
            grain="span",
        )
    )
    met = memory.meets(np.arange(len(memory)), window)
    assert [memory.ids[row] for row in np.flatnonzero(met)] == expected


def test_no_window_meets_nothing(memory):
    assert not memory.meets(np.arange(len(memory)), None).any()


def test_speakers_and_captions_are_indexed_where_asked_for(tmp_path, history, piece):
    session = history.sessions[0]
    turn = dataclasses.replace(session.turns[0], caption="a track")
    store = Store(tmp_path / "h.sqlite", "h", {}, frozen=False)
    store.add(dataclasses.replace(session, turns=(turn,)), Extraction(pieces=(piece(turn, "I ran."),)))
    store.finish([], [])
    texts = {
        options: Snapshot(store, speaker_in_text=options[0], caption_in_text=options[1]).texts
        for options in ((True, True), (True, False), (False, True), (False, False))
    }
    store.close()
    assert texts == {
        (True, True): ["Ann: I ran. It rained. [a track]", "Ann: I ran."],
        (True, False): ["Ann: I ran. It rained.", "Ann: I ran."],
        (False, True): ["I ran. It rained. [a track]", "I ran."],
        (False, False): ["I ran. It rained.", "I ran."],
    }


def test_an_empty_store_is_a_snapshot_of_no_rows(talk, remember):
    empty = remember(talk({}))
    assert len(empty) == 0 and empty.spans == [] and empty.linked == {} and empty.mentions == {}


def test_what_needs_an_encoder_says_so(tmp_path):
    store = Store(tmp_path / "h.sqlite", "h", {}, frozen=False)
    store.finish([], [])
    snapshot = Snapshot(store, speaker_in_text=True, caption_in_text=True)
    store.close()
    with pytest.raises(RuntimeError, match=r"Snapshot\.use\(encode, read\) must be called before times are read"):
        _ = snapshot.times


def test_readers_side_by_side_encode_each_kind_once(talk, remember, fact):
    history = talk({"a 2024-01-01": ["Ann: I ran. It rained.", "Bob: Really?"]})
    memory = remember(history, facts=[fact("f", history.sessions[0].turns[0], "It rained.")])
    encode, barrier, asked = memory._encode, Barrier(4), []

    def slowly(texts):
        asked.append(texts)
        sleep(0.05)
        return encode(texts)

    def read(kind):
        barrier.wait()
        return memory.vectors(np.flatnonzero(memory.kind == kind))

    memory.use(slowly, memory._read)
    with ThreadPoolExecutor(4) as pool:
        blocks = list(pool.map(read, (TURN, FACT, TURN, FACT)))
    assert sorted(map(len, asked)) == [1, 2] and [len(block) for block in blocks] == [2, 1, 2, 1]
    assert all((block[:, 0] == 1).all() for block in blocks)
