"""SEMANTIC and RELATION edges from what facts say, of bounded degree (paper section 4.4).

SEMANTIC joins a fact to the facts whose words are most like its own (cosine of TF-IDF); RELATION joins facts that
share an entity other than a hub, labelled with it. Both are deterministic and cost a bounded number of edges a fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sodamem import text
from sodamem.errors import ConfigError
from sodamem.protocols import Linker
from sodamem.types import Edge, FactEvent

_BLOCK = 2_000  # facts compared with all others at a time: bounds memory


@dataclass(frozen=True, kw_only=True)
class ContentLinker(Linker):
    """degree: most SEMANTIC edges a fact starts · similarity: least cosine of one · relations: most RELATION edges a
    fact starts for each entity it names · hub: an entity named by more than this share of all facts (a speaker, say)
    relates nothing."""

    degree: int
    similarity: float
    relations: int
    hub: float

    def __post_init__(self) -> None:
        if self.degree < 0 or self.relations < 0:
            raise ConfigError(f"linker.degree and linker.relations must be >= 0, got {self.degree}, {self.relations}")
        for name in ("similarity", "hub"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"linker.{name} must be between 0 and 1, got {getattr(self, name)}")

    def link(self, facts: Sequence[FactEvent]) -> tuple[Edge, ...]:
        """Edges between the given facts, whose order does not matter: they are sorted by what was said when."""
        ordered = sorted(facts, key=lambda fact: (fact.order, fact.id))
        return (*self._semantic(ordered), *self._relations(ordered))

    def _semantic(self, facts: list[FactEvent]) -> Iterator[Edge]:
        if len(facts) < 2 or not self.degree:
            return
        from sklearn.feature_extraction.text import TfidfVectorizer

        contents = [text.terms(" ".join(piece.text for piece in fact.pieces)) for fact in facts]
        if not any(contents):
            return
        vectors: Any = TfidfVectorizer(analyzer=list, sublinear_tf=True).fit_transform(contents)
        for first in range(0, len(facts), _BLOCK):
            likeness = (vectors[first : first + _BLOCK] @ vectors.T).tocsr()
            for offset in range(likeness.shape[0]):
                row = first + offset
                part = slice(likeness.indptr[offset], likeness.indptr[offset + 1])
                others, values = likeness.indices[part], np.round(likeness.data[part], 6)
                # Facts of one sentence are reached through their span already.
                keep = (others != row) & (values >= self.similarity)
                others, values = others[keep], values[keep]
                for best in np.lexsort((others, -values))[: self.degree]:
                    target = facts[others[best]]
                    yield Edge(source=facts[row].id, target=target.id, kind="SEMANTIC", weight=float(values[best]))

    def _relations(self, facts: list[FactEvent]) -> Iterator[Edge]:
        named: dict[str, list[FactEvent]] = {}
        for fact in facts:
            for entity in dict.fromkeys((fact.subject, *(role.entity for role in fact.roles))):
                named.setdefault(entity, []).append(fact)
        for entity, group in sorted(named.items()):
            if len(group) > max(2.0, self.hub * len(facts)):
                continue
            for place, fact in enumerate(group):
                for target in group[place + 1 : place + 1 + self.relations]:
                    yield Edge(source=fact.id, target=target.id, kind="RELATION", label=entity, weight=1.0)
