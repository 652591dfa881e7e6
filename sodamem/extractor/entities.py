"""Entities named in a sentence: people, places, organisations and other capitalised names, with stable ids.

Ids are `type:words` in normal form. Conservative: a capital at the start of a sentence counts only for known names.
"""

from __future__ import annotations

import re

from sodamem.extractor.lexicon import Lexicon
from sodamem.text import normalise
from sodamem.types import Entity

_CAPITALS = re.compile(r"[^\W\d_a-z][\w’'&]*(?:[ ](?:of[ ]|de[ ]|the[ ])?[^\W\d_a-z][\w’'&]*)*")
_POSSESSIVE = re.compile(r"['’]s?$")


def entity_id(type_: str, words: str) -> str:
    """`type:words`, case-folded, without a possessive ending."""
    return f"{type_}:{normalise(_POSSESSIVE.sub('', words))}"


def kind_of(words: str, lexicon: Lexicon, known: frozenset[str], otherwise: str) -> str:
    """The entity type of a name, `otherwise` where no table knows it."""
    low = normalise(_POSSESSIVE.sub("", words))
    parts = low.split()
    if low in known or (parts and parts[0] in lexicon.people):
        return "person"
    if low in lexicon.places:
        return "place"
    if low in lexicon.organisations or (parts and parts[-1] in lexicon.organisation_words):
        return "organisation"
    return otherwise


def named(text: str, start: int, end: int, lexicon: Lexicon, known: frozenset[str]) -> list[tuple[str, str]]:
    """(entity id, words) of every capitalised name in text[start:end], in order."""
    found = []
    for match in _CAPITALS.finditer(text, start, end):
        words = _POSSESSIVE.sub("", match.group())
        parts = words.split()
        while parts and normalise(parts[0]).partition("'")[0] in lexicon.closed:
            parts = parts[1:]
        if not parts:
            continue
        words = " ".join(parts)
        type_ = kind_of(words, lexicon, known, "other")
        opens = match.start() == start and len(parts) == len(match.group().split())
        if type_ == "other" and (opens or len(words) < 3):
            continue
        found.append((entity_id(type_, words), words))
    return found


class Register:
    """Collects the surfaces under which each entity of a session was named."""

    def __init__(self) -> None:
        self._surfaces: dict[str, dict[str, None]] = {}

    def add(self, id_: str, words: str) -> None:
        self._surfaces.setdefault(id_, {}).setdefault(words)

    def entities(self) -> tuple[Entity, ...]:
        """All entities by id; a name of unknown type that some fact gave a type to is not listed twice."""
        typed = {id_.partition(":")[2] for id_ in self._surfaces if not id_.startswith("other:")}
        return tuple(
            Entity(id=id_, type=id_.partition(":")[0], surfaces=tuple(sorted(surfaces)))
            for id_, surfaces in sorted(self._surfaces.items())
            if not (id_.startswith("other:") and id_.removeprefix("other:") in typed)
        )
