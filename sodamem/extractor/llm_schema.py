"""The shape of what a model extracts, and what can be saved of a reply that was cut off.

Reasons come before facts and truth values last, in the order in which a model should make up its mind. Only what every
server can enforce is used: all fields are required, and no lengths of text are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from sodamem.types import KINDS, MODALITIES, Kind, Modality, Quantity

ROLES = ("place", "employer", "object", "person", "category", "event", "activity", "from", "to", "with")
FLAGS = ("state_change", "correction", "retraction", "temporary", "quoted", "hypothetical")
_WORDS = {"type": "string"}
_ROLE = {
    "type": "object",
    "properties": {"name": {"type": "string", "enum": list(ROLES)}, "words": _WORDS},
    "required": ["name", "words"],
    "additionalProperties": False,
}
_QUANTITY = {
    "type": ["object", "null"],
    "properties": {"value": {"type": "number"}, "unit": _WORDS, "words": _WORDS},
    "required": ["value", "unit", "words"],
    "additionalProperties": False,
}
_FACT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "turn": {"type": "string", "pattern": "^[tc][0-9]{1,4}$"},
        "quote": _WORDS,
        "subject": _WORDS,
        "predicate": {"type": "string", "pattern": "^[a-z][a-z0-9_]{1,39}$"},
        "value": _WORDS,
        "roles": {"type": "array", "items": _ROLE, "maxItems": len(ROLES)},
        "quantity": _QUANTITY,
        "kind": {"type": "string", "enum": list(KINDS)},
        "modality": {"type": "string", "enum": list(MODALITIES)},
        "flags": {"type": "array", "items": {"type": "string", "enum": list(FLAGS)}, "maxItems": len(FLAGS)},
        "polarity": {"type": "boolean"},
    },
    "additionalProperties": False,
}
_FACT["required"] = list(_FACT["properties"])


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A fact as a model claims it; nothing in it is true until it was found in the words."""

    turn: str
    quote: str
    subject: str
    predicate: str
    roles: Mapping[str, str]  # name -> words; `value` is the first
    quantity: Quantity | None
    kind: Kind
    modality: Modality
    flags: tuple[str, ...]
    polarity: bool


def schema(most: int) -> dict[str, object]:
    """What a reply must look like, with at most so many facts: a loop cannot run on."""
    facts = {"type": "array", "items": _FACT, "maxItems": most}
    properties = {"reasoning": _WORDS, "facts": facts}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def candidates(data: object) -> list[Candidate]:
    """The candidates of a reply that satisfies the schema."""
    assert isinstance(data, dict)  # so says the schema
    return [_candidate(row) for row in data["facts"]]


def salvaged(text: str) -> list[Candidate]:
    """The facts that are whole in a reply that was cut off, in order; those after the first that is not are lost."""
    decoder, check = json.JSONDecoder(strict=False), Draft202012Validator(_FACT)
    _, named, rest = text.rpartition('"facts"')
    at = rest.find("[") + 1 if named else 0
    found: list[Candidate] = []
    while at:
        at += len(rest[at:]) - len(rest[at:].lstrip(" \t\r\n,"))
        try:
            row, at = decoder.raw_decode(rest, at)
        except ValueError:
            break
        if not check.is_valid(row):
            break
        found.append(_candidate(row))
    return found


def _candidate(row: Mapping[str, Any]) -> Candidate:
    fields = {name: said for name, said in row.items() if name != "value"}
    fields["roles"] = {"value": row["value"], **{role["name"]: role["words"] for role in reversed(row["roles"])}}
    fields["quantity"] = Quantity(**row["quantity"]) if row["quantity"] else None
    return Candidate(**{**fields, "flags": tuple(dict.fromkeys(row["flags"]))})
