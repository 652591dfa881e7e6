"""What the workers of a study have done so far, as each of them reads it in the storage: points tried and points taken.

A point is tried once; a trial that repeats another, was not needed or lost its worker does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from sodamem import text
from sodamem.sweep.space import Point
from sodamem.sweep.workers import PROCESS

REASON, REPEATS = "reason", "repeats"  # attributes of a trial: why it failed, and which other one it repeats
DIED = "its process died"  # what the reason of an interrupted trial ends with: it does not count and is tried again
SURPLUS = "not needed: others had taken the last of the trials"


class Book:
    """Read on from where it was read last. count: finished trials that count · done: key of a point -> the trial that
    tried it · taken: key -> number of the trial that a worker is at · running: all trials that somebody is at ·
    waiting: keys of points that wait for a worker · queued: those, and the ones that have just got one ·
    lost: trials that are to be made up for · deaths: key -> workers that died at the point · fallen: the baseline,
    failed."""

    def __init__(self) -> None:
        self.count = self.lost = 0
        self.done: dict[str, FrozenTrial] = {}
        self.taken: dict[str, int] = {}
        self.running: list[FrozenTrial] = []
        self.waiting: set[str] = set()
        self.queued: set[str] = set()
        self.deaths: Counter[str] = Counter()
        self.fallen: FrozenTrial | None = None
        self._read, self._open = 0, set[int]()
        self._fixed: dict[int, str] = {}

    def read(self, trials: Sequence[FrozenTrial], baseline: str) -> None:
        """trials: all of the study's, by number · baseline: its key. A baseline that failed may be tried again."""
        fresh = [trials[number] for number in (*sorted(self._open), *range(self._read, len(trials)))]
        ended = [trial for trial in fresh if trial.state.is_finished()]
        going = [trial for trial in fresh if not trial.state.is_finished()]
        self._read, self._open = len(trials), {trial.number for trial in going}
        self.running = [trial for trial in going if trial.state == TrialState.RUNNING]
        self.taken = {key(trial.params): trial.number for trial in self.running if PROCESS in trial.user_attrs}
        fixed = [trial for trial in going if "fixed_params" in trial.system_attrs]
        for trial in fixed:
            if trial.number not in self._fixed:  # a grid waits for long, and is read again for every trial
                self._fixed[trial.number] = key(trial.system_attrs["fixed_params"])
        self.queued = {self._fixed[trial.number] for trial in fixed}
        self.waiting = {self._fixed[trial.number] for trial in fixed if trial.state == TrialState.WAITING}
        for trial in ended:
            if not counts(trial):
                self.lost += REPEATS not in trial.user_attrs
                self.deaths[key(trial.params)] += trial.user_attrs.get(REASON) == DIED
                continue
            self.count += 1
            if trial.state == TrialState.FAIL and key(trial.params) == baseline:
                self.fallen = trial
            else:
                self.done[key(trial.params)] = trial

    def holder(self, point: str) -> int | None:
        """The number of the trial that has tried a point or is at it, by the point's key."""
        return self.done[point].number if point in self.done else self.taken.get(point)

    def values(self, point: str) -> list[float] | None:
        """What a point scored; None where it failed, was given up or is not done."""
        trial = self.done.get(point)
        return list(trial.values) if trial and trial.state == TrialState.COMPLETE else None


def point(trial: FrozenTrial) -> Point:
    """The point of a trial, without the digits that a storage adds to a decimal step."""
    return {name: round(value, 12) if isinstance(value, float) else value for name, value in trial.params.items()}


def key(point: Mapping[str, Any]) -> str:
    """One text for one point, whatever its storage did to the digits of a number."""
    plain = {
        k: round(float(v), 12) if isinstance(v, int | float) and not isinstance(v, bool) else v
        for k, v in point.items()
    }
    return text.digest(plain)


def counts(trial: FrozenTrial) -> bool:
    """Whether a finished trial used up one of the study's."""
    reason = str(trial.user_attrs.get(REASON, ""))
    return REPEATS not in trial.user_attrs and reason != SURPLUS and not reason.endswith(DIED)
