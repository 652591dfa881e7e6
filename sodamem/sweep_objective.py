"""What a point of a study scores: by replay where it differs from what is recorded in fusion alone, else live."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import fsum, prod
from typing import Any

import numpy as np
import optuna
from omegaconf import OmegaConf

from sodamem import build, text
from sodamem.errors import ConfigError
from sodamem.evaluate import evaluate, opened
from sodamem.fusion.awards import Floats
from sodamem.fusion.base import AwardFusion
from sodamem.metric import retrieval
from sodamem.recorded import Recordings, Setting
from sodamem.replay import Cut, Replay
from sodamem.sweep_space import Ground, Knob, Point

TOKENS = "evidence_tokens/mean"
FEW = 32  # combinations of values before fusion that are worth a recording each
_REPLAYABLE = re.compile(r"turn/(?:(recall|recall_all|hit|ndcg)_at_(\d+)|mrr)$")
_AT_FUSION = re.compile(r"fusion(\.|$)|tunnel$|tunnel\.\w+$|tunnel\.[\w*]+\.(heads|expansion\.keep)$|recall\.top_k$")

Report = Callable[[int, float], bool]


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


def replayable(space: Sequence[Knob], measures: Sequence[str], wish: str) -> bool:
    """Whether a study is replayed: when its measures can be, and its knobs before fusion take few values.

    Raises ConfigError when replay is asked for (`true`) and cannot be.
    """
    before = [knob for knob in space if not _AT_FUSION.match(knob.name)]
    live = [name for name in measures if not is_replayable(name)]
    endless = [knob.name for knob in before if not knob.grid()]
    count = prod(len(knob.grid()) for knob in before)
    reason = (
        f"{live[0]} is no measure of recall"
        if live
        else f"{endless[0]} is set before fusion and has no end of values"
        if endless
        else f"its knobs before fusion have {count} combinations"
        if count > FEW
        else ""
    )
    if wish == "true" and reason:
        raise ConfigError(f"replay must be auto or false here: {reason}")
    return wish != "false" and not reason


class Replayed:
    """Scores points over recordings of the baseline's data."""

    def __init__(self, ground: Ground, recordings: Recordings, measures: Sequence[str]) -> None:
        self.ground, self.recordings, self.measures = ground, recordings, measures

    def __call__(self, point: Point, report: Report) -> dict[str, float]:
        setting = Setting.of(self.ground.at(point))
        fusion = fusion_of(setting)
        found = by_question(self.recordings.replay(setting), fusion, setting.cut, self.measures)
        return {name: mean(values) for name, values in found.items()}


class Live:
    """Scores points by running them, history by history, so that a poor one can be given up early."""

    def __init__(self, ground: Ground, measures: Sequence[str]) -> None:
        self.ground, self.measures = ground, measures

    def __call__(self, point: Point, report: Report) -> dict[str, float]:
        cfg = OmegaConf.create(self.ground.at(point))
        pipeline, corpus = build.pipeline(cfg), build.component(cfg, "dataset").open()
        if any(not name.startswith(("turn/", "session/")) and name != TOKENS for name in self.measures):
            metrics: Mapping[str, float] = evaluate(pipeline, corpus, build.component(cfg, "judge")).metrics
            return self._wanted(metrics)
        rows: list[retrieval.Row] = []
        tokens: list[int] = []
        for block, (memory, questions) in enumerate(opened(pipeline, corpus)):
            pool = retrieval.Pool(turn=len(memory.snapshot.turns), session=len(memory.snapshot.sessions))
            for question in questions:
                evidence = pipeline.recall(memory, question)
                rows.append(retrieval.score(question, evidence, pool, text.estimate_tokens))
                tokens.append(sum(text.estimate_tokens(item.text) for item in evidence))
            found = {**retrieval.aggregate(rows), TOKENS: sum(tokens) / len(tokens)}
            if len(self.measures) == 1 and self.measures[0] in found and report(block, found[self.measures[0]]):
                raise optuna.TrialPruned
        return self._wanted(found)

    def _wanted(self, metrics: Mapping[str, float]) -> dict[str, float]:
        if missing := [name for name in self.measures if name not in metrics]:
            raise ConfigError(f"measures must be defined for some question, {missing[0]} is not")
        return {name: metrics[name] for name in self.measures}


def fusion_of(setting: Setting) -> AwardFusion:
    """The fusion of a setting, built. Raises ConfigError where it is not one that can be replayed."""
    fusion: Any = build.build(setting.fusion, "fusion", setting.whole["trusted_targets"])
    if not isinstance(fusion, AwardFusion):
        raise ConfigError(
            f"fusion must be one over awards to be replayed, got {type(fusion).__name__}. Set replay=false"
        )
    return fusion
