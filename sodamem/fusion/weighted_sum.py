"""Weighted sum of scores, each tunnel's normalised over the question: conf(i) = Σ_t w_t · n_t(s_t(i)) + β · 1[i ∩ W ≠ ∅].

Linear score combination with normalisation (Fox and Shaw, TREC-2, 1994), on the same table of hits as the others.
"""

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

NORMALISERS = ("max", "minmax", "z")


@dataclass(frozen=True, kw_only=True)
class WeightedSumFusion(Fusion):
    """Keeps how much better one hit is than the next, which ranks and counts throw away.

    weights: tunnel name -> weight, for every tunnel in use (names of others are ignored) · normalise: max (s / max),
    minmax, or z (standard score over the tunnel's direct hits) · derived: share of its head's value that a derived
    hit gets. A candidate's value in one tunnel is its best award there.
    """

    weights: Mapping[str, float]
    normalise: str
    derived: float
    theta: float | None
    beta: float
    unit: str

    def __post_init__(self) -> None:
        check(self.unit, self.theta, self.beta)
        if self.normalise not in NORMALISERS:
            raise ConfigError(f"fusion.normalise must be one of {', '.join(NORMALISERS)}, got {self.normalise!r}")
        if not 0 <= self.derived <= 1:
            raise ConfigError(f"fusion.derived must be between 0 and 1, got {self.derived}")

    def fuse(self, query: Query, hits: Mapping[str, Hits], strengths: Mapping[str, str], snapshot: Snapshot) -> Ranking:
        awards = gather(hits, snapshot, self.unit)
        missing = [name for name in awards.tunnels if name not in self.weights]
        if missing:
            raise ConfigError(
                f"fusion.weights must name every tunnel, got none for {', '.join(missing)}. "
                f"Set fusion.weights.{missing[0]}, or leave the tunnel out"
            )
        mass = np.zeros(len(awards.place))
        for number, name in enumerate(awards.tunnels):
            own = np.flatnonzero(awards.tunnel == number)
            value = self._values(awards, own)
            order = np.lexsort((own, -value))
            _, first = np.unique(awards.place[own][order], return_index=True)
            best = order[first]  # each candidate's best award in this tunnel
            mass[own[best]] = self.weights[name] * value[best]
        value = total(awards.place, mass, len(awards.rows))
        return rank(awards, mass, value, query=query, snapshot=snapshot, theta=self.theta, beta=self.beta)

    def _values(self, awards: Awards, own: NDArray[np.int64]) -> NDArray[np.float64]:
        """Normalised score of each award of one tunnel; a derived hit gets a share of its head's."""
        direct = awards.direct[own]
        heads = awards.head[own]
        by_head = np.zeros(int(heads.max(initial=0)) + 1)
        by_head[heads[direct]] = normalised(awards.score[own][direct], self.normalise)
        return np.where(direct, 1.0, self.derived) * by_head[heads]


def normalised(scores: NDArray[np.float64], how: str) -> NDArray[np.float64]:
    """float64 [n]; equal scores give 1 under max and minmax, and 0 under z."""
    if not len(scores):
        return scores
    if how == "z":
        spread = scores.std()
        return (scores - scores.mean()) / spread if spread > 0 else np.zeros(len(scores))
    low = scores.min() if how == "minmax" else 0.0
    high = scores.max()
    return (scores - low) / (high - low) if high > low else np.ones(len(scores))
