"""A run on disk as it happens: every attempt at a model call, and one final row for each question and repeat.

One SQLite file a run. Each row is committed before the next thing is done, so a killed run loses at most what was under
way; keys make a second row for the same thing impossible; a run goes on only with the settings it was begun with.
A call is noted before it is sent, so that one whose reply never came is known of: a server may have been paid for it.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from filelock import FileLock, Timeout

from sodamem import sqlite_file
from sodamem.errors import ConfigError, StoreError
from sodamem.metric.cost import gpu_seconds
from sodamem.protocols import Chat
from sodamem.types import Usage
from sodamem.watched import watched

Final = Literal["ok", "failed", "unjudged"]
VERSION = 2
WHAT = "ledger"
# A sitting is one process at the run; its attempts are numbered, so that no attempt can be there twice. What stands in
# `sent` has had no end yet: it is under way, or was when its sitting died.
TABLES = """
CREATE TABLE run (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE phases (phase TEXT PRIMARY KEY, settings TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sittings (sitting INTEGER PRIMARY KEY);
CREATE TABLE results (
    question_id TEXT NOT NULL, repeat INTEGER NOT NULL, reason TEXT NOT NULL, payload TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('ok', 'failed', 'unjudged')), PRIMARY KEY (question_id, repeat)
) WITHOUT ROWID;
CREATE TABLE attempts (
    sitting INTEGER NOT NULL, number INTEGER NOT NULL, owner TEXT NOT NULL, repeat INTEGER NOT NULL,
    request TEXT NOT NULL, outcome TEXT NOT NULL, ended REAL NOT NULL,
    phase TEXT NOT NULL, model TEXT NOT NULL, prompt INTEGER NOT NULL, cached INTEGER, completion INTEGER NOT NULL,
    reasoning INTEGER, seconds REAL NOT NULL, cache_hit INTEGER NOT NULL, PRIMARY KEY (sitting, number)
) WITHOUT ROWID;
CREATE INDEX attempts_of ON attempts (owner, repeat, request);
CREATE TABLE sent (owner TEXT NOT NULL, repeat INTEGER NOT NULL, request TEXT NOT NULL, sitting INTEGER NOT NULL);
CREATE INDEX sent_of ON sent (owner, repeat, request)
"""
_FINISH = """
INSERT INTO results (question_id, repeat, status, reason, payload) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (question_id, repeat) DO UPDATE SET status = excluded.status, reason = excluded.reason,
payload = excluded.payload WHERE results.status != 'ok'
"""
_BEFORE = """
SELECT MIN(sitting) FROM (
    SELECT 0 AS sitting FROM attempts WHERE owner = ?1 AND repeat = ?2 AND request = ?3 AND sitting < ?4
    AND outcome = 'ok' AND NOT cache_hit
    UNION SELECT MAX(sitting) FROM sent WHERE owner = ?1 AND repeat = ?2 AND request = ?3 AND sitting < ?4
)
"""
_ENDED = """
DELETE FROM sent WHERE rowid =
(SELECT MAX(rowid) FROM sent WHERE owner = ? AND repeat = ? AND request = ? AND sitting = ?)
"""
_USAGE = tuple(field.name for field in fields(Usage))
_ATTEMPT = ("sitting", "number", "owner", "repeat", "request", "outcome", "ended", *_USAGE)
_scope: ContextVar[tuple[str, int]] = ContextVar("scope", default=("", 0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """The final row of a question: what came of it, why if it is not ok, and what the run needs of it again."""

    question_id: str
    repeat: int
    status: Final
    reason: str
    payload: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One attempt at a model call. `owner` is a question's id, or what else the call was made for.

    request: hash of the logical call that it belongs to · outcome: ok, truncated, retried or the reason of a failure ·
    ended: seconds on a clock that only its sitting shares.
    """

    sitting: int
    owner: str
    repeat: int
    request: str
    outcome: str
    ended: float
    usage: Usage


class Ledger:
    """An open ledger; usable from any thread, by one process at a time.

    key: names the run wherever it is recorded, in every sitting and wherever its folder is moved ·
    settings: phase -> what decides its results. Raises ConfigError with the differences when the file was begun with
    others, StoreError when it is damaged or in use.
    """

    def __init__(self, path: str | Path, settings: Mapping[str, Mapping[str, object]]) -> None:
        self.path = Path(path).absolute()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._owner = FileLock(f"{self.path}.open")  # the system lets go of it when the process dies
        try:
            self._owner.acquire(timeout=0)
        except Timeout:
            raise StoreError(f"ledger {self.path} must be used by one run at a time, and another has it open") from None
        self._lock = threading.Lock()
        try:
            self._db = sqlite_file.connect(self.path, WHAT, VERSION, TABLES)
            with self._writing() as db:
                self._compare(settings)
                db.execute("INSERT INTO run SELECT ? WHERE NOT EXISTS (SELECT 1 FROM run)", (uuid.uuid4().hex,))
                self.key: str = db.execute("SELECT key FROM run").fetchone()[0]
                self.sitting: int = db.execute("INSERT INTO sittings DEFAULT VALUES RETURNING sitting").fetchone()[0]
        except BaseException:
            self.close()
            raise
        self._number = 0
        self._again: set[tuple[str, int, str]] = set()

    def close(self) -> None:
        if "_db" in self.__dict__:
            self._db.close()
        self._owner.release()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- questions ----------------------------------------------------------------------------------------------

    def done(self, question_id: str, repeat: int = 0) -> bool:
        """Whether nothing is left to do: failed and unjudged questions are done again."""
        found = self.result(question_id, repeat)
        return found is not None and found.status == "ok"

    def result(self, question_id: str, repeat: int = 0) -> Row | None:
        """The final row as it stands, None before there is one."""
        rows = self._rows("WHERE question_id = ? AND repeat = ?", (question_id, repeat))
        return rows[0] if rows else None

    def finish(self, question_id: str, repeat: int, status: Final, payload: object, reason: str = "") -> None:
        """Write the final row, in place of one that was not ok. Raises StoreError where an ok one stands."""
        if status not in get_args(Final):
            raise StoreError(f"status must be one of {', '.join(get_args(Final))}, got {status}")
        row = (question_id, repeat, status, reason, json.dumps(payload))
        with self._writing() as db:
            changed = db.execute(_FINISH, row).rowcount
            if not changed:
                raise StoreError(f"question {question_id}, repeat {repeat}, must be finished once, and is already ok")

    def results(self) -> list[Row]:
        """All final rows, by question id and repeat."""
        return self._rows()

    def counts(self) -> dict[str, int]:
        """Final rows by status, and attempts: how far a run has come."""
        with self._lock, sqlite_file.faults(self.path, WHAT):
            return _counts(self._db)

    # --- attempts -----------------------------------------------------------------------------------------------

    @contextmanager
    def scope(self, owner: str, repeat: int = 0) -> Iterator[None]:
        """Calls made by this thread inside belong to this question (or to what else `owner` names)."""
        before = _scope.set((owner, repeat))
        try:
            yield
        finally:
            _scope.reset(before)

    def watch(self, chat: Chat) -> Chat:
        """The chat, with every call written down before it is sent, and every attempt before its reply is handed on.

        A reply that this run paid for in an earlier sitting is marked as paid, though it comes from the cache now: what
        a run reports of its questions does not depend on how often it was interrupted.
        """
        return watched(chat, self)

    def send(self, request: str) -> None:
        """A call that is about to be sent, for the question whose scope this is; it ends with its `record`."""
        with self._writing() as db:
            db.execute("INSERT INTO sent VALUES (?, ?, ?, ?)", (*_scope.get(), request, self.sitting))

    def lost(self) -> int:
        """Calls that were under way when a sitting ended: sent, maybe paid for, and their replies not kept."""
        query = "SELECT COUNT(*) FROM sent WHERE sitting < ?"
        count: int = self._select(query, (self.sitting,))[0][0]
        return count

    def before(self, request: str) -> int | None:
        """What earlier sittings did of this call for the question whose scope this is; said once in a sitting.

        0 when one paid for its reply, else the last sitting that it was under way in, None when none sent it.
        """
        if self.sitting == 1:
            return None
        owner, repeat = _scope.get()
        with self._lock, sqlite_file.faults(self.path, WHAT):
            found: int | None = self._db.execute(_BEFORE, (owner, repeat, request, self.sitting)).fetchone()[0]
            if found is None or (owner, repeat, request) in self._again:
                return None
            self._again.add((owner, repeat, request))
        return found

    def record_attempt(self, usage: Usage, outcome: str = "ok", request: str = "") -> None:
        """One attempt that has just ended, for the question whose scope this is."""
        self.record((usage,), outcome, request)

    def record(self, usages: Sequence[Usage], outcome: str, request: str, sitting: int | None = None) -> None:
        """The attempts of one logical call that has just ended: all but the last were followed by another.

        sitting: in which the call was sent, this one unless given.
        """
        owner, repeat = _scope.get()
        left, now = sum(usage.seconds for usage in usages), time.perf_counter()
        with self._writing() as db:
            for place, usage in enumerate(usages):
                left -= usage.seconds
                self._number += 1
                state = outcome if place == len(usages) - 1 else "retried"
                values = (getattr(usage, name) for name in _USAGE)
                row = (self.sitting, self._number, owner, repeat, request, state, now - left, *values)
                marks = ", ".join("?" * len(row))
                db.execute(f"INSERT INTO attempts ({', '.join(_ATTEMPT)}) VALUES ({marks})", row)
            db.execute(_ENDED, (owner, repeat, request, sitting or self.sitting))

    def attempts(self, owner: str | None = None) -> list[Attempt]:
        """Every attempt of every sitting, or those for one owner, in the order in which they ended."""
        names = ("sitting", "owner", "repeat", "request", "outcome", "ended", *_USAGE)
        where = "" if owner is None else "WHERE owner = ?"
        query = f"SELECT {', '.join(names)} FROM attempts {where} ORDER BY sitting, number"
        rows = self._select(query, () if owner is None else (owner,))
        found = []
        for row in rows:
            given = dict(zip(names, row, strict=True))
            usage = Usage(**{name: given.pop(name) for name in _USAGE} | {"cache_hit": bool(row[-1])})
            found.append(Attempt(**given, usage=usage))
        return found

    def busy(self) -> dict[str, float]:
        """Seconds in which each model had a request to work on, by model; times the GPUs, that is its GPU-seconds."""
        times: dict[tuple[str, int], list[tuple[float, float]]] = {}
        for row in self.attempts():
            if not row.usage.cache_hit:
                spans = times.setdefault((row.usage.model, row.sitting), [])
                spans.append((row.ended - row.usage.seconds, row.ended))
        found: dict[str, float] = {}
        for (model, _), spans in sorted(times.items()):
            found[model] = found.get(model, 0.0) + gpu_seconds(spans, gpus=1)
        return found

    # --- the file -----------------------------------------------------------------------------------------------

    def _compare(self, settings: Mapping[str, Mapping[str, object]]) -> None:
        """Note the settings of a new run; refuse others for one that was begun."""
        given = {phase: json.dumps(value, sort_keys=True) for phase, value in settings.items()}
        known = dict(self._db.execute("SELECT phase, settings FROM phases").fetchall())
        if not known:
            self._db.executemany("INSERT INTO phases VALUES (?, ?)", given.items())
        elif changes := list(_changes(_parsed(known), _parsed(given))):
            raise ConfigError(
                f"run {self.path.parent} must go on with the settings it was begun with; changed: "
                f"{'; '.join(changes[:8])}. Put them back, or start a new run"
            )

    def _rows(self, where: str = "", given: Sequence[object] = ()) -> list[Row]:
        names = tuple(field.name for field in fields(Row))
        rows = self._select(f"SELECT {', '.join(names)} FROM results {where} ORDER BY question_id, repeat", given)
        return [Row(**dict(zip(names, row, strict=True)) | {"payload": json.loads(row[-1])}) for row in rows]

    def _select(self, query: str, given: Sequence[object] = ()) -> list[Any]:
        with self._lock, sqlite_file.faults(self.path, WHAT):
            return self._db.execute(query, tuple(given)).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        with self._lock, sqlite_file.faults(self.path, WHAT), sqlite_file.transaction(self._db) as db:
            yield db


def once(attempts: Sequence[Attempt]) -> list[Attempt]:
    """The attempts as if the run had been made in one sitting: of each owner, those of the last one that it was in.

    What an owner has asked is asked again, from the cache, when a sitting ends before its row is there.
    """
    last: dict[tuple[str, int], int] = {}
    for row in attempts:
        last[row.owner, row.repeat] = max(row.sitting, last.get((row.owner, row.repeat), 0))
    return [row for row in attempts if row.sitting == last[row.owner, row.repeat]]


def progress(path: str | Path) -> dict[str, int]:
    """Counts of a ledger that may be in use by a run. Raises StoreError when there is none."""
    path = Path(path).absolute()
    with sqlite_file.faults(path, WHAT), closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        return _counts(db)


def _counts(db: sqlite3.Connection) -> dict[str, int]:
    found = dict(db.execute("SELECT status, COUNT(*) FROM results GROUP BY status").fetchall())
    attempts: int = db.execute("SELECT COUNT(*) FROM attempts").fetchone()[0]
    return {**{status: found.get(status, 0) for status in get_args(Final)}, "attempts": attempts}


def _parsed(settings: Mapping[str, str]) -> dict[str, object]:
    return {phase: json.loads(value) for phase, value in settings.items()}


def _changes(before: object, after: object, path: str = "") -> Iterator[str]:
    """Where two plain values differ, as `path: before -> after`."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            yield from _changes(before.get(key, "(absent)"), after.get(key, "(absent)"), f"{path}.{key}".lstrip("."))
    elif before != after:
        yield f"{path}: {json.dumps(before)} -> {json.dumps(after)}"
