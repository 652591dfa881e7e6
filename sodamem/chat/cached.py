"""Replies kept on disk by content: what has been paid for once is read again at no cost, and is counted as such.

The key is everything that decides a reply: the request to its last field, the chat's digest, and what the server says
it serves. Failures and replies that were cut off are not kept (instructor#2585, lobster#129).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from sqlite3 import Connection
from typing import Literal

from sodamem import sqlite_file
from sodamem.chat.served import Served, ServedChat
from sodamem.errors import ConfigError, ModelError
from sodamem.text import digest
from sodamem.types import ChatReply, ChatRequest, Usage

VERSION = 1
WHAT = "reply cache"
TABLES = """
CREATE TABLE replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE served (chat TEXT PRIMARY KEY, served TEXT NOT NULL) WITHOUT ROWID
"""


@dataclass(frozen=True, kw_only=True)
class CachedChat(ServedChat):
    """A chat behind the cache at `path`. Safe for threads and processes that share the file.

    mode: `use` asks the chat for what is missing; `replay` never does: no server is needed, the model that was served
    last counts, and a reply that is missing is an error.
    """

    chat: ServedChat
    path: str | Path
    mode: Literal["use", "replay"]

    def __post_init__(self) -> None:
        if self.mode not in ("use", "replay"):
            raise ConfigError(f"mode must be use or replay, got {self.mode}")

    @property
    def digest(self) -> str:
        return self.chat.digest

    def ask(self, request: ChatRequest) -> ChatReply:
        """The kept reply, its usage marked as cache hits that took no time; else the chat's, kept from now on."""
        name = key(request, self.chat.digest, self.served())
        with self._open() as db:
            row = db.execute("SELECT reply FROM replies WHERE key = ?", (name,)).fetchone()
        if row:
            return _load(row[0])
        if self.mode == "replay":
            raise ModelError(
                f"reply cache {self.path} must hold every reply in mode replay, and lacks one of phase "
                f"{request.phase}. Use mode=use with the server running",
                reason="not_cached",
            )
        reply = self.chat.ask(request)
        if not reply.truncated:
            with self._open() as db:
                db.execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", (name, json.dumps(asdict(reply))))
        return reply

    def served(self) -> Served:
        """What the chat's server says, noted for replays; in mode replay, what it said last."""
        if (known := self.__dict__.get("_served")) is None:
            known = self._recalled() if self.mode == "replay" else self._noted()
            self.__dict__["_served"] = known
        return known

    def _noted(self) -> Served:
        found = self.chat.served()
        with self._open() as db:
            row = (self.chat.digest, json.dumps(asdict(found)))
            db.execute(
                "INSERT INTO served VALUES (?, ?) ON CONFLICT (chat) DO UPDATE SET served = excluded.served", row
            )
        return found

    def _recalled(self) -> Served:
        with self._open() as db:
            row = db.execute("SELECT served FROM served WHERE chat = ?", (self.chat.digest,)).fetchone()
        if row is None:
            said = f"reply cache {self.path} must hold replies of this chat in mode replay, and holds none"
            raise ModelError(said, reason="not_cached")
        return Served(**json.loads(row[0]))

    @contextmanager
    def _open(self) -> Iterator[Connection]:
        path = Path(self.path).expanduser().absolute()
        with closing(sqlite_file.connect(path, WHAT, VERSION, TABLES)) as db, sqlite_file.faults(path, WHAT):
            yield db


def key(request: ChatRequest, chat: str, served: Served) -> str:
    """The name of a reply. Keys of a schema keep their order: a model writes its fields in that order."""
    fields = asdict(request) | {"schema": json.dumps(request.schema)}
    return digest("reply/1", chat, served.identity, fields)


def _load(text: str) -> ChatReply:
    row = json.loads(text)
    usage = tuple(replace(Usage(**entry), seconds=0.0, cache_hit=True) for entry in row["usage"])
    return ChatReply(**{**row, "usage": usage})
