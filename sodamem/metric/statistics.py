"""Statistics that compare systems on the same questions: intervals, paired tests, families of tests.

Wilson 1927; McNemar 1947 in its exact form; Holm 1979; the cluster bootstrap of Davison and Hinkley 1997, section 3.8.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import asin, comb, fsum, sqrt
from statistics import NormalDist, stdev

import numpy as np

from sodamem.errors import DataError


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A mean with its interval. `low` and `high` are None where one cluster alone cannot tell the spread."""

    mean: float
    low: float | None
    high: float | None
    n: int
    clusters: int


def wilson(successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The score interval of a proportion: within [0, 1] and never of width 0, also at 0 and n successes."""
    if not 0 <= successes <= n or n < 1:
        raise DataError(f"successes must be within 0..n and n at least 1, got {successes} of {n}")
    z2 = NormalDist().inv_cdf(_tail(confidence)) ** 2
    p = successes / n
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    # At the two ends the bounds are exactly 0 and 1; rounding must not move them.
    return (0.0 if successes == 0 else centre - half, 1.0 if successes == n else centre + half)


def mcnemar(only_a: int, only_b: int) -> float:
    """Exact two-sided p that systems differ, from the questions that only A and only B got right."""
    if only_a < 0 or only_b < 0:
        raise DataError(f"discordant counts must be >= 0, got {only_a} and {only_b}")
    n = only_a + only_b
    tail = sum(comb(n, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, tail / 2 ** (n - 1)) if n else 1.0


def cluster_bootstrap(
    values: Sequence[float], clusters: Sequence[str], *, draws: int, seed: int, confidence: float = 0.95
) -> Estimate:
    """Percentile interval of a mean when whole clusters (conversations) are drawn again with replacement.

    Questions of one conversation share its difficulty, so drawing questions would give too narrow an interval. The
    result does not depend on the order of the rows.
    """
    if len(values) != len(clusters) or not values:
        raise DataError(f"values and clusters must be as long and not empty, got {len(values)} and {len(clusters)}")
    if draws < 1:
        raise DataError(f"draws must be >= 1, got {draws}")
    tail = _tail(confidence)
    members: dict[str, list[float]] = defaultdict(list)
    for value, cluster in zip(values, clusters, strict=True):
        members[cluster].append(value)
    names = sorted(members)
    sums = np.array([fsum(members[name]) for name in names])
    sizes = np.array([len(members[name]) for name in names])
    low = high = None
    if len(names) > 1:
        picks = np.random.default_rng(seed).multinomial(len(names), [1 / len(names)] * len(names), size=draws)
        low, high = map(float, np.quantile((picks @ sums) / (picks @ sizes), [tail, 1 - tail]))
    return Estimate(mean=fsum(values) / len(values), low=low, high=high, n=len(values), clusters=len(names))


def bootstrap_p(values: Sequence[float], clusters: Sequence[str], *, draws: int, seed: int) -> float | None:
    """Two-sided p that a mean is 0, by inverting the percentile interval of `cluster_bootstrap`.

    Never below 2 / (draws + 1): resampling cannot show more. None for a single cluster, which shows no spread.
    """
    names = sorted(set(clusters))
    if len(names) < 2:
        return None
    sums = np.array([fsum(v for v, c in zip(values, clusters, strict=True) if c == name) for name in names])
    picks = np.random.default_rng(seed).multinomial(len(names), [1 / len(names)] * len(names), size=draws)
    means = picks @ sums
    beyond = min(int((means <= 0).sum()), int((means >= 0).sum()))
    return min(1.0, 2 * (beyond + 1) / (draws + 1))


def paired_bootstrap(
    a: Mapping[str, float],
    b: Mapping[str, float],
    clusters: Mapping[str, str],
    *,
    draws: int,
    seed: int,
    confidence: float = 0.95,
) -> Estimate:
    """Interval of the mean of a - b. All three are keyed by question id, and a and b must score the same questions."""
    if a.keys() != b.keys():
        odd = sorted(a.keys() ^ b.keys())
        raise DataError(f"a and b must score the same questions, {len(odd)} are in one only, e.g. {odd[0]}")
    ids = sorted(a)
    return cluster_bootstrap(
        [a[i] - b[i] for i in ids], [clusters[i] for i in ids], draws=draws, seed=seed, confidence=confidence
    )


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p-values of a family of tests, in the order given: reject those below the family's error rate."""
    adjusted: dict[str, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: (p_values[name], name))):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}


def cohens_h(p: float, q: float) -> float:
    """Effect size of two proportions: 0.2 is small, 0.5 medium, 0.8 large (Cohen 1988, section 6.2)."""
    return 2 * asin(sqrt(p)) - 2 * asin(sqrt(q))


def paired_effect(differences: Sequence[float]) -> float | None:
    """Mean difference in units of its standard deviation (Cohen's d_z); None where all differences are equal."""
    if len(differences) < 2 or not (deviation := stdev(differences)):
        return None
    return fsum(differences) / len(differences) / deviation


def _tail(confidence: float) -> float:
    """The share that an interval leaves out on either side."""
    if not 0 < confidence < 1:
        raise DataError(f"confidence must be between 0 and 1, got {confidence}")
    return (1 - confidence) / 2
