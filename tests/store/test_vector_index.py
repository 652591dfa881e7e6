import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sodamem.errors import StoreError
from sodamem.store import vector_index
from sodamem.store.vector_index import ExactIndex, HnswIndex, open_index


def unit(n, d=16, seed=0):
    rows = np.random.default_rng(seed).standard_normal((n, d))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def exact(vectors):
    index = open_index(vectors, "s", None, exact_below=len(vectors) + 1, ef=50, m=8)
    assert isinstance(index, ExactIndex)
    return index


def graph(vectors, folder=None, ef=50, m=8, stamp="s"):
    index = open_index(vectors, stamp, folder, exact_below=0, ef=ef, m=m)
    assert isinstance(index, HnswIndex)
    return index


BOTH = pytest.mark.parametrize("kind", [exact, graph])


@BOTH
def test_scores_are_cosines_and_ties_come_in_row_order(kind):
    rows, scores = kind(np.array([[0, 1], [0.6, 0.8], [1, 0], [0.6, 0.8]], dtype=np.float32)).search(
        np.array([1, 0], dtype=np.float32), 3
    )
    assert rows.tolist() == [2, 1, 3] and rows.dtype == np.int32
    np.testing.assert_allclose(scores, [1, 0.6, 0.6], atol=1e-7)
    assert scores[1] == scores[2] and scores.dtype == np.float64


@BOTH
def test_k_beyond_the_rows_gives_them_all(kind):
    vectors = unit(5)
    assert sorted(kind(vectors).search(vectors[0], 6)[0]) == [0, 1, 2, 3, 4]
    assert len(kind(vectors).search(vectors[0], 0)[0]) == 0


@BOTH
def test_many_duplicates_do_not_lose_the_query(kind):
    vectors = np.repeat(unit(2), 150, axis=0)
    assert kind(vectors).search(vectors[0], 200)[0][:150].tolist() == list(range(150))


@BOTH
def test_only_allowed_rows_come_back_however_few_they_are(kind):
    vectors = unit(300)
    allowed = np.zeros(300, dtype=bool)
    allowed[[7, 250]] = True
    rows, scores = kind(vectors).search(vectors[7], 10, allowed)
    assert rows.tolist() == [7, 250] and scores[0] == pytest.approx(1, abs=1e-6)
    assert kind(vectors).search(vectors[7], 10, ~np.ones(300, dtype=bool))[0].tolist() == []


@BOTH
def test_zero_vectors_match_nothing_and_find_nothing(kind):
    vectors = unit(6)
    vectors[2] = 0
    assert 2 not in kind(vectors).search(vectors[0], 6)[0]
    assert len(kind(vectors).search(np.zeros(16, dtype=np.float32), 3)[0]) == 0


@pytest.mark.parametrize("vectors", [np.zeros((0, 4), np.float32), np.zeros((3, 4), np.float32)], ids=["none", "zeros"])
def test_an_index_of_nothing_gives_nothing(vectors):
    rows, scores = open_index(vectors, "s", None, exact_below=0, ef=50, m=8).search(np.ones(4, dtype=np.float32) / 2, 3)
    assert len(rows) == len(scores) == 0


@BOTH
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(kind, value):
    vectors = unit(4)
    index = kind(vectors)
    broken = vectors.copy()
    broken[1, 0] = value
    with pytest.raises(StoreError, match="finite"):
        kind(broken)
    with pytest.raises(StoreError, match="finite"):
        index.search(broken[1], 2)


def test_vectors_of_another_norm_are_refused():
    with pytest.raises(StoreError, match="unit norm or be zero, got norms up to 3"):
        exact(3 * unit(4))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(0, 5))
def test_the_top_k_is_the_head_of_the_top_k_plus_one(k, seed):
    vectors = np.vstack([unit(30, 4, seed), unit(15, 4, seed)])
    index, query = exact(vectors), unit(1, 4, seed + 100)[0]
    for rows, longer in zip(index.search(query, k), index.search(query, k + 1), strict=True):
        np.testing.assert_array_equal(rows, longer[:k])


