"""The test double of a model: replies by declared rules, else the smallest valid one; the same on every machine.

Selectable like any other chat, so that whole runs are made without a server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sodamem.chat import structured
from sodamem.chat.instance import instance
from sodamem.chat.served import Served, ServedChat
from sodamem.errors import ConfigError, ReplyError
from sodamem.text import digest, estimate_tokens
from sodamem.types import ChatReply, ChatRequest, Usage

KEYS = frozenset({"phase", "pattern", "text", "data"})


@dataclass(frozen=True, kw_only=True)
class ScriptedChat(ServedChat):
    """Answers by the first rule that matches.

    model: the name it goes by · rules: mappings of `phase` (optional) and `pattern` (optional; a regular expression,
    sought in the whole prompt) to `text` or `data`, in which `\\1` or `\\g<name>` stand for the groups of the pattern.
    Token counts are estimates of what was said; a reply longer than max_tokens is cut off, as a model's would be.
    """

    model: str
    rules: Sequence[Mapping[str, object]]

    def __post_init__(self) -> None:
        if not self.model:
            raise ConfigError("model must have a name, got nothing")
        for place, rule in enumerate(self.rules):
            if strange := sorted(set(rule) - KEYS):
                raise ConfigError(f"rules[{place}].{strange[0]} must be one of {', '.join(sorted(KEYS))}")
            if ("text" in rule) == ("data" in rule):
                raise ConfigError(f"rules[{place}] must have either text or data, got {sorted(rule)}")
            try:
                re.compile(str(rule.get("pattern", "")))
            except re.error as error:
                raise ConfigError(f"rules[{place}].pattern must be a regular expression, got {error}") from error

    @cached_property
    def digest(self) -> str:
        return digest("scripted/1", self.model, [dict(rule) for rule in self.rules])

    def served(self) -> Served:
        return Served(id=self.model, engine="scripted")

    def ask(self, request: ChatRequest) -> ChatReply:
        """The scripted reply; raises ReplyError where a rule's reply is not what the request asks for."""
        prompt = "\n".join(message.content for message in request.messages)
        text = self._say(request, prompt)
        spoken = estimate_tokens(text)
        usage = Usage(phase=request.phase, model=self.model, prompt=estimate_tokens(prompt), completion=spoken)
        if spoken > request.max_tokens:
            return self._reply(text[: request.max_tokens], None, (usage,), truncated=True)
        try:
            text, data = structured.read(text, request)
        except structured.MisfitError as misfit:
            raise ReplyError(
                f"model {self.model} has a rule for this, and {misfit}", reason="invalid", usage=(usage,)
            ) from None
        return self._reply(text, data, (usage,))

    def _say(self, request: ChatRequest, prompt: str) -> str:
        for rule in self.rules:
            found = re.search(str(rule.get("pattern", "")), prompt, re.DOTALL)
            if found and rule.get("phase", request.phase) == request.phase:
                said = _expanded(rule.get("text", rule.get("data")), found)
                return said if "text" in rule else json.dumps(said, ensure_ascii=False)
        if request.schema is not None:
            return json.dumps(instance(request.schema), ensure_ascii=False)
        return request.choices[0] if request.choices else "scripted"

    def _reply(self, text: str, data: object | None, usage: tuple[Usage, ...], truncated: bool = False) -> ChatReply:
        return ChatReply(text=text, data=data, model=self.model, truncated=truncated, usage=usage)


def _expanded(value: Any, found: re.Match[str]) -> Any:
    """The value with every group reference in its texts replaced."""
    if isinstance(value, str):
        return found.expand(value) if "\\" in value else value
    if isinstance(value, Mapping):
        return {key: _expanded(part, found) for key, part in value.items()}
    return [_expanded(part, found) for part in value] if isinstance(value, Sequence) else value
