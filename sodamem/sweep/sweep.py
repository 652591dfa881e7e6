"""A study from its YAML to a winner: searched on the dev split, exported as an experiment, measured once on test.

Tuning never sees the test split; its figure is computed for the winner alone, by an ordinary run.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock
from omegaconf import OmegaConf
from optuna.trial import FrozenTrial

from sodamem import build, config, studies
from sodamem.errors import ConfigError, DataError
from sodamem.metric.statistics import Estimate, cluster_bootstrap
from sodamem.replay.recorded import Recordings, Setting
from sodamem.resume import PATIENCE
from sodamem.run import run as run_experiment
from sodamem.sources import DATA, EXTRACT, FUSION, JUDGE, MEASURE, PLAN, READ, RECALL, source
from sodamem.sweep import tracking as sweep_tracking
from sodamem.sweep.export import experiment
from sodamem.sweep.objective import Live, Replayed, recall_only, replayable
from sodamem.sweep.space import Ground
from sodamem.sweep.study import IDENTITY, Search, Study, named, point, quiet, refuse_other, storage
from sodamem.tracking import TrackedRun

DRAWS, SEED = 10_000, 20  # of the interval on test
_RECALL = ("dataset", *build.INGEST, "encoder", "tunnel", "fusion", "recall")
_ANSWER = ("planner", "reader", "judge")
_RECALL_CODE = (*DATA, *EXTRACT, *RECALL, *FUSION, *MEASURE, "replay")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked for. changes: of the study's own fields · where: a journal file or a database's URL, None for the
    study's folder · new: begin anew beside a study of the same name · test: measure the winner on the test split."""

    name: str
    overrides: tuple[str, ...] = ()
    changes: Mapping[str, Any]
    where: str | None = None
    new: bool = False
    test: bool = True
    step: Callable[[FrozenTrial], None] = lambda _: None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A finished search. winner: None when this worker left the end to others · spent: seconds, by what for · file:
    the winner as an experiment · test: its first measure on the test split, None where there is none."""

    folder: Path
    search: Search
    replayed: bool
    baseline: FrozenTrial
    winner: FrozenTrial
    file: Path
    test: Estimate | None
    spent: Mapping[str, float]


def sweep(request: Request) -> Outcome:
    """Search, or go on searching, until the study has its trials in total. Nothing is spent before all is checked."""
    started = time.perf_counter()
    name, content = studies.find(request.name, "study", "study")
    study = Study.read(name, {**content, **request.changes})
    overrides = (*study.overrides, *request.overrides)
    _refuse_test(overrides, [knob.name for knob in study.space])
    ground = Ground(overrides, study.space)
    if (split := ground.plain["dataset"].get("split")) != "dev":
        raise ConfigError(f"dataset.split must be dev in a study, got {split}. The winner alone is measured on test")
    first = ground.baseline()
    settings = [Setting.of(ground.at(point)) for point in ground.corners()]
    replay = replayable(study.space, list(study.measures), study.replay)
    trusted = ground.plain["trusted_targets"]
    tracker = build.build(ground.plain["tracker"], "tracker", trusted)
    corpus = build.build(ground.plain["dataset"], "dataset", trusted).open()
    identity = study.identity(corpus.sha256, _lasting(ground.plain, study))
    identity["code"] = source(*(_RECALL_CODE if recall_only(study.measures) else (*_RECALL_CODE, *PLAN, *READ, *JUDGE)))
    runs, measures = Path(ground.plain["runs"]), list(study.measures)
    folder = _folder(runs / "studies", study, identity, request.new)
    evaluate = Replayed(ground, Recordings(runs, settings), measures) if replay else Live(ground, measures, study.block)
    with quiet(), _tracking(tracker, folder, identity, name) as (run, clock):
        where, backend = storage(request.where, folder)
        search = Search.open(study, named(study, identity), identity, where, backend)
        _refuse_namesake(search, identity)
        if isinstance(evaluate, Replayed):
            with _counted(search.spent, "recording"):
                evaluate.recordings.replay(settings[0])
        search.run(evaluate, first, request.step)
        if not search.complete():
            reasons = sorted({str(trial.user_attrs.get("reason")) for trial in search.trials()})
            raise ConfigError(f"study {name} must have a trial with a score, all failed: {'; '.join(reasons[:3])}")
        baseline = search.complete()[0]
        winner = _winner(search, baseline)
        file = folder / "experiment" / f"{study.name}_winner.yaml"
        file.parent.mkdir(exist_ok=True)
        origin = {**_origin(search, winner, baseline), "study": folder.name, "data sha256": corpus.sha256}
        file.write_text(experiment(file.stem, ground, overrides, point(winner), origin), encoding="utf-8")
        (folder / "trials.csv").write_text(sweep_tracking.table(search), encoding="utf-8")
        with _counted(search.spent, "figures"):
            drawn = sweep_tracking.draw(search, folder)
        search.spent["other"] = time.perf_counter() - started - sum(search.spent.values()) - clock["tracking"]
        with _counted(clock, "tracking"), FileLock(str(folder / "tracked.lock")):
            sweep_tracking.track(run, tracker, search, folder, [file, folder / "trials.csv", *drawn])
        test = _tested(ground, study, winner, folder, run) if request.test else None
    return Outcome(
        folder=folder,
        search=search,
        replayed=replay,
        baseline=baseline,
        winner=winner,
        file=file,
        test=test,
        spent={**search.spent, **clock},
    )


# --- what is refused ----------------------------------------------------------------------------------------


def _refuse_test(overrides: Sequence[str], knobs: Sequence[str]) -> None:
    """A study sees the dev split. Raises ConfigError in one line before anything is read."""
    for override in overrides:
        key, _, value = override.lstrip("+").partition("=")
        if key == "dataset.split" and value != "dev":
            raise ConfigError(
                f"dataset.split must be dev in a study, got {value}. The winner alone is measured on test"
            )
    for knob in knobs:
        if knob.partition(".")[0] in ("dataset", "judge"):
            raise ConfigError(f"space.{knob} must be a part of the system, not what it is measured on")


def _lasting(cfg: Mapping[str, Any], study: Study) -> dict[str, Any]:
    """The part of the baseline that decides scores, flat, without where things lie on this machine."""
    asking = any(
        build.asks_a_model(cfg[part]) for part in (*build.INGEST, *(() if recall_only(study.measures) else _ANSWER))
    )
    kept = (*_RECALL, *(() if recall_only(study.measures) else _ANSWER), *((build.CHAT,) if asking else ()))
    parts = {part: cfg[part] for part in kept}
    passing = {*PATIENCE, "path"}
    return {key: value for key, value in config.flat(parts).items() if key.rpartition(".")[2] not in passing}


def _folder(parent: Path, study: Study, identity: Mapping[str, str], new: bool) -> Path:
    """The study's folder. One that was begun under this name with another space or data is refused, with the diff."""
    parent.mkdir(parents=True, exist_ok=True)
    folder = parent / named(study, identity)
    with FileLock(str(parent / f".{study.name}.lock")):
        if not folder.exists():
            begun = parent.glob(f"{study.name}-*/identity.json")
            others = [path for path in begun if path.parent.name.rpartition("-")[0] == study.name]
            if others and not new:
                latest = max(others, key=lambda path: path.stat().st_mtime_ns)
                refuse_other(latest.parent.name, identity, json.loads(latest.read_text(encoding="utf-8")))
            folder.mkdir()
            content = json.dumps(dict(identity), indent=1, sort_keys=True) + "\n"
            (folder / "identity.json").write_text(content, encoding="utf-8")
    return folder


