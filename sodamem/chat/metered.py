"""What the calls of a stretch of work cost, noted where they are made, so that no part can forget an attempt.

Failed attempts are paid for and count (instructor#341). A meter belongs to the thread that opened it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from sodamem.errors import ModelError
from sodamem.protocols import Chat
from sodamem.types import ChatReply, ChatRequest, Usage

_meter: ContextVar[list[Usage] | None] = ContextVar("meter", default=None)


@contextmanager
def meter() -> Iterator[list[Usage]]:
    """A list that grows by every attempt this thread makes inside; an inner meter has its attempts to itself."""
    paid: list[Usage] = []
    before = _meter.set(paid)
    try:
        yield paid
    finally:
        _meter.reset(before)


@dataclass(frozen=True, kw_only=True)
class MeteredChat(Chat):
    """A chat that tells the open meter, if there is one."""

    chat: Chat

    @property
    def digest(self) -> str:
        return self.chat.digest

    def ask(self, request: ChatRequest) -> ChatReply:
        try:
            reply = self.chat.ask(request)
        except ModelError as error:
            self._note(error.usage)
            raise
        self._note(reply.usage)
        return reply

    def _note(self, usage: tuple[Usage, ...]) -> None:
        if (paid := _meter.get()) is not None:
            paid.extend(usage)
