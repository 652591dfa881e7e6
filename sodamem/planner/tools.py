"""The six tools of a planner: search, inspect, session_expand, timeline, count, compute (paper section 4.6).

Each reads and none writes. Arguments are typed by the schema that a reply must satisfy; what a schema cannot say (that
an item is in the pool, that a date exists) is checked here and told back as an error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sodamem.fence import one_line
from sodamem.planner.amounts import ComputeError
from sodamem.planner.compute import compute
from sodamem.planner.pool import Pool
from sodamem.protocols import Desk
from sodamem.rendering import entry, reading
from sodamem.text import normalise
from sodamem.types import Evidence, Question

_TEXT = {"type": "string"}
_LABEL = {"type": "string", "pattern": "^e[0-9]{1,4}$"}
_DATE = {"type": ["string", "null"], "pattern": r"^\d{4}-\d{2}-\d{2}$"}
GROUPS = ("item", "value", "session", "day")
# Tool -> its arguments. `stop` comes first: it is what a double without instructions says.
TOOLS: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "stop": {},
    "search": {"query": _TEXT, "since": _DATE, "until": _DATE},
    "inspect": {"id": _LABEL},
    "session_expand": {"id": _LABEL},
    "timeline": {"query": _TEXT, "since": _DATE, "until": _DATE},
    "count": {
        "ids": {"type": "array", "items": _LABEL, "minItems": 1, "maxItems": 60},
        "by": {"type": "string", "enum": list(GROUPS)},
    },
    "compute": {"expression": _TEXT},
}


def schema() -> dict[str, object]:
    """What one step of a plan must look like: why, then one call. Reasons come first, as they should be thought."""
    calls = [
        {
            "type": "object",
            "properties": {"tool": {"const": name}, **arguments},
            "required": ["tool", *arguments],
            "additionalProperties": False,
        }
        for name, arguments in TOOLS.items()
    ]
    return {
        "type": "object",
        "properties": {"reasoning": {"type": "string"}, "call": {"anyOf": calls}},
        "required": ["reasoning", "call"],
        "additionalProperties": False,
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """What a call brought: records of data (fenced before a model sees them), and a word of our own about them."""

    said: str
    records: tuple[str, ...] = ()
    new: tuple[str, ...] = ()  # labels of items that the pool did not hold
    informs: bool = False  # an answer in itself, whether or not it brings items


class ToolError(ValueError):
    """The arguments make no call; the message says why, for the model."""


@dataclass(frozen=True, kw_only=True)
class Tools:
    """The tools over one pool. per_search: items that one search or timeline may bring · radius: turns on either side ·
    longest: tokens of an item that are shown."""

    question: Question
    desk: Desk
    pool: Pool
    per_search: int
    radius: int
    longest: int

    def run(self, call: Mapping[str, Any]) -> Observation:
        """Do what a call of the schema asks. Raises ToolError when it cannot be done."""
        tools: Mapping[str, Callable[..., Observation]] = {
            "search": self.search,
            "inspect": self.inspect,
            "session_expand": self.session_expand,
            "timeline": self.timeline,
            "count": self.count,
            "compute": self.compute,
        }
        return tools[call["tool"]](**{name: value for name, value in call.items() if name != "tool"})

    def search(self, query: str, since: str | None, until: str | None) -> Observation:
        """Recall for other words; bounds keep what happened (else was said) on these days."""
        found = self._found(query, since, until)
        new = self.pool.add(found)
        shown = [self._shown(self.pool.label(item), item) for item in found if self.pool.label(item) in new]
        return Observation(said=f"{len(found)} found, {len(new)} of them new", records=tuple(shown), new=tuple(new))

    def inspect(self, id: str) -> Observation:
        """One item in full: its turns as they were said, what was read from them, and whether it still holds."""
        item = self._item(id)
        records = [
            entry(f"{id} {turn}", replace(item, fact=None, text=words), longest=10 * self.longest)
            for turn, words in zip(item.turn_ids, item.quotable, strict=True)
        ]
        for fact in [item.fact] if item.fact else item.facts:
            since = fact.valid_from.date().isoformat() if fact.valid_from else "?"
            until = fact.valid_until.date().isoformat() if fact.valid_until else "now"
            happened = f", happened {reading(fact.occurred)}" if fact.occurred else ""
            records.append(
                f"{id} states: {one_line(fact.text)} [{fact.modality}, {fact.status}, {since} until {until}{happened}]"
            )
        return Observation(said=f"{id} in full", records=tuple(records), informs=True)

    def session_expand(self, id: str) -> Observation:
        """The turns before and after an item, in the session it was said in."""
        found = self.desk.around(self._item(id), self.radius)
        new = self.pool.add(found)
        shown = [self._shown(label, item) for label, item in self.pool.items() if label in new]
        return Observation(
            said=f"{len(found)} turns around {id}, {len(new)} of them new", records=tuple(shown), new=tuple(new)
        )

    def timeline(self, query: str, since: str | None, until: str | None) -> Observation:
        """What a search finds, in the order in which it happened."""
        found = self._found(query, since, until)
        new = self.pool.add(found)
        ordered = sorted(found, key=lambda item: (when(item), item.rank, item.id))
        shown = [f"{when(item).date().isoformat()} {self._shown(self.pool.label(item), item)}" for item in ordered]
        return Observation(
            said=f"{len(found)} in order of time, {len(new)} of them new",
            records=tuple(shown),
            new=tuple(new),
            informs=bool(found),
        )

    def count(self, ids: list[str], by: str) -> Observation:
        """How many different ones there are among items: the items themselves, values of facts, sessions or days."""
        groups: dict[str, list[str]] = defaultdict(list)
        for label in dict.fromkeys(ids):
            groups[_group(self._item(label), label, by)].append(label)
        records = [f"{number}. {name}: {', '.join(labels)}" for number, (name, labels) in enumerate(groups.items(), 1)]
        return Observation(said=f"{len(groups)} different by {by}", records=tuple(records), informs=True)

    def compute(self, expression: str) -> Observation:
        """Exact arithmetic of numbers and dates."""
        try:
            return Observation(said=f"{one_line(expression)} = {compute(expression)}", informs=True)
        except ComputeError as error:
            raise ToolError(str(error)) from None

    # --- parts ------------------------------------------------------------------------------------------------

    def _item(self, label: str) -> Evidence:
        item = self.pool.get(label)
        if item is None:
            raise ToolError(f"there is no item {label}, they go from e1 to e{len(self.pool)}")
        return item

    def _shown(self, label: str, item: Evidence) -> str:
        return entry(label, item, longest=self.longest)

    def _found(self, query: str, since: str | None, until: str | None) -> list[Evidence]:
        if not normalise(query):
            raise ToolError("a query must have words")
        first, last = _day(since, datetime.min), _day(until, datetime.max)
        items = self.desk(replace(self.question, text=query))
        return [item for item in items if first.date() <= when(item).date() <= last.date()][: self.per_search]


def when(item: Evidence) -> datetime:
    """When it happened, as far as is known: what the fact says, the one time that its words name, else the saying."""
    if item.occurred:
        return item.occurred.start
    if item.fact and item.fact.valid_from:
        return item.fact.valid_from
    read = [value.interval for value in item.times if value.interval]
    return read[0].start if len(read) == 1 and read[0] else item.at


def _group(item: Evidence, label: str, by: str) -> str:
    if by == "session":
        return f"{item.session_id}, {item.at.date().isoformat()}"
    if by == "day":
        return when(item).date().isoformat()
    if by == "value" and item.fact:
        value = next((role.words for role in item.fact.roles if role.name == "value"), item.fact.text)
        return normalise(f"{item.fact.predicate} {value}")
    return label


def _day(text: str | None, otherwise: datetime) -> datetime:
    if text is None:
        return otherwise
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ToolError(f"there is no day {text}") from None
