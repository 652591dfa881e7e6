"""A study: what is searched, for which measures, in which storage, and the loop that asks Optuna and tells it.

Akiba et al., Optuna, KDD 2019; samplers TPE (Bergstra et al. 2011) and NSGA-II (Deb et al. 2002). A study is resumed
only in the space and on the data it was begun with; it never tries a point twice, and a failed trial has no score.
"""

from __future__ import annotations

import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import optuna
from optuna.storages.journal import JournalFileBackend
from optuna.storages.journal._storage import JournalOperation
from optuna.trial import FrozenTrial, TrialState

from sodamem import text
from sodamem.errors import ConfigError, MissingExtra, ServiceError, SodamemError
from sodamem.mlflow_store import process_tag
from sodamem.records import redacted
from sodamem.sweep.space import Knob, Point, grid, knobs

SAMPLERS = ("tpe", "nsga2", "random", "grid")
PRUNERS = ("none", "median")
Direction = Literal["maximize", "minimize"]
DIRECTIONS: tuple[str, ...] = get_args(Direction)
PROCESS, REASON, REPEATS, IDENTITY = "process", "reason", "repeats", "identity"  # attributes of trials and studies
EXHAUSTED = 100  # proposals in a row that were all tried before: the space has nothing new to offer
_KEYS = {"kind", "measures", "trials", "sampler", "seed", "replay", "pruner", "block", "overrides", "space"}
BLOCK = 50  # questions

Evaluate = Callable[[Point, Callable[[int, float], bool]], Mapping[str, float]]


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study as its YAML gives it. measures: flat metric name -> direction, the first is what the winner is best in ·
    trials: in total, resumed ones included · replay: auto, true or false · block: questions that a live trial answers
    between two looks of the pruner · overrides: the baseline."""

    name: str
    measures: Mapping[str, Direction]
    trials: int
    sampler: str
    seed: int
    replay: str
    pruner: str
    block: int
    overrides: tuple[str, ...]
    space: tuple[Knob, ...]

    def __post_init__(self) -> None:
        for key, value, known in (
            ("sampler", self.sampler, SAMPLERS),
            ("pruner", self.pruner, PRUNERS),
            ("replay", self.replay, ("auto", "true", "false")),
            *(("measures", direction, DIRECTIONS) for direction in self.measures.values()),
        ):
            if value not in known:
                raise ConfigError(f"{key} must be one of {', '.join(known)}, got {value!r}")
        if not self.measures or self.trials < 1:
            raise ConfigError(f"study must have a measure and at least one trial, got {self.trials} trials")
        if self.block < 1:
            raise ConfigError(f"block must be >= 1, got {self.block}. It counts questions")
        if self.pruner != "none" and len(self.measures) > 1:
            raise ConfigError("pruner must be none where there are several measures, Optuna compares one at a time")

    @classmethod
    def read(cls, name: str, given: Mapping[str, Any]) -> Study:
        """From the content of a YAML file, its fields overridden by `given`. Raises ConfigError naming a faulty key."""
        if strange := sorted(set(given) - _KEYS) or sorted(_KEYS - {"pruner", "block", "replay"} - set(given)):
            raise ConfigError(f"study {name} must have the keys {', '.join(sorted(_KEYS))}; {strange[0]} is amiss")
        try:
            return cls(
                name=name,
                measures=dict(given["measures"]),
                trials=int(given["trials"]),
                sampler=str(given["sampler"]),
                seed=int(given["seed"]),
                replay=str(given.get("replay", "auto")).lower(),
                pruner=str(given.get("pruner", "none")),
                block=int(given.get("block", BLOCK)),
                overrides=tuple(given["overrides"]),
                space=knobs(given["space"]),
            )
        except (TypeError, ValueError) as error:
            raise ConfigError(f"study {name} must have values of the right type, got: {error}") from error

    def identity(self, sha256: str, baseline: Mapping[str, Any]) -> dict[str, str]:
        """Everything that a trial's value depends on, flat: a study is resumed only where all of it is the same."""
        found: dict[str, str] = {f"measures.{name}": direction for name, direction in self.measures.items()}
        for knob in self.space:
            described = {k: v for k, v in vars(knob).items() if k not in ("name", "when") and v}
            described |= {"when": {k: list(v) for k, v in knob.when.items()}} if knob.when else {}
            found[f"space.{knob.name}"] = json.dumps(described, sort_keys=True)
        found["data.sha256"] = sha256
        return {**found, **{f"baseline.{key}": json.dumps(value, sort_keys=True) for key, value in baseline.items()}}


