"""Verdicts on disk as they are given: one row for each judge, question and repeat, committed at once.

A judge is known by the digest of its model, prompt, parser and settings, so verdicts of a changed judge are never mixed
with those of what it was before.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from sodamem import sqlite_file
from sodamem.errors import ConfigError, StoreError
from sodamem.types import Usage, Verdict

VERSION = 1
WHAT = "verdicts"
TABLES = """
CREATE TABLE answers (sha256 TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE verdicts (
    judge TEXT NOT NULL, question_id TEXT NOT NULL, repeat INTEGER NOT NULL, name TEXT NOT NULL,
    label TEXT NOT NULL CHECK (label IN ('correct', 'incorrect', 'unjudged')), reason TEXT NOT NULL, raw TEXT NOT NULL,
    usage TEXT NOT NULL, PRIMARY KEY (judge, question_id, repeat)
) WITHOUT ROWID
"""
_PUT = """
INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (judge, question_id, repeat) DO UPDATE SET name = excluded.name, label = excluded.label,
reason = excluded.reason, raw = excluded.raw, usage = excluded.usage WHERE verdicts.label = 'unjudged'
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """What a verdict is about. judge: digest of the judge."""

    judge: str
    question_id: str
    repeat: int = 0


class Verdicts:
    """The verdicts on one file of answers; usable from any thread and by several processes.

    answers: sha256 of the answers. Raises ConfigError when the file holds verdicts on others.
    """

    def __init__(self, path: str | Path, answers: str) -> None:
        self.path = Path(path).absolute()
        self._lock = threading.Lock()
        self._db = sqlite_file.connect(self.path, WHAT, VERSION, TABLES)
        try:
            with sqlite_file.faults(self.path, WHAT):
                # A killed process loses nothing; with the power the last rows may go, which are then judged again.
                self._db.execute("PRAGMA synchronous = NORMAL")
                with sqlite_file.transaction(self._db) as db:
                    known = [row[0] for row in db.execute("SELECT sha256 FROM answers")]
                    if not known:
                        db.execute("INSERT INTO answers VALUES (?)", (answers,))
            if known and known != [answers]:
                raise ConfigError(
                    f"verdicts {self.path} must be on the same answers, got some with sha256 {known[0][:12]}, and now "
                    f"{answers[:12]}. Name another folder"
                )
        except BaseException:
            self._db.close()
            raise

    def all(self) -> dict[Key, Verdict]:
        """Every verdict that stands, unjudged ones included."""
        with self._lock, sqlite_file.faults(self.path, WHAT):
            rows = self._db.execute(
                "SELECT judge, question_id, repeat, name, label, reason, raw, usage FROM verdicts "
                "ORDER BY judge, question_id, repeat"
            ).fetchall()
        return {
            Key(judge=judge, question_id=question, repeat=repeat): Verdict(
                label=label, judge=name, reason=reason, raw=raw, usage=_usage(usage)
            )
            for judge, question, repeat, name, label, reason, raw, usage in rows
        }

    def put(self, verdicts: Mapping[Key, Verdict]) -> None:
        """Write verdicts, all or none. One that was unjudged is replaced; any other stands as it was first given."""
        rows = [(*astuple(key), *_row(verdict)) for key, verdict in verdicts.items()]
        with self._lock, sqlite_file.faults(self.path, WHAT), sqlite_file.transaction(self._db) as db:
            db.executemany(_PUT, rows)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Verdicts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _row(verdict: Verdict) -> tuple[str, ...]:
    usage = json.dumps([asdict(usage) for usage in verdict.usage])
    return (verdict.judge, verdict.label, verdict.reason, verdict.raw, usage)


def _usage(text: str) -> tuple[Usage, ...]:
    try:
        return tuple(Usage(**row) for row in json.loads(text))
    except (ValueError, TypeError) as error:
        raise StoreError(f"{WHAT} hold a usage that cannot be read ({error}). Move the file away") from error
