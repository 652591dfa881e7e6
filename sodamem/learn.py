"""Learning a fusion from a recording: logistic regression of what is gold on features of the awards.

Cooper, Gey and Dabney, Probabilistic retrieval based on staged logistic regression, SIGIR 1992. Trained on
the dev split, gold against the best of the rest, every question with the same weight; only the order of scores is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.fusion.awards import Floats
from sodamem.fusion.learned import FEATURES, INSIDE, SHARED, features
from sodamem.recording import Recording

Coefficients = Mapping[str, Mapping[str, float]]
_ROUND = 6  # decimals of a coefficient: more would only be solver noise


def fit(recording: Recording, *, strength: float, questions: Sequence[int] | None = None) -> Coefficients:
    """Coefficients by tunnel and feature, in the units of the features.

    strength: inverse of the L2 penalty on standardised features · questions: those to learn from, by default all that
    have gold. Raises ConfigError for a unit in which gold is not one candidate, or without any gold.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    if recording.unit != "turn":
        raise ConfigError(f"fusion.unit must be turn to be learned from gold turns, got {recording.unit}")
    matrix, gold = table(recording)
    owner = recording.awards.question
    wanted = recording.gold_count > 0
    if questions is not None:
        wanted &= np.isin(np.arange(len(wanted)), questions)
    has = np.bincount(owner, weights=gold, minlength=len(wanted)) > 0
    rows = (wanted & has)[owner]
    if not rows.any():
        raise ConfigError("dataset must hold questions whose gold is found, to learn from, got none")
    # Questions weigh the same however many turns their history has; gold and the rest weigh the same within each.
    counts = {flag: np.bincount(owner, weights=gold == flag, minlength=len(wanted)) for flag in (False, True)}
    weight = 1.0 / np.where(gold, counts[True][owner], counts[False][owner])[rows]
    scaler = StandardScaler().fit(matrix[rows])
    model = LogisticRegression(C=strength, max_iter=500).fit(scaler.transform(matrix[rows]), gold[rows], weight)
    raw = (model.coef_[0] / scaler.scale_).round(_ROUND)
    tunnels, width = recording.awards.tunnels, len(FEATURES)
    found: dict[str, dict[str, float]] = {
        name: {feature: float(raw[place * width + column]) for column, feature in enumerate(FEATURES)}
        for place, name in enumerate(tunnels)
    }
    return {**found, SHARED: {INSIDE: float(raw[-1])}}


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
