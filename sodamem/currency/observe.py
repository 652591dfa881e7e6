"""Currency that only observes: facts stay as they were extracted and no edge is written.

The paper's frozen stores (section 4.4): conflicting values stand side by side, and the reader judges by their dates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sodamem.protocols import Currency
from sodamem.types import Edge, FactEvent


@dataclass(frozen=True, kw_only=True)
class ObserveCurrency(Currency):
    def resolve(self, facts: Sequence[FactEvent]) -> tuple[tuple[FactEvent, ...], tuple[Edge, ...]]:
        """The same facts in the order they were said, and no edges."""
        return tuple(sorted(facts, key=lambda fact: (fact.order, fact.id))), ()
