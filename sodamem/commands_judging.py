"""What the commands about judges do: judge answers again, admit a judge, draw the frontier of cost and accuracy."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import DictConfig
from tqdm import tqdm

from sodamem import build, config
from sodamem.admission import admit as admission
from sodamem.admission import labelled
from sodamem.commands import _Parser
from sodamem.dataset.hypotheses import Hypotheses
from sodamem.errors import ConfigError, DataError, MissingExtra, StoreError
from sodamem.frontier.table import Frontier, Point
from sodamem.judge.identity import identity
from sodamem.protocols import Judge
from sodamem.rejudge import page as rejudge_page
from sodamem.rejudge import report as rejudge_report
from sodamem.rejudge.rejudge import Rejudged
from sodamem.rejudge.rejudge import rejudge as judge_again
from sodamem.rejudge.verdicts import Verdicts
from sodamem.report import line

JUDGES = (["lexical"], ["lexical_strict"])  # when none is named


def rejudge(arguments: list[str]) -> int:
    """Sodamem rejudge PRESET [OVERRIDE ...] [--judge NAME [KEY=VALUE ...]] ... [--repeats N] [--workers N] [--json]"""
    parser = _Parser(
        prog="sodamem rejudge",
        usage="%(prog)s hypotheses=PRESET [judge=[NAME,...]] [OVERRIDE ...] [--judge NAME [KEY=VALUE ...]] ...",
        description="Judge a file of answers again. PRESET is an option of hypotheses, hypotheses.path=… its file; a "
        "NAME is an option of judge, or of chat: then the llm judge asks that model.",
    )
    parser.add_argument("preset", metavar="PRESET", help="sodamem_release, longmemeval, run or file")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE", help="before any --judge")
    parser.add_argument(
        "--judge", action="append", nargs="+", metavar="NAME", help="a judge, with changes: --judge lexical f1=0.7"
    )
    parser.add_argument("--repeats", type=int, default=1, help="times that a judge which may flip is asked")
    parser.add_argument("--workers", type=int, default=1, help="answers judged at a time")
    parser.add_argument("--folder", metavar="DIR", help="where verdicts are kept; a folder goes on where it stopped")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    given = parser.parse_args(spelled(arguments))
    cfg = config.compose(f"+hypotheses={given.preset}", *given.overrides)
    judges = [_judge(spec, given.overrides) for spec in given.judge or JUDGES]
    answers: Hypotheses = build.component(cfg, "hypotheses").open()
    folder = Path(given.folder or Path(cfg.runs) / "rejudge" / f"{answers.name}-{answers.sha256[:12]}").absolute()
    print(f"verdicts in {folder}", file=sys.stderr)
    total = len(judges) * len(answers.answers)
    with (
        Verdicts(folder / "verdicts.sqlite", answers.sha256) as verdicts,
        tqdm(total=total, unit="verdict", delay=2, disable=given.quiet, file=sys.stderr) as bar,
    ):
        step = partial(_advance, bar)
        found = judge_again(answers, judges, verdicts, repeats=given.repeats, workers=given.workers, step=step)
    tried = {identity(judge): admission.standing(judge, _admissions(cfg)) for judge in judges}
    quality = {digest: record.quality for digest, record in tried.items() if record is not None}
    remarks = {identity(judge): admission.remark(judge, _admissions(cfg)) for judge in judges}
    figures = rejudge_report.figures(found, quality, remarks)
    _write(folder, found, figures)
    print(json.dumps(figures, ensure_ascii=False, indent=1) if given.json else rejudge_report.describe(figures))
    print(f"page: {folder / 'page.html'}", file=sys.stderr)
    return 0


def admit(arguments: list[str]) -> int:
    """Sodamem admit [OVERRIDE ...] [--judge NAME [KEY=VALUE ...]] ... [--workers N] [--show] [--json]"""
    parser = _Parser(
        prog="sodamem admit",
        usage="%(prog)s [judge=[NAME,...]] [OVERRIDE ...] [--judge NAME [KEY=VALUE ...]] ...",
        description="Try judges on answers whose verdict is known.",
    )
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE", help="admission.audit=…, before any --judge")
    parser.add_argument("--judge", action="append", nargs="+", metavar="NAME", help="a judge, with changes to it")
    parser.add_argument("--workers", type=int, default=1, help="answers judged at a time")
    parser.add_argument("--show", action="store_true", help="print the labelled answers as JSON lines and stop")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar")
    given = parser.parse_args(spelled(arguments))
    cfg = config.compose("+admission=default", *given.overrides)
    trial: admission.Admission = build.component(cfg, "admission")
    if given.show:
        print(labelled.as_json(trial.items()), end="")
        return 0
    records = []
    for judge in [_judge(spec, given.overrides) for spec in given.judge or JUDGES]:
        with tqdm(unit="answer", desc=judge.name, delay=2, disable=given.quiet, file=sys.stderr) as bar:
            step = partial(_advance, bar)
            records.append(admission.admit(trial, judge, _admissions(cfg), workers=given.workers, step=step))
    if given.json:
        print(json.dumps([asdict(record) for record in records], indent=1))
    else:
        print("\n\n".join(map(admission.describe, records)))
    return 0 if all(record.admitted for record in records) else 1


def _advance(bar: tqdm[Any], judge: str) -> None:
    bar.update()
    bar.set_postfix_str(judge, refresh=False)


def _admissions(cfg: DictConfig) -> Path:
    return Path(cfg.runs) / "admissions"


def frontier(arguments: list[str]) -> int:
    """Sodamem frontier [OVERRIDE ...] [--point NAME ACCURACY COST] ... [--rejudged FILE] [--rival NAME] [--json]"""
    from sodamem.frontier import page, plot, report

    parser = _Parser(prog="sodamem frontier", description="Map cost against accuracy: who dominates whom, how surely.")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE", help="frontier.runs=[453], frontier.seed=1, …")
    parser.add_argument(
        "--point", action="append", nargs=3, default=[], metavar=("NAME", "ACCURACY", "COST"),
        help="a system of your own: accuracy in per cent, dollars for 1,000 questions with ingest",
    )  # fmt: skip
    parser.add_argument("--rejudged", metavar="FILE", help="report.json of a re-judging of the subject's answers")
    parser.add_argument("--rival", default="Cersei Embed", help="whom the referee's test is about")
    parser.add_argument("--folder", metavar="DIR", help="where map.png, map.svg, map.html and report.json go")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    given = parser.parse_intermixed_args(arguments)
    cfg = config.compose("+frontier=paper", *given.overrides)
    table: Frontier = build.component(cfg, "frontier")
    points = [_point(*values) for values in given.point]
    points += _rejudged(Path(given.rejudged), table.cost("mean")) if given.rejudged else []
    figures = report.figures(table, points, given.rival)
    folder = Path(given.folder or Path(cfg.runs) / "frontier").absolute()
    texts = {"map.html": page.page(figures), "report.json": json.dumps(figures, ensure_ascii=False, indent=1) + "\n"}
    _save(folder, {name: text.encode() for name, text in texts.items()})
    try:
        _save(folder, {f"map.{kind}": data for kind, data in plot.draw(table, points).items()})
    except MissingExtra as error:  # the page shows the same map
        print(f"no map.png and map.svg: {error}", file=sys.stderr)
    print(json.dumps(figures, ensure_ascii=False, indent=1) if given.json else report.describe(table, figures))
    print(f"map: {folder / 'map.html'}", file=sys.stderr)
    return 0


def spelled(arguments: list[str]) -> list[str]:
    """hypotheses=NAME and judge=[A,B], as everywhere else, said as this parser takes them: NAME … --judge A --judge B.

    A judge that is no option of its group but one of chat is the llm judge that asks that model.
    """
    presets, judges, others = [], [], []
    known = config.options()
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key == "hypotheses":
            presets.append(value)
        elif key == "judge":
            for name in filter(None, value.strip("[]").replace(" ", "").split(",")):
                model = name not in known["judge"] and name in known["chat"]
                judges += ["--judge", *(("llm", f"chat={name}") if model else (name,))]
        else:
            others.append(argument)
    return [*presets, *others, *judges]


def _point(name: str, accuracy: str, cost: str) -> Point:
    try:
        share, dollars = round(float(accuracy) / 100, 6), float(cost)
    except ValueError:
        raise ConfigError(f"--point must have numbers after its name, got {accuracy} and {cost}") from None
    if not 0 <= share <= 1 or not 0 < dollars < float("inf"):
        raise ConfigError(f"--point must have accuracy within 0..100 and cost above 0, got {accuracy} and {cost}")
    return Point(name=name, accuracy=share, cost=dollars)


def _rejudged(path: Path, cost: float) -> list[Point]:
    """The subject by each judge of a report, strict, at its published cost."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["judges"]
        return [Point(name=f"by {row['judge']}", accuracy=row["strict"], cost=cost) for row in rows]
    except OSError as error:
        raise DataError(f"--rejudged must name a re-judging's report.json, got {path}: {error.strerror}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise DataError(f"{path} must be the report.json of sodamem rejudge, and is not ({error!r})") from None


def _judge(spec: list[str], overrides: list[str]) -> Judge:
    """`["lexical", "f1=0.7"]` to that judge; changes without a group are those of the judge."""
    name, *changes = spec
    if "=" in name:
        raise ConfigError(f"--judge must begin with a name such as lexical, got {name}. Overrides stand before --judge")
    trusted = [override for override in overrides if override.startswith("trusted_targets=")]
    cfg = config.compose(f"judge={name}", *map(_addressed, changes), *trusted)
    judge: Judge = build.component(cfg, "judge", build.chat_of(cfg))
    return judge


def _addressed(change: str) -> str:
    """A change as an override: of the judge, or of its model (`chat=openai`, `+chat@judge.chat=openai`)."""
    key = change.lstrip("+").partition("=")[0]
    if "@" in key or key.partition(".")[0] in ("judge", "chat", "replies"):
        return change
    return f"{'+' if change.startswith('+') else ''}judge.{change.lstrip('+')}"


def _write(folder: Path, found: Rejudged, figures: dict[str, Any]) -> None:
    """report.json, page.html and disagreements.jsonl: the same bytes for the same verdicts."""
    rows = rejudge_page.rows(found)
    names = [opinion.name for opinion in found.opinions]
    odd = [
        row | {"verdicts": dict(zip(names, row["verdicts"], strict=True))}
        for row in (rows[place] for place in found.disagreements)
    ]
    texts = {
        "report.json": json.dumps(figures, ensure_ascii=False, indent=1) + "\n",
        "disagreements.jsonl": "".join(line(row) + "\n" for row in odd),
        "page.html": rejudge_page.page(found),
    }
    _save(folder, {name: text.encode() for name, text in texts.items()})


def _save(folder: Path, files: dict[str, bytes]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
    except OSError as error:
        raise StoreError(f"folder must be a directory that can be written, got {folder}: {error.strerror}") from error
