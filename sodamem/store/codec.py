"""FactEvents and their parts as JSON rows and back, without loss (data model of paper section 3.2)."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sodamem.types import Entity, FactEvent, Interval, MessagePiece, Quantity, Role, TimeValue


def dump(value: Any) -> str:
    """Canonical JSON of a dataclass: sorted keys, ISO times, no escapes that depend on the platform."""
    return json.dumps(asdict(value), sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=_iso)


def _iso(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"cannot store a {type(value).__name__}")


def _moment(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def interval(row: dict[str, Any] | None) -> Interval | None:
    if row is None:
        return None
    return Interval(
        start=datetime.fromisoformat(row["start"]), end=datetime.fromisoformat(row["end"]), grain=row["grain"]
    )


def time_value(row: dict[str, Any]) -> TimeValue:
    readings = tuple(found for found in map(interval, row["alternatives"]) if found)
    anchor = datetime.fromisoformat(row["anchor"])
    return TimeValue(**{**row, "anchor": anchor, "interval": interval(row["interval"]), "alternatives": readings})


def fact(payload: str) -> FactEvent:
    """A FactEvent from its row; raises what the constructor raises when the row was tampered with."""
    row = json.loads(payload)
    return FactEvent(
        **{
            **row,
            "pieces": tuple(MessagePiece(**piece) for piece in row["pieces"]),
            "roles": tuple(Role(**role) for role in row["roles"]),
            "times": tuple(time_value(value) for value in row["times"]),
            "quantity": Quantity(**row["quantity"]) if row["quantity"] else None,
            "flags": tuple(row["flags"]),
            "order": tuple(row["order"]),
            "mentioned_at": datetime.fromisoformat(row["mentioned_at"]),
            "occurred": interval(row["occurred"]),
            "valid_from": _moment(row["valid_from"]),
            "valid_until": _moment(row["valid_until"]),
        }
    )


def entity(payload: str) -> Entity:
    row = json.loads(payload)
    return Entity(id=row["id"], type=row["type"], surfaces=tuple(row["surfaces"]))
