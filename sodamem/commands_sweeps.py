"""What `sodamem sweep`, `sodamem ablate` and `sodamem learn` do."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any, NoReturn

from tqdm import tqdm

from sodamem.errors import ConfigError
from sodamem.records import report_name

_FIELDS = ("study", "storage", "sampler", "seed", "replay", "pruner")


class _Parser(argparse.ArgumentParser):
    """argparse, with its faults as ConfigError so that they look like all others."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}. See {self.prog} --help")


def sweep(arguments: list[str]) -> int:
    """Sodamem sweep study=NAME [storage=URL] [OVERRIDE ...] [--trials N] [--export FILE] [-m hydra/launcher=…]"""
    parser = _Parser(
        prog="sodamem sweep",
        description="Search a study's space on the dev split; the winner is exported and measured once on test.",
    )
    parser.add_argument("--trials", type=int, metavar="N", help="in total, those of earlier sittings included")
    parser.add_argument(
        "-m", "--multirun", action="store_true", help="make each trial a run of its own, with Hydra's launcher"
    )
    parser.add_argument("--batch", type=int, metavar="N", help="with -m: trials that are launched together")
    parser.add_argument("--export", metavar="FILE", help="write the winner there, e.g. conf/experiment/tuned.yaml")
    parser.add_argument("--new", action="store_true", help="begin anew beside a study with another space or data")
    parser.add_argument("--no-test", action="store_true", help="leave out the winner's figure on the test split")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    parser.add_argument("values", nargs="*", metavar="KEY=VALUE", help=f"{', '.join(_FIELDS)}, or Hydra's overrides")
    given = parser.parse_intermixed_args(arguments)
    fields, overrides = _sorted(given.values, _FIELDS)
    if "study" not in fields:
        raise ConfigError("study must be named, got none. Use study=fusion_recall, or the path of a YAML file")
    from sodamem.sweep.launchers import Launch, parted
    from sodamem.sweep.sweep import Request, Unfinished
    from sodamem.sweep.sweep import sweep as search

    overrides, launcher = parted(overrides)
    if not given.multirun and (launcher or given.batch is not None):
        raise ConfigError(f"-m must be given where trials are launched, got {(*launcher, '--batch')[0]} without it")
    changes: dict[str, Any] = {key: fields[key] for key in ("sampler", "seed", "replay", "pruner") if key in fields}
    if given.trials is not None:
        changes["trials"] = given.trials
    with tqdm(unit="trial", delay=2, disable=given.quiet, file=sys.stderr) as bar:
        request = Request(
            name=fields["study"],
            overrides=tuple(overrides),
            changes=changes,
            where=fields.get("storage"),
            new=given.new,
            test=not given.no_test,
            launch=Launch(overrides=tuple(launcher), batch=given.batch) if given.multirun else None,
            step=lambda _: _tick(bar),
        )
        try:
            outcome = search(request)
        except Unfinished as others:
            print(others)
            return 0
    print(_report(outcome))
    if given.export:
        target = Path(given.export)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = outcome.file.read_text(encoding="utf-8").replace(outcome.file.stem, target.stem)
        target.write_text(text, encoding="utf-8")
        print(f"exported: {target}")
    return 0


def _report(outcome: Any) -> str:
    from sodamem.sweep.book import point

    study, search = outcome.search.study, outcome.search
    trials, best = search.trials(), search.best()
    names = [report_name(name) for name in study.measures]

    def figures(trial: Any) -> str:
        return ", ".join(f"{name} {value:.4f}" for name, value in zip(names, trial.values, strict=True))

    failed = [trial for trial in trials if trial.state.name == "FAIL"]
    lines = [
        f"{len(trials)} trials ({len(failed)} failed), {outcome.how}",
        f"baseline  {figures(outcome.baseline)}",
        f"winner    {figures(outcome.winner)}  (trial {outcome.winner.number}, dev split)",
    ]
    if len(names) > 1:
        lines.append(f"Pareto front: {len(best)} trials")
        lines += [f"  trial {trial.number}: {figures(trial)}" for trial in best[:10]]
    lines += [f"  {key} = {value}" for key, value in point(outcome.winner).items()]
    if outcome.test:
        low, high = outcome.test.low, outcome.test.high
        spread = f" [{low:.4f}, {high:.4f}]" if low is not None and high is not None else ""
        lines.append(f"test      {names[0]} {outcome.test.mean:.4f}{spread}, n = {outcome.test.n}, computed once")
    reasons = sorted({str(trial.user_attrs.get("reason", "")) for trial in failed})
    lines += [f"failed: {reason}" for reason in reasons[:3]]
    total = sum(outcome.spent.values())
    spent = ", ".join(f"{what} {seconds:.1f} s" for what, seconds in outcome.spent.items())
    lines.append(f"time: {total:.1f} s: {spent} (tracking {outcome.spent['tracking'] / total:.0%})")
    lines.append(f"study: {outcome.folder}")
    lines.append(f"winner as an experiment: {outcome.file}")
    return "\n".join(lines)


