"""A run that is killed at random moments and taken up again, over a scripted model whose every call is billed.

One interpreter imports everything once and forks a child for each sitting; the child does what `sodamem run` does.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import sqlite3
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from sodamem import build, config, resume
from sodamem import run as runner
from sodamem.chat import selftest
from sodamem.chat.scripted import ScriptedChat
from sodamem.chat.served import Served, ServedChat
from sodamem.text import digest
from sodamem.types import ChatReply, ChatRequest

# Everything that can ask a model does.
RUN = ["extractor=llm", "currency=llm", "planner=llm", "reader=llm", "judge=llm", "prices=none"]
RUN += ["tunnel=[bm25,dense]", "fusion=rrf"]  # quick to open
RUN += ["dataset.split=all", "dataset.sessions=5", "dataset.distractors=0"]
QUOTE = r"\g<quote>"
FACT: dict[str, object] = {"turn": "t1", "quote": QUOTE, "subject": "speaker", "predicate": "says", "value": QUOTE}
FACT |= {"roles": [], "quantity": None, "kind": "state", "modality": "current_state", "flags": [], "polarity": True}
SEARCH: dict[str, object] = {"tool": "search", "query": r"\g<asked>", "since": None, "until": None}
ASKED = r"Question, asked on [^\n]*?: (?P<asked>[^\n]+)"
RULES: Sequence[Mapping[str, object]] = (
    {"phase": "plan", "pattern": "of them new", "data": {"reasoning": "r", "call": {"tool": "stop"}}},
    {"phase": "plan", "pattern": ASKED, "data": {"reasoning": "r", "call": SEARCH}},
    {
        "phase": "read",
        "pattern": ASKED,
        "data": {"reasoning": "r", "text": r"\g<asked>", "citations": ["e2"], "abstained": False},
    },
    {
        "phase": "extract",
        "pattern": r"To be read:\n<<\w+\n\[t1\] [^:\n]+: (?P<quote>(?:\w+ ){2}\w+)",
        "data": {"reasoning": "r", "facts": [FACT]},
    },
)
INGEST, ANSWERS = ("extract", "adjudicate"), ("plan", "read", "judge")


@dataclass(frozen=True, kw_only=True)
class BilledChat(ServedChat):
    """The scripted chat; each of its calls costs a line in the file `bill`, from the moment it is asked.

    seconds: until a reply · concurrency: questions of one history worked on at a time.
    """

    model: str
    bill: str
    seconds: float
    concurrency: int

    @cached_property
    def _scripted(self) -> ScriptedChat:
        return ScriptedChat(model=self.model, rules=RULES)

    @property
    def digest(self) -> str:
        return self._scripted.digest

    def served(self) -> Served:
        return self._scripted.served()

    def ask(self, request: ChatRequest) -> ChatReply:
        line = f"{request.phase} {digest(repr(request))}\n".encode()
        Path(self.bill).parent.mkdir(parents=True, exist_ok=True)
        with Path(self.bill).open("ab", buffering=0) as bill:
            bill.write(line)
        time.sleep(self.seconds)
        return self._scripted.ask(request)


def overrides(
    runs: Path,
    *,
    histories: int = 4,
    questions: int = 10,
    concurrency: int = 1,
    seconds: float = 0.002,
    tracker: str = "mlflow",
) -> list[str]:
    """What describes the run, for `compose` or a command line; its replies, stores and bill are under `runs`.

    questions: of one history · concurrency: how many of them at a time · seconds: until a reply.
    """
    data = [f"dataset.histories={histories}", f"dataset.questions_per_history={questions}"]
    data += [f"dataset.turns_per_session={3 * questions + 8 + questions % 2}"]  # just room enough for their facts
    chat = ["chat=none", "trusted_targets=[experiments]", "chat._target_=experiments.killing.BilledChat"]
    chat += ["+chat.model=scripted", f"+chat.bill='{bill_of(runs)}'"]
    chat += [f"+chat.seconds={seconds}", f"+chat.concurrency={concurrency}"]
    found = [*RUN, *data, *chat, f"runs='{runs}'", "name=run", f"tracker={tracker}"]
    if tracker == "mlflow":
        found += [f"tracker.uri='sqlite:///{runs.parent}/mlflow.db'", f"tracker.experiment={runs.name}"]
    return found


def folder_of(runs: Path) -> Path | None:
    """The folder of the run, None before there is one."""
    return next(iter(sorted(runs.glob("*_run"))), None)


def bill_of(runs: Path) -> Path:
    return runs / "bill"


def billed(runs: Path) -> list[str]:
    """The calls that reached the model, each as its phase and hash; a run's probes of the model are left out."""
    lines = bill_of(runs).read_text().splitlines() if bill_of(runs).exists() else []
    return [line for line in lines if not line.startswith(f"{selftest.PHASE} ")]


# --- sittings -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Story:
    """What happened to a run: kills by where they struck, and all sittings, the last of them undisturbed."""

    kills: Mapping[str, int]
    sittings: int


