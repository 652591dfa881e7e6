"""Learned fusion: conf(i) is a linear score over features of the awards on i, with coefficients read from a file.

Linear combination of retrieval features fitted by logistic regression (Cooper, Gey and Dabney, SIGIR 1992); here on the
awards of paper section 4.5, so that its coefficients stand beside the paper's weights. `sodamem.learn` fits them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import yaml

from sodamem.errors import ConfigError
from sodamem.fusion.awards import Awards, Floats, check
from sodamem.fusion.base import AwardFusion
from sodamem.fusion.weighted_sum import normalised

FEATURES = ("score", "found", "direct", "derived", "nearness")
SHARED = "any"  # in place of a tunnel's name: features of an item whatever found it
INSIDE = "inside"


@dataclass(frozen=True, kw_only=True)
class LearnedFusion(AwardFusion):
    """Coefficients by tunnel and feature. What a tunnel's awards on one item amount to:

    score: its best normalised direct score · found: 1 · direct, derived: how many awards of each kind · nearness: best
    1 / rank of a head that reaches it. Beside them `any.inside`: 1 where the item meets the question's window.

    coefficients: YAML file as `sodamem.learn` writes it; a name without a folder is one of those that come with the
    package · theta, beta, unit: as in the other fusions.
    """

    coefficients: str
    theta: float | None
    beta: float
    unit: str

    def __post_init__(self) -> None:
        check(self.unit, self.theta, self.beta)

    @cached_property
    def table(self) -> Mapping[str, Mapping[str, float]]:
        """The coefficients: tunnel -> feature -> value. Read when first needed."""
        return load(self.coefficients)

    @property
    def prepared_for(self) -> Hashable:
        return type(self).__name__

    def prepare(self, awards: Awards) -> Floats:
        return features(awards)

    def mass(self, awards: Awards, prepared: Floats) -> Floats:
        return np.asarray((prepared[:, :-1] * self._by_award(awards)).sum(axis=1) + prepared[:, -1] * self._inside)

    @property
    def _inside(self) -> float:
        return float(self.table.get(SHARED, {}).get(INSIDE, 0.0))

    def _by_award(self, awards: Awards) -> Floats:
        if missing := [name for name in awards.tunnels if name not in self.table]:
            raise ConfigError(
                f"fusion.coefficients must know every tunnel, {self.coefficients} lacks {', '.join(missing)}. "
                "Learn with these tunnels, or leave them out"
            )
        rows = [[float(self.table[name].get(feature, 0.0)) for feature in FEATURES] for name in awards.tunnels]
        return np.array(rows, dtype=np.float64).reshape(-1, len(FEATURES))[awards.tunnel]


def features(awards: Awards) -> Floats:
    """What each award adds to the features of its item, so that they sum up over its awards: float64 [n, f + 1].

    Columns as in FEATURES, then `inside`. What counts once for a tunnel is on its first award there, in table order.
    """
    question = awards.question[awards.place].astype(np.int64)
    lists = question * len(awards.tunnels) + awards.tunnel  # a list is what one tunnel found for one question
    score = np.zeros(len(lists))
    score[awards.direct] = normalised(awards.score[awards.direct], lists[awards.direct], "max")
    pairs = awards.place.astype(np.int64) * len(awards.tunnels) + awards.tunnel  # an item and one tunnel
    _, first, own = np.unique(pairs, return_index=True, return_inverse=True)
    columns = np.zeros((len(lists), len(FEATURES) + 1))
    for column, values in ((0, score), (4, 1.0 / awards.head)):
        best = np.full(len(first), -np.inf)
        np.maximum.at(best, own, values)
        columns[first, column] = best
    columns[first, 1] = 1.0
    columns[:, 2], columns[:, 3] = awards.direct, ~awards.direct
    _, once = np.unique(awards.place, return_index=True)
    columns[once, -1] = awards.inside
    return columns


def load(name: str) -> Mapping[str, Mapping[str, float]]:
    """Read a file of coefficients. Raises ConfigError where it is missing or of another shape."""
    path = Path(name) if Path(name).parent != Path() else Path(__file__).parent / "coefficients" / name
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))["coefficients"]
        return {str(tunnel): {str(k): float(v) for k, v in row.items()} for tunnel, row in found.items()}
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"fusion.coefficients must name a file that sodamem.learn wrote, got {name}: {error}. Learn them first"
        ) from error
