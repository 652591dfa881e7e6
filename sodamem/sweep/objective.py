"""What a point of a study scores: by replay where it differs from what is recorded in fusion alone, else live."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import optuna
from omegaconf import OmegaConf

from sodamem import build, text
from sodamem.errors import ConfigError
from sodamem.evaluate import evaluate, opened
from sodamem.fusion.base import AwardFusion
from sodamem.metric import retrieval
from sodamem.replay.measures import TOKENS, by_question, is_replayable, mean
from sodamem.replay.recorded import Recordings, Setting, fusion_of
from sodamem.sweep.space import Ground, Knob, Point

FEW = 32  # combinations of values before fusion that are worth a recording each
_AT_FUSION = re.compile(r"fusion(\.|$)|tunnel$|tunnel\.\w+$|tunnel\.[\w*]+\.(heads|expansion\.keep)$|recall\.top_k$")

Report = Callable[[int, float], bool]


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
        self._classes: dict[str, Any] = {}

    def __call__(self, point: Point, report: Report) -> dict[str, float]:
        setting = Setting.of(self.ground.at(point))
        fusion = self._fusion(setting)
        found = by_question(self.recordings.replay(setting), fusion, setting.cut, self.measures)
        return {name: mean(values) for name, values in found.items()}

    def _fusion(self, setting: Setting) -> AwardFusion:
        """The setting's fusion; built once for each class, since instantiating takes longer than replaying."""
        target = str(setting.fusion["_target_"])
        if target not in self._classes:
            self._classes[target] = type(fusion_of(setting))
        fusion: AwardFusion = self._classes[target](**{k: v for k, v in setting.fusion.items() if k != "_target_"})
        return fusion


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
