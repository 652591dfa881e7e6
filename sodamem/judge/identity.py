"""What makes a judge the same judge, and how one is asked the same thing again.

A judge is its model, prompt, parser and settings under one hash: a changed judge is a new judge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from sodamem.errors import ConfigError
from sodamem.protocols import Chat, Judge
from sodamem.types import ChatReply, ChatRequest

FAILED = "failed: "  # begins the reason of a verdict that there is none of because the model could not be asked


@runtime_checkable
class Repeatable(Protocol):
    """A judge whose verdict may differ from one time to the next, as a model's may."""

    def repeated(self, number: int) -> Judge: ...


def identity(judge: Judge) -> str:
    """The digest that a judge goes by; raises ConfigError for one that has none, since it could change unnoticed."""
    found = getattr(judge, "digest", None)
    if not isinstance(found, str) or not found:
        raise ConfigError(f"judge {judge.name} must have a digest of its model, prompt, parser and settings, got none")
    return found


def repeated(judge: Judge, number: int) -> Judge:
    """The same judge for its repetition `number`, from 0; one that always says the same is handed back."""
    return judge.repeated(number) if isinstance(judge, Repeatable) and number else judge


@dataclass(frozen=True, kw_only=True)
class Again(Chat):
    """A chat for repetition `number` of the same question: a cache of replies keeps it apart from the others."""

    chat: Chat
    number: int

    @property
    def digest(self) -> str:
        return self.chat.digest

    def ask(self, request: ChatRequest) -> ChatReply:
        return self.chat.ask(replace(request, repeat=self.number))
