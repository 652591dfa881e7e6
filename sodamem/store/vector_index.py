"""The nearest vectors to a query: exact for the sizes one memory has, an HNSW graph (hnswlib) above them.

Malkov and Yashunin, arXiv 1603.09320. Both kinds give the same scores and the same order of ties, by row; a zero
vector resembles nothing and is never returned.
"""

from __future__ import annotations

import hashlib
import logging
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import StoreError
from sodamem.store.derived import cached

Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]
Found = tuple[NDArray[np.int32], NDArray[np.float64]]

EF_CONSTRUCTION = 200  # hnswlib's own default: the beam while building
SEED = 0
ROUNDING = 1e-5  # more than float32 products of unit vectors differ by, however the library sums them
SAMPLE, SAMPLE_K, SAMPLE_RECALL = 50, 10, 0.9  # self-test of a new graph: queries, depth, warn below
_log = logging.getLogger(__name__)


class VectorIndex(Protocol):
    def search(self, vector: Vectors, k: int, allowed: Mask | None = None) -> Found:
        """The k best rows among the allowed ones: int32 rows and float64 cosines, by falling score, then row.

        Fewer than k when fewer are allowed. vector: float32 [d] · allowed: bool [n], None for all.
        """
        ...


def open_index(vectors: Vectors, stamp: str, folder: Path | None, *, exact_below: int, ef: int, m: int) -> VectorIndex:
    """An index of float32 [n, d] rows of unit norm or zero: exact when n < `exact_below`, else a graph.

    The graph is kept in `folder` (None: in memory only) under the digest of the vectors, with `stamp` and its
    parameters; anything damaged or built otherwise is built again. ef: beam of a query · m: links per row.
    Raises StoreError when the vectors are not finite or not of unit norm.
    """
    norms = np.linalg.norm(_finite(vectors), axis=1)
    live = norms > 0
    if not np.allclose(norms[live], 1, atol=1e-3):
        raise StoreError(
            f"vectors must have unit norm or be zero, got norms up to {norms.max():.3g}. Check the encoder"
        )
    exact = ExactIndex(vectors, live)
    if len(vectors) < max(exact_below, 1) or not live.any():
        return exact
    if folder is None:
        return HnswIndex(exact, _build(exact, m), ef)
    digest = hashlib.sha256(vectors.tobytes()).hexdigest()
    identity = {"store": stamp, "vectors": digest, "shape": str(vectors.shape), "space": "ip", "m": str(m)}
    identity |= {"ef_construction": str(EF_CONSTRUCTION), "seed": str(SEED)}
    load = partial(_load, dimension=vectors.shape[1])
    return HnswIndex(exact, cached(folder / digest[:16], identity, lambda: _build(exact, m), _save, load), ef)


class ExactIndex(VectorIndex):
    """Every row is compared: about 0.5 ms at 10k rows of 384 on one core, then bound by memory bandwidth."""

    def __init__(self, vectors: Vectors, live: Mask) -> None:
        self.vectors, self.live = vectors, live

    def search(self, vector: Vectors, k: int, allowed: Mask | None = None) -> Found:
        rows = np.flatnonzero(self.live if allowed is None else self.live & allowed)
        k = min(k, len(rows))
        if k < 1 or not _finite(vector).any():
            return _nothing()
        near = (self.vectors @ vector)[rows]
        floor = np.partition(near, len(near) - k)[len(near) - k] - ROUNDING
        return self.ranked(vector, rows[near >= floor], k)

    def ranked(self, vector: Vectors, rows: NDArray[np.intp], k: int) -> Found:
        """The best k of `rows`, scored row by row in float64, so that equal vectors tie exactly."""
        scores = (self.vectors[rows].astype(np.float64) * vector.astype(np.float64)).sum(axis=1)
        order = np.lexsort((rows, -scores))[:k]
        return rows[order].astype(np.int32), scores[order]


