"""Statement tunnel: turns that tell something, as against turns that only ask; a prior that knows no question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sodamem.protocols import Tunnel
from sodamem.store.snapshot import Snapshot
from sodamem.tunnel.bm25 import check
from sodamem.tunnel.expansion import allowed, flat
from sodamem.types import Hits, Query


@dataclass(frozen=True, kw_only=True)
class StatementTunnel(Tunnel):
    """Scores 1 for a turn that does not end in a question mark: evidence is rarely in a question."""

    strength: str

    def __post_init__(self) -> None:
        check(self.strength, None)

    def open(self, snapshot: Snapshot) -> StatementSearcher:
        return StatementSearcher(snapshot)


class StatementSearcher:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        asks = [turn.text.rstrip().endswith(("?", "？", "؟")) for turn in snapshot.turns]
        self._tells = 1.0 - np.array(asks, dtype=np.float64)

    def search(self, query: Query) -> Hits:
        return flat(self._tells * allowed(query, self._snapshot)[: len(self._tells)], None)
