"""No expansion edges: the graph tunnel reaches facts by their entities only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sodamem.protocols import Linker
from sodamem.types import Edge, FactEvent


@dataclass(frozen=True, kw_only=True)
class NoLinker(Linker):
    def link(self, facts: Sequence[FactEvent]) -> tuple[Edge, ...]:
        return ()
