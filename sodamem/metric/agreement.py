"""How far judges agree beyond chance, and what an accuracy becomes once the judge's own errors are taken out.

Cohen 1960; Fleiss 1971; Gwet 2008 (AC1); Rogan and Gladen 1978, with the interval of Lang and Reiczigel 2014.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import NormalDist

from sodamem.errors import DataError

Ratings = Sequence[Hashable]


def observed(a: Ratings, b: Ratings) -> float:
    """Share of items that two raters label alike."""
    return sum(x == y for x, y in zip(a, b, strict=True)) / _size(a, b)


def cohen_kappa(a: Ratings, b: Ratings) -> float | None:
    """(observed - chance) / (1 - chance), chance from each rater's own shares; None where both use one label alone."""
    n, left, right = _size(a, b), Counter(a), Counter(b)
    return _beyond(observed(a, b), fsum(left[label] * right[label] for label in left) / n**2)


def gwet_ac1(a: Ratings, b: Ratings) -> float:
    """Agreement beyond a chance that does not explode where one label prevails, as correct answers often do.

    Chance is Σ π(1 - π) / (labels - 1) with π the mean share of a label; among at least two labels.
    """
    n, left, right = _size(a, b), Counter(a), Counter(b)
    shares = [(left[label] + right[label]) / (2 * n) for label in {**left, **right}]
    if len(shares) == 1:
        return 1.0
    chance = fsum(share * (1 - share) for share in shares) / (len(shares) - 1)
    return (observed(a, b) - chance) / (1 - chance)


def fleiss_kappa(ratings: Sequence[Ratings]) -> float | None:
    """Agreement beyond chance of any number of raters: one row of labels an item, all rows as long.

    None where a single label is all there is, or one rater.
    """
    raters = {len(row) for row in ratings}
    if len(raters) != 1:
        raise DataError(f"ratings must hold as many labels for each item, at least one item, got rows of {raters or 0}")
    (m,) = raters
    if m < 2:
        return None
    pairs = [fsum(count * (count - 1) for count in Counter(row).values()) / (m * (m - 1)) for row in ratings]
    shares = Counter(label for row in ratings for label in row)
    chance = fsum((count / (m * len(ratings))) ** 2 for count in shares.values())
    return _beyond(fsum(pairs) / len(ratings), chance)


def _beyond(agreement: float, chance: float) -> float | None:
    return None if chance >= 1 else (agreement - chance) / (1 - chance)


def _size(a: Ratings, b: Ratings) -> int:
    if len(a) != len(b) or not a:
        raise DataError(f"raters must label the same items, at least one, got {len(a)} and {len(b)}")
    return len(a)


# --- accuracy behind an imperfect judge -----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Quality:
    """What labelled answers showed of a judge: how many right ones it accepted, how many wrong ones it refused."""

    right: int
    accepted: int  # of the right ones
    wrong: int
    refused: int  # of the wrong ones

    def __post_init__(self) -> None:
        if not (0 <= self.accepted <= self.right and 0 <= self.refused <= self.wrong and self.right and self.wrong):
            raise DataError(f"counts must be within their totals, and both totals at least 1, got {self}")

    @property
    def sensitivity(self) -> float:
        return self.accepted / self.right

    @property
    def specificity(self) -> float:
        return self.refused / self.wrong


@dataclass(frozen=True, kw_only=True, slots=True)
class Corrected:
    """The share of answers that are right, given how often the judge errs; all three within [0, 1]."""

    share: float
    low: float
    high: float


def corrected(accepted: int, n: int, quality: Quality, confidence: float = 0.95) -> Corrected | None:
    """(accepted share + specificity - 1) / (sensitivity + specificity - 1), with its interval.

    The interval counts the uncertainty of all three shares. None for a judge that is no better than chance: from its
    verdicts nothing follows.
    """
    if not 0 <= accepted <= n or n < 1:
        raise DataError(f"accepted must be within 0..n and n at least 1, got {accepted} of {n}")
    if not 0 < confidence < 1:
        raise DataError(f"confidence must be between 0 and 1, got {confidence}")
    power = quality.sensitivity + quality.specificity - 1
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    # The interval is built around shares that are drawn a little towards one half, as Agresti and Coull do.
    p = (accepted + z * z / 2) / (n + z * z)
    hit, miss = (quality.accepted + 1) / (quality.right + 2), (quality.refused + 1) / (quality.wrong + 2)
    if power <= 0 or hit + miss <= 1:
        return None
    centre = (p + miss - 1) / (hit + miss - 1)
    of_hit, of_miss = hit * (1 - hit) / (quality.right + 2), miss * (1 - miss) / (quality.wrong + 2)
    spread = p * (1 - p) / (n + z * z) + centre**2 * of_hit + (1 - centre) ** 2 * of_miss
    centre += 2 * z * z * (centre * of_hit - (1 - centre) * of_miss)
    half = z * sqrt(spread) / (hit + miss - 1)
    share = (accepted / n + quality.specificity - 1) / power
    return Corrected(share=_unit(share), low=_unit(centre - half), high=_unit(centre + half))


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
