"""One experiment from a configuration to a folder of results and a tracked run."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from omegaconf import DictConfig
from tqdm import tqdm

from sodamem import build, config, report, resume, traces
from sodamem.admission.admit import remark
from sodamem.chat.none import NoChat
from sodamem.chat.selftest import PHASE as PROBE
from sodamem.chat.selftest import self_test
from sodamem.chat.served import ServedChat
from sodamem.errors import ConfigError, SodamemError, StoreError
from sodamem.evaluate import Keep, Ready, Report, Result, anew, evaluate
from sodamem.executor.spread import Spread
from sodamem.forecast import loads
from sodamem.ledger import Ledger, progress
from sodamem.metric.cost import PriceTable, estimate
from sodamem.pipeline import Pipeline
from sodamem.protocols import Chat, Corpus, Judge
from sodamem.records import report_name
from sodamem.types import Usage

_SHOW = 2  # worked questions
_PARTIAL = "questions.jsonl.partial"
_LEDGER = "ledger.sqlite"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A finished run: its folder, its numbers, and a few results for showing."""

    folder: Path
    report: Report
    metrics: Mapping[str, float]
    examples: tuple[Result, ...]
    judge: str
    remark: str  # what is to be said of the judge beside its accuracy; empty for one that was admitted


def run(cfg: DictConfig, *, quiet: bool = False) -> Outcome:
    """Run one configuration. Nothing is created before everything that can be refused has been checked.

    The folder holds questions.jsonl, metrics.json, data.json and config.yaml; results appear under a `.partial` name
    until the run is complete. Where a model takes part, ledger.sqlite holds every attempt and result as it happens, and
    `resume=FOLDER` goes on with a run that was interrupted.
    """
    parts = _Parts(
        chat=build.chat_of(cfg),
        pipeline=build.pipeline(cfg),
        judge=build.component(cfg, "judge"),
        tracker=build.component(cfg, "tracker"),
        prices=build.component(cfg, "prices"),
        spread=build.spread(cfg),
        corpus=build.component(cfg, "dataset").open(),
        awards_top=_awards_top(cfg),
    )
    probed: tuple[Usage, ...] = ()
    if not isinstance(parts.chat, NoChat) and cfg.replies != "replay":
        probed = _before(cfg, parts, quiet)
    folder = begun(Path(cfg.resume), parts.chat) if cfg.resume else fresh(Path(cfg.runs), str(cfg.name))
    if not quiet:
        print(f"runs in {cfg.runs}", file=sys.stderr)
    try:
        return _record(cfg, parts, folder, quiet, probed)
    except SodamemError as error:
        if not cfg.resume:
            partial, ledger = folder / _PARTIAL, folder / _LEDGER
            if ledger.exists() and progress(ledger)["attempts"] > len(probed):
                error.args = (f"{error}. What was paid for is kept: go on with resume={folder}",)
            elif not partial.exists() or not partial.stat().st_size:
                shutil.rmtree(folder)  # refused before anything was paid for or found: nothing is left
        raise
    except KeyboardInterrupt:
        if (folder / _LEDGER).exists():
            print(f"go on with resume={folder}", file=sys.stderr)
        raise


