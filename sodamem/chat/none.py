"""No model: the default. Whatever asks it learns which option to choose."""

from __future__ import annotations

from dataclasses import dataclass

from sodamem.errors import ConfigError
from sodamem.protocols import Chat
from sodamem.types import ChatReply, ChatRequest


@dataclass(frozen=True, kw_only=True)
class NoChat(Chat):
    @property
    def digest(self) -> str:
        return "none"

    def ask(self, request: ChatRequest) -> ChatReply:
        """Raises ConfigError: a part that asks a model was chosen, and no model."""
        raise ConfigError(f"phase {request.phase} needs a chat, got none. Choose one with chat=…, see sodamem options")
