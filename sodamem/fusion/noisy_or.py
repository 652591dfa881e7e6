"""Noisy-or: each award is an independent reason to believe, so many weak ones cannot exceed certainty.

conf(i) = 1 − Π_h (1 − w_h) + β · 1[i ∩ W ≠ ∅]; an alternative to the sum of paper section 4.5.
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
class NoisyOrFusion(Fusion):
    """The masses of `density`, read as probabilities: each in [0, 1)."""

    strong_direct: float
    strong_derived: float
    weak_direct: float
    weak_derived: float
    theta: float | None
    beta: float
    unit: str

    def __post_init__(self) -> None:
        check(self.unit, self.theta, self.beta)
        for name in ("strong_direct", "strong_derived", "weak_direct", "weak_derived"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"fusion.{name} must be at least 0 and below 1, got {getattr(self, name)}")

    def fuse(self, query: Query, hits: Mapping[str, Hits], strengths: Mapping[str, str], snapshot: Snapshot) -> Ranking:
        awards = gather(hits, snapshot, self.unit)
        strong = np.array([strengths[name] == "strong" for name in awards.tunnels], dtype=bool)[awards.tunnel]
        mass = np.where(
            strong,
            np.where(awards.direct, self.strong_direct, self.strong_derived),
            np.where(awards.direct, self.weak_direct, self.weak_derived),
        )
        doubt = total(awards.place, -np.log1p(-mass), len(awards.rows))
        return rank(
            awards,
            mass,
            doubt,
            query=query,
            snapshot=snapshot,
            theta=self.theta,
            beta=self.beta,
            squash=lambda total: -np.expm1(-total),
        )
