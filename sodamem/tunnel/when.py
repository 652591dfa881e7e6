"""When tunnel: for a question that asks for a time, the turns that state one."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sodamem.protocols import Tunnel
from sodamem.store.snapshot import Snapshot
from sodamem.tunnel.bm25 import check
from sodamem.tunnel.expansion import allowed, flat
from sodamem.types import Hits, Query

ASKS_TIME = re.compile(
    r"^\W*when\b|\bwhen (?:did|was|were|is|are|will|does|do|has|have|had)\b|\bhow long\b|"
    r"\b(?:what|which) (?:\w+ )?(?:date|day|week|month|year|season|time of)\b|\bhow many (?:days|weeks|months|years)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class WhenTunnel(Tunnel):
    """Scores 1 for a turn that holds a resolved time expression, when the question asks for a time."""

    strength: str

    def __post_init__(self) -> None:
        check(self.strength, None)

    def open(self, snapshot: Snapshot) -> WhenSearcher:
        return WhenSearcher(snapshot)


class WhenSearcher:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._timed = np.array([any(value.interval for value in found) for found in snapshot.times], dtype=np.float64)

    def search(self, query: Query) -> Hits:
        if not ASKS_TIME.search(query.text):
            return flat(np.zeros(0), None)
        return flat(self._timed * allowed(query, self._snapshot)[: len(self._timed)], None)
