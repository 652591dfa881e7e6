"""What a model wrote, as what was asked for: JSON that fits a schema, one of some choices, or plain words.

Servers are asked to constrain their output, and some do not: guided choice is dropped beside a reasoning parser
(vllm-project/vllm#27447), JSON comes in prose, fences and with half a surrogate pair (mem0ai/mem0#5998). Hence the
check is always made here, and what does not fit is said in words a model can act on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from sodamem.types import ChatRequest

_MARK = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\]]', re.DOTALL)
_OPEN = re.compile(r"[{\[]")
_SHOWN = 300  # characters of a fault


class MisfitError(ValueError):
    """The text is not what was asked for; the message says why, for the model as well as for people."""


def split_reasoning(text: str) -> tuple[str, str]:
    """(thoughts, answer): only what follows the last `</think>` is an answer; an open `<think>` has none yet."""
    thoughts, closed, answer = text.rpartition("</think>")
    if not closed and text.lstrip().startswith("<think>"):
        thoughts, answer = text, ""
    return thoughts.replace("<think>", "").strip(), answer.strip()


def read(text: str, request: ChatRequest) -> tuple[str, object | None]:
    """(text, data) of an answer that fits the request; raises MisfitError for one that does not."""
    if request.schema is not None:
        return text, _fitting(text, request.schema)
    if request.choices and text not in request.choices:
        raise MisfitError(f"the reply must be exactly one of {', '.join(request.choices)}, got {text[:60]!r}")
    return text, None


def mended(value: Any) -> Any:
    """The same value with surrogate pairs joined and lone ones replaced by U+FFFD, so that UTF-8 can hold it."""
    if isinstance(value, str):
        # Nearly every text is clean already, and asking that is cheap.
        return value if _writable(value) else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [mended(part) for part in value]
    if isinstance(value, dict):
        return {mended(key): mended(part) for key, part in value.items()}
    return value


def _writable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _fitting(text: str, schema: Any) -> object:
    """The last JSON value of the text that satisfies the schema: what a model settles on stands at the end."""
    validator, fault = Draft202012Validator(schema), "the reply must be JSON, and holds none that can be parsed"
    for candidate in reversed(list(_values(text))):
        error = best_match(validator.iter_errors(candidate))
        if error is None:
            return candidate
        if fault.startswith("the reply must be JSON"):
            fault = f"the JSON does not fit its schema at {error.json_path}: {error.message}"
    raise MisfitError(fault[:_SHOWN])


def _values(text: str) -> Iterator[object]:
    """JSON values in order: the text itself, else every balanced stretch of it that parses.

    Parts of a stretch that does not parse are not looked at: a fragment must never pass for the whole.
    """
    try:
        yield _parsed(text)
        return
    except ValueError:
        pass
    at = 0
    while opened := _OPEN.search(text, at):
        at = _end(text, opened.start())
        try:
            yield _parsed(text[opened.start() : at])
        except ValueError:
            continue


def _end(text: str, start: int) -> int:
    """Where the bracket at `start` is closed, brackets in strings not counted; the end of the text if it is not."""
    depth = 0
    for mark in _MARK.finditer(text, start):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(mark[0], 0)
        if depth == 0:
            return mark.end()
    return len(text)


def _parsed(text: str) -> object:
    try:
        return mended(json.loads(text, strict=False, parse_constant=_refuse))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
