"""The values of a model call: what is asked, what comes back, what it cost (types.py hands them on)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens of one attempt at one model call. cached ⊂ prompt, reasoning ⊂ completion; None = not reported."""

    phase: str
    model: str
    prompt: int = 0
    cached: int | None = None
    completion: int = 0
    reasoning: int | None = None
    seconds: float = 0.0
    cache_hit: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One logical model call. Everything here is part of the cache key; `repeat` tells wanted repetitions apart.

    schema: JSON Schema that the reply must satisfy, None for free text · choices: allowed replies, where no schema
    fits · max_tokens: completion budget, clamped to the model's context before sending · phase: for the ledger.
    """

    phase: str
    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    schema: Mapping[str, object] | None = None
    choices: tuple[str, ...] = ()
    repeat: int = 0


@dataclass(frozen=True, kw_only=True)
class ChatReply:
    """What came back, after validation. `data` is the parsed JSON where a schema was asked for.

    truncated: the completion was cut by its budget; `data` is then None and `text` holds what there was · usage: one
    entry for every attempt that was paid for, failed ones included.
    """

    text: str
    data: object | None
    model: str  # as the server names it
    truncated: bool
    usage: tuple[Usage, ...]
    reasoning: str = ""
