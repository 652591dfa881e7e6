"""Lexical tunnel: Okapi BM25 in Lucene's form over stemmed words, computed by bm25s (paper section 4.5).

score(d, q) = Σ_t idf(t) · f(t,d) / (f(t,d) + k1 · (1 − b + b · |d| / avg|d|)),  idf = ln(1 + (n − n_t + ½)/(n_t + ½))
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from numpy.typing import NDArray

from sodamem import text
from sodamem.errors import ConfigError
from sodamem.protocols import Tunnel
from sodamem.store.derived import cached
from sodamem.store.snapshot import Snapshot
from sodamem.tunnel.documents import Documents
from sodamem.tunnel.expansion import Expansion, allowed, ranked
from sodamem.types import Hits, Query

_ON_DISK_FROM = 20_000  # documents; a smaller index is built faster than it is read and checked


@dataclass(frozen=True, kw_only=True)
class BM25Tunnel(Tunnel):
    """Scores documents by the words they share with the question. `heads` null keeps every document that matches."""

    strength: str
    heads: int | None
    documents: Documents
    expansion: Expansion
    k1: float
    b: float

    def __post_init__(self) -> None:
        check(self.strength, self.heads)
        if not self.k1 >= 0:
            raise ConfigError(f"bm25.k1 must be >= 0, got {self.k1}")
        if not 0 <= self.b <= 1:
            raise ConfigError(f"bm25.b must be between 0 and 1, got {self.b}")

    def open(self, snapshot: Snapshot) -> BM25Searcher:
        return BM25Searcher(self, snapshot)


class BM25Searcher:
    def __init__(self, tunnel: BM25Tunnel, snapshot: Snapshot) -> None:
        self._tunnel, self._snapshot = tunnel, snapshot
        self._documents = tunnel.documents.of(snapshot)
        if len(self._documents.rows) < _ON_DISK_FROM:
            self._index = self._build()
        else:
            name = text.digest(tunnel.documents.scope, list(tunnel.documents.kinds))[:12]
            stamp = {
                "texts": text.digest(self._documents.texts()),
                "k1": str(tunnel.k1),
                "b": str(tunnel.b),
                "v": bm25s.__version__,
            }
            self._index = cached(snapshot.folder / f"bm25-{name}", stamp, self._build, _save, _load)

    def _build(self) -> Any:
        """A bm25s index, or None when no document has a single word (bm25s refuses an empty vocabulary)."""
        corpus = [text.terms(document) for document in self._documents.texts()]
        if not any(corpus):
            return None
        index = bm25s.BM25(k1=self._tunnel.k1, b=self._tunnel.b, method="lucene")
        index.index(corpus, show_progress=False)
        return index

    def scores(self, query: Query) -> NDArray[np.float64]:
        """BM25 of every indexed row, 0 where no word matches: float64 [n]."""
        known = [term for term in query.terms if self._index is not None and term in self._index.vocab_dict]
        if not known:
            return np.zeros(len(self._documents.rows))
        return self._documents.spread(self._index.get_scores(known).astype(np.float64))

    def search(self, query: Query) -> Hits:
        gate = allowed(query, self._snapshot)
        scores = self.scores(query)
        best = ranked(scores, gate[self._documents.rows], self._tunnel.heads)
        rows = self._documents.rows[best]
        return self._tunnel.expansion.hits(rows, scores[best], query, self._snapshot, gate)


def _save(index: Any, folder: Path) -> None:
    if index is not None:
        index.save(folder / "index", show_progress=False)


def _load(folder: Path) -> Any:
    return bm25s.BM25.load(folder / "index", load_corpus=False) if (folder / "index").exists() else None


def check(strength: str, heads: int | None) -> None:
    """Ranges that all tunnels share."""
    if strength not in ("strong", "weak"):
        raise ConfigError(f"tunnel.strength must be strong or weak, got {strength!r}")
    if heads is not None and heads < 1:
        raise ConfigError(f"tunnel.heads must be >= 1, or null for no limit, got {heads}")
