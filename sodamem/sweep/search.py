"""The loop in which the workers of a study ask Optuna for points and tell it what they score.

Akiba et al., Optuna, KDD 2019; samplers TPE (Bergstra et al. 2011) and NSGA-II (Deb et al. 2002). However many workers
there are, a study has its trials in total, no point is tried twice, and a failed trial has no score.
"""

from __future__ import annotations

import logging
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState

from sodamem.errors import ConfigError, SodamemError
from sodamem.mlflow_store import process_tag
from sodamem.records import redacted
from sodamem.sweep.book import DIED, REASON, REPEATS, SURPLUS, Book, counts, key
from sodamem.sweep.space import Point, grid
from sodamem.sweep.storage import Shared
from sodamem.sweep.study import Study, refuse_other
from sodamem.sweep.workers import GRACE, PROCESS, Watch, beating, stoppable

IDENTITY, SITTINGS = "identity", "sittings"  # attributes of a study: what it must stay, and how often it was begun
DEATHS = 3  # workers that may die at a point, of memory perhaps, before it has failed
EXHAUSTED = 100  # proposals in a row that were all tried before: the space has nothing new to offer
POLL = 0.25  # seconds between two looks at what other workers do
CHUNK = 50  # points that are queued in one turn
MOURN = 1.0  # seconds between two looks for workers that are gone
PATIENCE = 180.0  # seconds to wait for others' last trials; longer than it takes to give up a dead worker's
SILENT = 5.0  # seconds of waiting that need no explanation
_log = logging.getLogger(__name__)

Evaluate = Callable[[Point, Callable[[int, float], bool]], Mapping[str, float]]


