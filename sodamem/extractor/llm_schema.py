"""The shape of what a model extracts, and what can be saved of a reply that was cut off.

Reasons come before facts and truth values last, in the order in which a model should make up its mind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from sodamem.types import KINDS, MODALITIES, Kind, Modality, Quantity

ROLES = ("value", "place", "employer", "object", "person", "category", "event", "activity", "from", "to", "with")
FLAGS = ("state_change", "correction", "retraction", "temporary", "quoted", "hypothetical")
_WORDS = {"type": "string", "minLength": 1, "maxLength": 200}
_QUANTITY = {
    "type": ["object", "null"],
    "properties": {"value": {"type": "number"}, "unit": {"type": "string", "maxLength": 40}, "words": _WORDS},
    "required": ["value", "unit", "words"],
    "additionalProperties": False,
}
_FACT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "turn": {"type": "string", "pattern": "^[tc][0-9]{1,4}$"},
        "quote": {"type": "string", "minLength": 1, "maxLength": 1000},
        "subject": {"type": "string", "minLength": 1, "maxLength": 80},
        "predicate": {"type": "string", "pattern": "^[a-z][a-z0-9_]{1,39}$"},
        "roles": {
            "type": "object",
            "properties": dict.fromkeys(ROLES, _WORDS),
            "required": ["value"],
            "additionalProperties": False,
        },
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
    roles: Mapping[str, str]
    quantity: Quantity | None
    kind: Kind
    modality: Modality
    flags: tuple[str, ...]
    polarity: bool


def schema(most: int) -> dict[str, object]:
    """What a reply must look like, with at most so many facts: a loop cannot run on."""
    facts = {"type": "array", "items": _FACT, "maxItems": most}
    properties = {"reasoning": {"type": "string", "maxLength": 800}, "facts": facts}
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
    quantity = Quantity(**row["quantity"]) if row["quantity"] else None
    return Candidate(**{**row, "quantity": quantity, "flags": tuple(dict.fromkeys(row["flags"]))})
