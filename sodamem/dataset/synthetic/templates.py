"""The words of the synthetic dialogues, read once from the YAML files that ship beside this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Literal

import yaml

from sodamem.types import Kind, Modality

_FILES = (
    "predicates", "states_home", "states_self", "holdings", "events", "tastes", "lists", "people", "speech", "chat",
)  # fmt: skip
Words = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Predicate:
    """What the gold calls a relation; cardinality says whether a new value ends the old one."""

    name: str
    cardinality: Literal["single", "multi", "event"]
    kind: Kind
    modality: Modality


@dataclass(frozen=True, kw_only=True, slots=True)
class Wordings:
    """Templates that every predicate may have; each list is non-empty where its story needs it."""

    predicate: str
    other: Words
    plan: Words = ()
    maybe: Words = ()
    advice: Words = ()
    temporary: Words = ()
    values: Words = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class State(Wordings):
    """A slot with one value at a time. twin: (scope, values, templates) of the same predicate about a like object."""

    state: Words
    change: Words
    fix: Words
    other_change: Words
    now: Words
    before: Words
    first: Words
    at: Words
    whose: Words
    twin: tuple[str, Words, Words] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Holding(Wordings):
    """A slot whose values stand side by side."""

    one: str
    many: str
    state: Words
    gain: Words
    ended: Words
    still: Words
    list: Words
    count: Words
    whose: Words


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Values of an event that are counted, or paid for, together."""

    name: str
    values: Words
    count: Words
    sum: Words = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Happening(Wordings):
    """Something that happens once; noun and verb name it in questions."""

    groups: tuple[Group, ...]
    did: Words
    did_at: Words
    places: Words
    ask_at: Words
    noun: str
    verb: str
    price: Words = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Taste:
    name: str
    values: Words
    ask: Words
    wish: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    what: str
    ask: str
    items: Words


@dataclass(frozen=True, kw_only=True, slots=True)
class Topic:
    """Impersonal small talk: requests and answers with a place for one item."""

    items: Words
    ask: Words
    tips: Words


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """All templates. sha256 covers the bytes of the files, so a changed word is a changed dataset."""

    sha256: str
    predicates: Mapping[str, Predicate]
    states: tuple[State, ...]
    holdings: tuple[Holding, ...]
    happenings: tuple[Happening, ...]
    tastes: tuple[Taste, ...]
    taste_words: Mapping[str, Words]
    lists: tuple[Listing, ...]
    topics: tuple[Topic, ...]
    people: Mapping[str, Any]
    speech: Mapping[str, Words] = field(default_factory=dict)


def _frozen(tree: Any) -> Any:
    """YAML lists become tuples, all the way down."""
    if isinstance(tree, dict):
        return {key: _frozen(value) for key, value in tree.items()}
    return tuple(_frozen(item) for item in tree) if isinstance(tree, list) else tree


def _state(name: str, spec: dict[str, Any]) -> State:
    twin = spec.pop("twin", None)
    return State(predicate=name, twin=twin and (twin["scope"], twin["values"], twin["said"]), **spec)


def _happening(name: str, spec: dict[str, Any]) -> Happening:
    groups = tuple(Group(name=group, **words) for group, words in spec.pop("groups").items())
    return Happening(predicate=name, groups=groups, **spec)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """Read and parse the template files; cached for the process."""
    folder = files("sodamem.dataset") / "templates"
    raw = {name: (folder / f"{name}.yaml").read_bytes() for name in _FILES}
    tree = {name: _frozen(yaml.safe_load(data)) for name, data in raw.items()}
    taste_words = tree["tastes"].pop("said")
    return Lexicon(
        sha256=sha256(b"\0".join(raw[name] for name in _FILES)).hexdigest(),
        predicates={name: Predicate(name=name, **spec) for name, spec in tree["predicates"].items()},
        states=tuple(_state(n, s) for n, s in (tree["states_home"] | tree["states_self"]).items()),
        holdings=tuple(Holding(predicate=n, **s) for n, s in tree["holdings"].items()),
        happenings=tuple(_happening(n, s) for n, s in tree["events"].items()),
        tastes=tuple(Taste(name=n, **s) for n, s in tree["tastes"].items()),
        taste_words=taste_words,
        lists=tuple(Listing(what=n, **s) for n, s in tree["lists"].items()),
        topics=tuple(Topic(**s) for s in tree["chat"].values()),
        people=tree["people"],
        speech=tree["speech"],
    )
