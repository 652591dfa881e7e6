"""What a server says it serves: part of the identity of every reply, and what a configuration is checked against."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sodamem.protocols import Chat


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """A served model: its id, the weights behind it, the engine's version, tokens of context; empty is not said."""

    id: str
    root: str = ""
    engine: str = ""
    context: int | None = None

    @property
    def identity(self) -> str:
        """Canonical text of what decides the replies."""
        return json.dumps([self.id, self.root, self.engine])


class ServedChat(Chat, Protocol):
    """A chat that can say what stands behind it; `served` asks once and raises ServiceError when nothing answers."""

    def served(self) -> Served: ...


def listed(body: str, model: str) -> Served | list[str]:
    """The entry of `model` in the answer to GET /models, or the ids that are there; ValueError if it is no list."""
    try:
        rows = {str(row["id"]): row for row in json.loads(body)["data"]}
    except (LookupError, TypeError) as error:
        raise ValueError(f"no list of models: {body[:80]!r}") from error
    if model not in rows:
        return sorted(rows)
    row: Mapping[str, Any] = rows[model]
    context = row.get("max_model_len")
    return Served(id=model, root=str(row.get("root") or ""), context=context if isinstance(context, int) else None)
