"""A study from its YAML to a winner: searched on the dev split, exported as an experiment, measured once on test.

Points are scored one by one in this process, or in batches by a launcher of Hydra's; all else is the same.
Tuning never sees the test split; its figure is computed for the winner alone, by an ordinary run.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock
from omegaconf import OmegaConf
from optuna.exceptions import StorageInternalError
from optuna.trial import FrozenTrial

from sodamem import build, config, studies
from sodamem.errors import ConfigError, DataError, SodamemError
from sodamem.metric.statistics import Estimate, cluster_bootstrap
from sodamem.protocols import Corpus
from sodamem.records import report_name
from sodamem.replay.recorded import Recordings, Setting
from sodamem.resume import PATIENCE
from sodamem.run import run as run_experiment
from sodamem.sources import DATA, EXTRACT, FUSION, JUDGE, MEASURE, PLAN, READ, RECALL, source
from sodamem.sweep import launched
from sodamem.sweep import tracking as sweep_tracking
from sodamem.sweep.batches import BatchSearch
from sodamem.sweep.book import point
from sodamem.sweep.export import experiment
from sodamem.sweep.launchers import Launch
from sodamem.sweep.objective import Live, Replayed, recall_only, replayable
from sodamem.sweep.search import IDENTITY, Search, refuse_namesakes
from sodamem.sweep.space import Ground
from sodamem.sweep.storage import Shared, quiet, storage
from sodamem.sweep.study import Study, named, refuse_other
from sodamem.sweep.trial import Trial, TrialFiles
from sodamem.tracking import TrackedRun

ACCURACY = "accuracy/strict"
DRAWS, SEED = 10_000, 20  # of the interval on test
_RECALL = ("dataset", *build.INGEST, "encoder", "tunnel", "fusion", "recall")
_ANSWER = ("planner", "reader", "judge")
_RECALL_CODE = (*DATA, *EXTRACT, *RECALL, *FUSION, *MEASURE, "replay")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked for. changes: of the study's own fields · where: a journal file or a database's URL, None for the
    study's folder · new: begin anew beside a study of the same name · test: measure the winner on the test split ·
    launch: make each trial a run of its own through a launcher, None to score points in this process."""

    name: str
    overrides: tuple[str, ...] = ()
    changes: Mapping[str, Any]
    where: str | None = None
    new: bool = False
    test: bool = True
    launch: Launch | None = None
    step: Callable[[FrozenTrial], None] = lambda _: None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A finished search. how: launched, replayed or live · spent: seconds, by what for · file: the winner as an
    experiment · test: its first measure on the test split, None where there is none."""

    folder: Path
    search: Search
    how: str
    baseline: FrozenTrial
    winner: FrozenTrial
    file: Path
    test: Estimate | None
    spent: Mapping[str, float]

    @property
    def replayed(self) -> bool:
        return self.how == "replayed"


class Unfinished(SodamemError):  # noqa: N818 - nothing is wrong
    """This worker is done, others are still at the last trials: no fault of anybody's."""


def sweep(request: Request) -> Outcome:
    """Search, or go on searching, until the study has its trials in total. Nothing is spent before all is checked.

    Raises Unfinished when the last trials are other workers' and take long.
    """
    started = time.perf_counter()
    plan = _plan(request)
    study, folder = plan.study, plan.folder
    with quiet(), _tracking(plan.tracker, folder, plan.identity, study.name) as (run, clock):
        opened = (study, named(study, plan.identity), plan.identity, *(plan.kept or storage(None, folder)))
        search, work = _launching(plan, request, opened, run.id) if request.launch else _scoring(plan, request, opened)
        _refuse_namesake(search, plan.identity)
        try:
            work()
        finally:  # what was found is kept, however the search ends
            with suppress(StorageInternalError):  # that is how it ended
                _put(folder / "trials.csv", sweep_tracking.table(search))
        if not search.elsewhere:
            search.spent["other"] = time.perf_counter() - started - sum(search.spent.values()) - clock["tracking"]
            with FileLock(str(folder / "ended.lock")):  # of several workers one runs on test, the others read it
                baseline, winner, file, test = _ended(plan, search, run, clock, request.test)
    if search.elsewhere:
        raise Unfinished(
            f"study {study.name} has its trials, {search.elsewhere} of them still with other workers. The last one "
            "exports the winner and reports it; the same command shows it then"
        )
    return Outcome(
        folder=folder,
        search=search,
        how="launched" if request.launch else "replayed" if plan.replay else "live",
        baseline=baseline,
        winner=winner,
        file=file,
        test=test,
        spent={**search.spent, **clock},
    )


def _ended(
    plan: _Plan, search: Search, run: TrackedRun, clock: dict[str, float], test: bool
) -> tuple[FrozenTrial, FrozenTrial, Path, Estimate | None]:
    """Baseline, winner, its experiment and its figure on test, all written down and tracked."""
    study, folder = plan.study, plan.folder
    if (baseline := search.baseline()) is None:
        reasons = sorted({str(trial.user_attrs.get("reason")) for trial in search.trials()})
        raise ConfigError(f"study {study.name} must have a baseline with a score, got: {'; '.join(reasons[:3])}")
    winner = _winner(search, baseline)
    file = folder / "experiment" / f"{study.name}_winner.yaml"
    file.parent.mkdir(exist_ok=True)
    origin = {**_origin(search, winner, baseline), "study": folder.name, "data sha256": plan.corpus.sha256}
    _put(file, experiment(file.stem, plan.ground, plan.overrides, point(winner), origin))
    with _counted(search.spent, "figures"):
        drawn = sweep_tracking.draw(search, folder)
    with _counted(clock, "tracking"), FileLock(str(folder / "tracked.lock")):
        sweep_tracking.track(run, plan.tracker, search, folder, [file, folder / "trials.csv", *drawn])
    return baseline, winner, file, _tested(plan.ground, study, winner, folder, run) if test else None


