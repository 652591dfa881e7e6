"""Noisy-or: each award is an independent reason to believe, so many weak ones cannot exceed certainty.

conf(i) = 1 - Π_h (1 - w_h) + β · 1[i ∩ W ≠ ∅]; an alternative to the sum of paper section 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sodamem.errors import ConfigError
from sodamem.fusion.awards import Awards, Floats, check
from sodamem.fusion.base import AwardFusion
from sodamem.fusion.density import by_kind
from sodamem.fusion.ranking import Merged, merged


@dataclass(frozen=True, kw_only=True)
class NoisyOrFusion(AwardFusion):
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

    def mass(self, awards: Awards, prepared: Floats) -> Floats:
        return by_kind(awards, ((self.weak_derived, self.weak_direct), (self.strong_derived, self.strong_direct)))

    def value(self, awards: Awards, mass: Floats) -> Floats:
        # Doubts multiply: their logarithms add up, over the awards of an item and over the members of a merged one.
        return awards.total(-np.log1p(-mass))

    def merged(self, awards: Awards, value: Floats) -> Merged:
        return merged(awards, value, self.theta, self.beta, squash=lambda doubt: -np.expm1(-doubt))