def begin(cfg: DictConfig, runs: Path, first: Callable[[], None] = lambda: None) -> int:
    """One sitting at the run in a process of its own, which is there at once; its id. `first` is done there before."""
    if child := os.fork():
        return child
    status = 1
    try:
        first()
        cfg.resume = str(folder) if (folder := folder_of(runs)) else None
        runner.run(cfg, quiet=True)
        status = 0
    except BaseException:  # the child ends here, and its parent is told by the status
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(status)


def whole(runs: Path, **options: Any) -> None:
    """The run from start to end. Raises RuntimeError where it ends otherwise."""
    _end(os.waitpid(begin(ready(runs, options), runs), 0)[1])


def hammer(runs: Path, *, kills: int, calls: int, seed: int, **options: Any) -> Story:
    """The run, killed `kills` times and taken up again each time, then once more until it is complete.

    calls: of the same run when nobody kills it. A fifth of the moments lie before the first call of a sitting; the
    others are some calls further on, by so many that about a quarter of the kills come after the last call. A run that
    was complete before the last kill is taken up all the same: it writes its results once more.
    """
    cfg, rng, where, sittings = ready(runs, options), random.Random(seed), Counter[str](), 0
    pace, length = 0.5, 1.0  # seconds of a sitting to its first call, and to its end when nothing is left to ask
    while where.total() < kills:
        before, child, began = billed(runs), begin(cfg, runs), time.monotonic()
        sittings += 1
        early, over = rng.random() < 0.2, len(set(before)) >= calls
        further = rng.randint(0, max(2, round(4 * calls / kills)))
        patience = rng.uniform(0.0, pace if early else length)
        made, passed, status = 0, 0.0, None
        while status is None and (passed < patience if early or over else made < further):
            time.sleep(0.001)
            gone, ended = os.waitpid(child, os.WNOHANG)
            status = ended if gone else None
            first, made, passed = made == 0, len(billed(runs)) - len(before), time.monotonic() - began
            if first and made:
                pace, length = passed, 2 * passed
        if status is None:
            time.sleep(rng.uniform(0.0, 0.006))
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            lines = billed(runs)
            where["finish" if over else "start" if len(lines) == len(before) else _part(lines[-1])] += 1
        else:
            _end(status)
            length = passed
    _end(os.waitpid(begin(cfg, runs), 0)[1])
    return Story(kills=dict(where), sittings=sittings + 1)


def _part(line: str) -> str:
    return "ingest" if line.split(maxsplit=1)[0] in INGEST else "answers"


def ready(runs: Path, options: Mapping[str, Any]) -> DictConfig:
    """The configuration, composed; and all imported and read that a sitting would import and read, without a thread."""
    runs.mkdir(parents=True, exist_ok=True)
    cfg = config.compose(*overrides(runs, **options))
    build.pipeline(cfg)
    resume.settings(config.plain(cfg), build.component(cfg, "dataset").open().sha256)
    if options.get("tracker") != "none":
        importlib.import_module("mlflow.store.tracking.sqlalchemy_store")
    return cfg


def _end(status: int) -> None:
    if status:
        raise RuntimeError(
            f"a sitting must end well when nobody kills it, got status {status}; its reason stands above"
        )


# --- what is left -------------------------------------------------------------------------------------------


def figures(folder: Path) -> dict[str, float]:
    """metrics.json without what depends on the clock, or on how often the run was interrupted:
    every sitting probes the model anew."""
    metrics: dict[str, float] = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    clock, often = ("seconds/", "cost/busy_seconds/", f"cost/{selftest.PHASE}/"), ("/hits", "/lost")
    return {k: v for k, v in metrics.items() if not k.startswith(clock) and not k.endswith(often)}


def differing(one: Path, other: Path) -> list[str]:
    """Names of the files in which the results of two runs differ."""
    names = ("questions.jsonl", "data.json")
    found = [name for name in names if (one / name).read_bytes() != (other / name).read_bytes()]
    return found + ["metrics.json"] * (figures(one) != figures(other))


def selected(file: Path, query: str) -> list[Any]:
    """The rows that a query gives on a SQLite file that nobody writes to."""
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as db:
        return db.execute(query).fetchall()


def paid_twice(folder: Path) -> int:
    """Calls whose reply was paid for, recorded, and paid for again."""
    query = """SELECT request FROM attempts WHERE request != '' AND outcome = 'ok' AND NOT cache_hit
               GROUP BY request HAVING COUNT(*) > 1"""
    return len(selected(folder / "ledger.sqlite", query))


def lost(folder: Path) -> int:
    """Calls that were under way at a kill, by the ledger."""
    return int(selected(folder / "ledger.sqlite", "SELECT COUNT(*) FROM sent")[0][0])


def tracked(runs: Path) -> list[str]:
    """The status of each MLflow run of this run's experiment."""
    query = "SELECT r.status FROM runs r JOIN experiments e USING (experiment_id) WHERE e.name = '{}'"
    return [row[0] for row in selected(runs.parent / "mlflow.db", query.format(runs.name))]
