"""The loop of a study whose trials run in batches, in processes that may die, over the same storage as any other.

A result counts as soon as its file is there: whoever comes next tells it to the study, so no trial is paid for twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState

from sodamem.errors import ServiceError
from sodamem.sweep.book import DIED, REASON, counts, key
from sodamem.sweep.book import point as point_of
from sodamem.sweep.search import Search
from sodamem.sweep.space import Point
from sodamem.sweep.trial import TrialFiles, TrialResult, one_line
from sodamem.sweep.workers import Watch, beating, stoppable

FOLDER, PARENT = "folder", "parent"  # attributes of trials: of its run, and the tracked run that this is part of
SILENT = 3  # batches in a row without one result that end a study

Launch = Callable[[Mapping[int, Point]], Mapping[int, TrialResult | str]]
"""Runs a batch. For each number what the trial left, or the launcher's reason where it left nothing."""


class ChildWatch(Watch):
    """Knows that a trial may outlive the process that launched it."""

    def __init__(self, files: TrialFiles) -> None:
        super().__init__()
        self._files = files

    def gone(self, trial: FrozenTrial) -> bool:
        return super().gone(trial) and not self._files.alive(trial.number)


@dataclass(kw_only=True)
class BatchSearch(Search):
    """A search whose trials are launched together. files: where they leave their results · parent: id of the tracked
    run that theirs are part of, empty where nothing is tracked."""

    files: TrialFiles
    parent: str

    def __post_init__(self) -> None:
        self.watch = ChildWatch(self.files)

    def lacking(self, first: Point) -> int:
        """How many trials nobody has begun."""
        with self.backend.service():
            wanted = self._begin(first)
        return max(wanted - self.book.count - len(self.book.taken), int(self.book.holder(key(first)) is None))

    def run_batches(self, launch: Launch, first: Point, size: int, step: Callable[[FrozenTrial], None]) -> None:
        """Try points, `size` at a time, until the study has its trials in total; the baseline alone before all others.

        Raises ConfigError when the baseline fails, ServiceError when batch after batch leaves nothing.
        """
        silent = 0
        with stoppable(), self.backend.service():
            self._begin(first)
            self._queue_late()
            while (asked := self._next()) is not None:
                batch = [asked]
                while asked[1] != first and len(batch) < size and (another := self.ask()) is not None:
                    batch.append(another)
                results = self._results(launch, batch)
                for trial, point in batch:
                    told = self._settle(trial, results[trial.number])
                    step(told)
                    if told.state == TrialState.FAIL and counts(told) and point == first:
                        self.book.fallen = told
                lost = [result for result in results.values() if isinstance(result, str)]
                silent = silent + 1 if len(lost) == len(batch) else 0
                if silent == SILENT:
                    raise ServiceError(f"launcher must run trials, {SILENT} batches in a row left nothing: {lost[0]}")

    def _queue_late(self) -> None:
        """Ask first for points whose trial was given up, and whose result has come all the same."""
        kept = {result.point for result in self.files.all() if result.values}
        known = {*self.book.queued, *self.book.taken, *self.book.done}
        for trial in self.held.get_trials(deepcopy=False, states=[TrialState.FAIL]):
            name = key(trial.params)
            if not counts(trial) and name in kept - known:
                known.add(name)
                self.held.enqueue_trial(point_of(trial))

    def _results(self, launch: Launch, batch: list[tuple[optuna.Trial, Point]]) -> Mapping[int, TrialResult | str]:
        """Launch what has no result yet. An interrupt ends the batch; what it has left until then is told."""
        kept = {result.point: result for result in self.files.all() if result.values}
        points = {trial.number: asked for trial, asked in batch}
        found: dict[int, TrialResult | str] = {
            number: kept[key(asked)] for number, asked in points.items() if key(asked) in kept
        }
        try:
            with ExitStack() as stack:
                for trial, _ in batch:
                    self._note(trial, PARENT, self.parent)
                    stack.enter_context(beating(trial, self.where))
                rest = {number: asked for number, asked in points.items() if number not in found}
                with self._clock("scoring"):
                    return found | dict(launch(rest)) if rest else found
        except KeyboardInterrupt:
            for trial, asked in batch:
                left = found.get(trial.number) or self.files.read(trial.number, key(asked))
                if left or not self.files.alive(trial.number):  # one that goes on is told by whoever comes next
                    self._settle(trial, left or f"interrupted: {DIED}")
            raise

    def _settle(self, trial: optuna.Trial, result: TrialResult | str) -> FrozenTrial:
        """Tell what came of a trial."""
        for name, value in _notes(result).items():
            self._note(trial, name, value)
        return self._tell(trial, self._values(result))

    def _bury(self, trial: FrozenTrial) -> None:
        """Tell the result of a dead driver's trial; without one it ends as interrupted."""
        result = self.files.read(trial.number, key(trial.params))
        if result is None:
            super()._bury(trial)
            return
        values = self._values(result)
        with suppress(UpdateFinishedTrialError):  # it was ended after all
            for name, value in _notes(result).items():
                self.where.set_trial_user_attr(trial._trial_id, name, value)
            state = TrialState.FAIL if values is None else TrialState.COMPLETE
            self.held.tell(trial.number, values, state=state, skip_if_finished=True)

    def _values(self, result: TrialResult | str) -> list[float] | None:
        if isinstance(result, str) or result.reason:
            return None
        return [result.values[name] for name in self.study.measures]


def _notes(result: TrialResult | str) -> dict[str, str]:
    """The attributes of a trial with this result."""
    found = (one_line(result), "") if isinstance(result, str) else (result.reason, result.folder)
    return {name: value for name, value in zip((REASON, FOLDER), found, strict=True) if value}
