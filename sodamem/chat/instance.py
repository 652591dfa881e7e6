"""The smallest value that satisfies a JSON Schema: what the scripted chat says when no rule tells it better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator

from sodamem.errors import ConfigError

WORD = "scripted"


def instance(schema: Mapping[str, Any]) -> Any:
    """A valid instance, the same for the same schema; ConfigError when the schema asks for more than is understood.

    First alternatives, required properties only, fewest items, zero, false, and the word `scripted` for text.
    """
    found = _make(schema, schema, ())
    if fault := next(Draft202012Validator(schema).iter_errors(found), None):
        said = f"the schema at {fault.json_path} asks for more than the scripted chat can make up ({fault.message})"
        raise ConfigError(f"{said[:200]}. Give it a rule")
    return found


def _make(schema: Any, root: Mapping[str, Any], seen: tuple[str, ...]) -> Any:
    if not isinstance(schema, Mapping):
        return None
    if (name := schema.get("$ref")) is not None:
        if name in seen:
            return None  # a schema that needs itself has no finite instance; the check will say so
        target: Any = root
        for part in str(name).removeprefix("#/").split("/"):
            target = target[part]
        return _make(target, root, (*seen, name))
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            return _make(schema[keyword][0], root, seen)
    kind = schema.get("type", "object" if "properties" in schema else "null")
    return _of_kind(kind[0] if isinstance(kind, Sequence) and not isinstance(kind, str) else kind, schema, root, seen)


def _of_kind(kind: str, schema: Mapping[str, Any], root: Mapping[str, Any], seen: tuple[str, ...]) -> Any:
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: _make(properties.get(name), root, seen) for name in schema.get("required", ())}
    if kind == "array":
        return [_make(schema.get("items"), root, seen) for _ in range(int(schema.get("minItems", 0)))]
    if kind == "string":
        word = WORD[: int(schema.get("maxLength", len(WORD)))]
        return word.ljust(int(schema.get("minLength", 0)), ".")
    if kind in ("integer", "number"):
        low, above = schema.get("minimum", 0), schema.get("exclusiveMinimum")
        return max(low, above + 1) if above is not None else min(max(low, 0), schema.get("maximum", max(low, 0)))
    return False if kind == "boolean" else None
