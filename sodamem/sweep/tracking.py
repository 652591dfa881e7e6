"""What a study leaves in the tracking store: a run with a point a trial, tables and figures, and the best as children.

A run costs some 30 ms, a metric point in a batch a hundredth of that: only the best trials get a run of their own.
"""

from __future__ import annotations

import csv
import io
import json
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import TrialState

from sodamem import figures
from sodamem.errors import MissingExtra
from sodamem.records import report_name, tracked_name
from sodamem.sweep.batches import PARENT
from sodamem.sweep.book import REASON, counts, point
from sodamem.sweep.search import Search
from sodamem.tracking import MlflowRun, TrackedRun

CHILDREN = 10
BATCH = 1000  # points that MLflow takes in one call
STATE = "tracked.json"  # what of a study has been tracked: a resumed one adds to it


def table(search: Search) -> str:
    """Every trial as CSV: number, state, measures, knobs, and why it failed."""
    names, measures = [knob.name for knob in search.study.space], list(search.study.measures)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["number", "state", *map(report_name, measures), *names, "reason"])
    for trial in search.trials():
        scored = trial.state == TrialState.COMPLETE  # of one that was given up Optuna keeps its last look
        values = list(trial.values) if scored else [""] * len(measures)
        chosen = point(trial)
        knobs = ["" if chosen.get(name) is None else chosen[name] for name in names]
        writer.writerow([trial.number, trial.state.name, *values, *knobs, trial.user_attrs.get(REASON, "")])
    return stream.getvalue()


def tracked(folder: Path) -> dict[str, Any]:
    """The run that tracks a study, the last trial in it, earlier ones that others were still at, and those with a run
    of their own."""
    path = folder / STATE
    found: dict[str, Any] = {"run": None, "last": -1, "open": [], "children": []}
    return {**found, **json.loads(path.read_text(encoding="utf-8"))} if path.exists() else found


def remember(folder: Path, state: Mapping[str, Any]) -> None:
    (folder / STATE).write_text(json.dumps(dict(state)) + "\n", encoding="utf-8")


def track(run: TrackedRun, tracker: Any, search: Search, folder: Path, files: Sequence[Path]) -> None:
    """Record what the study has done since it was last tracked."""
    state = tracked(folder)
    every = search.held.get_trials(deepcopy=False)  # read once: other workers may go on with the study
    fresh = [
        trial
        for trial in every
        if (trial.number > state["last"] or trial.number in state["open"])
        and trial.state == TrialState.COMPLETE
        and counts(trial)
    ]
    last = max([state["last"], *(trial.number for trial in fresh)])
    if isinstance(run, MlflowRun):
        run.known |= run.client.get_run(run.id).data.metrics  # what another worker has written since we began
        _points(run, {trial.number: _measures(search, trial) for trial in fresh})
    best = search.best()[:CHILDREN]
    for place, trial in enumerate(best):
        its_own = trial.user_attrs.get(PARENT) == run.id  # as a launched trial has
        if trial.number not in state["children"] and run.id and not its_own:
            tags = {"trial": trial.number, "place": place + 1}
            with tracker.run(f"trial {trial.number}", point(trial), tags=tags, parent=run.id) as child:
                child.metrics({report_name(name): value for name, value in _measures(search, trial).items()})
            state["children"].append(trial.number)
    if best:
        run.metrics({f"best/{report_name(name)}": value for name, value in _measures(search, best[0]).items()})
    for path in files:
        run.artifact(path)
    going = [trial.number for trial in every if not trial.state.is_finished() and trial.number <= last]
    state |= {"run": run.id or None, "last": last, "open": going}
    remember(folder, state)


def _measures(search: Search, trial: optuna.trial.FrozenTrial) -> dict[str, float]:
    return dict(zip(search.study.measures, trial.values, strict=True))


def _points(run: MlflowRun, rows: Mapping[int, Mapping[str, float]]) -> None:
    """One metric point for each trial and measure, the trial's number as its step, in as few calls as possible."""
    from mlflow.entities import Metric

    now = time.time_ns() // 10**6
    points = iter(
        Metric(tracked_name(report_name(name)), value, now, step)
        for step, values in rows.items()
        for name, value in values.items()
        if math.isfinite(value)
    )
    while batch := list(islice(points, BATCH)):
        run.client.log_batch(run.id, metrics=batch)


def draw(search: Search, folder: Path) -> list[Path]:
    """The study's figures as files in `folder`; none where matplotlib is missing, they are an extra."""
    paths = []
    for name, figure in _figures(search).items():
        paths.append(folder / f"{name}.svg")
        figure.savefig(paths[-1], metadata={"Date": None})
    return paths


def _figures(search: Search) -> dict[str, Any]:
    trials, measures = search.complete(), list(search.study.measures)
    if len(trials) < 2:
        return {}
    values = [trial.values for trial in trials]
    first, label = [value[0] for value in values], report_name(measures[0])
    try:
        found = {
            "history": figures.history(first, label, search.study.measures[measures[0]] == "maximize"),
            "slices": figures.slices([trial.params for trial in trials], first, label),
        }
        if shares := importances(search):
            found["importances"] = figures.importances(shares)
        if len(measures) > 1:
            front = [trial.values for trial in search.best()]
            found["pareto"] = figures.pareto(values, front, [report_name(name) for name in measures])
    except MissingExtra:
        return {}
    return found


def importances(search: Search) -> dict[str, float]:
    """Share of each knob in what tells the better trials from the others (PED-ANOVA); empty with too few trials."""
    if len(search.complete()) < 20 or len(search.study.space) < 2:
        return {}
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    sign = (
        -1.0 if next(iter(search.study.measures.values())) == "maximize" else 1.0
    )  # it explains what makes values low
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # which says so
        return _shares(search, evaluator, lambda trial: sign * float(trial.values[0]))


def _shares(search: Search, evaluator: Any, target: Callable[[optuna.trial.FrozenTrial], float]) -> dict[str, float]:
    try:
        return dict(optuna.importance.get_param_importances(search.held, evaluator=evaluator, target=target))
    except (ValueError, RuntimeError):  # no knob that all trials share: there is nothing to compare
        return {}
