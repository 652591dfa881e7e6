"""Connection density with a soft time bonus, as published (paper section 4.5).

density(i) = Σ_h w_h over the (tunnel, head, hit) awards on i;  conf(i) = density(i) + β · 1[i ∩ W ≠ ∅]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sodamem.errors import ConfigError
from sodamem.fusion.awards import Awards, Floats, check
from sodamem.fusion.base import AwardFusion


@dataclass(frozen=True, kw_only=True)
class DensityFusion(AwardFusion):
    """Mass by the strength of the tunnel and by whether the hit is the head itself.

    decay: each award is divided by (1 + decay · (rank of its head - 1)); 0 is the paper · theta: cosine from which two
    items are one, null merges by id only · beta: bonus for meeting the question's window, once per merged item · unit:
    item keeps turns, pieces and facts apart, turn counts all for the source turn.
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

    def mass(self, awards: Awards, prepared: Floats) -> Floats:
        masses = ((self.weak_derived, self.weak_direct), (self.strong_derived, self.strong_direct))
        return by_kind(awards, masses) / (1 + self.decay * (awards.head - 1))


def by_kind(awards: Awards, masses: tuple[tuple[float, float], tuple[float, float]]) -> Floats:
    """Mass of each award from a table [weak, strong] x [derived, direct]: float64 [n]."""
    table = np.array(masses, dtype=np.float64)
    return np.asarray(table[awards.strong[awards.tunnel].astype(np.int8), awards.direct.astype(np.int8)])
