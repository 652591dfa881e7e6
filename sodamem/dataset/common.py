"""What every loader shares: JSON read with errors that say where, floating time stamps, digests of content.

Conventions of the data model, arXiv 2608.08055 section 3.2: ids are strings, times carry no zone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sodamem.errors import ConfigError, DataError
from sodamem.types import Session, Turn

SPLITS = ("dev", "test", "all")


def choice(field: str, value: str, options: Sequence[str]) -> None:
    """Raises ConfigError unless `value` is one of `options`."""
    if value not in options:
        raise ConfigError(f"{field} must be one of {', '.join(options)}, got {value!r}. Choose one of them")


# --- JSON that says where it is wrong -----------------------------------------------------------------------


def read_bytes(path: Path, field: str, remedy: str) -> bytes:
    """The bytes of a file that a configuration names; `remedy` says how a user gets that file."""
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with NUL in it
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise DataError(f"{field} must name a readable file, got {path} ({reason}). {remedy}") from error


def parse_json(data: bytes, path: Path) -> Node:
    """The document in `data` (UTF-8, a byte order mark is allowed). Raises DataError naming line and column."""
    try:
        return Node(json.loads(data.decode("utf-8-sig")), path.name)
    except json.JSONDecodeError as error:
        problem = f"{error.msg.lower()} at line {error.lineno}, column {error.colno}"
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} is not UTF-8"
    except RecursionError:
        problem = "it is nested too deeply"
    except ValueError:  # Python's guard against integers of thousands of digits
        problem = "it holds a number of thousands of digits"
    raise DataError(f"{path} must be valid JSON, but {problem}. Restore the file from its source")


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value that knows its place, so that a wrong one is reported as `file: sessions[3].time must ...`."""

    value: Any
    file: str
    path: str = ""

    def error(self, rule: str) -> DataError:
        got = {dict: "an object", list: "a list", type(None): "null"}.get(type(self.value)) or clip(repr(self.value))
        return DataError(f"{self.file}: {self.path or 'the document'} must {rule}, got {got}")

    def get(self, key: str) -> Node:
        """The value of a required key of an object."""
        if (found := self.find(key)) is None:
            raise DataError(f"{self.file}: {self.path or 'the document'} must have the key {key!r}, it has none")
        return found

    def find(self, key: str) -> Node | None:
        """The value of an optional key of an object; null counts as absent."""
        if not isinstance(self.value, dict):
            raise self.error("be an object")
        value = self.value.get(key)
        return None if value is None else Node(value, self.file, f"{self.path}.{key}" if self.path else key)

    def items(self) -> Iterator[Node]:
        """The elements of a list, in order."""
        if not isinstance(self.value, list):
            raise self.error("be a list")
        return (Node(value, self.file, f"{self.path}[{i}]") for i, value in enumerate(self.value))

    def text(self, *, empty: bool = True) -> str:
        """A string of valid Unicode without NUL, as every store and model needs it."""
        if not isinstance(self.value, str):
            raise self.error("be a string")
        if not empty and not self.value.strip():
            raise self.error("not be empty")
        if (position := unsound(self.value)) is not None:
            raise DataError(
                f"{self.file}: {self.path} must be valid text, got U+{ord(self.value[position]):04X} at position "
                f"{position}. Remove it, or write the whole character"
            )
        return self.value

    def scalar(self) -> str:
        """An id or a gold as text, also where the file wrote it as a number."""
        if isinstance(self.value, bool) or not isinstance(self.value, str | int | float):
            raise self.error("be a string or a number")
        return self.text() if isinstance(self.value, str) else str(self.value)


def unsound(text: str) -> int | None:
    """Where `text` first holds NUL or half of a surrogate pair, which no store keeps and no model reads."""
    nul = text.find("\0")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start if nul < 0 else min(nul, error.start)
    return None if nul < 0 else nul


def sound(text: str) -> str:
    """`text` with NUL and halves of surrogate pairs replaced by U+FFFD, length and offsets kept."""
    if unsound(text) is None:
        return text
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)


def clip(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."


# --- time ---------------------------------------------------------------------------------------------------

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_LOCOMO_STAMP = re.compile(r"(\d{1,2}):(\d{2})\s*([ap])m on (\d{1,2}) (\w+),? (\d{4})", re.IGNORECASE)
_LONGMEMEVAL_STAMP = re.compile(r"(\d{4})/(\d{2})/(\d{2}) \(\w{3}\) (\d{2}):(\d{2})")


def locomo_stamp(node: Node) -> datetime:
    """Reads "1:56 pm on 8 May, 2023". Month names are matched here: strptime would follow the host's locale."""
    text = node.text()
    if (match := _LOCOMO_STAMP.fullmatch(text.strip())) and match[5].lower() in MONTHS:
        hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
        try:
            return datetime(int(match[6]), MONTHS.index(match[5].lower()) + 1, int(match[4]), hour, int(match[2]))
        except ValueError:
            pass  # a thirteenth month or a 31 June falls through to the one message
    raise node.error('be a time like "1:56 pm on 8 May, 2023"')


def longmemeval_stamp(node: Node) -> datetime:
    """Reads "2023/05/30 (Tue) 23:40"; the weekday is redundant and not relied on."""
    if match := _LONGMEMEVAL_STAMP.fullmatch(node.text().strip()):
        try:
            year, month, day, hour, minute = map(int, match.groups())
            return datetime(year, month, day, hour, minute)
        except ValueError:
            pass
    raise node.error('be a time like "2023/05/30 (Tue) 23:40"')


# --- identity -----------------------------------------------------------------------------------------------


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def history_digest(sessions: Sequence[Session], user: str, speakers: Sequence[str]) -> str:
    """sha256 of what a memory is built from, in one canonical spelling: equal content, equal digest."""
    content = [
        user,
        list(speakers),
        [[s.id, s.at.isoformat(), [_spelling(turn) for turn in s.turns]] for s in sessions],
    ]
    return sha256(json.dumps(content, separators=(",", ":")).encode("ascii"))


def _spelling(turn: Turn) -> list[str | int]:
    return [turn.id, turn.index, turn.role, turn.speaker, turn.at.isoformat(), turn.text, turn.caption]
