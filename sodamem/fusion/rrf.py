"""Reciprocal-rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): conf(i) = Σ_tunnels 1 / (k + rank(i)), k = 60."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.fusion.awards import Awards, Floats, check
from sodamem.fusion.base import AwardFusion


@dataclass(frozen=True, kw_only=True)
class ReciprocalRankFusion(AwardFusion):
    """A tunnel's list is its heads in order, each followed by what it reached; an item counts at its first place."""

    k: float
    theta: float | None
    beta: float
    unit: str

    def __post_init__(self) -> None:
        check(self.unit, self.theta, self.beta)
        if not self.k > 0:
            raise ConfigError(f"fusion.k must be > 0, got {self.k}")

    def prepare(self, awards: Awards) -> Floats:
        return first_ranks(awards).astype(np.float64)

    def mass(self, awards: Awards, prepared: Floats) -> Floats:
        return np.where(prepared > 0, 1.0 / (self.k + prepared), 0.0)


def first_ranks(awards: Awards) -> NDArray[np.int64]:
    """For each award the rank (from 1) of its candidate in its tunnel's list, 0 where it is not its first place."""
    question = awards.question[awards.place].astype(np.int64)
    lists = question * len(awards.tunnels) + awards.tunnel  # a list is what one tunnel found for one question
    order = np.lexsort((awards.place, -awards.score, ~awards.direct, awards.head, lists))
    pairs = lists[order] * (len(awards.rows) + 1) + awards.place[order]
    _, first = np.unique(pairs, return_index=True)
    firsts = np.sort(first)  # where in `order` a candidate appears in its list for the first time
    own = lists[order][firsts]
    ranks = np.zeros(len(order), dtype=np.int64)
    ranks[order[firsts]] = np.arange(len(firsts)) - np.searchsorted(own, own, side="left") + 1
    return ranks
