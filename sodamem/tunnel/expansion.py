"""From heads to hits: the validity gate, neighbour expansion and the local re-rank (paper section 4.5).

A *head* is an item a tunnel found directly. Its list is the head and what can be reached from it: a turn's
neighbours, a span's neighbouring spans and parent turn, a fact's linked facts and source turns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.store.snapshot import FACT, PIECE, Snapshot, moment
from sodamem.types import Hits, Query

_ROUND = 6  # decimals of a similarity: below it lies floating-point noise, which must not decide a rank


@dataclass(frozen=True, kw_only=True)
class Expansion:
    """How far a head reaches and how much of it is kept.

    neighbours: turns to each side of a turn (and spans to each side of a span) · hops: steps over the graph ·
    degree: links followed at each step, strongest first, so that a hub cannot swamp the list · keep: items of one
    head's list that survive the local re-rank, the head included · soft_time: bonus of the local re-rank for an item
    inside the question's window.
    """

    neighbours: int
    hops: int
    degree: int
    keep: int
    soft_time: float

    def __post_init__(self) -> None:
        for name, least in (("neighbours", 0), ("hops", 0), ("degree", 1), ("keep", 1), ("soft_time", 0)):
            if not getattr(self, name) >= least:
                raise ConfigError(f"expansion.{name} must be >= {least}, got {getattr(self, name)}")

    def reach(self, row: int, snapshot: Snapshot) -> list[int]:
        """Rows reached from one head, without the head, each once, in the order they were found."""
        found: dict[int, None] = {}
        if self.neighbours:
            turn = int(snapshot.turn[row])
            if snapshot.kind[row] == PIECE:
                spans = snapshot.spans[turn]
                place = spans.index(row)
                found |= dict.fromkeys(spans[max(0, place - self.neighbours) : place + self.neighbours + 1])
            if row != turn:
                found[turn] = None
            else:
                found |= dict.fromkeys(snapshot.around(turn, self.neighbours))
        front = [row] if snapshot.kind[row] == FACT else []
        for _ in range(self.hops):
            front = [end for near in front for end, _ in snapshot.linked.get(near, [])[: self.degree]]
            front = [end for end in dict.fromkeys(front) if end not in found and end != row]
            found |= dict.fromkeys(front)
        found.pop(row, None)
        return list(found)

    def hits(
        self,
        heads: NDArray[np.int32],
        scores: NDArray[np.float64],
        query: Query,
        snapshot: Snapshot,
        allowed: NDArray[np.bool_],
    ) -> Hits:
        """The table of hits of ranked heads: each head, then what it reaches, gated and locally re-ranked."""
        if self.keep == 1 or not (self.neighbours or self.hops):
            return table(heads, np.arange(1, len(heads) + 1), np.ones(len(heads), dtype=bool), scores)
        item: list[int] = []
        head: list[int] = []
        direct: list[bool] = []
        score: list[float] = []
        for rank, (row, value) in enumerate(zip(heads.tolist(), scores.tolist(), strict=True), start=1):
            reached = [near for near in self.reach(row, snapshot) if allowed[near]]
            derived = np.array(reached, dtype=np.int32)
            local = np.zeros(0)
            if reached:
                local = similarity(query, snapshot, derived)
                local = local + self.soft_time * snapshot.meets(derived, query.window.interval)
            best = np.lexsort((derived, -local))[: self.keep - 1]
            item += [row, *derived[best].tolist()]
            score += [value, *local[best].tolist()]
            head += [rank] * (1 + len(best))
            direct += [True] + [False] * len(best)
        return table(item, head, direct, score)


def table(item: object, head: object, direct: object, score: object) -> Hits:
    return Hits(
        item=np.asarray(item, dtype=np.int32),
        head=np.asarray(head, dtype=np.int32),
        direct=np.asarray(direct, dtype=bool),
        score=np.asarray(score, dtype=np.float64),
    )


def flat(scores: NDArray[np.float64], limit: int | None) -> Hits:
    """Hits of a tunnel that scores every turn and expands nothing. scores: float64 [T]; only positive ones count."""
    scores = np.asarray(np.round(scores, _ROUND), dtype=np.float64)
    rows = ranked(scores, np.ones(len(scores), dtype=bool), limit)
    return table(rows, np.arange(1, len(rows) + 1), np.ones(len(rows), dtype=bool), scores[rows])


def allowed(query: Query, snapshot: Snapshot) -> NDArray[np.bool_]:
    """Bool [N]: the validity gate, the only hard exclusion (section 4.5).

    Out are facts that are not active (kept when the question is about the past, except invalid ones), facts whose
    known validity does not meet the stated window, and anything said after an as-of time. An occurrence outside
    the window never excludes.
    """
    gate = ~snapshot.retired if query.about_past or query.as_of else snapshot.active.copy()
    if query.window.interval is not None:
        window = query.window.interval
        ended = snapshot.valid_until <= moment(window.start)  # comparisons with NaT are False: unknown never excludes
        unborn = snapshot.valid_from >= moment(window.end)
        gate &= ~(ended | unborn)
    if query.as_of is not None:
        when = moment(query.as_of)
        gate &= (snapshot.said <= when) & ~(snapshot.valid_until <= when) & ~(snapshot.valid_from > when)
    return gate


def similarity(query: Query, snapshot: Snapshot, rows: NDArray[np.int32]) -> NDArray[np.float64]:
    """Cosine of the query with items, rounded so that batch noise cannot reorder ties: float64 [n]."""
    if not len(rows):
        return np.zeros(0)
    product = snapshot.vectors(rows) @ query.vector
    return np.asarray(np.round(product, _ROUND), dtype=np.float64)


def ranked(scores: NDArray[np.float64], mask: NDArray[np.bool_], limit: int | None) -> NDArray[np.int64]:
    """Positions of the positive scores under the mask, best first, ties by position, at most `limit`."""
    keep = np.flatnonzero(mask & (scores > 0))
    if limit is not None and limit < len(keep):
        # Everything that ties with the last place competes for it, so top-k is a prefix of top-(k+1).
        bound = np.partition(scores[keep], len(keep) - limit)[len(keep) - limit]
        keep = keep[scores[keep] >= bound]
    order: NDArray[np.int64] = keep[np.lexsort((keep, -scores[keep]))][:limit]
    return order
