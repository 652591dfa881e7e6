"""A chat whose calls a ledger knows: each before it is sent, and each attempt before its reply is handed on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from sodamem.chat.cached import CachedChat
from sodamem.chat.served import Served, ServedChat
from sodamem.errors import ModelError
from sodamem.protocols import Chat
from sodamem.text import digest
from sodamem.types import ChatReply, ChatRequest

if TYPE_CHECKING:
    from sodamem.ledger import Ledger


def watched(chat: Chat, ledger: Ledger) -> Chat:
    """The chat, watched. What comes from its cache, if it has one, is not sent."""
    if isinstance(chat, CachedChat):
        return _Watched(chat=replace(chat, chat=_Sent(chat=chat.chat, ledger=ledger)), ledger=ledger)
    return _Watched(chat=_Sent(chat=cast(ServedChat, chat), ledger=ledger), ledger=ledger)


@dataclass(frozen=True, kw_only=True)
class _Watched(Chat):
    chat: Chat
    ledger: Ledger

    @property
    def digest(self) -> str:
        return self.chat.digest

    def ask(self, request: ChatRequest) -> ChatReply:
        name = _name(self.digest, request)
        before = self.ledger.before(name)
        try:
            reply = self.chat.ask(request)
        except ModelError as error:
            self.ledger.record(error.usage, error.reason, name)
            raise
        paid = tuple(replace(usage, cache_hit=False) for usage in reply.usage)
        if before is None or paid == reply.usage:
            self.ledger.record(reply.usage, "truncated" if reply.truncated else "ok", name)
            return reply
        # This run paid for what the cache gave. Its attempt is there too, unless the sitting died just before it was.
        self.ledger.record(paid if before else reply.usage, "ok", name, before)
        return replace(reply, usage=paid)


@dataclass(frozen=True, kw_only=True)
class _Sent(ServedChat):
    """The chat that really asks, with each call noted before."""

    chat: ServedChat
    ledger: Ledger

    @property
    def digest(self) -> str:
        return self.chat.digest

    def served(self) -> Served:
        return self.chat.served()

    def ask(self, request: ChatRequest) -> ChatReply:
        self.ledger.send(_name(self.digest, request))
        return self.chat.ask(request)


def _name(chat: str, request: ChatRequest) -> str:
    return digest(chat, repr(request))[:16]
