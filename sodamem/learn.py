"""Learning a fusion from a recording: logistic regression of which turn is gold on differences of award features.

Pairwise, as in learning to rank (Herbrich, Graepel and Obermayer 2000; Joachims 2002): gold turns against the best
others of their question, every question with the same weight. Trained on the dev split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.fusion.awards import Floats, Ints
from sodamem.fusion.learned import FEATURES, INSIDE, SHARED, features
from sodamem.replay.recording import Recording

Coefficients = Mapping[str, Mapping[str, float]]
_ROUND = 6  # decimals of a coefficient: more would only be solver noise


def fit(
    recording: Recording, *, strength: float, rivals: int, rounds: int, questions: Sequence[int] | None = None
) -> Coefficients:
    """Coefficients by tunnel and feature, in the units of the features.

    strength: inverse of the L2 penalty on standardised features · rivals: how many of the best-ranked others each gold
    turn is compared with, ranked by the round before (at first by a fit of gold against all others) · questions: those
    to learn from, by default all that have gold. Raises ConfigError for another unit than turn, or without any gold.
    """
    from sklearn.linear_model import LogisticRegression

    if recording.unit != "turn":
        raise ConfigError(f"fusion.unit must be turn to be learned from gold turns, got {recording.unit}")
    matrix, gold = table(recording)
    owner, chosen = recording.awards.question, recording.gold_count > 0
    if questions is not None:
        chosen &= np.isin(np.arange(len(chosen)), questions)
    used = chosen[owner]
    if not (gold & used).any():
        raise ConfigError("dataset must hold questions whose gold is found, to learn from, got none")
    scale = matrix[used].std(axis=0)
    scaled = matrix / np.where(scale > 0, scale, 1.0)
    first = LogisticRegression(C=0.1, max_iter=300, class_weight="balanced").fit(scaled[used], gold[used])
    weights = first.coef_[0]
    for _ in range(rounds):
        pairs, shares = _pairs(scaled, gold, owner, np.flatnonzero(chosen), score=scaled @ weights, rivals=rivals)
        wins = np.ones(len(pairs), dtype=bool)
        wins[1::2] = False  # half of the differences the other way round: a comparison has no side of its own
        pairs[1::2] *= -1
        weights = LogisticRegression(C=strength, fit_intercept=False, max_iter=300).fit(pairs, wins, shares).coef_[0]
    raw = np.where(scale > 0, weights / np.where(scale > 0, scale, 1.0), 0.0).round(_ROUND)
    width = len(FEATURES)
    found: dict[str, dict[str, float]] = {
        name: {feature: float(raw[place * width + column]) for column, feature in enumerate(FEATURES)}
        for place, name in enumerate(recording.awards.tunnels)
    }
    return {**found, SHARED: {INSIDE: float(raw[-1])}}


def _pairs(
    matrix: Floats, gold: NDArray[np.bool_], owner: Ints, questions: NDArray[np.int64], *, score: Floats, rivals: int
) -> tuple[Floats, Floats]:
    """Differences gold - rival of features: float64 [p, f], and their weights, equal in sum for every question: [p]."""
    starts = np.searchsorted(owner, np.arange(int(owner.max(initial=0)) + 2))
    differences: list[Floats] = []
    for question in questions.tolist():
        rows = np.arange(starts[question], starts[question + 1])
        mine, others = rows[gold[rows]], rows[~gold[rows]]
        others = others[np.argsort(-score[others], kind="stable")[:rivals]]
        if len(mine) and len(others):
            differences.append((matrix[mine][:, None] - matrix[others][None]).reshape(-1, matrix.shape[1]))
    shares = np.concatenate([np.full(len(part), 1 / len(part)) for part in differences])
    return np.concatenate(differences), shares * len(shares) / shares.sum()


def table(recording: Recording) -> tuple[Floats, NDArray[np.bool_]]:
    """Features of every candidate, tunnel after tunnel and `inside` last: float64 [m, t·f + 1], and which are gold."""
    awards = recording.awards
    parts = features(awards)
    width = len(FEATURES)
    matrix = np.zeros((len(awards.rows), len(awards.tunnels) * width + 1))
    for column in range(width):
        np.add.at(matrix, (awards.place, awards.tunnel * width + column), parts[:, column])
    np.add.at(matrix[:, -1], awards.place, parts[:, -1])
    size = int(recording.turn.max(initial=0)) + 1
    keys = awards.question.astype(np.int64) * size + recording.turn
    wanted = recording.gold_question.astype(np.int64) * size + recording.gold_turn
    return matrix, np.isin(keys, wanted)


def write(coefficients: Coefficients, path: Path, origin: Mapping[str, object]) -> None:
    """Write coefficients for people to read, where they come from as comments on top."""
    plain = {tunnel: dict(row) for tunnel, row in coefficients.items()}
    head = "".join(f"# {key}: {value}\n" for key, value in origin.items())
    body = yaml.safe_dump({"coefficients": plain}, sort_keys=False, default_flow_style=None, width=110)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + body, encoding="utf-8")
