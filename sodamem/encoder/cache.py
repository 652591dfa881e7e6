"""Vectors shared by runs and processes: one SQLite file from (encoder, text) to float32 values.

Derived data: deleting the file loses nothing but time.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from sodamem.errors import StoreError
from sodamem.protocols import FittedEncoder

VERSION = 1  # of the table, kept in the file's user_version
TIMEOUT = 60.0  # seconds to wait while another process writes
PIECE = 500  # keys in one statement; SQLite allows at least 999
TABLE = """
CREATE TABLE vectors (encoder TEXT NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (encoder, text))
"""

Vector = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class VectorCache:
    """The file at `path`, made on first use. Safe for processes that read and write at the same time.

    Raises StoreError when the file is damaged, of another version, or in a place that cannot be written.
    """

    path: str | Path

    def get(self, encoder: str, texts: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are there, by text; `encoder` is the digest of a fitted encoder."""
        by_key = {_key(text): text for text in texts}
        keys = list(by_key)
        found: dict[str, Vector] = {}
        with self._open() as db:
            for start in range(0, len(keys), PIECE):
                piece = keys[start : start + PIECE]
                marks = ",".join("?" * len(piece))
                rows = db.execute(
                    f"SELECT text, vector FROM vectors WHERE encoder = ? AND text IN ({marks})", (encoder, *piece)
                )
                found.update((by_key[key], np.frombuffer(vector, dtype="<f4")) for key, vector in rows)
        return found

    def put(self, encoder: str, vectors: Mapping[str, Vector]) -> None:
        """Add vectors [d] by text, in one transaction. What is already there stays: it is the same."""
        rows = [(encoder, _key(text), np.asarray(vector, dtype="<f4").tobytes()) for text, vector in vectors.items()]
        with self._open() as db, db:
            db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        path = Path(self.path).expanduser().absolute()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                self._create(path)
            with closing(sqlite3.connect(path, timeout=TIMEOUT)) as db:
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if version != VERSION:
                    raise StoreError(f"vector cache {path} must be of version {VERSION}, got {version}. Delete it")
                yield db
        except (OSError, sqlite3.OperationalError) as error:
            raise StoreError(f"vector cache {path} cannot be used ({error}). Check place, rights and space") from error
        except (sqlite3.DatabaseError, ValueError) as error:
            raise StoreError(
                f"vector cache {path} is damaged ({error}). Delete it: it holds only what can be computed again"
            ) from error

    @staticmethod
    def _create(path: Path) -> None:
        """Made aside and moved into place under a lock, so that no process ever sees half a file."""
        with FileLock(f"{path}.lock", timeout=TIMEOUT):
            if path.exists():
                return
            draft = path.with_name(f"{path.name}.new")
            draft.unlink(missing_ok=True)
            with closing(sqlite3.connect(draft)) as db:
                db.execute("PRAGMA journal_mode = WAL")
                db.executescript(f"BEGIN; {TABLE}; PRAGMA user_version = {VERSION}; COMMIT;")
            draft.replace(path)


def cached_encode(encoder: FittedEncoder, texts: Sequence[str], cache: VectorCache | None) -> Vector:
    """float32 [n, d] like `encoder.encode(texts)`, where each text is encoded once in the life of the cache.

    A cache of None, and an encoder that says `cacheable = False` because it is fitted on one store, go straight
    through. Raises StoreError when the cache holds vectors of another length under this encoder's digest.
    """
    if cache is None or not texts or not getattr(encoder, "cacheable", True):
        return encoder.encode(texts)
    known = cache.get(encoder.digest, texts)
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    if missing:
        fresh = dict(zip(missing, encoder.encode(missing), strict=True))
        cache.put(encoder.digest, fresh)
        known |= fresh
    lengths = {len(vector) for vector in known.values()}
    if len(lengths) > 1:
        raise StoreError(
            f"vector cache {cache.path} holds vectors of lengths {sorted(lengths)} of one encoder. Delete it"
        )
    return np.stack([known[text] for text in texts])


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
