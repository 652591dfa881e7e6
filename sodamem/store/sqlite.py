"""One history's memory in one SQLite file: the only truth of the system (paper sections 4.4 and 4.7).

A session is written in one transaction, so a kill loses nothing that was committed and the next run goes on.
`finish` writes everything that depends on all sessions together (currency, profiles, graph edges, the fingerprint),
in one transaction as well. Nothing on the read path writes.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sodamem.errors import ConfigError, ProvenanceError, StoreError
from sodamem.store import codec
from sodamem.text import digest
from sodamem.types import Edge, Entity, Extraction, FactEvent, History, MessagePiece, Session, Turn

FORMAT = 2
_PATIENCE = 1200  # attempts of 50 ms each

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sessions(id TEXT PRIMARY KEY, at TEXT NOT NULL, digest TEXT NOT NULL, rejected TEXT NOT NULL)
  WITHOUT ROWID;
CREATE TABLE turns(id TEXT PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions(id), idx INTEGER NOT NULL,
  role TEXT NOT NULL, speaker TEXT NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL, caption TEXT NOT NULL,
  UNIQUE(session, idx)) WITHOUT ROWID;
CREATE TABLE pieces(id TEXT PRIMARY KEY, turn TEXT NOT NULL REFERENCES turns(id), start INTEGER NOT NULL,
  end INTEGER NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE facts(id TEXT PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions(id),
  extracted TEXT NOT NULL, current TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE profiles(id TEXT PRIMARY KEY, payload TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entities(id TEXT NOT NULL, session TEXT NOT NULL REFERENCES sessions(id), payload TEXT NOT NULL,
  PRIMARY KEY(id, session)) WITHOUT ROWID;
CREATE TABLE edges(source TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL,
  weight REAL NOT NULL, PRIMARY KEY(source, target, kind, label)) WITHOUT ROWID;
"""


@dataclass(frozen=True, kw_only=True)
class SqliteStore:
    """Opens the store of a history under `folder`, one file each, named by a hash and never by user input.

    `folder` null gives each combination of data and ingest settings a folder of its own under the runs; a folder
    that is named belongs to one combination, and another is refused. `frozen` opens read-only and never ingests.
    """

    folder: str | None
    frozen: bool

    def __post_init__(self) -> None:
        if self.folder == "":
            raise ConfigError("store.folder must name a directory or be null, got ''. Leave it out or give a path")

    @contextmanager
    def open(self, history: History, settings: Mapping[str, object], default: Path) -> Iterator[Store]:
        """The store of `history`; `default` is the parent folder used when no folder is named."""
        if self.folder:
            path = Path(self.folder).absolute() / f"{digest(history.id)[:24]}.sqlite"
        else:  # datasets may share the ids of their histories, never the content
            path = default / digest(FORMAT, settings)[:16] / f"{digest(history.id, history.digest)[:24]}.sqlite"
        store = Store(path, history.id, settings, frozen=self.frozen)
        try:
            yield store
        finally:
            store.close()


