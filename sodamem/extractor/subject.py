"""Whom a clause is about: the speaker, a named person, somebody's relation, or nobody that can be told.

Paper section 3.2: the subject is whoever the words are about, by default the speaker of the span.
"""

from __future__ import annotations

from dataclasses import dataclass

from sodamem.extractor.clauses import Clause
from sodamem.extractor.entities import entity_id
from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.words import Words


@dataclass(frozen=True, slots=True)
class Person:
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Subject:
    """`noun`: places [first, last) of "favourite food" in "my favourite food", (0, 0) where a person is meant."""

    person: Person
    noun: tuple[int, int] = (0, 0)


class Context:
    """Who was mentioned in this turn, so that "he" and "she" can be followed when only one person fits."""

    def __init__(self, speaker: Person, lexicon: Lexicon) -> None:
        self.speaker = speaker
        self._lexicon = lexicon
        self._mentioned: dict[str, Person] = {}  # id -> person, in order of mention

    def mention(self, person: Person) -> None:
        if person.id != self.speaker.id:
            self._mentioned.pop(person.id, None)
            self._mentioned[person.id] = person

    def follow(self, pronoun: str) -> Person | None:
        """The one person of the turn that "he" or "she" can stand for; None when there are none or several."""
        other = self._lexicon.male if pronoun in ("she", "her") else self._lexicon.female
        fits = [person for person in self._mentioned.values() if person.id.rpartition("/")[2] not in other]
        return fits[0] if len(fits) == 1 and pronoun in ("he", "she", "his", "her") else None


def resolve(clause: Clause, words: Words, context: Context, lexicon: Lexicon) -> Subject | None:
    """The clause's subject, or None when it is a thing, the listener, or a pronoun that fits nobody or several."""
    first, last = clause.subject
    if clause.kind in ("speaker", "elided"):
        return Subject(context.speaker)
    if clause.kind == "pronoun":
        person = context.follow(words.low[first])
        return Subject(person) if person else None
    if clause.kind == "name":
        person = named_person(words.span(first, last), context)
        context.mention(person)
        return Subject(person)
    if clause.kind == "owned":
        return owned(first, last, words, context, lexicon)
    return None


def named_person(name: str, context: Context) -> Person:
    person = Person(entity_id("person", name), name)
    return context.speaker if person.id == context.speaker.id else person


def owned(first: int, last: int, words: Words, context: Context, lexicon: Lexicon) -> Subject | None:
    """Reads "my sister", "my friend Rachel", "Tom's favourite food", "my sister's job" at words [first, last)."""
    low = words.low
    at = first + 1
    if low[first] in ("my", "our"):
        person: Person | None = context.speaker
    elif low[first] in ("his", "her"):
        person = context.follow(low[first])
    elif low[first] in ("your", "their"):
        return None
    else:
        at = low.index("'s", first, last) + 1
        person = named_person(words.span(first, at - 1), context)
        context.mention(person)
    while person is not None and at < last:
        relation = _relation(at, last, words, lexicon)
        if relation is None:
            break
        person, at = _related(person, at, relation, last, words)
        context.mention(person)
        if at < last and low[at] == "'s":
            at += 1
    if person is None:
        return None
    return Subject(person, (at, last) if at < last else (0, 0))


def _relation(at: int, last: int, words: Words, lexicon: Lexicon) -> int | None:
    """Place of the relation word that begins a phrase, after adjectives like "older" or "best"."""
    while at < last and words.low[at] in lexicon.relation_adjectives:
        at += 1
    if at < last and words.low[at] in lexicon.relations:
        follows = words.low[at + 1] if at + 1 < last else ""
        if not follows or follows == "'s" or words.capital(at + 1):
            return at
    return None


def _related(owner: Person, at: int, relation: int, last: int, words: Words) -> tuple[Person, int]:
    after = relation + 1
    name_end = after
    while name_end < last and words.capital(name_end) and words.low[name_end] != "'s":
        name_end += 1
    if name_end > after:
        name = words.span(after, name_end)
        return Person(entity_id("person", name), name), name_end
    label = words.low[relation]
    return Person(f"{owner.id}/{label}", f"{owner.name}'s {label}"), after
