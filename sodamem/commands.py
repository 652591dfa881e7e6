"""What each command of the command line does."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, NoReturn

from omegaconf import DictConfig

from sodamem import build, config, report
from sodamem.dataset.conversation import load_conversation
from sodamem.errors import ConfigError, SodamemError
from sodamem.types import FactEvent, Question, TimeValue


class _Parser(argparse.ArgumentParser):
    """argparse, with its faults as ConfigError so that they look like all others."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}. See {self.prog} --help")


def run(arguments: list[str]) -> int:
    """Sodamem run [OVERRIDE ...] · sodamem run -m OVERRIDE ..."""
    parser = _Parser(
        prog="sodamem run", description="Run one experiment, or with -m every combination of the overrides."
    )
    parser.add_argument(
        "-m", "--multirun", action="store_true", help="sweep comma-separated values with Hydra's launcher"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    parser.add_argument("--cfg", action="store_true", help="print the composed configuration and stop")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE", help="group=option, key=value, +key=value, ~key")
    given = parser.parse_intermixed_args(arguments)
    if given.multirun:
        return _multirun(given.overrides, given.quiet)
    cfg = config.compose(*given.overrides)
    if given.cfg:
        print(config.unresolved(cfg), end="")
        return 0
    return _run(cfg, given.quiet)


def _run(cfg: DictConfig, quiet: bool) -> int:
    from sodamem.run import describe
    from sodamem.run import run as run_experiment

    print(describe(run_experiment(cfg, quiet=quiet), str(config.plain(cfg.tracker).get("uri") or "nowhere")))
    return 0


def _multirun(overrides: list[str], quiet: bool) -> int:
    """Hydra's own multirun over the same configuration: one line for each job that fails, the others go on."""
    import hydra

    failures: list[str] = []

    def job(cfg: DictConfig) -> None:
        try:
            _run(config.absolute(cfg), quiet)
        except SodamemError as error:
            failures.append(" ".join(str(error).split()))
            print(f"sodamem: {failures[-1]}", file=sys.stderr)

    # Hydra reads the command line itself; every value is composed here once before, so that a fault is one line.
    for choices in config.each_value(overrides):
        config.compose(*choices)
    before = sys.argv
    sys.argv = ["sodamem", "--multirun", *overrides]
    try:
        hydra.main(version_base=config.VERSION_BASE, config_path=f"pkg://{config.MODULE}", config_name="config")(job)()
    finally:
        sys.argv = before
    if failures:
        print(f"sodamem: {len(failures)} of the jobs failed; their reasons stand above", file=sys.stderr)
    return 1 if failures else 0


def ask(arguments: list[str]) -> int:
    """Sodamem ask --history FILE --at STAMP QUESTION [OVERRIDE ...] [--json]"""
    parser = _Parser(
        prog="sodamem ask", description="Ask your own conversations; the format is in docs/conversations.md."
    )
    parser.add_argument("--history", required=True, metavar="FILE", help="JSON file of sessions")
    parser.add_argument(
        "--at", required=True, metavar="STAMP", help="when the question is asked, e.g. 2024-05-01T10:00"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("question")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE")
    given = parser.parse_intermixed_args(arguments)
    history = load_conversation(given.history)
    question = Question(
        id="asked",
        history_id=history.id,
        text=_words(given.question, "question"),
        asked_at=_stamp(given.at, "--at"),
        category="",
        category_name="",
        gold="",
    )
    pipeline = build.pipeline(config.compose(*given.overrides))
    with pipeline.open(history) as memory:
        answer, pool = pipeline.answer(memory, question)
    if given.json:
        evidence = [report.evidence(item, with_awards=True) for item in pool]
        print(
            json.dumps(
                {
                    "question": question.text,
                    "asked_at": question.asked_at.isoformat(),
                    "answer": report.answer(answer),
                    "evidence": evidence,
                },
                ensure_ascii=False,
                indent=1,
            )
        )
        return 0
    print(answer.text)
    for citation in answer.citations:
        print(f"  cites {citation.turn_id}: “{citation.quote}”")
    for item in pool[:10]:
        shares = ", ".join(f"{tunnel} {mass:.3f}" for tunnel, mass in report.masses(item).items())
        print(
            f"{item.rank:3}. {item.confidence:.3f} = {shares}\n"
            f"     {item.turn_ids[0]} {item.at:%Y-%m-%d %H:%M}  {item.text[:120]}"
        )
    return 0


def check(arguments: list[str]) -> int:
    """Sodamem check: every option of every group builds with the packaged values."""
    parser = _Parser(prog="sodamem check", description="Build every option of every group.")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE")
    given = parser.parse_args(arguments)
    started, failed, built = time.perf_counter(), [], 0
    for group, names in config.options().items():
        for name in names:
            try:
                _build_option(_compose_option(group, name, given.overrides), group, name)
                built += 1
            except SodamemError as error:
                failed.append(f"{group}={name}: {' '.join(str(error).split())}")
    print(f"{built} options of {len(config.options())} groups build ({time.perf_counter() - started:.1f} s)")
    for reason in failed:
        print(f"sodamem: {reason}", file=sys.stderr)
    return 1 if failed else 0


def _compose_option(group: str, name: str, overrides: Sequence[str] = ()) -> DictConfig:
    """The configuration with one option chosen, also of a group that the map of the system leaves out by default."""
    choice = f"tunnel=[{name}]" if group == "tunnel" else f"{'' if group in _mapped() else '+'}{group}={name}"
    return config.compose(*overrides, choice)


def _build_option(cfg: DictConfig, group: str, name: str) -> Any:
    if group == "experiment":
        return build.pipeline(cfg)
    if group == "tunnel":
        return build.build(config.plain(cfg.tunnel[name]), f"tunnel.{name}", list(config.plain(cfg.trusted_targets)))
    return build.component(cfg, group)


@cache
def _mapped() -> frozenset[str]:
    return frozenset(map(str, config.compose())) | {"tunnel", "experiment"}


def show(arguments: list[str]) -> int:
    """Sodamem show GROUP=OPTION: configuration, class, file and what its module says of itself."""
    parser = _Parser(prog="sodamem show", description="Show one option: its configuration, class, file and formula.")
    parser.add_argument("choice", metavar="GROUP=OPTION")
    given = parser.parse_args(arguments)
    group, _, name = given.choice.partition("=")
    known = config.options()
    if group not in known:
        raise ConfigError(f"group must be one of {', '.join(known)}, got {group!r}")
    if name not in known[group]:
        raise ConfigError(f"{group} must be one of {', '.join(known[group])}, got {name!r}")
    cfg = _compose_option(group, name)
    if group == "experiment":
        print(config.unresolved(cfg), end="")
        return 0
    print(config.unresolved(cfg.tunnel[name] if group == "tunnel" else cfg[group]), end="")
    part = _build_option(cfg, group, name)
    module = inspect.getmodule(type(part))
    print(f"\nclass  {type(part).__module__}.{type(part).__qualname__}")
    print(f"file   {inspect.getsourcefile(type(part))}\n")
    print(inspect.getdoc(module) or "")
    print(f"\n{inspect.getdoc(type(part)) or ''}")
    return 0


def options(arguments: list[str]) -> int:
    """Sodamem options: every group and its options."""
    _Parser(prog="sodamem options", description="List every group and its options.").parse_args(arguments)
    for group, names in config.options().items():
        print(f"{group:12} {', '.join(names)}")
    return 0


def resolve(arguments: list[str]) -> int:
    """Sodamem resolve --at STAMP TEXT [OVERRIDE ...] [--json]"""
    parser = _Parser(prog="sodamem resolve", description="Print every time expression in a text, and how it is read.")
    parser.add_argument("--at", required=True, metavar="STAMP", help="when it was said, e.g. 2023-07-17T10:00")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.add_argument("text")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE")
    given = parser.parse_intermixed_args(arguments)
    timeline = build.component(config.compose(*given.overrides), "timeline")
    found = timeline.read(_words(given.text, "text"), _stamp(given.at, "--at"))
    if given.json:
        print(json.dumps([_time(value) for value in found], ensure_ascii=False, indent=1))
        return 0
    for value in found:
        reading = _span(value) if value.interval else "unresolved"
        print(f"{value.words!r} [{value.start}:{value.end}]  {reading}  rule {value.rule} ({value.version})")
        for other in value.alternatives:
            print(f"    or {other.start:%Y-%m-%d %H:%M} .. {other.end:%Y-%m-%d %H:%M} ({other.grain})")
    if not found:
        print("no time expression")
    return 0


def facts(arguments: list[str]) -> int:
    """Sodamem facts --history FILE [--as-of STAMP] [OVERRIDE ...] [--json]"""
    from sodamem.facts import as_of as seen_at

    parser = _Parser(
        prog="sodamem facts", description="Print the facts of a memory with their words, times and status."
    )
    parser.add_argument("--history", required=True, metavar="FILE", help="JSON file of sessions")
    parser.add_argument("--as-of", metavar="STAMP", help="only what was known and true at that time")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE")
    given = parser.parse_intermixed_args(arguments)
    history = load_conversation(given.history)
    pipeline = build.pipeline(config.compose(*given.overrides))
    with pipeline.open(history) as memory:
        found, edges = memory.snapshot.facts, memory.snapshot.edges
    if given.as_of:
        found = list(seen_at(found, _stamp(given.as_of, "--as-of")))
    kept = {fact.id for fact in found}
    edges = [edge for edge in edges if edge.source in kept or edge.target in kept]
    if given.json:
        print(
            json.dumps(
                {
                    "facts": [_fact(fact) for fact in found],
                    "edges": [report.vars_of(edge, "source", "target", "kind", "label") for edge in edges],
                },
                ensure_ascii=False,
                indent=1,
            )
        )
        return 0
    for fact in found:
        when = _interval_text(fact) or "-"
        quote = " … ".join(piece.text for piece in fact.pieces)
        print(
            f"{fact.status:10} {fact.modality:13} {'' if fact.polarity else 'NOT '}{fact.predicate}  {fact.text[:70]}\n"
            f"           {fact.pieces[0].turn_id} “{quote[:100]}”  occurred {when}  "
            f"valid {fact.valid_from or '…'} .. {fact.valid_until or '…'}"
        )
    for edge in edges:
        if edge.kind in ("SUPERSEDES", "CONTRADICTS", "UPDATES"):
            print(f"{edge.kind} {edge.source} -> {edge.target}  {edge.label}")
    return 0


# --- shared -------------------------------------------------------------------------------------------------


def _stamp(value: str, name: str) -> datetime:
    try:
        stamp = datetime.fromisoformat(value)
    except ValueError:
        raise ConfigError(f"{name} must be an ISO time such as 2024-05-01T10:00, got {value!r}") from None
    return stamp.replace(tzinfo=None)  # the wall time that was written; its zone is the conversation's own


def _words(value: str, name: str) -> str:
    if not value.strip():
        raise ConfigError(f"{name} must have words, got {value!r}")
    return value


def _time(value: TimeValue) -> dict[str, Any]:
    return {
        **report.vars_of(value, "words", "start", "end", "rule", "version", "approximate"),
        "anchor": value.anchor.isoformat(),
        "interval": report.interval(value.interval),
        "grain": value.interval.grain if value.interval else None,
        "alternatives": [report.interval(other) for other in value.alternatives],
        "unresolved": value.interval is None,
    }


def _span(value: TimeValue) -> str:
    assert value.interval is not None
    about = "about " if value.approximate else ""
    return (
        f"{about}{value.interval.start:%Y-%m-%d %H:%M} .. {value.interval.end:%Y-%m-%d %H:%M} ({value.interval.grain})"
    )


def _interval_text(fact: FactEvent) -> str:
    return f"{fact.occurred.start:%Y-%m-%d} .. {fact.occurred.end:%Y-%m-%d}" if fact.occurred else ""


def _fact(fact: FactEvent) -> dict[str, Any]:
    return {
        **report.vars_of(
            fact, "id", "kind", "predicate", "modality", "subject", "text", "speaker", "polarity", "status"
        ),
        "flags": list(fact.flags),
        "roles": [report.vars_of(role, "name", "entity", "words") for role in fact.roles],
        "quantity": report.vars_of(fact.quantity, "value", "unit", "words") if fact.quantity else None,
        "spans": [report.vars_of(piece, "turn_id", "start", "end", "text") for piece in fact.pieces],
        "mentioned_at": fact.mentioned_at.isoformat(),
        "occurred": report.interval(fact.occurred),
        "valid_from": fact.valid_from.isoformat() if fact.valid_from else None,
        "valid_until": fact.valid_until.isoformat() if fact.valid_until else None,
        "times": [_time(value) for value in fact.times],
    }
