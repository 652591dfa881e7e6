"""Connection density with a soft time bonus, as published (paper section 4.5).

density(i) = Σ_h w_h over the (tunnel, head, hit) awards on i;  conf(i) = density(i) + β · 1[i ∩ W ≠ ∅]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sodamem.errors import ConfigError
from sodamem.fusion.awards import check, gather, rank, total
from sodamem.protocols import Fusion
from sodamem.store.snapshot import Snapshot
from sodamem.types import Hits, Query, Ranking


@dataclass(frozen=True, kw_only=True)
class DensityFusion(Fusion):
    """Mass by the strength of the tunnel and by whether the hit is the head itself.

    decay: each award is divided by (1 + decay · (rank of its head − 1)); 0 is the paper · theta, beta: see
    `awards.rank` · unit: item keeps turns, pieces and facts apart, turn counts all for the source turn.
    """

    strong_direct: float
    strong_derived: float
    weak_direct: float
    weak_derived: float
    decay: float
    theta: float | None
    beta: float
    unit: str

    def __post_init__(self) -> None:
        check(self.unit, self.theta, self.beta)
        for name in ("strong_direct", "strong_derived", "weak_direct", "weak_derived", "decay"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"fusion.{name} must be >= 0, got {getattr(self, name)}")

    def fuse(self, query: Query, hits: Mapping[str, Hits], strengths: Mapping[str, str], snapshot: Snapshot) -> Ranking:
        awards = gather(hits, snapshot, self.unit)
        strong = np.array([strengths[name] == "strong" for name in awards.tunnels], dtype=bool)[awards.tunnel]
        mass = np.where(
            strong,
            np.where(awards.direct, self.strong_direct, self.strong_derived),
            np.where(awards.direct, self.weak_direct, self.weak_derived),
        ) / (1 + self.decay * (awards.head - 1))
        density = total(awards.place, mass, len(awards.rows))
        return rank(awards, mass, density, query=query, snapshot=snapshot, theta=self.theta, beta=self.beta)