def named(study: Study, identity: Mapping[str, str]) -> str:
    """<name>-<hash of space, directions and data>: the study's name in its storage, and that of its folder."""
    return f"{study.name}-{text.digest(dict(identity))[:10]}"


def refuse_other(name: str, mine: Mapping[str, str], theirs: Mapping[str, str]) -> None:
    """Raise ConfigError with the differences between a study as it was begun and as it is asked for now."""
    changed = [
        f"{key} was {theirs.get(key, 'absent')}, is {mine.get(key, 'absent')}"
        for key in sorted(mine.keys() | theirs.keys())
        if mine.get(key) != theirs.get(key)
    ]
    raise ConfigError(
        f"study {name} must keep the space and data it was begun with: {'; '.join(changed[:5])}"
        + (f" (and {len(changed) - 5} more)" if len(changed) > 5 else "")
        + ". Restore them to resume it, or begin another with --new"
    )


# --- storage ------------------------------------------------------------------------------------------------


class _Journal(JournalFileBackend):
    """The journal file, and the seconds it took. A trial's parameters are written together with what follows them: one
    lock and one write to disk instead of one for each."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.seconds = 0.0
        self._held: list[dict[str, Any]] = []

    def read_logs(self, log_number_from: int) -> Any:
        started = time.perf_counter()
        found = list(super().read_logs(log_number_from))
        self.seconds += time.perf_counter() - started
        return found

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        self._held += logs
        if all(log["op_code"] == JournalOperation.SET_TRIAL_PARAM for log in self._held):
            return
        started = time.perf_counter()
        super().append_logs(self._held)
        self._held = []
        self.seconds += time.perf_counter() - started


def storage(where: str | None, folder: Path) -> tuple[Any, _Journal | None]:
    """A journal file, by default the study's own, or a database by its URL; shared by any number of workers."""
    if where and "://" in where:
        try:
            return optuna.storages.RDBStorage(where), None
        except ImportError as error:
            raise MissingExtra(
                f"storage {redacted(where)} needs a driver: {error}. pip install psycopg[binary]"
            ) from error
        except Exception as error:  # whatever a database driver raises
            raise ServiceError(
                f"storage {redacted(where)} must be reachable, got: {str(error).splitlines()[0]}"
            ) from error
    path = Path(where).expanduser().absolute() if where else folder / "journal.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    backend = _Journal(str(path))
    return optuna.storages.JournalStorage(backend), backend


@contextmanager
def quiet() -> Iterator[None]:
    """Without Optuna's line for every trial, and its warnings that what is used here may change."""
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(level)