class HnswIndex(VectorIndex):
    """The graph proposes, exact scores rank. Where it cannot fill k even with a wider beam, search is exact.

    Measured at 20k rows of 384: 0.3 ms a query, 10 s to build. ef 100 does up to about 100k rows, 200 beyond.
    """

    def __init__(self, exact: ExactIndex, graph: Any, ef: int) -> None:
        self._exact, self._graph, self._ef = exact, graph, ef
        self._beam = Lock()  # the beam is state of the graph: two threads must not set it under each other

    def search(self, vector: Vectors, k: int, allowed: Mask | None = None) -> Found:
        live = self._exact.live if allowed is None else self._exact.live & allowed
        reachable = int(live.sum())
        k = min(k, reachable)
        if k < 1 or not _finite(vector).any():
            return _nothing()
        # A filter thins the neighbourhood: ask for as many more as it takes away on average.
        wanted = -(-k * self._graph.element_count // reachable)
        for beam in (max(self._ef, 2 * wanted), max(4 * self._ef, 8 * wanted)):
            near = self._near(vector, min(beam, self._graph.element_count))
            rows = near[live[near]]
            if len(rows) >= k:
                return self._exact.ranked(vector, rows, k)
        _log.info("graph reached %d of %d rows, search is exact for this query", len(rows), k)
        return self._exact.search(vector, k, allowed)

    def _near(self, vector: Vectors, beam: int) -> NDArray[np.intp]:
        """All rows of a beam; none where hnswlib meets fewer than it was asked for, which it reports as an error."""
        with self._beam:
            self._graph.set_ef(beam)  # not kept in the file: loading resets it to 10
            try:
                labels, _ = self._graph.knn_query(vector[None], k=beam, num_threads=1)
            except RuntimeError:
                return np.empty(0, dtype=np.intp)
        return np.asarray(labels[0], dtype=np.intp)


def _build(exact: ExactIndex, m: int) -> Any:
    """One thread and a fixed seed: only so are two builds the same bytes."""
    import hnswlib

    rows = np.flatnonzero(exact.live)
    graph = hnswlib.Index(space="ip", dim=exact.vectors.shape[1])
    graph.init_index(max_elements=len(rows), ef_construction=EF_CONSTRUCTION, M=m, random_seed=SEED)
    graph.add_items(exact.vectors[rows], rows, num_threads=1)
    _self_test(exact, graph)
    return graph


def _self_test(exact: ExactIndex, graph: Any) -> None:
    """Say in the log how much of the exact answer a new graph finds, asked for some of its own rows."""
    rows = np.flatnonzero(exact.live)
    index = HnswIndex(exact, graph, ef=EF_CONSTRUCTION)
    k = min(SAMPLE_K, len(rows))
    shared = [
        len(np.intersect1d(index.search(query, k)[0], exact.search(query, k)[0])) / k
        for query in exact.vectors[rows[:: max(len(rows) // SAMPLE, 1)][:SAMPLE]]
    ]
    recall = float(np.mean(shared))
    level = logging.INFO if recall >= SAMPLE_RECALL else logging.WARNING
    _log.log(level, "graph of %d vectors: recall@%d against exact search %.3f", len(rows), k, recall)


def _save(graph: Any, folder: Path) -> None:
    path = folder / "graph.bin"
    graph.save_index(str(path))
    path.with_suffix(".sha256").write_text(_digest(path))


def _load(folder: Path, dimension: int) -> Any:
    """A saved graph, after its bytes are checked: hnswlib reads a damaged file into a crash or wrong answers."""
    import hnswlib

    path = folder / "graph.bin"
    if path.with_suffix(".sha256").read_text() != _digest(path):
        raise StoreError(f"index {path} is damaged")
    graph = hnswlib.Index(space="ip", dim=dimension)
    graph.load_index(str(path))
    return graph


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _finite(vectors: Vectors) -> Vectors:
    if not np.isfinite(vectors).all():
        raise StoreError("vectors must be finite, got NaN or infinity. Check the encoder")
    return vectors


def _nothing() -> Found:
    return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float64)