def _refuse_namesake(search: Search, identity: Mapping[str, str]) -> None:
    theirs = search.held.user_attrs[IDENTITY]
    if dict(theirs) != dict(identity):
        refuse_other(search.held.study_name, identity, theirs)


# --- the winner ---------------------------------------------------------------------------------------------


def _winner(search: Search, baseline: FrozenTrial) -> FrozenTrial:
    """The best trial; of a Pareto front the best by the first measure that gives up nothing against the baseline."""
    signs = [1 if direction == "maximize" else -1 for direction in search.study.measures.values()]

    def gives_up_nothing(trial: FrozenTrial) -> bool:
        pairs = zip(signs, trial.values, baseline.values, strict=True)
        return all(sign * value >= sign * base for sign, value, base in pairs)

    return next((trial for trial in search.best() if gives_up_nothing(trial)), baseline)


def _origin(search: Search, winner: FrozenTrial, baseline: FrozenTrial) -> dict[str, object]:
    """Where a winner comes from, as the comments of its file; the same study gives the same text."""
    study = search.study

    def figures(trial: FrozenTrial) -> str:
        return ", ".join(f"{name} {value:.4f}" for name, value in zip(study.measures, trial.values, strict=True))

    return {
        "from": f"trial {winner.number} of {len(search.trials())} ({study.sampler}, seed {study.seed})",
        "dev": f"{figures(winner)}; baseline {figures(baseline)}",
    }


def _tested(ground: Ground, study: Study, winner: FrozenTrial, folder: Path, run: Any) -> Estimate | None:
    """The winner's first measure on the test split: run once, kept with the study, read back from then on."""
    path = folder / "test.json"
    measure = next(iter(study.measures))
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if str(winner.number) not in known:
        cfg = ground.at(point(winner))
        cfg = {**cfg, "dataset": {**cfg["dataset"], "split": "test"}, "name": f"{study.name}_winner_test"}
        try:
            outcome = run_experiment(OmegaConf.create(cfg), quiet=True)
        except DataError as error:  # data without a test split, such as a few histories of a benchmark
            _log.warning("no figure on the test split: %s", error)
            return None
        rows = [json.loads(line) for line in (outcome.folder / "questions.jsonl").read_text("utf-8").splitlines()]
        scored = [(row["measures"][measure], row["history_id"]) for row in rows if measure in row["measures"]]
        if not scored:
            return None
        spread = cluster_bootstrap([v for v, _ in scored], [h for _, h in scored], draws=DRAWS, seed=SEED)
        known[str(winner.number)] = {"measure": measure, "run": str(outcome.folder), "estimate": asdict(spread)}
        path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    estimate = Estimate(**known[str(winner.number)]["estimate"])
    run.metrics({f"test/{measure}": estimate.mean})
    return estimate


# --- tracking -----------------------------------------------------------------------------------------------


@contextmanager
def _tracking(
    tracker: Any, folder: Path, identity: Mapping[str, str], name: str
) -> Iterator[tuple[TrackedRun, dict[str, float]]]:
    """The study's run, begun or gone on with by whichever worker comes, and the clock of what tracking costs."""
    clock = {"tracking": 0.0}
    with ExitStack() as stack:
        with _counted(clock, "tracking"), FileLock(str(folder / "tracked.lock")):
            state = sweep_tracking.tracked(folder)
            tags = {"folder": str(folder), "study": name}
            run = stack.enter_context(tracker.run(folder.name, dict(identity), tags=tags, resume=state["run"]))
            sweep_tracking.remember(folder, {**state, "run": run.id or None})
        yield run, clock


@contextmanager
def _counted(spent: dict[str, float], what: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        spent[what] = spent.get(what, 0.0) + time.perf_counter() - started
