"""What a head reaches, how much of it is kept, and what the validity gate keeps out of every tunnel."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.errors import ConfigError
from sodamem.tunnel.bm25 import BM25Tunnel
from sodamem.tunnel.dense import DenseTunnel
from sodamem.tunnel.documents import Documents
from sodamem.tunnel.expansion import Expansion, allowed, ranked
from sodamem.tunnel.graph import GraphTunnel
from sodamem.tunnel.speaker import SpeakerTunnel
from sodamem.tunnel.statement import StatementTunnel
from sodamem.tunnel.time import TimeTunnel
from sodamem.types import Edge, Entity, Interval, Window


def expansion(**fields):
    return Expansion(**{"neighbours": 0, "hops": 0, "degree": 4, "keep": 5, "soft_time": 0.0, **fields})


def graph(**fields):
    return GraphTunnel(**{"strength": "strong", "heads": 10, "expansion": expansion(), "words": 1.0, **fields})


def span(start, end):
    return Interval(start=datetime.fromisoformat(start), end=datetime.fromisoformat(end), grain="span")


# --- reach --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dialogue(talk, remember, piece):
    """Rows 0-6 are session a, 7-8 session b, 9-11 the pieces of a:1."""
    history = talk(
        {
            "a 2024-01-01": ["Ann: 0", "Bob: 1. 2. 3."] + [f"Ann: {n}" for n in range(2, 7)],
            "b 2024-01-02": ["Ann: 7", "Bob: 8"],
        }
    )
    turn = history.sessions[0].turns[1]
    return remember(history, pieces=[piece(turn, words) for words in ("1.", "2.", "3.")])


@pytest.mark.parametrize(
    ("row", "neighbours", "expected"),
    [
        (3, 2, {1, 2, 4, 5}),
        (0, 2, {1, 2}),
        (6, 2, {4, 5}),  # not into session b
        (7, 2, {8}),
        (3, 0, set()),
        (10, 1, {1, 9, 11}),  # a span: the spans beside it and its turn
        (9, 1, {1, 10}),
    ],
)
def test_neighbours_stay_within_the_session(dialogue, row, neighbours, expected):
    assert set(expansion(neighbours=neighbours).reach(row, dialogue)) == expected


@pytest.fixture(scope="module")
def chain(talk, remember, fact):
    """Facts f0 … f4 of turns 0 … 4, linked in a chain; f0 is also linked to f4, more strongly."""
    history = talk({f"s{n} 2024-01-0{n + 1}": [f"Ann: Fact {n}."] for n in range(5)})
    facts = [fact(f"f{n}", session.turns[0]) for n, session in enumerate(history.sessions)]
    edges = [Edge(source=f"f{n}", target=f"f{n + 1}", kind="SEMANTIC", weight=0.5) for n in range(4)]
    edges += [Edge(source="f4", target="f0", kind="RELATION", label="x", weight=0.9)]
    edges += [Edge(source="f0", target="f3", kind="SUPERSEDES")]  # no path of expansion
    return remember(history, facts=facts, edges=edges)


@pytest.mark.parametrize(
    ("hops", "degree", "expected"),
    [(0, 4, []), (1, 4, [9, 6]), (2, 4, [9, 6, 8, 7]), (9, 4, [9, 6, 8, 7]), (1, 1, [9]), (2, 1, [9])],
)
def test_hops_follow_the_strongest_links_and_are_bounded(chain, hops, degree, expected):
    # rows: turns 0-4, facts 5-9; f4 (row 9) links back to f0 most strongly
    assert expansion(hops=hops, degree=degree).reach(5, chain) == expected


def test_a_fact_reaches_its_source_turn(chain):
    assert expansion(neighbours=1).reach(5, chain) == [0]


def test_only_the_best_of_what_was_reached_is_kept(talk, remember, asking):
    history = talk({"a 2024-01-01": ["Ann: x", "Bob: head", "Ann: y", "Bob: z"]})
    memory = remember(history, vectors={"a:0": (1, 2), "a:1": (1, 0), "a:2": (1, 1), "a:3": (1, 1)})
    gate = np.ones(len(memory), dtype=bool)
    found = expansion(neighbours=2, keep=3).hits(np.array([1]), np.array([9.0]), asking(), memory, gate)
    assert found.item.tolist() == [1, 2, 3]  # y and z tie at cosine 0.71 and go by row; x is at 0.45
    assert found.direct.tolist() == [True, False, False] and found.head.tolist() == [1, 1, 1]
    assert found.score.tolist() == pytest.approx([9.0, 0.5**0.5, 0.5**0.5], abs=1e-6)


def test_soft_time_lifts_what_happened_in_the_window(talk, remember, fact, asking):
    history = talk({"a 2024-06-01": ["Ann: old", "Ann: new"]})
    turns = history.sessions[0].turns
    facts = [
        fact("f0", turns[0]),
        fact("f1", turns[0], "ol"),
        fact("f2", turns[1], occurred=span("2024-01-01", "2024-01-02")),
    ]
    edges = [Edge(source="f0", target=target, kind="SEMANTIC") for target in ("f1", "f2")]
    memory = remember(history, facts=facts, edges=edges)
    query = asking(window=Window(interval=span("2024-01-01", "2024-02-01")))
    gate = np.ones(len(memory), dtype=bool)
    heads = np.array([memory.row["f0"]])
    plain = expansion(hops=1, keep=2).hits(heads, np.array([1.0]), query, memory, gate)
    lifted = expansion(hops=1, keep=2, soft_time=0.3).hits(heads, np.array([1.0]), query, memory, gate)
    assert [memory.ids[row] for row in plain.item] == ["f0", "f1"]
    assert [memory.ids[row] for row in lifted.item] == ["f0", "f2"]


def test_keep_one_is_the_head_alone(dialogue, asking):
    gate = np.ones(len(dialogue), dtype=bool)
    found = expansion(neighbours=2, keep=1).hits(np.array([3, 4]), np.array([2.0, 1.0]), asking(), dialogue, gate)
    assert found.item.tolist() == [3, 4] and found.head.tolist() == [1, 2] and found.direct.all()


@pytest.mark.parametrize(
    ("field", "value", "least"),
    [("neighbours", -1, 0), ("hops", -1, 0), ("degree", 0, 1), ("keep", 0, 1), ("soft_time", -0.1, 0)],
)
def test_a_value_out_of_range_is_refused_by_name(field, value, least):
    with pytest.raises(ConfigError, match=rf"expansion\.{field} must be >= {least}, got {value}"):
        expansion(**{field: value})


def test_a_soft_time_of_nan_is_refused():
    with pytest.raises(ConfigError, match=r"expansion\.soft_time must be >= 0, got nan"):
        expansion(soft_time=float("nan"))


# --- ranking ------------------------------------------------------------------------------------------------


@given(
    scores=st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.5, 1.0]), max_size=12),
    data=st.data(),
)
def test_a_shorter_ranking_is_a_prefix_of_a_longer_one(scores, data):
    array = np.array(scores, dtype=np.float64)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores))), dtype=bool)
    whole = ranked(array, mask, None).tolist()
    assert whole == sorted((n for n, s in enumerate(scores) if s > 0 and mask[n]), key=lambda n: (-scores[n], n))
    for limit in range(1, len(scores) + 2):
        assert ranked(array, mask, limit).tolist() == whole[:limit]


# --- the validity gate --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lives(talk, remember, fact):
    """Ann lived in Bergen until she moved to Oslo; Rome was never true. All said of the same entity."""
    history = talk(
        {
            "a 2024-01-01": ["Ann: I live in Bergen.", "Ann: I live in Rome."],
            "b 2024-03-01": ["Ann: I live in Oslo."],
        }
    )
    (bergen, rome), (oslo,) = (session.turns for session in history.sessions)
    moved = datetime(2024, 3, 1)
    facts = [
        fact("bergen", bergen, status="superseded", valid_from=datetime(2024, 1, 1), valid_until=moved),
        fact("rome", rome, status="invalid"),
        fact("oslo", oslo, valid_from=moved),
    ]
    edges = [
        Edge(source=a, target=b, kind="SEMANTIC") for a, b in (("oslo", "bergen"), ("oslo", "rome"), ("bergen", "rome"))
    ]
    entities = [Entity(id="person:ann", type="person", surfaces=("Ann",))]
    return remember(history, facts=facts, edges=edges, entities=entities)


EVERYTHING = Documents(scope="item", kinds=["turn", "piece", "fact"], context=[])
REACH = expansion(neighbours=2, hops=3, keep=50)
TUNNELS = {
    "graph": graph(expansion=REACH),
    "bm25": BM25Tunnel(strength="strong", heads=10, documents=EVERYTHING, expansion=REACH, k1=1.2, b=0.75),
    "dense": DenseTunnel(strength="weak", heads=10, documents=EVERYTHING, expansion=REACH, exact_below=100, ef=50, m=8),
    "hnsw": DenseTunnel(strength="weak", heads=10, documents=EVERYTHING, expansion=REACH, exact_below=0, ef=50, m=8),
    "speaker": SpeakerTunnel(strength="weak", reply=0.5),
    "statement": StatementTunnel(strength="weak"),
    "time": TimeTunnel(strength="weak", after=1000, before=1000),
}


def found_by(name, memory, query):
    return {memory.ids[row] for row in TUNNELS[name].open(memory).search(query).item}


@pytest.mark.parametrize("name", ["graph", "bm25", "dense", "hnsw"])
def test_no_tunnel_and_no_expansion_shows_what_is_no_longer_true(lives, asking, name):
    query = asking("Where does Ann live?", entities=("person:ann",))
    facts = found_by(name, lives, query) & {"bergen", "rome", "oslo"}
    assert facts == {"oslo"}


@pytest.mark.parametrize("name", ["graph", "bm25", "dense", "hnsw"])
def test_a_question_about_the_past_finds_the_superseded_but_never_the_invalid(lives, asking, name):
    query = asking("Where did Ann use to live?", entities=("person:ann",), about_past=True)
    assert found_by(name, lives, query) & {"bergen", "rome", "oslo"} == {"bergen", "oslo"}


@pytest.mark.parametrize("name", sorted(TUNNELS))
def test_as_of_never_sees_the_future(lives, asking, name):
    query = asking(
        "Where does Ann live?",
        entities=("person:ann",),
        speakers=("Ann",),
        as_of=datetime(2024, 2, 1),
        window=Window(interval=span("2024-01-01", "2024-12-31")) if name == "time" else Window(),
    )
    found = found_by(name, lives, query)
    assert not found & {"oslo", "b:0", "rome"}
    assert found <= {"a:0", "a:1", "bergen"}


def test_as_of_shows_what_was_true_then(lives, asking):
    rows = {moment: allowed(asking(as_of=moment), lives) for moment in (datetime(2024, 2, 1), datetime(2024, 3, 1))}
    shown = [{lives.ids[row] for row in np.flatnonzero(gate)} for gate in rows.values()]
    assert shown == [{"a:0", "a:1", "bergen"}, {"a:0", "a:1", "b:0", "oslo"}]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("2024-01-10", "2024-02-01", set()),  # before Oslo begins
        ("2024-02-01", "2024-03-02", {"oslo"}),
        ("2024-06-01", "2024-07-01", {"oslo"}),  # an open end holds
        ("2024-02-01", "2024-03-01", set()),  # half-open: valid from the instant the window ends
    ],
)
def test_a_known_validity_must_meet_the_stated_window(lives, asking, start, end, expected):
    gate = allowed(asking(window=Window(interval=span(start, end))), lives)
    assert {lives.ids[row] for row in np.flatnonzero(gate)} & {"oslo", "bergen", "rome"} == expected


def test_an_occurrence_outside_the_window_excludes_nothing(talk, remember, fact, asking):
    history = talk({"a 2024-01-01": ["Ann: I ran a race."]})
    memory = remember(
        history, facts=[fact("f", history.sessions[0].turns[0], occurred=span("2023-01-01", "2023-01-02"))]
    )
    assert allowed(asking(window=Window(interval=span("2024-06-01", "2024-07-01"))), memory).all()


@pytest.mark.parametrize("start", [datetime(1, 1, 1), datetime(2024, 1, 1)])
def test_windows_reach_to_the_ends_of_the_calendar(lives, asking, start):
    """ "before March" begins in the year 1."""
    window = Window(interval=Interval(start=start, end=datetime.max, grain="span"))
    query = asking("Where does Ann live?", entities=("person:ann",), window=window)
    for tunnel in TUNNELS.values():
        tunnel.open(lives).search(query)
    assert allowed(query, lives)[lives.row["oslo"]]
