"""State tunnel: facts of the slot that a question asks for, those that held at the time asked about before the rest.

"Where do I live now?" shares no word with "We have a small flat in Exeter": what joins them is the slot (paper sections
3.2 and 4.4), and which of its facts holds is what currency has worked out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sodamem.errors import ConfigError
from sodamem.protocols import Tunnel
from sodamem.states import answering, of_slot, state_asked, subjects
from sodamem.store.snapshot import FACT, Snapshot
from sodamem.tunnel.bm25 import check
from sodamem.tunnel.expansion import table
from sodamem.types import FactEvent, Hits, Query


@dataclass(frozen=True, kw_only=True)
class StateTunnel(Tunnel):
    """Scores 1 for a fact that answers, `rest` for what the slot held at another time; 0 leaves those out."""

    strength: str
    rest: float

    def __post_init__(self) -> None:
        check(self.strength, None)
        if not 0 <= self.rest <= 1:
            raise ConfigError(f"state.rest must be between 0 and 1, got {self.rest}")

    def open(self, snapshot: Snapshot) -> StateSearcher:
        return StateSearcher(self, snapshot)


class StateSearcher:
    def __init__(self, tunnel: StateTunnel, snapshot: Snapshot) -> None:
        self._tunnel = tunnel
        self._row = {fact.id: row for row, fact in enumerate(snapshot.facts, start=snapshot.first[FACT])}
        self._subjects = sorted({fact.subject for fact in snapshot.facts})
        self._filling: dict[str, list[FactEvent]] = {}  # by predicate: a slot is a few facts of thousands
        for fact in snapshot.facts:
            self._filling.setdefault(fact.predicate, []).append(fact)

    def search(self, query: Query) -> Hits:
        asked = state_asked(query.text, query.asked_at, query.window.interval)
        if asked is None:
            return table([], [], [], [])
        facts = [fact for predicate in asked.predicates for fact in self._filling.get(predicate, ())]
        at = min(query.asked_at, query.as_of) if query.as_of else query.asked_at
        about = subjects(query.text, query.speakers, self._subjects)
        known = [fact for fact in of_slot(facts, asked, about) if fact.mentioned_at <= at]
        best = {fact.id for fact in answering(facts, asked, about, at)}
        scored = [(1.0 if fact.id in best else self._tunnel.rest, -place, fact.id) for place, fact in enumerate(known)]
        ordered = [(score, name) for score, _, name in sorted(scored, key=lambda one: (-one[0], one[1])) if score > 0]
        rows = [self._row[name] for _, name in ordered]
        return table(rows, np.arange(1, len(rows) + 1), np.ones(len(rows), dtype=bool), [score for score, _ in ordered])
