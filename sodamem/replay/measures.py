"""Measures of recall worked out from a replay: what retrieval reports live, for every question at once.

Definitions as in `sodamem.metric.retrieval`, from the ranks of the gold turns alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import fsum

import numpy as np

from sodamem.errors import ConfigError
from sodamem.fusion.awards import Floats
from sodamem.fusion.base import AwardFusion
from sodamem.replay.replay import Cut, Replay

TOKENS = "evidence_tokens/mean"
_REPLAYABLE = re.compile(r"turn/(?:(recall|recall_all|hit|ndcg)_at_(\d+)|mrr)$")


def by_question(replay: Replay, fusion: AwardFusion, cut: Cut, measures: Sequence[str]) -> dict[str, Floats]:
    """Each measure of every question, NaN where it is undefined: float64 [q]."""
    ranks = replay.gold_ranks(fusion, cut)
    return {
        name: replay.evidence_tokens(fusion, cut) if name == TOKENS else _measure(replay, ranks, name)
        for name in measures
    }


def _measure(replay: Replay, ranks: Floats, name: str) -> Floats:
    if not (found := _REPLAYABLE.match(name)):
        raise ConfigError(f"measures must be replayable ones (turn/recall_at_10, …, {TOKENS}), got {name}")
    kind, k = found[1], int(found[2] or 0)
    recorded, scored = replay.recording, replay.scored
    if kind == "recall":
        return replay.over_gold((ranks <= k).astype(np.float64))
    if kind in ("recall_all", "hit"):
        share = replay.over_gold((ranks <= k).astype(np.float64))
        return np.where(scored, share == 1 if kind == "recall_all" else share > 0, np.nan)
    if kind == "ndcg":
        gains = np.where(ranks <= k, 1 / np.log2(ranks + 1), 0.0)
        ideal = np.array([fsum(1 / np.log2(np.arange(min(n, k)) + 2)) for n in recorded.gold_count.tolist()])
        total = np.bincount(recorded.gold_question, weights=gains, minlength=len(scored))
        return np.where(scored, total / np.where(ideal > 0, ideal, 1), np.nan)
    best = np.full(len(scored), np.inf)
    np.minimum.at(best, recorded.gold_question, ranks)
    return np.where(scored, 1 / best, np.nan)


def mean(values: Floats) -> float:
    """Mean over the questions that define a measure, exact, so that it equals the live mean; NaN when none does."""
    defined = values[~np.isnan(values)].tolist()
    return fsum(defined) / len(defined) if defined else float("nan")


def is_replayable(measure: str) -> bool:
    """Whether a measure can be worked out from a recording."""
    return measure == TOKENS or bool(_REPLAYABLE.match(measure))
