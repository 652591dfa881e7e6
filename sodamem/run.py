"""One experiment from a configuration to a folder of results and a tracked run."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from omegaconf import DictConfig
from tqdm import tqdm

from sodamem import build, config, report
from sodamem.errors import ConfigError, SodamemError, StoreError
from sodamem.evaluate import Report, Result, evaluate
from sodamem.pipeline import Memory, Pipeline
from sodamem.protocols import Corpus, Judge
from sodamem.records import report_name

_SHOW = 2  # worked questions
_PARTIAL = "questions.jsonl.partial"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A finished run: its folder, its numbers, and a few results for showing."""

    folder: Path
    report: Report
    examples: tuple[Result, ...]
    judge: str


def run(cfg: DictConfig, *, quiet: bool = False) -> Outcome:
    """Run one configuration. Nothing is created before everything that can be refused has been checked.

    The folder holds questions.jsonl, metrics.json, data.json and config.yaml; results appear under a `.partial` name
    until the run is complete.
    """
    parts = _Parts(
        pipeline=build.pipeline(cfg),
        judge=build.component(cfg, "judge"),
        tracker=build.component(cfg, "tracker"),
        corpus=build.component(cfg, "dataset").open(),
        awards_top=_awards_top(cfg),
    )
    folder = fresh(Path(cfg.runs), str(cfg.name))
    if not quiet:
        print(f"runs in {cfg.runs}", file=sys.stderr)
    try:
        return _record(cfg, parts, folder, quiet)
    except SodamemError:
        partial = folder / _PARTIAL
        if not partial.exists() or not partial.stat().st_size:  # refused before the first result: nothing is left
            shutil.rmtree(folder)
        raise


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What one configuration describes, built and checked."""

    pipeline: Pipeline
    judge: Judge
    tracker: Any
    corpus: Corpus
    awards_top: int


def _record(cfg: DictConfig, parts: _Parts, folder: Path, quiet: bool) -> Outcome:
    corpus, params = parts.corpus, config.flat(config.plain(cfg))
    (folder / "config.yaml").write_text(config.unresolved(cfg), encoding="utf-8")
    started = time.perf_counter()
    with parts.tracker.run(name=folder.name, params=params, tags={"folder": str(folder)}) as tracked:
        tracked.dataset(corpus.name, corpus.sha256, str(config.plain(cfg.dataset).get("path") or corpus.name))
        with _results(folder, parts.awards_top) as (sink, examples), _bars(corpus, quiet) as (opened, step):

            def each(result: Result) -> None:
                sink(result)
                step(result)

            found = evaluate(parts.pipeline, corpus, parts.judge, each, opened)
        _write(folder / "data.json", data(corpus, found))
        metrics = {**found.metrics, "seconds/total": time.perf_counter() - started}
        _write(folder / "metrics.json", metrics)
        tracked.metrics({report_name(name): value for name, value in metrics.items()})  # recall@10, as reports say it
        for name in ("config.yaml", "questions.jsonl", "data.json", "metrics.json"):
            tracked.artifact(folder / name)
    return Outcome(folder=folder, report=found, examples=tuple(examples), judge=parts.judge.name)


def _awards_top(cfg: DictConfig) -> int:
    top = cfg.output.awards_top
    if not isinstance(top, int) or isinstance(top, bool) or top < 0:
        raise ConfigError(f"output.awards_top must be a whole number >= 0, got {top!r}")
    return top


def data(corpus: Corpus, found: Report) -> dict[str, Any]:
    """What the figures are about: the data's hash, n, and every question or id left out, by reason."""
    return {
        "name": corpus.name,
        "sha256": corpus.sha256,
        "histories": len(corpus.history_ids),
        "questions": int(found.metrics["questions"]),
        "n": int(found.metrics["n"]),
        "excluded": {reason: list(ids) for reason, ids in sorted(found.excluded.items())},
        "notes": {reason: list(ids) for reason, ids in sorted(corpus.notes.items())},
        "stores": dict(sorted(found.stores.items())),
    }


def fresh(runs: Path, name: str) -> Path:
    """A new folder for one run; two that start together never share it."""
    if not name or set(name) & set("/\\\0"):
        raise ConfigError(f"name must be part of a folder's name, got {name!r}. Leave out / and \\")
    stamp = datetime.now().strftime("%Y-%m-%d_%H-%M-%S")  # for people; nothing reads it back
    try:
        runs.mkdir(parents=True, exist_ok=True)
        for attempt in range(1000):
            folder = runs / (f"{stamp}_{name}" + (f"-{attempt}" if attempt else ""))
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                return folder
    except OSError as refused:
        raise StoreError(
            f"runs must be a directory that can be written, got {runs}: {refused.strerror}. Set runs=… or SODAMEM_RUNS"
        ) from refused
    raise StoreError(f"runs must have room for another folder of {stamp}, got 1000 already in {runs}")


@contextlib.contextmanager
def _results(folder: Path, awards_top: int) -> Iterator[tuple[Any, list[Result]]]:
    """A sink for results; the file gets its name only when all of them are in it."""
    examples: list[Result] = []
    partial = folder / _PARTIAL
    with partial.open("w", encoding="utf-8", newline="\n") as stream:

        def sink(result: Result) -> None:
            stream.write(report.line(report.row(result, awards_top)) + "\n")
            stream.flush()
            if len(examples) < _SHOW and _telling(result, examples):
                examples.append(result)

        yield sink, examples
        os.fsync(stream.fileno())
    partial.rename(folder / "questions.jsonl")


def _telling(result: Result, examples: list[Result]) -> bool:
    """Worth showing: answered with a citation, of a category not shown yet."""
    fresh_category = all(result.question.category != shown.question.category for shown in examples)
    return bool(result.answer.citations) and result.question.answerable and fresh_category


@contextlib.contextmanager
def _bars(corpus: Corpus, quiet: bool) -> Iterator[tuple[Any, Any]]:
    total = sum(len(corpus.questions(history)) for history in corpus.history_ids)
    with tqdm(total=total, unit="question", delay=2, disable=quiet, file=sys.stderr, dynamic_ncols=True) as bar:

        def opened(memory: Memory) -> None:
            bar.set_postfix_str(memory.history.id)

        yield opened, lambda _: bar.update()


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def describe(outcome: Outcome, tracked: str) -> str:
    """What a run prints: the table, the cost, two worked questions, and where everything is."""
    metrics = outcome.report.metrics
    tokens = {
        phase: metrics.get(f"tokens/{phase}/prompt", 0) + metrics.get(f"tokens/{phase}/completion", 0)
        for phase in ("extract", "plan", "read", "judge")
    }
    excluded = {
        name.removeprefix("excluded/"): int(value) for name, value in metrics.items() if name.startswith("excluded/")
    }
    lines = [report.table(metrics, outcome.judge), ""]
    lines.append(
        "model tokens: "
        + ", ".join(f"{phase} {count:,.0f}" for phase, count in tokens.items())
        + f"; evidence handed to the reader: {metrics.get('evidence_tokens/mean', 0):,.0f} words a question (estimate)"
    )
    lines.append(
        f"questions {metrics['questions']:.0f}, retrieval scored on {metrics['n']:.0f}"
        + ("; excluded: " + ", ".join(f"{reason} {count}" for reason, count in excluded.items()) if excluded else "")
    )
    for result in outcome.examples:
        lines += ["", report.worked(result)]
    lines += ["", f"tracked: {tracked}", f"run: {outcome.folder}"]
    return "\n".join(lines)