def _put(path: Path, content: str) -> None:
    """Write a file that other workers may read or write at the same moment."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(content, encoding="utf-8")
    partial.replace(path)


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """A request, read and checked. settings: at the corners of the space · code: the files that decide scores."""

    study: Study
    overrides: tuple[str, ...]
    ground: Ground
    settings: Sequence[Setting]
    replay: bool
    tracker: Any
    corpus: Corpus
    code: tuple[str, ...]
    identity: Mapping[str, str]
    kept: tuple[Any, Shared] | None
    folder: Path


def _plan(request: Request) -> _Plan:
    name, content = studies.find(request.name, "study", "study")
    study = Study.read(name, {**content, **request.changes})
    overrides = (*study.overrides, *request.overrides)
    _refuse_test(overrides, [knob.name for knob in study.space])
    ground = Ground(overrides, study.space)
    if (split := ground.plain["dataset"].get("split")) != "dev":
        raise ConfigError(f"dataset.split must be dev in a study, got {split}. The winner alone is measured on test")
    settings = [Setting.of(ground.at(point)) for point in ground.corners()]
    if request.launch:
        launched.refuse(study, ground.plain)
    replay = not request.launch and replayable(study.space, list(study.measures), study.replay)
    trusted = ground.plain["trusted_targets"]
    tracker = build.build(ground.plain["tracker"], "tracker", trusted)
    corpus = build.build(ground.plain["dataset"], "dataset", trusted).open()
    code = _RECALL_CODE if recall_only(study.measures) else (*_RECALL_CODE, *PLAN, *READ, *JUDGE)
    identity = {**study.identity(corpus.sha256, _lasting(ground.plain, study)), "code": source(*code)}
    kept = None
    if request.where:  # asked first: a study that is refused leaves no folder
        kept = storage(request.where, Path())
        refuse_namesakes(*kept, named(study, identity), identity, request.new)
    return _Plan(
        study=study,
        overrides=overrides,
        ground=ground,
        settings=settings,
        replay=replay,
        tracker=tracker,
        corpus=corpus,
        code=code,
        identity=identity,
        kept=kept,
        folder=_folder(Path(ground.plain["runs"]) / "studies", study, identity, request.new),
    )


def _scoring(plan: _Plan, request: Request, opened: tuple[Any, ...]) -> tuple[Search, Callable[[], None]]:
    """The search and how it is done in this process, point by point."""
    search = Search.open(*opened, new=request.new)
    measures = list(plan.study.measures)

    def work() -> None:
        evaluate: Replayed | Live = Live(plan.ground, measures, plan.study.block)
        if plan.replay:
            evaluate = Replayed(plan.ground, Recordings(Path(plan.ground.plain["runs"]), plan.settings), measures)
            with _counted(search.spent, "recording"):
                evaluate.recordings.replay(plan.settings[0])
        search.run(evaluate, plan.ground.baseline(), request.step)

    return search, work


def _launching(
    plan: _Plan, request: Request, opened: tuple[Any, ...], parent: str
) -> tuple[Search, Callable[[], None]]:
    """The search and how it is done by a launcher, batch by batch."""
    assert request.launch is not None
    files = TrialFiles(folder=plan.folder / "trials")
    search = BatchSearch.open(*opened, new=request.new, files=files, parent=parent)
    trial = Trial(
        folder=str(files.folder),
        measures=tuple(plan.study.measures),
        data=plan.corpus.sha256,
        code=(plan.code, plan.identity["code"]),
    )
    work = launched.Work(
        search=search,
        ground=plan.ground,
        arguments=plan.overrides,
        trial=trial,
        launch=request.launch,
        step=request.step,
        corpus=plan.corpus,
    )
    return search, work


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
        scored = [(value, row["history_id"]) for row in rows if (value := _of_question(row, measure)) is not None]
        if scored:
            spread = cluster_bootstrap([v for v, _ in scored], [h for _, h in scored], draws=DRAWS, seed=SEED)
        elif (whole := outcome.metrics.get(measure)) is not None:  # of the run alone, such as tokens or dollars
            clusters = len({row["history_id"] for row in rows})
            spread = Estimate(mean=whole, low=None, high=None, n=len(rows), clusters=clusters)
        else:
            return None
        known[str(winner.number)] = {"measure": measure, "run": str(outcome.folder), "estimate": asdict(spread)}
        _put(path, json.dumps(known, indent=1, sort_keys=True) + "\n")
    estimate = Estimate(**known[str(winner.number)]["estimate"])
    run.metrics({f"test/{report_name(measure)}": estimate.mean})
    return estimate


def _of_question(row: Mapping[str, Any], measure: str) -> float | None:
    """A measure of one line of questions.jsonl; None where a question does not define it."""
    if measure == ACCURACY:
        return float(row["verdict"]["label"] == "correct")  # unjudged is not correct
    found: float | None = row["measures"].get(measure)
    return found


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