def test_equal_rows_tie_wherever_they_lie():
    vectors = np.repeat(unit(1, 33), 101, axis=0)
    rows, scores = exact(vectors).search(unit(1, 33, seed=1)[0], 50)
    assert rows.tolist() == list(range(50)) and len(set(scores)) == 1


def test_the_graph_agrees_with_exact_search_and_says_so(caplog):
    caplog.set_level(logging.INFO)
    vectors = unit(2000)
    index, reference = graph(vectors, ef=100), exact(vectors)
    shared = [len(np.intersect1d(index.search(q, 10)[0], reference.search(q, 10)[0])) for q in unit(50, seed=1)]
    assert np.mean(shared) / 10 >= 0.95
    assert "graph of 2000 vectors: recall@10 against exact search" in caplog.text


def test_a_small_graph_asked_for_everything_gives_everything():
    vectors = unit(1000)
    assert sorted(graph(vectors, m=4).search(vectors[0], 1000)[0]) == list(range(1000))


def test_where_the_graph_falls_short_search_is_exact_and_says_so(monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    vectors = unit(50)
    index = graph(vectors)
    monkeypatch.setattr(HnswIndex, "_near", lambda *_: np.array([3]))
    assert index.search(vectors[3], 5)[0].tolist() == exact(vectors).search(vectors[3], 5)[0].tolist()
    assert "graph reached 1 of 5 rows, search is exact" in caplog.text


def test_a_saved_graph_is_loaded_with_its_beam_and_answers_as_before(tmp_path, monkeypatch):
    vectors, query = unit(500), unit(1, seed=1)[0]
    before = graph(vectors, tmp_path).search(query, 30)
    monkeypatch.setattr(vector_index, "_build", lambda *_: pytest.fail("built again"))
    after = graph(vectors, tmp_path).search(query, 30)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


def test_two_builds_are_the_same_bytes(tmp_path):
    for name in "ab":
        graph(unit(500), tmp_path / name)
    first, second = (next((tmp_path / name).rglob("graph.bin")).read_bytes() for name in "ab")
    assert first == second


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:-9] + b"123456789"])
def test_a_damaged_graph_is_built_again_not_read(tmp_path, caplog, damage):
    vectors = unit(200)
    graph(vectors, tmp_path)
    file = next(tmp_path.rglob("graph.bin"))
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert graph(vectors, tmp_path).search(vectors[9], 1)[0].tolist() == [9]
    assert "damaged" in caplog.text
    assert file.read_bytes() == whole


@pytest.mark.parametrize(
    "change", [{"stamp": "t"}, {"m": 12}, {"vectors": unit(200, seed=5)}, {"vectors": unit(200, 8)}]
)
def test_a_graph_built_of_something_else_is_not_used(tmp_path, monkeypatch, change):
    vectors = unit(200)
    graph(vectors, tmp_path)
    built, build = [], vector_index._build
    monkeypatch.setattr(vector_index, "_build", lambda *given: built.append(given) or build(*given))
    other = change.get("vectors", vectors)
    assert graph(other, tmp_path, **{k: v for k, v in change.items() if k != "vectors"}).search(other[9], 1)[0] == [9]
    assert len(built) == 1


def test_the_size_decides_and_a_change_of_ef_needs_no_new_graph(tmp_path, monkeypatch):
    vectors = unit(100)
    assert isinstance(open_index(vectors, "s", tmp_path, exact_below=101, ef=50, m=8), ExactIndex)
    assert not list(tmp_path.iterdir())
    assert isinstance(open_index(vectors, "s", tmp_path, exact_below=100, ef=50, m=8), HnswIndex)
    monkeypatch.setattr(vector_index, "_build", lambda *_: pytest.fail("built again"))
    graph(vectors, tmp_path, ef=400)