@dataclass(kw_only=True)
class Search:
    """A study at work in a storage, by one of possibly many workers. spent: seconds by what they were spent on ·
    wanted: trials in total · elsewhere: trials that others were still at when this worker stopped."""

    study: Study
    held: optuna.Study
    where: Any
    backend: Shared
    spent: dict[str, float] = field(default_factory=lambda: {"sampling": 0.0, "storage": 0.0, "scoring": 0.0})
    wanted: int = 0
    elsewhere: int = 0
    exhausted: int = -1
    book: Book = field(default_factory=Book)
    watch: Watch = field(default_factory=Watch)
    _first: str = ""
    _points: Mapping[str, Point] = field(default_factory=dict)
    _lost: int = 0
    _mourned: float = -math.inf
    _clocked: bool = False

    @classmethod
    def open(
        cls,
        study: Study,
        name: str,
        identity: Mapping[str, str],
        where: Any,
        backend: Shared,
        *,
        new: bool = False,
        **more: Any,
    ) -> Self:
        """Create or resume. Raises what `refuse_namesakes` raises, ServiceError when the storage does not answer."""
        with backend.service(), backend.turn(study.name):
            refuse_namesakes(where, backend, name, identity, new)
            held = optuna.create_study(
                storage=where, study_name=name, directions=[*study.measures.values()], load_if_exists=True
            )
            if IDENTITY not in held.user_attrs:
                held.set_user_attr(IDENTITY, dict(identity))
            sittings = int(held.user_attrs.get(SITTINGS, 0))
            held.set_user_attr(SITTINGS, sittings + 1)
            search = cls(study=study, held=held, where=where, backend=backend, **more)
            known = len(held.get_trials(deepcopy=False))
        # of two workers that begin at once, and of two sittings, each has proposals of its own
        held.sampler = search._sampler(seed=study.seed + sittings + known)
        if study.pruner == "median":
            held.pruner = optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=1)
        return search

    def trials(self) -> list[FrozenTrial]:
        """Trials that were evaluated, or failed in it, by number."""
        done = self.held.get_trials(deepcopy=False, states=[TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL])
        return [trial for trial in done if counts(trial)]

    def complete(self) -> list[FrozenTrial]:
        return [trial for trial in self.trials() if trial.state == TrialState.COMPLETE]

    def best(self) -> list[FrozenTrial]:
        """Best first: by the one measure, or the Pareto front by the first measure."""
        sign = [1 if direction == "minimize" else -1 for direction in self.study.measures.values()]
        costs = {trial.number: [s * v for s, v in zip(sign, trial.values, strict=True)] for trial in self.complete()}
        ranked = sorted(self.complete(), key=lambda trial: (costs[trial.number], trial.number))
        if len(sign) == 1:
            return ranked
        front: list[FrozenTrial] = []
        for trial in ranked:  # in this order a later one cannot dominate an earlier one
            mine = costs[trial.number]
            if not any(all(a <= b for a, b in zip(costs[other.number], mine, strict=True)) for other in front):
                front.append(trial)
        return front

    def run(self, evaluate: Evaluate, first: Point, step: Callable[[FrozenTrial], None] = lambda _: None) -> None:
        """Try points until the study has its trials in total, `first` (the baseline) before all others.

        Raises ConfigError when the baseline itself fails: nothing else would say more. ServiceError when the storage
        does not answer any more.
        """
        with stoppable(), self.backend.service():
            self._begin(first)
            while (asked := self._next()) is not None:
                told = self._evaluated(*asked, evaluate)
                step(told)
                if told.state == TrialState.FAIL and counts(told) and asked[1] == first:
                    self.book.fallen = told

    def baseline(self) -> FrozenTrial | None:
        """The baseline's trial, None while it has no score."""
        return next((trial for trial in self.complete() if key(trial.params) == self._first), None)

    def ask(self) -> tuple[optuna.Trial, Point] | None:
        """A point that nobody has tried or is at, now taken by this process; None when there is none left to begin.

        Raises ConfigError when the baseline has failed.
        """
        self._mourn()
        for _ in range(EXHAUSTED):
            if not self._room():
                self._look()
            self._refuse_fallen()
            if not self._room():
                return None
            trial, point = self._ask()
            with self._turn():
                self._look()
                before = self.book.holder(key(point))
                if before is None and self._room(point):
                    self._note(trial, PROCESS, self._me)
                    self.book.taken[key(point)] = trial.number
                    return trial, point
            if before is None:
                self._note(trial, REASON, SURPLUS)
                self._tell(trial, None)
            else:
                self._note(trial, REPEATS, before)
                self._tell(trial, self.book.values(key(point)))
        self.exhausted = self.book.lost
        return None

    def _next(self) -> tuple[optuna.Trial, Point] | None:
        """The next point of this worker. Others' last trials are waited for: what they give back is begun anew."""
        end = None
        said = False
        while True:
            if self.exhausted != self.book.lost and (asked := self.ask()):
                return asked
            self._look()
            self._refuse_fallen()
            if self.exhausted != self.book.lost and self._room():
                continue  # something was given back at this very moment
            end = end or time.monotonic() + PATIENCE
            if not self.book.running or time.monotonic() > end:
                self.elsewhere = len(self.book.running)
                return None
            if not said and time.monotonic() > end - PATIENCE + SILENT:
                said = True
                _log.warning("waiting for the last %d trials, which other workers are at", len(self.book.running))
            with self._clock("waiting"):
                time.sleep(POLL)
            self._mourn()

    def _refuse_fallen(self) -> None:
        if self.book.fallen:
            reason = self.book.fallen.user_attrs.get(REASON)
            raise ConfigError(f"the baseline must have a score, it failed: {reason}")

    def _look(self) -> None:
        with self._clock("storage"):
            self.book.read(self.held.get_trials(deepcopy=False), self._first)

    def _room(self, point: Point | None = None) -> bool:
        """Whether a trial, of this point if there is one, may begin. The baseline has a place kept for it."""
        if self.book.fallen:
            return False
        kept = int(self.book.holder(self._first) is None)
        if kept and (self._first in self.book.waiting if point is None else key(point) == self._first):
            return True
        return self.book.count + len(self.book.taken) + kept < self.wanted

    def _mourn(self) -> None:
        """Give up the trials of workers that are gone, and queue again what must not be left out."""
        if time.monotonic() < self._mourned + MOURN:
            return
        self._mourned = time.monotonic()
        self._look()  # their last signs of life may have come during a long trial of our own
        for trial in self.book.running:
            if self.watch.gone(trial):
                self._bury(trial)
                self._look()
        if self.book.lost != self._lost:
            self._enqueue()

    def _others(self) -> int:
        """Trials that other workers were at when this one last looked."""
        return sum(trial.user_attrs.get(PROCESS, self._me) != self._me for trial in self.book.running)

    def _bury(self, trial: FrozenTrial) -> None:
        """End a trial that a dead process left running. Its point is tried again, but not for ever."""
        died = self.book.deaths[key(trial.params)] + 1
        reason = DIED if died < DEATHS else f"{died} workers died at it"
        with suppress(UpdateFinishedTrialError):  # it was ended after all
            self.where.set_trial_user_attr(trial._trial_id, REASON, reason)
            self.held.tell(trial.number, state=TrialState.FAIL, skip_if_finished=True)

    def _begin(self, first: Point) -> int:
        """Put the points that are known beforehand in the queue. Returns how many trials there will be in total."""
        every = grid(self.study.space) if self.study.sampler == "grid" else []
        self._first = key(first)
        self._points = {key(point): point for point in (first, *every)}
        self.wanted = min(self.study.trials, len(self._points)) if every else self.study.trials
        self._look()
        self.book.fallen = None  # in an earlier sitting: whatever was amiss then may have been put right
        self._enqueue()
        self._mourn()
        return self.wanted

    def _enqueue(self) -> None:
        """Queue the points that must be tried and are not, some at a time: others wait for the turn to end."""
        more = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            while more:
                with self._turn():
                    self._look()
                    known = {*self.book.queued, *self.book.taken, *self.book.done}
                    missing = [point for name, point in self._points.items() if name not in known]
                    for point in missing[:CHUNK]:
                        self.held.enqueue_trial(point)
                more = len(missing) > CHUNK
        self._lost = self.book.lost

    def _ask(self) -> tuple[optuna.Trial, Point]:
        with self._clock("sampling"):
            trial = self.held.ask()
            point: Point = {}
            for knob in self.study.space:
                if knob.active(point):
                    point[knob.name] = knob.suggest(trial)
        return trial, point

    def _evaluated(self, trial: optuna.Trial, point: Point, evaluate: Evaluate) -> FrozenTrial:
        """Evaluate a point and tell; whatever goes wrong is the trial's failure, with its reason, never a score."""

        def pruned(block: int, value: float) -> bool:
            trial.report(value, block)
            return key(point) != self._first and bool(trial.should_prune())

        reason = ""
        values: list[float] | None = None
        try:
            with beating(trial, self.where), self._clock("scoring"):
                found = evaluate(point, pruned)
            values = [float(found[measure]) for measure in self.study.measures]
            odd = [f"{measure} is {value}" for measure, value in found.items() if not math.isfinite(value)]
            reason = "; ".join(odd)
        except optuna.TrialPruned:
            return self._tell(trial, None, TrialState.PRUNED)
        except KeyboardInterrupt:
            self._note(trial, REASON, f"interrupted: {DIED}")
            self._tell(trial, None)
            raise
        except SodamemError as error:
            reason = " ".join(str(error).split())
        except Exception as error:  # a trial must not end the study, whatever a component raises
            reason = f"{type(error).__name__}: {error}"
        if reason:
            self._note(trial, REASON, redacted(reason)[:500])
        return self._tell(trial, None if reason else values)

    def _note(self, trial: optuna.Trial, name: str, value: Any) -> None:
        with self._clock("storage"), suppress(UpdateFinishedTrialError):  # `_tell` will say so
            trial.set_user_attr(name, value)

    def _tell(
        self, trial: optuna.Trial, values: Sequence[float] | None, state: TrialState | None = None
    ) -> FrozenTrial:
        state = state or (TrialState.FAIL if values is None else TrialState.COMPLETE)
        with self._clock("sampling"):
            told = self.held.tell(trial, None if values is None else list(values), state=state, skip_if_finished=True)
        if told.state != state:
            silent = f"its worker was silent for {GRACE:.0f} s"
            _log.warning("trial %d had been given up, %s: its result is dropped", trial.number, silent)
        return told

    def _sampler(self, seed: int) -> optuna.samplers.BaseSampler:
        if self.study.sampler == "tpe":
            conditional = any(knob.when for knob in self.study.space)
            return optuna.samplers.TPESampler(seed=seed, multivariate=True, group=conditional, constant_liar=True)
        if self.study.sampler == "nsga2":
            return optuna.samplers.NSGAIISampler(seed=seed)
        return optuna.samplers.RandomSampler(seed=seed)

    @cached_property
    def _me(self) -> str:
        return process_tag(os.getpid())

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._clock("storage"), self.backend.turn(self.held.study_name):
            yield

    @contextmanager
    def _clock(self, what: str) -> Iterator[None]:
        """Count the seconds of the body, those in the storage apart; within another's body they are that one's."""
        if self._clocked:
            yield
            return
        self._clocked = True
        started, stored = time.perf_counter(), self.backend.seconds
        try:
            yield
        finally:
            self._clocked = False
            in_storage = self.backend.seconds - stored
            self.spent["storage"] += in_storage
            self.spent[what] = self.spent.get(what, 0.0) + time.perf_counter() - started - in_storage


def refuse_namesakes(where: Any, backend: Shared, name: str, identity: Mapping[str, str], new: bool) -> None:
    """Raise ConfigError when the storage has a study of this name with another identity, unless a new one is wanted."""
    with backend.service():
        begun = name.rpartition("-")[0]
        names = [other for other in optuna.get_all_study_names(where) if other.rpartition("-")[0] == begun]
        if names and name not in names and not new:
            latest = optuna.load_study(study_name=names[-1], storage=where)
            refuse_other(latest.study_name, identity, latest.user_attrs.get(IDENTITY, {}))
