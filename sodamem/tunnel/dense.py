"""Semantic tunnel: cosine between the question and documents in the encoder's space (paper section 4.5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.protocols import Tunnel
from sodamem.store.snapshot import Snapshot
from sodamem.store.vector_index import VectorIndex, open_index
from sodamem.tunnel.bm25 import check
from sodamem.tunnel.documents import Documents
from sodamem.tunnel.expansion import Expansion, allowed, ranked
from sodamem.types import Hits, Query


@dataclass(frozen=True, kw_only=True)
class DenseTunnel(Tunnel):
    """Scores documents by cosine. A window or a session is the mean of its turns' vectors.

    exact_below: number of vectors under which search is exact; from it on hnswlib answers when `heads` is set ·
    ef: hnswlib's beam at query time · m: its links per vector.
    """

    strength: str
    heads: int | None
    documents: Documents
    expansion: Expansion
    exact_below: int
    ef: int
    m: int

    def __post_init__(self) -> None:
        check(self.strength, self.heads)
        for name, least in (("exact_below", 0), ("ef", 1), ("m", 2)):
            if getattr(self, name) < least:
                raise ConfigError(f"dense.{name} must be >= {least}, got {getattr(self, name)}")

    def open(self, snapshot: Snapshot) -> DenseSearcher:
        return DenseSearcher(self, snapshot)


class DenseSearcher:
    def __init__(self, tunnel: DenseTunnel, snapshot: Snapshot) -> None:
        self._tunnel, self._snapshot = tunnel, snapshot
        self._documents = tunnel.documents.of(snapshot)
        large = tunnel.heads is not None and len(self._documents.rows) >= tunnel.exact_below
        self._approximate = large and tunnel.documents.scope == "item"

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """float32 [documents, d], unit norm."""
        if self._documents.scope == "item":
            return self._snapshot.vectors(self._documents.rows)
        members = [np.array(rows, dtype=np.int32) for rows in self._documents.members]
        means = np.stack([self._snapshot.vectors(rows).mean(axis=0) for rows in members])
        norms = np.linalg.norm(means, axis=1, keepdims=True)
        unit: NDArray[np.float32] = np.divide(means, norms, out=np.zeros_like(means), where=norms > 0)
        return unit

    def scores(self, query: Query) -> NDArray[np.float64]:
        """Cosine of every indexed row with the question, rounded to six decimals: float64 [n]."""
        if not len(self._documents.rows):
            return np.zeros(0)
        return self._documents.spread(np.asarray(self.vectors @ query.vector, dtype=np.float64))

    def search(self, query: Query) -> Hits:
        gate = allowed(query, self._snapshot)
        mask = gate[self._documents.rows]
        if self._approximate:
            best, values = self._index.search(query.vector, self._tunnel.heads or 1, mask)
            best, values = best[values > 0], np.round(values[values > 0], 6)
        else:
            scores = self.scores(query)
            best = ranked(scores, mask, self._tunnel.heads).astype(np.int32)
            values = scores[best]
        return self._tunnel.expansion.hits(self._documents.rows[best], values, query, self._snapshot, gate)

    @cached_property
    def _index(self) -> VectorIndex:
        return open_index(
            self.vectors,
            stamp=self._snapshot.fingerprint,
            folder=self._snapshot.folder / "dense",
            exact_below=self._tunnel.exact_below,
            ef=self._tunnel.ef,
            m=self._tunnel.m,
        )