def ablate(arguments: list[str]) -> int:
    """Sodamem ablate family=NAME [OVERRIDE ...] [--out DIR]"""
    parser = _Parser(
        prog="sodamem ablate", description="Compare a family of variants with its baseline, on the same questions."
    )
    parser.add_argument("--out", metavar="DIR", help="also write the table and the figure there")
    parser.add_argument("--live", action="store_true", help="run every variant anew instead of replaying")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    parser.add_argument("values", nargs="*", metavar="KEY=VALUE", help="family, or Hydra's overrides for all variants")
    given = parser.parse_intermixed_args(arguments)
    fields, overrides = _sorted(given.values, ("family",))
    if "family" not in fields:
        raise ConfigError("family must be named, got none. Use family=tunnels, or the path of a YAML file")
    from sodamem.ablate import ablate as compare
    from sodamem.ablate import family
    from sodamem.ablate_report import markdown, track

    chosen = family(fields["family"])
    total = (len(chosen.variants) + 1) * max(1, len(chosen.seeds))
    with tqdm(total=total, unit="setting", delay=2, disable=given.quiet, file=sys.stderr) as bar:
        found = compare(chosen, overrides, lambda _: _tick(bar), live=given.live)
    print(markdown(chosen, found))
    folder = track(chosen, overrides, found)
    if given.out:
        shutil.copytree(folder, given.out, dirs_exist_ok=True)
    print(f"\nwritten: {given.out or folder}")
    return 0


def learn(arguments: list[str]) -> int:
    """Sodamem learn --out FILE [--strength C] [--rivals N] [--rounds N] [OVERRIDE ...]"""
    parser = _Parser(prog="sodamem learn", description="Learn the coefficients of fusion=learned on the dev split.")
    parser.add_argument("--out", metavar="FILE", required=True, help="YAML file to write; use fusion.coefficients=FILE")
    parser.add_argument("--strength", type=float, default=0.001, help="inverse of the L2 penalty (default %(default)s)")
    parser.add_argument(
        "--rivals", type=int, default=200, help="others that a gold turn is compared with (%(default)s)"
    )
    parser.add_argument("--rounds", type=int, default=1, help="times that rivals are chosen anew (%(default)s)")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE")
    given = parser.parse_intermixed_args(arguments)
    from sodamem import config
    from sodamem import learn as learning
    from sodamem.replay.recorded import Recordings, Setting

    cfg = config.plain(config.compose(*given.overrides))
    if (split := cfg["dataset"].get("split")) != "dev":
        raise ConfigError(f"dataset.split must be dev to learn from, got {split}")
    if not (given.strength > 0 and given.rivals >= 1 and given.rounds >= 1):
        raise ConfigError("strength must be > 0, rivals and rounds >= 1, got something else")
    setting = Setting.of({**cfg, "fusion": {**cfg["fusion"], "unit": "turn", "theta": None}})
    recordings = Recordings(Path(cfg["runs"]), [setting])
    options = {name: getattr(given, name) for name in ("strength", "rivals", "rounds")}
    found = learning.fit(recordings.replay(setting).recording, **options)
    overrides = " ".join(given.overrides)
    origin = {"learned by": f"sodamem learn {overrides}", "data sha256": recordings.data(setting).sha256, **options}
    learning.write(found, Path(given.out), origin)
    print(f"learned: {given.out}")
    return 0


def _tick(bar: Any) -> None:
    bar.update()


def _sorted(values: list[str], fields: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """Fields of the command itself, and the overrides that are left."""
    found: dict[str, str] = {}
    overrides = []
    for value in values:
        key, _, given = value.partition("=")
        if key in fields:
            found[key] = given
        else:
            overrides.append(value)
    return found, overrides
