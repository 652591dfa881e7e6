"""When two fillers of a slot are the same value, and when one only says the other more exactly.

Paper section 4.4: one value up to inflection; "Leeds" and "Leeds, UK" are compatible, "York" and "New York" not.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from sodamem.text import stem, words
from sodamem.types import FactEvent, Role

Value = tuple[tuple[str, ...], ...]  # parts ("Leeds", "UK"), each a tuple of stems; () = no value was named

FILLERS = (
    "value",
    "place",
    "employer",
    "object",
    "person",
    "activity",
    "event",
    "to",
    "name",
)  # role names, by preference
_CUT = re.compile(r"\s*[,;()]\s*|\s+(?:in|near|outside)\s+")


def value_of(fact: FactEvent, scope: Collection[str], padding: frozenset[str]) -> Value:
    """The filler of the slot: its first role that is not a scope, with its name if it has one; else its quantity."""
    roles = {role.name: role for role in reversed(fact.roles) if role.name not in scope}
    role = next((roles[name] for name in FILLERS if name in roles), None)
    amount = fact.quantity
    if amount and (role is None or role.words in amount.words):
        return ((format(amount.value, "g"), amount.unit),)
    parts = [role] if role else []
    parts += [roles["name"]] if role and role.name != "name" and "name" in roles else []  # a cat, Pixel: not any cat
    return tuple(part for role in parts for part in read_role(role, padding))


def read_role(role: Role, padding: frozenset[str]) -> Value:
    """Stems of the entity's name, cut into parts as the words show them where both say the same."""
    return _read_named(role.entity, role.words, padding)


@lru_cache(maxsize=100_000)
def _read_named(entity: str, spoken_as: str, padding: frozenset[str]) -> Value:
    name = entity.rpartition(":")[2].replace("_", " ")
    spoken, named = read(spoken_as, padding), read(name, padding)
    return spoken if not named or flat(spoken) == flat(named) else named


def read(text: str, padding: frozenset[str]) -> Value:
    """Parts of a phrase as stems, without padding words ("my", "food") unless it has no others."""
    parts = [words(part) for part in _CUT.split(text)]
    kept = [[word for word in part if word not in padding] for part in parts]
    return tuple(tuple(map(_root, part)) for part in (kept if any(kept) else parts) if part)


def flat(value: Value) -> tuple[str, ...]:
    return tuple(token for part in value for token in part)


def refines(one: Value, other: Value) -> bool:
    """True when the last parts of one value are the first of the other: "Headingley, Leeds" and "Leeds, UK"."""
    sizes = range(1, min(len(one), len(other)) + 1)
    return one != other and any(one[-size:] == other[:size] or other[-size:] == one[:size] for size in sizes)


def covers(one: Value, other: Value) -> bool:
    """True when all words of one value are words of the other."""
    mine, theirs = set(flat(one)), set(flat(other))
    return bool(mine) and bool(theirs) and (mine <= theirs or theirs <= mine)


def _root(word: str) -> str:
    """A stem that also joins adjectives in -y to their nouns ("spicy", "spice"), for words long enough to bear it."""
    root = stem(word)
    return root[:-1] if len(root) >= 5 and root[-1] in "ei" else root