class Store:
    """An open store. Reading methods give values in canonical order, whatever the order of ingest was."""

    def __init__(self, path: Path, history: str, settings: Mapping[str, object], *, frozen: bool) -> None:
        self.path, self.frozen = path, frozen
        if frozen and not path.exists():
            raise StoreError(f"store.frozen must open an existing store, got none at {path}. Ingest first")
        self._db = _connect(path, frozen)
        try:
            self._check(history, settings)
        except StoreError:
            self._db.close()
            raise

    def _check(self, history: str, settings: Mapping[str, object]) -> None:
        mine = {"format": FORMAT, "history": history, **settings}
        if not self.frozen:
            with self._transaction():  # two processes may arrive together: the second finds the schema in place
                if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name='meta'").fetchone():
                    for statement in _SCHEMA.strip().rstrip(";").split(";\n"):
                        self._db.execute(statement)
                    meta = {"settings": _canonical(mine), "complete": "", "fingerprint": ""}
                    self._db.executemany("INSERT INTO meta VALUES(?,?)", meta.items())
        theirs = json.loads(self.meta("settings"))
        if changed := list(_differences(theirs, mine)):
            more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
            raise StoreError(
                f"store {self.path} must have the settings of this run, it has {changed[0]}{more}. "
                "Choose another store.folder, or delete the file"
            )

    def close(self) -> None:
        if not self.frozen:
            with suppress(sqlite3.OperationalError):  # another process still has it open: that one will tidy up
                self._db.execute("PRAGMA journal_mode=DELETE")  # so that a read-only folder can be opened later
        self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException as failure:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(failure, sqlite3.DatabaseError):
                raise StoreError(
                    f"store {self.path} must be writable, got: {failure}. Check space and rights; delete it if damaged"
                ) from failure
            raise

    # --- writing ----------------------------------------------------------------------------------------------

    def holds(self, session: Session) -> bool:
        """True when this very session is in the store; a different one under its id is refused."""
        rows = self._rows("SELECT digest FROM sessions WHERE id=?", session.id)
        if rows and rows[0][0] != session_digest(session):
            raise StoreError(
                f"session {session.id} in {self.path} must stay as it was ingested, got other words under the same id. "
                "Give the changed session a new id, or use a new store.folder"
            )
        return bool(rows)

    def add(self, session: Session, extraction: Extraction) -> None:
        """Write one session and what was extracted from it, in one transaction; a second time changes nothing."""
        if self.frozen:
            raise StoreError(f"store {self.path} must not be written, it was opened frozen. Set store.frozen=false")
        _check_pieces(session, extraction)
        with self._transaction():
            if self.holds(session):
                return
            key, put = session.id, self._db.executemany
            rejected = json.dumps(dict(extraction.rejected), sort_keys=True)
            put("INSERT INTO sessions VALUES(?,?,?,?)", [(key, _iso(session.at), session_digest(session), rejected)])
            put("INSERT INTO turns VALUES(?,?,?,?,?,?,?,?)", [_turn_row(turn) for turn in session.turns])
            pieces = {piece.id: piece for piece in extraction.pieces}
            pieces |= {piece.id: piece for fact in extraction.facts for piece in fact.pieces}
            put(
                "INSERT INTO pieces VALUES(?,?,?,?,?)",
                [(i, p.turn_id, p.start, p.end, p.text) for i, p in pieces.items()],
            )
            facts = ((fact.id, key, codec.dump(fact)) for fact in extraction.facts)
            put("INSERT OR IGNORE INTO facts VALUES(?,?,?,?)", [(*row, row[2]) for row in facts])
            put(
                "INSERT OR IGNORE INTO entities VALUES(?,?,?)",
                [(e.id, key, codec.dump(e)) for e in extraction.entities],
            )
            self._set(complete="", fingerprint="")

    def finish(self, facts: Sequence[FactEvent], edges: Iterable[Edge], profiles: Sequence[FactEvent] = ()) -> str:
        """Write the current view of all facts, every edge and profile, seal the store, and return its fingerprint.

        A profile that was there before keeps the DERIVED_FROM edges it was written with: what it cites cannot change.
        """
        with self._transaction():
            self._check_profiles(profiles)
            self._db.execute("DELETE FROM profiles")
            self._db.executemany("INSERT INTO profiles VALUES(?,?)", [(it.id, codec.dump(it)) for it in profiles])
            self._db.execute(
                "DELETE FROM edges WHERE kind <> 'DERIVED_FROM' OR source NOT IN (SELECT id FROM profiles)"
            )
            known = {str(row[0]) for row in self._rows("SELECT id FROM facts")}
            if known != (given := {fact.id for fact in facts}):
                raise StoreError(f"store {self.path} must finish the facts it holds, got {len(known ^ given)} others")
            self._db.executemany(
                "UPDATE facts SET current=? WHERE id=?", [(codec.dump(fact), fact.id) for fact in facts]
            )
            rows = {(e.source, e.target, e.kind, e.label): e.weight for e in edges}
            self._db.executemany(
                "INSERT OR REPLACE INTO edges VALUES(?,?,?,?,?)", [(*key, weight) for key, weight in rows.items()]
            )
            fingerprint = self._fingerprint()
            self._set(complete="yes", fingerprint=fingerprint)
        return fingerprint

    def _check_profiles(self, profiles: Sequence[FactEvent]) -> None:
        held = {str(row[0]) for row in self._rows("SELECT id FROM pieces")} if profiles else set()
        for profile in profiles:
            if not held.issuperset(piece.id for piece in profile.pieces):
                raise ProvenanceError(
                    f"profile {profile.id} must cite pieces of {self.path}, got others. Mend maintenance"
                )

    def _set(self, **values: str) -> None:
        self._db.executemany("UPDATE meta SET value=? WHERE key=?", [(value, key) for key, value in values.items()])

    # --- reading ----------------------------------------------------------------------------------------------

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.DatabaseError as failure:
            raise StoreError(
                f"store {self.path} must be readable, got: {failure}. Delete it to build it again"
            ) from failure

    def meta(self, key: str) -> str:
        rows = self._rows("SELECT value FROM meta WHERE key=?", key)
        if not rows:
            raise StoreError(f"store {self.path} must record its {key}, got none. Delete it to build it again")
        return str(rows[0][0])

    @property
    def complete(self) -> bool:
        return self.meta("complete") == "yes"

    @property
    def fingerprint(self) -> str:
        return self.meta("fingerprint")

    def turns(self) -> list[Turn]:
        rows = self._rows(
            "SELECT t.id, t.session, t.idx, t.role, t.speaker, t.text, t.at, t.caption FROM turns t "
            "JOIN sessions s ON s.id = t.session ORDER BY s.at, s.id, t.idx"
        )
        names = ("id", "session_id", "index", "role", "speaker", "text", "at", "caption")
        return [Turn(**{**dict(zip(names, row, strict=True)), "at": datetime.fromisoformat(row[6])}) for row in rows]

    def pieces(self) -> list[MessagePiece]:
        rows = self._rows(
            "SELECT p.turn, p.start, p.end, p.text FROM pieces p JOIN turns t ON t.id = p.turn "
            "JOIN sessions s ON s.id = t.session ORDER BY s.at, s.id, t.idx, p.start, p.end"
        )
        return [MessagePiece(turn_id=turn, start=start, end=end, text=text) for turn, start, end, text in rows]

    def facts(self, *, extracted: bool = False) -> list[FactEvent]:
        """All facts as they stand now, or as they were extracted, in the order they were said."""
        column = "extracted" if extracted else "current"
        facts = [codec.fact(row[0]) for row in self._rows(f"SELECT {column} FROM facts")]
        return sorted(facts, key=lambda fact: (fact.order, fact.id))

    def profiles(self) -> list[FactEvent]:
        """What maintenance made of the facts, current and closed, in the order of the words last cited."""
        profiles = [codec.fact(row[0]) for row in self._rows("SELECT payload FROM profiles")]
        return sorted(profiles, key=lambda profile: (profile.order, profile.id))

    def entities(self) -> list[Entity]:
        merged: dict[str, Entity] = {}
        for (payload,) in self._rows("SELECT payload FROM entities ORDER BY id, session"):
            new = codec.entity(payload)
            old = merged.get(new.id, new)
            merged[new.id] = Entity(id=new.id, type=old.type, surfaces=tuple(sorted({*old.surfaces, *new.surfaces})))
        return list(merged.values())

    def edges(self) -> list[Edge]:
        rows = self._rows("SELECT source, target, kind, label, weight FROM edges ORDER BY 1, 2, 3, 4")
        return [Edge(source=s, target=t, kind=kind, label=label, weight=w) for s, t, kind, label, w in rows]

    def counts(self) -> dict[str, int]:
        """Rows of every table, and candidates rejected at ingest by reason (`rejected/<reason>`)."""
        tables = ("sessions", "turns", "pieces", "facts", "profiles", "entities", "edges")
        counts = {table: int(self._rows(f"SELECT count(*) FROM {table}")[0][0]) for table in tables}
        for (payload,) in self._rows("SELECT rejected FROM sessions ORDER BY id"):
            for reason, count in json.loads(payload).items():
                counts[f"rejected/{reason}"] = counts.get(f"rejected/{reason}", 0) + count
        return counts

    def _fingerprint(self) -> str:
        seal = hashlib.sha256()
        for query in (
            "SELECT id, session, idx, role, speaker, at, text, caption FROM turns ORDER BY id",
            "SELECT id, text FROM pieces ORDER BY id",
            "SELECT id, current FROM facts ORDER BY id",
            "SELECT id, payload FROM profiles ORDER BY id",
            "SELECT id, payload FROM entities ORDER BY id, session",
            "SELECT source, target, kind, label, weight FROM edges ORDER BY 1, 2, 3, 4",
        ):
            for row in self._rows(query):
                seal.update(json.dumps(row, ensure_ascii=True).encode() + b"\n")
        return seal.hexdigest()


