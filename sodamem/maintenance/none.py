"""No maintenance: the memory holds what was said and nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sodamem.protocols import Maintenance
from sodamem.types import Edge, FactEvent


@dataclass(frozen=True, kw_only=True)
class NoMaintenance(Maintenance):
    def dream(self, facts: Sequence[FactEvent]) -> tuple[tuple[FactEvent, ...], tuple[Edge, ...]]:
        return (), ()
