"""The chat-completions protocol as plain data: a request's body, and what a response's body says.

OpenAI's API reference (chat completions), and what vLLM adds to it: `structured_outputs`, `reasoning_content`.
Bodies are built and read by hand, since servers send fields that a client's types do not know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sodamem.chat.structured import mended, split_reasoning
from sodamem.types import ChatRequest, Message

Dialect = Literal["vllm", "openai", "plain"]
CHOICE = "choice"  # the key that a choice is wrapped in, where only a schema can be enforced


class MalformedError(ValueError):
    """The body of a response is no chat completion."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """One response. Token counts are None where the server did not report them."""

    text: str
    reasoning: str
    finish: str
    model: str
    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    reasoned: int | None = None


def messages(given: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": mended(message.content)} for message in given]


def constraint(request: ChatRequest, dialect: Dialect) -> dict[str, Any]:
    """The part of a body that asks the server to enforce the shape of the reply; a plain server is asked nothing."""
    if dialect == "plain" or (request.schema is None and not request.choices):
        return {}
    if request.schema is None and dialect == "vllm":
        return {"structured_outputs": {"choice": list(request.choices)}}
    schema = {"name": "reply", "strict": True, "schema": request.schema or wrapped(request.choices)}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def wrapped(choices: Sequence[str]) -> dict[str, Any]:
    """Choices as a schema, for servers that know no other constraint."""
    return {
        "type": "object",
        "properties": {CHOICE: {"type": "string", "enum": list(choices)}},
        "required": [CHOICE],
        "additionalProperties": False,
    }


def completion(body: str) -> Completion:
    """What a response's body says; raises MalformedError for anything but a chat completion with text or thoughts."""
    try:
        found = json.loads(body)
        choice = found["choices"][0]
        message = choice["message"]
        content, thoughts = (_text(message, *names) for names in (("content",), ("reasoning_content", "reasoning")))
        finish = choice.get("finish_reason")
        usage = found.get("usage") or {}
        inside, text = split_reasoning(mended(content))
        return Completion(
            text=text,
            reasoning="\n".join(filter(None, (mended(thoughts), inside))),
            finish="refused" if message.get("refusal") else str(finish or "stop"),
            model=str(found.get("model") or ""),
            prompt=_count(usage, "prompt_tokens"),
            cached=_first(
                _count(usage, "prompt_tokens_details", "cached_tokens"), _count(usage, "prompt_cache_hit_tokens")
            ),
            completion=_count(usage, "completion_tokens"),
            reasoned=_count(usage, "completion_tokens_details", "reasoning_tokens"),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedError(f"{type(error).__name__} in {body[:80]!r}") from error


def _text(message: Mapping[str, Any], *names: str) -> str:
    for name in names:
        if (value := message.get(name)) is not None:
            if not isinstance(value, str):
                raise TypeError(name)
            return value
    return ""


def _count(usage: Any, *path: str) -> int | None:
    """A whole number at a path of a usage block; absent or odd is unknown, never 0."""
    for name in path:
        usage = usage.get(name) if isinstance(usage, Mapping) else None
    return usage if isinstance(usage, int) and not isinstance(usage, bool) and usage >= 0 else None


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