# --- the loop -----------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Search:
    """A study at work in a storage, by one of possibly many workers. spent: seconds by what they were spent on."""

    study: Study
    held: optuna.Study
    backend: _Journal | None
    spent: dict[str, float] = field(default_factory=lambda: {"sampling": 0.0, "storage": 0.0, "scoring": 0.0})

    @classmethod
    def open(cls, study: Study, name: str, identity: Mapping[str, str], where: Any, backend: _Journal | None) -> Search:
        """Create or resume; trials that dead processes of this machine left running are failed, to be tried again."""
        for attempt in range(3):  # two workers may create the tables or the study at the same moment
            try:
                held = optuna.create_study(
                    storage=where, study_name=name, directions=[*study.measures.values()], load_if_exists=True
                )
                break
            except Exception:  # of the database's own kind
                if attempt == 2:
                    raise
                time.sleep(0.5)
        if IDENTITY not in held.user_attrs:
            held.set_user_attr(IDENTITY, dict(identity))
        search = cls(study=study, held=held, backend=backend)
        for trial in held.get_trials(deepcopy=False, states=[TrialState.RUNNING]):
            if _dead(trial.user_attrs.get(PROCESS, "")):
                held._storage.set_trial_user_attr(trial._trial_id, REASON, "its process died")
                held.tell(trial.number, state=TrialState.FAIL)
        held.sampler = search._sampler(seed=study.seed + len(held.get_trials(deepcopy=False)))
        if study.pruner == "median":
            held.pruner = optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=1)
        return search

    def trials(self) -> list[FrozenTrial]:
        """Trials that were evaluated, or failed in it, by number."""
        done = self.held.get_trials(deepcopy=False, states=[TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL])
        return [trial for trial in done if _counts(trial)]

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

        Raises ConfigError when the baseline itself fails: nothing else would say more.
        """
        points = [first, *(grid(self.study.space) if self.study.sampler == "grid" else [])]
        wanted = min(self.study.trials, len({key(point) for point in points})) if len(points) > 1 else self.study.trials
        self._enqueue(points)
        known = {key(trial.params): trial for trial in self.trials()}
        repeats = 0
        while len(self.trials()) + self._others() < wanted and repeats < EXHAUSTED:
            trial, point = self._ask()
            before = known.get(key(point))
            if before is not None:
                repeats += 1
                trial.set_user_attr(REPEATS, before.number)
                self._tell(trial, before.values if before.state == TrialState.COMPLETE else None)
                continue
            repeats = 0
            trial.set_user_attr(PROCESS, self._me)
            frozen = self._evaluated(trial, point, evaluate)
            known[key(point)] = frozen
            step(frozen)
            if frozen.state == TrialState.FAIL and point == first:
                raise ConfigError(f"the baseline must have a score, it failed: {frozen.user_attrs[REASON]}")

    def _enqueue(self, points: Sequence[Point]) -> None:
        waiting = {key(t.system_attrs.get("fixed_params", t.params)) for t in self.held.get_trials(deepcopy=False)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            for point in points:
                if key(point) not in waiting:
                    waiting.add(key(point))
                    self.held.enqueue_trial(point)

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
            return bool(trial.should_prune())

        reason = ""
        values: list[float] | None = None
        try:
            with self._clock("scoring"):
                found = evaluate(point, pruned)
            values = [float(found[measure]) for measure in self.study.measures]
            odd = [f"{measure} is {value}" for measure, value in found.items() if not math.isfinite(value)]
            reason = "; ".join(odd)
        except optuna.TrialPruned:
            return self._tell(trial, None, TrialState.PRUNED)
        except KeyboardInterrupt:
            trial.set_user_attr(REASON, "interrupted: its process died")
            self._tell(trial, None)
            raise
        except SodamemError as error:
            reason = " ".join(str(error).split())
        except Exception as error:  # a trial must not end the study, whatever a component raises
            reason = f"{type(error).__name__}: {error}"
        if reason:
            trial.set_user_attr(REASON, redacted(reason)[:500])
        return self._tell(trial, None if reason else values)

    def _tell(
        self, trial: optuna.Trial, values: Sequence[float] | None, state: TrialState | None = None
    ) -> FrozenTrial:
        with self._clock("sampling"):
            state = state or (TrialState.FAIL if values is None else TrialState.COMPLETE)
            return self.held.tell(trial, None if values is None else list(values), state=state)

    def _others(self) -> int:
        """Trials that other workers are at."""
        running = self.held.get_trials(deepcopy=False, states=[TrialState.RUNNING])
        return sum(trial.user_attrs.get(PROCESS, self._me) != self._me for trial in running)

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
    def _clock(self, what: str) -> Iterator[None]:
        """Count the seconds of the body, those of the journal apart."""
        started, stored = time.perf_counter(), self._stored
        try:
            yield
        finally:
            in_storage = self._stored - stored
            self.spent["storage"] += in_storage
            self.spent[what] += time.perf_counter() - started - in_storage

    @property
    def _stored(self) -> float:
        return self.backend.seconds if self.backend else 0.0


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


def _counts(trial: FrozenTrial) -> bool:
    """Whether a finished trial used up one of the study's: repeated and interrupted ones did not."""
    return REPEATS not in trial.user_attrs and not str(trial.user_attrs.get(REASON, "")).endswith("its process died")


def _dead(tag: str) -> bool:
    """Whether a process of this machine is gone; nothing is known of other machines'."""
    host, _, rest = tag.partition("/")
    pid = rest.partition("/")[0]
    return bool(tag) and host == process_tag(os.getpid()).partition("/")[0] and process_tag(int(pid)) != tag
