"""What a point of a study scores: by replay where it differs from what is recorded in fusion alone, else live."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from math import prod
from typing import Any

import optuna
from omegaconf import OmegaConf

from sodamem import build, text
from sodamem.errors import ConfigError
from sodamem.evaluate import Grades, Result, evaluate, recalled
from sodamem.executor.spread import Spread
from sodamem.fusion.base import AwardFusion
from sodamem.metric import retrieval
from sodamem.pipeline import Pipeline
from sodamem.protocols import Corpus, Judge
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
    """Scores points by running them; after every `block` questions a poor one may be given up."""

    def __init__(self, ground: Ground, measures: Sequence[str], block: int) -> None:
        self.ground, self.measures, self.block = ground, measures, block

    def __call__(self, point: Point, report: Report) -> dict[str, float]:
        cfg = OmegaConf.create(self.ground.at(point))
        parts = build.pipeline(cfg), build.component(cfg, "dataset").open(), build.spread(cfg)
        if recall_only(self.measures):
            return self._wanted(self._recall(*parts, report))
        return self._wanted(self._answers(*parts, build.component(cfg, "judge"), report))

    def _recall(self, pipeline: Pipeline, corpus: Corpus, spread: Spread, report: Report) -> Mapping[str, float]:
        """Recall alone: nothing is read and nothing judged."""
        rows: list[retrieval.Row] = []
        tokens: list[int] = []

        def found() -> dict[str, float]:
            return {**retrieval.aggregate(rows), TOKENS: sum(tokens) / len(tokens)}

        with closing(recalled(pipeline, corpus, spread=spread)) as questions:
            for one in questions:
                rows.append(one.measures)
                tokens.append(sum(text.estimate_tokens(item.text) for item in one.evidence))
                self._look(len(rows), found, report)
        return found()

    def _answers(
        self, pipeline: Pipeline, corpus: Corpus, spread: Spread, judge: Judge, report: Report
    ) -> Mapping[str, float]:
        rows: list[retrieval.Row] = []
        grades = Grades()

        def found() -> dict[str, float]:
            return {**retrieval.aggregate(rows), **grades.metrics()}

        def sink(result: Result) -> None:
            rows.append(result.measures)
            grades.add(result)
            self._look(len(rows), found, report)

        return evaluate(pipeline, corpus, judge, sink=sink, spread=spread).metrics

    def _look(self, scored: int, found: Callable[[], Mapping[str, float]], report: Report) -> None:
        """At the end of a block, report the one measure so far. Raises TrialPruned where the trial is given up."""
        if len(self.measures) == 1 and scored % self.block == 0:
            value = found().get(self.measures[0])
            if value is not None and report(scored // self.block - 1, value):
                raise optuna.TrialPruned

    def _wanted(self, metrics: Mapping[str, float]) -> dict[str, float]:
        if missing := [name for name in self.measures if name not in metrics]:
            raise ConfigError(f"measures must be defined for some question, {missing[0]} is not")
        return {name: metrics[name] for name in self.measures}


def recall_only(measures: Iterable[str]) -> bool:
    """Whether the measures need neither planner nor reader nor judge."""
    return all(name.startswith(("turn/", "session/")) or name == TOKENS for name in measures)