def _before(cfg: DictConfig, parts: _Parts, quiet: bool) -> tuple[Usage, ...]:
    """Probe the model and say what the run will ask for, before more is spent. Returns what the probe took; raises
    ServiceError."""
    probe = self_test(cast(ServedChat, parts.chat))
    if not quiet:
        plain = config.plain(cfg)
        parted = {group: node for group, node in plain.items() if isinstance(node, dict) and "_target_" in node}
        asking = [group for group, node in parted.items() if build.asks_a_model(node)]
        print(probe, estimate(loads(plain, asking, parts.corpus), parts.prices), sep="\n", file=sys.stderr)
    return probe.usage


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What one configuration describes, built and checked."""

    chat: Chat
    pipeline: Pipeline
    judge: Judge
    tracker: Any
    prices: PriceTable
    spread: Spread
    corpus: Corpus
    awards_top: int


def _record(cfg: DictConfig, parts: _Parts, folder: Path, quiet: bool, probed: Sequence[Usage]) -> Outcome:
    corpus, params = parts.corpus, config.flat(resume.parameters(config.plain(cfg)))
    started = time.perf_counter()
    with contextlib.ExitStack() as stack:
        answering = _Answering(pipeline=parts.pipeline, judge=parts.judge)
        keep: Keep = anew
        ledger = None
        if not isinstance(parts.chat, NoChat):
            settings = resume.settings(config.plain(cfg), corpus.sha256)
            ledger = stack.enter_context(Ledger(folder / _LEDGER, settings))
            with ledger.scope(PROBE):
                for usage in probed:
                    ledger.record_attempt(usage)
            answering, keep = _watched(cfg, parts.chat, ledger), resume.once(ledger)
        _whole(folder / "config.yaml", config.unresolved(cfg))
        trial = config.plain(cfg.trial) if cfg.trial else {}
        tags = {"folder": str(folder), **({"trial": trial["number"]} if trial else {})}
        key = {"key": ledger.key} if ledger else {}
        tracked = stack.enter_context(
            parts.tracker.run(name=folder.name, params=params, tags=tags, parent=trial.get("parent"), **key)
        )
        tracked.dataset(corpus.name, corpus.sha256, str(config.plain(cfg.dataset).get("path") or corpus.name))
        with (
            _results(folder, parts.awards_top) as (sink, examples),
            traces.recording(tracked) as trace,
            _bars(corpus, quiet) as (opened, step),
        ):

            def each(result: Result) -> None:
                sink(result)
                trace(result)
                step(result)

            workers = int(config.plain(cfg.chat).get("concurrency", 1)) if ledger else 1
            found = evaluate(
                answering.pipeline,
                corpus,
                answering.judge,
                sink=each,
                note=opened,
                keep=keep,
                workers=workers,
                spread=parts.spread,
            )
        _write(folder / "data.json", data(corpus, found))
        metrics = {**found.metrics, "seconds/total": time.perf_counter() - started}
        metrics |= resume.costs(ledger, parts.prices) if ledger else {}
        _write(folder / "metrics.json", metrics)
        tracked.metrics({report_name(name): value for name, value in metrics.items()})  # recall@10, as reports say it
        for name in ("config.yaml", "questions.jsonl", "data.json", "metrics.json"):
            tracked.artifact(folder / name)
    return Outcome(
        folder=folder,
        report=found,
        metrics=metrics,
        examples=tuple(examples),
        judge=parts.judge.name,
        remark=remark(parts.judge, Path(cfg.runs) / "admissions"),
    )


@dataclass(frozen=True, kw_only=True)
class _Answering:
    pipeline: Pipeline
    judge: Judge


def _watched(cfg: DictConfig, chat: Chat, ledger: Ledger) -> _Answering:
    """The same pipeline and judge over a chat whose every attempt goes to the ledger as it ends."""
    seen = ledger.watch(chat)
    pipeline = resume.recorded(build.pipeline(cfg, seen), ledger)
    return _Answering(pipeline=pipeline, judge=build.component(cfg, "judge", seen))


def begun(folder: Path, chat: Chat) -> Path:
    """The folder of a run to go on with, maybe one that was killed before it held anything.

    Raises ConfigError when nothing was begun there, or what was needs no resuming.
    """
    if isinstance(chat, NoChat):
        raise ConfigError("resume must go with a chat, got chat=none. A run without a model is simply run again")
    # What stands in a folder before its ledger does is made by the ledger.
    made = folder.is_dir() and all(entry.name.startswith(f"{_LEDGER}.") for entry in folder.iterdir())
    if made or (folder / _LEDGER).is_file():
        return folder.absolute()
    raise ConfigError(
        f"resume must name the folder of a run with a {_LEDGER}, got {folder}. Name another, or run without resume"
    )


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

        def opened(memory: Ready) -> None:
            bar.set_postfix_str(memory.history)

        yield opened, lambda _: bar.update()


def _write(path: Path, value: Mapping[str, Any]) -> None:
    _whole(path, json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def _whole(path: Path, content: str) -> None:
    """Write a file that is there whole or not at all, even where the process is killed."""
    draft = path.with_name(f"{path.name}.partial")
    draft.write_text(content, encoding="utf-8")
    draft.rename(path)


def describe(outcome: Outcome, tracked: str) -> str:
    """What a run prints: the table, the cost, two worked questions, and where everything is."""
    metrics = outcome.report.metrics
    tokens = {
        phase: metrics.get(f"tokens/{phase}/prompt", 0) + metrics.get(f"tokens/{phase}/completion", 0)
        for phase in ("extract", "adjudicate", "plan", "read", "judge")
    }
    excluded = {
        name.removeprefix("excluded/"): int(value) for name, value in metrics.items() if name.startswith("excluded/")
    }
    lines = [report.table(metrics, outcome.judge), *([f"note: {outcome.remark}"] if outcome.remark else []), ""]
    lines.append(
        "model tokens: "
        + ", ".join(f"{phase} {count:,.0f}" for phase, count in tokens.items())
        + f"; evidence handed to the reader: {metrics.get('evidence_tokens/mean', 0):,.0f} words a question (estimate)"
    )
    for phase in ("ingest", "answer", "judge"):
        if f"cost/total/{phase}/attempts" in outcome.metrics:
            found = {
                kind: outcome.metrics.get(f"cost/total/{phase}/{kind}") for kind in ("attempts", "hits", "cold", "warm")
            }
            cold, warm = ("no price" if found[kind] is None else f"${found[kind]:.4f}" for kind in ("cold", "warm"))
            lines.append(
                f"{phase}: {found['attempts']:.0f} attempts, {found['hits']:.0f} from cache; cold {cold}, warm {warm}"
            )
    lines.append(
        f"questions {metrics['questions']:.0f}, retrieval scored on {metrics['n']:.0f}"
        + ("; excluded: " + ", ".join(f"{reason} {count}" for reason, count in excluded.items()) if excluded else "")
    )
    if (unjudged := metrics.get("accuracy/unjudged")) and "cost/lost" in outcome.metrics:
        lines.append(f"without a verdict: {unjudged:.0f}; resume={outcome.folder} asks for them again")
    for result in outcome.examples:
        lines += ["", report.worked(result)]
    lines += ["", f"tracked: {tracked}", f"run: {outcome.folder}"]
    return "\n".join(lines)