def session_digest(session: Session) -> str:
    return digest(session.id, _iso(session.at), [{**asdict(turn), "at": _iso(turn.at)} for turn in session.turns])


def _check_pieces(session: Session, extraction: Extraction) -> None:
    texts = {turn.id: turn.text for turn in session.turns}
    for piece in (*extraction.pieces, *(piece for fact in extraction.facts for piece in fact.pieces)):
        if texts.get(piece.turn_id, "")[piece.start : piece.end] != piece.text:
            raise ProvenanceError(
                f"piece {piece.id} must quote its turn exactly, got {piece.text[:40]!r}. Mend the extractor"
            )


def _turn_row(turn: Turn) -> tuple[object, ...]:
    return (turn.id, turn.session_id, turn.index, turn.role, turn.speaker, _iso(turn.at), turn.text, turn.caption)


def _differences(was: object, now: object, path: str = "") -> Iterator[str]:
    """The settings that differ, as dotted names with both values."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in sorted({*was, *now}):
            yield from _differences(was.get(key), now.get(key), f"{path}.{key}" if path else str(key))
    elif _canonical(was) != _canonical(now):
        yield f"{path} {_canonical(was)[:80]}, not {_canonical(now)[:80]}"


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")


def _write_ahead(db: sqlite3.Connection) -> None:
    """Switch to WAL. SQLite does not wait where the journal's mode changes, so this does: at most a minute."""
    for attempt in range(_PATIENCE):
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as busy:
            if "locked" not in str(busy) or attempt == _PATIENCE - 1:
                raise
            time.sleep(0.05)


def _connect(path: Path, frozen: bool) -> sqlite3.Connection:
    try:
        if frozen:
            return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, isolation_level=None, timeout=60)
        _write_ahead(db)
        db.execute("PRAGMA synchronous=NORMAL")
        return db
    except (OSError, sqlite3.OperationalError) as failure:
        raise StoreError(
            f"store {path} must be writable, got: {failure}. Check the directory and its rights"
        ) from failure
    except sqlite3.DatabaseError as failure:
        raise StoreError(
            f"store {path} must be a SQLite file, got: {failure}. Delete it to build it again"
        ) from failure
