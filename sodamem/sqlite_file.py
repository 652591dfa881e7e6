"""SQLite files that outlive a process: opened with their version checked, every fault of theirs in one line.

Write-ahead logging, so that readers do not wait and a killed writer leaves no half-written row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from sodamem.errors import StoreError

TIMEOUT = 60.0  # seconds to wait while another process writes


def connect(path: Path, what: str, version: int, tables: str) -> sqlite3.Connection:
    """A connection in autocommit mode, usable from any thread; the file is made with `tables` on first use.

    It is made aside and moved into place under a lock, so that no process ever sees half a file. Raises StoreError
    when the file is of another version, damaged, or in a place that cannot be written.
    """
    with faults(path, what):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            with FileLock(f"{path}.lock", timeout=TIMEOUT):
                if not path.exists():
                    _create(path, version, tables)
        db = sqlite3.connect(path, timeout=TIMEOUT, isolation_level=None, check_same_thread=False)
        try:
            if (found := db.execute("PRAGMA user_version").fetchone()[0]) != version:
                raise StoreError(f"{what} {path} must be of version {version}, got {found}. Move it away")
        except BaseException:
            db.close()
            raise
        return db


@contextmanager
def faults(path: Path, what: str) -> Iterator[None]:
    """Turn what SQLite and the file system raise into a StoreError."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        raise StoreError(f"{what} {path} cannot be used ({error}). Check place, rights and space") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{what} {path} is damaged ({error}). Move it away") from error


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All of the body's writes or none; the write lock is taken at once, so that what it reads stays true."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _create(path: Path, version: int, tables: str) -> None:
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    db = sqlite3.connect(draft)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(f"BEGIN; {tables}; PRAGMA user_version = {version}; COMMIT;")
    finally:
        db.close()
    draft.replace(path)
