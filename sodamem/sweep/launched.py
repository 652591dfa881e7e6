"""Slow trials of a study, each a run of its own through one of Hydra's launchers, in a Sweeper of Hydra's kind.

What is launched is checked here first: the overrides of a trial must compose exactly the configuration of its point.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hydra.core.plugins import Plugins
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf
from optuna.trial import FrozenTrial

from sodamem import build, config
from sodamem.errors import ConfigError
from sodamem.forecast import loads
from sodamem.metric.cost import Load, estimate
from sodamem.protocols import Corpus
from sodamem.sweep.batches import BatchSearch
from sodamem.sweep.book import key
from sodamem.sweep.launchers import Job, Jobs, Launch, hydra_at_work
from sodamem.sweep.point_overrides import overrides, quoted, settled
from sodamem.sweep.space import Ground, Point, put
from sodamem.sweep.study import Study
from sodamem.sweep.trial import Trial, TrialResult, fingerprint, one_line


def refuse(study: Study, cfg: Mapping[str, Any]) -> None:
    """Raise ConfigError for what a launched trial cannot do. cfg: the plain baseline."""
    if study.pruner != "none":
        raise ConfigError(
            f"pruner must be none with -m, got {study.pruner}: a launched trial is seen when it has ended"
        )
    if study.replay == "true":
        raise ConfigError("replay must be auto or false with -m, got true: every launched trial is a run of its own")
    if cfg["resume"] is not None:
        raise ConfigError(f"resume must be null in a study, got {cfg['resume']}: each trial has a folder of its own")


@dataclass(frozen=True, kw_only=True)
class Work:
    """Brings a study to its trials in total. arguments: the baseline's overrides · trial: what a launcher calls."""

    search: BatchSearch
    ground: Ground
    arguments: Sequence[str]
    trial: Trial
    launch: Launch
    step: Callable[[FrozenTrial], None]
    corpus: Corpus

    def __call__(self) -> None:
        if not (lacking := self.search.lacking(self.ground.baseline())) and not self.search.book.running:
            return
        # Hydra's own overrides decide how every job is composed; the rest belongs to the jobs.
        own = [one for one in self.arguments if one.lstrip("+~").startswith("hydra")]
        place = f"hydra.sweep.dir={quoted(str(self.search.files.folder.parent / 'launched'))}"
        with hydra_at_work([*own, *self.launch.overrides, place], self.launch.name) as (cfg, context):
            size = self.launch.size(config.plain(cfg.hydra.launcher))
            sweeper = StudySweeper(
                search=self.search, ground=self.ground, launch=self.launch, size=size, step=self.step
            )
            with config.one_line():
                sweeper.setup(hydra_context=context, task_function=self.trial, config=cfg)
            announce(f"hydra/launcher={self.launch.name}", self.ground, self.corpus, lacking, size)
            sweeper.sweep([one for one in self.arguments if one not in own])


class StudySweeper(Sweeper):
    """Asks a study for batches of points, and hands them to a launcher as overrides."""

    def __init__(
        self, *, search: BatchSearch, ground: Ground, launch: Launch, size: int, step: Callable[[FrozenTrial], None]
    ) -> None:
        self._search, self._ground, self._launch, self._size, self._step = search, ground, launch, size, step
        self._arguments: list[str] = []
        self.hydra_context: HydraContext
        self.config: DictConfig
        self.launcher: Launcher

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> None:
        """Raises ConfigError, before anything is launched, if a knob cannot be said in overrides."""
        self._arguments = arguments
        for corner in self._ground.corners():
            self._job(0, corner)
        self._search.run_batches(self._launched, self._ground.baseline(), self._size, self._step)

    def _launched(self, batch: Mapping[int, Point]) -> Mapping[int, TrialResult | str]:
        found: dict[int, TrialResult | str] = {}
        jobs: dict[int, Job] = {}
        for number, asked in batch.items():
            try:
                jobs[number] = self._job(number, asked)
            except ConfigError as error:  # values that do not go together are this trial's fault alone
                reason = one_line(str(error))
                found[number] = TrialResult(number=number, point=key(asked), values={}, reason=reason, folder="")
        if jobs:
            found |= Jobs(launcher=self.launcher, name=self._launch.name, files=self._search.files).run(jobs)
        return dict(sorted(found.items()))  # told in one order, whichever ended first: the sampler goes by it

    def _job(self, number: int, asked: Point) -> Job:
        """The overrides of a trial. Raises ConfigError unless they compose the configuration of its point."""
        expected = self._ground.at(asked)
        expected["name"] = f"{self._search.study.name}_trial_{number}"
        said = [*self._arguments, *overrides(self._ground, asked)]
        said += [f"{path}={quoted(expected[path])}" for path in ("runs", "name")]
        composed = self._composed(said)
        if here := settled(composed):
            said += [f"{path}={quoted(value)}" for path, value in here.items()]
            composed = self._composed(said)
        for path, value in here.items():
            put(expected, path, value)
        _refuse_other(config.flat(config.plain(composed)), config.flat(expected))
        trial = {"number": number, "parent": self._search.parent or None, "point": key(asked)}
        trial["config"] = fingerprint(expected)
        said.append("trial={" + ",".join(f"{path}:{quoted(value)}" for path, value in trial.items()) + "}")
        return Job(point=key(asked), overrides=tuple(said))

    def _composed(self, said: Sequence[str]) -> DictConfig:
        with config.one_line():
            cfg = self.hydra_context.config_loader.load_sweep_config(self.config, list(said))
            return config.absolute(OmegaConf.masked_copy(cfg, [str(name) for name in cfg if name != "hydra"]))


def _refuse_other(composed: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise ConfigError with the differences between what overrides compose and what they are to say, both flat."""
    changed = [
        f"{path} would be {composed.get(path)!r}, must be {wanted.get(path)!r}"
        for path in sorted(composed.keys() | wanted.keys())
        if repr(composed.get(path, KeyError)) != repr(wanted.get(path, KeyError))
    ]
    if changed:
        raise ConfigError(
            "overrides of a trial must compose the configuration of its point, "
            f"{'; '.join(changed[:3])}. If a file of it was edited meanwhile, begin anew with --new"
        )


# --- what it will cost --------------------------------------------------------------------------------------


def announce(launch: str, ground: Ground, corpus: Corpus, trials: int, size: int) -> None:
    """Say on stderr how many trials are launched, and what they ask of a model at most."""
    lines = [f"{trials} trials with {launch}, {size} at a time"]
    if most := _most(ground, corpus):
        prices = build.build(ground.plain["prices"], "prices", ground.plain["trusted_targets"])
        lines.append(f"{trials} times what one asks for at that corner of the space where it is most:")
        lines.append(estimate([replace(load, calls=load.calls * trials) for load in most], prices))
    print(*lines, sep="\n", file=sys.stderr)


def _most(ground: Ground, corpus: Corpus) -> list[Load]:
    """The load of each phase at the corner of the space where it is most."""
    most: dict[str, Load] = {}
    for corner in ground.corners():
        cfg = ground.at(corner)
        nodes = {group: node for group, node in cfg.items() if isinstance(node, dict) and "_target_" in node}
        asking = [group for group, node in nodes.items() if build.asks_a_model(node)]
        for load in loads(cfg, asking, corpus) if asking and cfg["replies"] != "replay" else ():
            known = most.get(load.phase)
            if known is None or load.calls * load.prompt > known.calls * known.prompt:
                most[load.phase] = load
    return list(most.values())
