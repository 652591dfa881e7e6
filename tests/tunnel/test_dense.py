"""Cosines of turns, windows and sessions; zero vectors; the graph of vectors against exact search."""

from itertools import pairwise

import numpy as np
import pytest

from sodamem.errors import ConfigError
from sodamem.tunnel.dense import DenseTunnel
from sodamem.tunnel.documents import Documents
from sodamem.tunnel.expansion import Expansion

PLAIN = Expansion(neighbours=0, hops=0, degree=1, keep=1, soft_time=0.0)


def dense(**fields):
    documents = Documents(**{"scope": "item", "kinds": ["turn"], "context": [], **fields.pop("documents", {})})
    given = {"strength": "weak", "heads": None, "documents": documents, "expansion": PLAIN}
    return DenseTunnel(**{**given, "exact_below": 50_000, "ef": 200, "m": 16, **fields})


def scores(tunnel, snapshot, query):
    found = tunnel.open(snapshot).search(query)
    return dict(zip(found.item.tolist(), found.score.tolist(), strict=True))


@pytest.fixture(scope="module")
def snapshot(talk, remember):
    history = talk({"a 2024-01-01": ["Ann: x", "Bob: y", "Ann: z"], "b 2024-01-02": ["Ann: u", "Bob: v"]})
    vectors = {"a:0": (1, 0), "a:1": (0, 1), "a:2": (3, 4), "b:0": (-1, 0)}  # b:1 has no known word
    return remember(history, vectors=vectors)


def test_scores_are_cosines_of_what_points_the_same_way(snapshot, asking):
    assert scores(dense(), snapshot, asking()) == pytest.approx({0: 1.0, 2: 0.6})  # right angles and worse are no hits


def test_a_question_without_a_known_word_finds_nothing(snapshot, asking):
    for tunnel in (dense(), dense(heads=3, exact_below=0), dense(documents={"scope": "session"})):
        assert scores(tunnel, snapshot, asking(vector=(0, 0))) == {}


def test_a_window_adds_its_neighbours_share(snapshot, asking):
    found = scores(dense(documents={"context": [0.5]}), snapshot, asking())
    assert found == pytest.approx({0: 1.0 + 0.5 * 0, 1: 0.5 * 1.0 + 0.5 * 0.6, 2: 0.6})  # b's turns stay below 0


def test_a_session_is_the_direction_of_the_mean_of_its_turns(snapshot, asking):
    mean = np.array([(1 + 0 + 0.6) / 3, (0 + 1 + 0.8) / 3])
    found = scores(dense(documents={"scope": "session"}), snapshot, asking())
    assert found == pytest.approx(dict.fromkeys((0, 1, 2), mean[0] / np.linalg.norm(mean)), abs=1e-6)


def test_an_empty_memory_can_be_searched(talk, remember, asking):
    for tunnel in (dense(), dense(heads=3, exact_below=0), dense(documents={"scope": "session"})):
        assert scores(tunnel, remember(talk({})), asking()) == {}


def test_a_memory_of_zero_vectors_can_be_searched(talk, remember, asking):
    blank = remember(talk({"a 2024-01-01": ["Ann: 🙂", "Bob: 🙃"]}), vectors={})
    for tunnel in (dense(), dense(heads=3, exact_below=0), dense(documents={"scope": "session"})):
        assert scores(tunnel, blank, asking()) == {}


def test_the_graph_of_vectors_finds_what_exact_search_finds(talk, remember, asking):
    lines = [f"Ann: line {number}" for number in range(300)]
    draw = np.random.default_rng(0)
    vectors = {f"a:{n}": draw.normal(size=16) for n in range(300)}
    vectors["a:17"] = np.zeros(16)
    vectors["a:40"] = vectors["a:41"]  # a tie
    memory = remember(talk({"a 2024-01-01": lines}), vectors=vectors)
    for heads in (1, 10, 299, 1000):
        exact, graph = dense(heads=heads), dense(heads=heads, exact_below=0)
        for vector in (draw.normal(size=16), vectors["a:40"]):
            query = asking(vector=(vector / np.linalg.norm(vector)).astype(np.float32))
            one, two = (tunnel.open(memory).search(query) for tunnel in (exact, graph))
            assert one.item.tolist() == two.item.tolist() and len(one)
            assert one.score.tolist() == pytest.approx(two.score.tolist(), abs=2e-6)


def test_shorter_lists_are_prefixes_of_longer_ones(talk, remember, asking):
    vectors = {f"a:{n}": (1, n % 3) for n in range(9)}
    memory = remember(talk({"a 2024-01-01": [f"Ann: {n}" for n in range(9)]}), vectors=vectors)
    lists = [dense(heads=k).open(memory).search(asking()).item.tolist() for k in range(1, 10)]
    assert lists[-1] == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    assert all(shorter == longer[:-1] for shorter, longer in pairwise(lists))


@pytest.mark.parametrize(("field", "value"), [("exact_below", -1), ("ef", 0), ("m", 1)])
def test_a_value_out_of_range_is_refused_by_name(field, value):
    with pytest.raises(ConfigError, match=rf"dense\.{field} must be >= \d, got {value}"):
        dense(**{field: value})
