"""Speaker tunnel: turns by the participant a question is about; a signal of dialogue that the paper does not use.

In a dialogue between two people most questions name one of them, and what is known about her she said herself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sodamem.errors import ConfigError
from sodamem.protocols import Tunnel
from sodamem.store.snapshot import Snapshot
from sodamem.tunnel.bm25 import check
from sodamem.tunnel.expansion import allowed, flat
from sodamem.types import Hits, Query


@dataclass(frozen=True, kw_only=True)
class SpeakerTunnel(Tunnel):
    """Every turn of a participant the question names scores 1; a question that names none, or all, gets no hits.

    reply: score of a turn by somebody else that directly follows one of the participant's turns.
    """

    strength: str
    reply: float

    def __post_init__(self) -> None:
        check(self.strength, None)
        if not 0 <= self.reply <= 1:
            raise ConfigError(f"speaker.reply must be between 0 and 1, got {self.reply}")

    def open(self, snapshot: Snapshot) -> SpeakerSearcher:
        return SpeakerSearcher(self, snapshot)


class SpeakerSearcher:
    def __init__(self, tunnel: SpeakerTunnel, snapshot: Snapshot) -> None:
        self._tunnel, self._snapshot = tunnel, snapshot
        names = [turn.speaker for turn in snapshot.turns]
        self._speakers = sorted(set(names))
        self._by = np.array([self._speakers.index(name) for name in names], dtype=np.int32)
        sessions = snapshot.session[: len(names)]
        self._follows = np.concatenate(([False], sessions[1:] == sessions[:-1])) if names else np.zeros(0, dtype=bool)

    def search(self, query: Query) -> Hits:
        wanted = [number for number, name in enumerate(self._speakers) if name in query.speakers]
        if not wanted or len(wanted) == len(self._speakers):
            return flat(np.zeros(0), None)
        own = np.isin(self._by, wanted)
        score = own.astype(np.float64)
        if self._tunnel.reply:
            answered = self._follows & np.concatenate(([False], own[:-1])) & ~own
            score[answered] = self._tunnel.reply
        return flat(score * allowed(query, self._snapshot)[: len(score)], None)
