"""What may be written down about a run: flat, in one canonical form, under names a tracker takes, without secrets.

The rules follow what experiment trackers are known to do with less: cut long values, refuse `recall@5`, take 1 and
1.0 for a change, and show the key that was in a URL.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeGuard

MASK = "***"
# Names that hold a secret. Not `api_key_env`, which names one, nor `num_tokens`, which counts.
_SECRET = re.compile(r"(?:^|[_.\-])(?:\w*api_?key|key|token|password|passwd|secret|authorization)$", re.IGNORECASE)
_PLAIN = frozenset({"key"})  # alone it is a word of many tables
_USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")
_PARAMETER = re.compile(r"((?:api_?key|token|password|secret)=)[^&\s'\"]+", re.IGNORECASE)
_BEARER = re.compile(r"(Bearer\s+)\S+", re.IGNORECASE)
# MLflow takes letters, digits and _ . - space / : but reads the name as a path. `:` is kept for the escapes.
_UNNAMEABLE = re.compile(r"(?<=_at)[_@]|@|(?<![^/])/|/(?![^/])|(?<![^/.])\.|[^\w.\- /]", re.ASCII)


def flat(params: Mapping[str, object]) -> dict[str, str]:
    """A nested configuration as {dotted path: text}: canonical, so that equal settings are equal strings.

    Lists of plain values are one entry; what holds mappings is opened by position. Secrets come out masked.
    """
    rows: dict[str, str] = {}

    def visit(path: str, value: object) -> None:
        if isinstance(value, Mapping) and (value or not path):
            for key, inner in value.items():
                visit(f"{path}.{key}" if path else str(key), inner)
        elif _is_list(value) and any(isinstance(inner, Mapping) or _is_list(inner) for inner in value):
            for position, inner in enumerate(value):
                visit(f"{path}.{position}", inner)
        else:
            rows[path] = MASK if value is not None and is_secret(path) else redacted(canonical(value))

    visit("", params)
    return dict(sorted(rows.items()))


def canonical(value: object) -> str:
    """One text for one value: 1 and 1.0 are equal, booleans and None as in YAML, lists as JSON."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Mapping):
        return json.dumps({str(key): canonical(inner) for key, inner in value.items()}, ensure_ascii=False)
    if _is_list(value):
        texts = [canonical(inner) for inner in value]
        return json.dumps(sorted(texts) if isinstance(value, set | frozenset) else texts, ensure_ascii=False)
    return str(value)


def is_secret(path: str) -> bool:
    """Whether the last part of a dotted path names a secret."""
    return path.rpartition(".")[2] not in _PLAIN and bool(_SECRET.search(path))


def redacted(text: str) -> str:
    """The text without user:password in URLs, keys in their queries, and bearer tokens."""
    text = _USER_INFO.sub(f"{MASK}@", text)
    return _BEARER.sub(rf"\1{MASK}", _PARAMETER.sub(rf"\1{MASK}", text))


def tracked_name(label: str) -> str:
    """A report's name as a tracker takes it: `recall@10` is `recall_at_10`, any other sign its code point."""
    return _UNNAMEABLE.sub(lambda found: "_at_" if _is_plain_at(found) else f":u{ord(found[0]):04x}:", label)


def report_name(name: str) -> str:
    """The inverse of `tracked_name`."""
    return re.sub(r":u([0-9a-f]+):", lambda found: chr(int(found[1], 16)), name.replace("_at_", "@"))


def _is_plain_at(found: re.Match[str]) -> bool:
    return found[0] == "@" and not found.string[: found.start()].endswith("_at")


def _is_list(value: object) -> TypeGuard[Collection[object]]:
    return isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes)
