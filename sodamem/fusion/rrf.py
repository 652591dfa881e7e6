"""Reciprocal-rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): conf(i) = Σ_tunnels 1 / (k + rank(i)), k = 60."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.fusion.awards import Awards, check, gather, rank, total
from sodamem.protocols import Fusion
from sodamem.store.snapshot import Snapshot
from sodamem.types import Hits, Query, Ranking


@dataclass(frozen=True, kw_only=True)
class ReciprocalRankFusion(Fusion):
    """A tunnel's list is its heads in order, each followed by what it reached; an item counts at its first place."""

    k: float
    theta: float | None
    beta: float
    unit: str

    def __post_init__(self) -> None:
        check(self.unit, self.theta, self.beta)
        if not self.k > 0:
            raise ConfigError(f"fusion.k must be > 0, got {self.k}")

    def fuse(self, query: Query, hits: Mapping[str, Hits], strengths: Mapping[str, str], snapshot: Snapshot) -> Ranking:
        awards = gather(hits, snapshot, self.unit)
        place = first_ranks(awards)
        mass = np.where(place > 0, 1.0 / (self.k + place), 0.0)
        value = total(awards.place, mass, len(awards.rows))
        return rank(awards, mass, value, query=query, snapshot=snapshot, theta=self.theta, beta=self.beta)


def first_ranks(awards: Awards) -> NDArray[np.int64]:
    """For each award the rank (from 1) of its candidate in its tunnel's list, 0 where it is not its first place."""
    order = np.lexsort((awards.place, -awards.score, ~awards.direct, awards.head, awards.tunnel))
    pairs = awards.tunnel[order].astype(np.int64) * (len(awards.rows) + 1) + awards.place[order]
    _, first = np.unique(pairs, return_index=True)
    firsts = np.sort(first)  # places in `order` where a candidate appears in its tunnel's list for the first time
    tunnel = awards.tunnel[order][firsts]
    begin = np.searchsorted(tunnel, tunnel, side="left")
    ranks = np.zeros(len(order), dtype=np.int64)
    ranks[order[firsts]] = np.arange(len(firsts)) - begin + 1
    return ranks
