"""Weighted sum of normalised scores: conf(i) = Σ_t w_t · n_t(s_t(i)) + β · 1[i ∩ W ≠ ∅], n_t over one question.

Linear score combination with normalisation (Fox and Shaw, TREC-2, 1994), on the same table of hits as the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.fusion.awards import Awards, Floats, check
from sodamem.fusion.base import AwardFusion

NORMALISERS = ("max", "minmax", "z")


@dataclass(frozen=True, kw_only=True)
class WeightedSumFusion(AwardFusion):
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

    @property
    def prepared_for(self) -> Hashable:
        return (type(self).__name__, self.normalise, self.derived)

    def prepare(self, awards: Awards) -> Floats:
        """Each award's normalised value where it is its candidate's best in its tunnel, else 0: float64 [n]."""
        question = awards.question[awards.place].astype(np.int64)
        lists = question * len(awards.tunnels) + awards.tunnel  # a list is what one tunnel found for one question
        value = np.zeros(len(lists))
        value[awards.direct] = normalised(awards.score[awards.direct], lists[awards.direct], self.normalise)
        if not awards.direct.all():
            value = np.where(awards.direct, value, self.derived * _heads(awards, lists, value))
        order = np.lexsort((np.arange(len(value)), -value))
        pairs = lists[order] * (len(awards.rows) + 1) + awards.place[order]
        _, first = np.unique(pairs, return_index=True)
        best = order[first]
        found = np.zeros(len(value))
        found[best] = value[best]
        return found

    def mass(self, awards: Awards, prepared: Floats) -> Floats:
        return self.vector(awards.tunnels)[awards.tunnel] * prepared

    def vector(self, tunnels: tuple[str, ...]) -> Floats:
        """The weight of each of these tunnels: float64 [t]. Raises ConfigError when one has none."""
        missing = [name for name in tunnels if name not in self.weights]
        if missing:
            raise ConfigError(
                f"fusion.weights must name every tunnel, got none for {', '.join(missing)}. "
                f"Set +fusion.weights.{missing[0]}=…, or leave the tunnel out"
            )
        return np.array([self.weights[name] for name in tunnels], dtype=np.float64)


def _heads(awards: Awards, lists: NDArray[np.int64], value: Floats) -> Floats:
    """The value of the head that each award hangs from: float64 [n]."""
    width = int(awards.head.max(initial=0)) + 1
    keys = lists * width + awards.head
    _, position = np.unique(keys, return_inverse=True)
    head_value = np.zeros(int(position.max(initial=-1)) + 1)
    head_value[position[awards.direct]] = value[awards.direct]
    return head_value[position]


def normalised(scores: Floats, lists: NDArray[np.int64], how: str) -> Floats:
    """Scores made comparable within each list: float64 [n]. Equal scores give 1 under max and minmax, 0 under z."""
    _, own = np.unique(lists, return_inverse=True)
    count = int(own.max(initial=-1)) + 1
    if how == "z":
        size = np.bincount(own, minlength=count)
        mean = np.bincount(own, weights=scores, minlength=count) / size
        spread = np.sqrt(np.bincount(own, weights=(scores - mean[own]) ** 2, minlength=count) / size)
        return np.where(spread[own] > 0, (scores - mean[own]) / np.where(spread > 0, spread, 1)[own], 0.0)
    high = np.full(count, -np.inf)
    np.maximum.at(high, own, scores)
    low = np.zeros(count)
    if how == "minmax":
        low = np.full(count, np.inf)
        np.minimum.at(low, own, scores)
    spread = high - low
    return np.where(spread[own] > 0, (scores - low[own]) / np.where(spread > 0, spread, 1)[own], 1.0)
