"""Graph tunnel: from the entities a question names to the facts about them, and along the edges (section 4.5).

A fact's score is the inverse document frequency of the entities it shares with the question, plus that of the
content words it shares, so that facts about a hub (the user) are told apart by what else they mention.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodamem import text
from sodamem.errors import ConfigError
from sodamem.protocols import Tunnel
from sodamem.store.snapshot import FACT, Snapshot
from sodamem.tunnel.bm25 import check
from sodamem.tunnel.expansion import Expansion, allowed, ranked
from sodamem.types import Hits, Query


@dataclass(frozen=True, kw_only=True)
class GraphTunnel(Tunnel):
    """Facts that mention the question's entities, and their neighbours over SEMANTIC and RELATION edges.

    words: weight of shared content words beside shared entities; 0 ranks by entities alone.
    """

    strength: str
    heads: int | None
    expansion: Expansion
    words: float

    def __post_init__(self) -> None:
        check(self.strength, self.heads)
        if not self.words >= 0:
            raise ConfigError(f"graph.words must be >= 0, got {self.words}")

    def open(self, snapshot: Snapshot) -> GraphSearcher:
        return GraphSearcher(self, snapshot)


class GraphSearcher:
    def __init__(self, tunnel: GraphTunnel, snapshot: Snapshot) -> None:
        self._tunnel, self._snapshot = tunnel, snapshot
        self._facts = len(snapshot) - snapshot.first[FACT]
        postings: dict[str, list[int]] = {}
        for place, content in enumerate(snapshot.texts[snapshot.first[FACT] :]):
            for term in dict.fromkeys(text.terms(content)):
                postings.setdefault(term, []).append(place)
        self._postings = {term: np.array(places, dtype=np.int32) for term, places in postings.items()}

    def scores(self, query: Query) -> NDArray[np.float64]:
        """Score of every fact, 0 where it shares no entity with the question: float64 [facts]."""
        scores = np.zeros(self._facts)
        first = self._snapshot.first[FACT]
        for entity in query.entities:
            places = self._snapshot.mentions.get(entity, np.zeros(0, dtype=np.int32)) - first
            scores[places] += self._rarity(len(places))
        named = scores > 0
        for term in dict.fromkeys(query.terms):
            places = self._postings.get(term, np.zeros(0, dtype=np.int32))
            scores[places] += self._tunnel.words * self._rarity(len(places))
        return np.where(named, np.round(scores, 6), 0.0)

    def _rarity(self, count: int) -> float:
        return math.log(1 + (self._facts - count + 0.5) / (count + 0.5)) if count else 0.0

    def search(self, query: Query) -> Hits:
        gate = allowed(query, self._snapshot)
        first = self._snapshot.first[FACT]
        scores = self.scores(query)
        best = ranked(scores, gate[first:], self._tunnel.heads)
        rows = (best + first).astype(np.int32)
        return self._tunnel.expansion.hits(rows, scores[best], query, self._snapshot, gate)
