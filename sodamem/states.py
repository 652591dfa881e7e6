"""Questions that ask for a state, such as "Where do I live now?", and the facts that answer them.

A slot holds what is true of somebody at a time (paper section 3.2); which slot a question asks for is read from a table
of ours, whom and when it is about from the question itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Literal

import yaml

from sodamem import text
from sodamem.facts import asserts, effective, holds_at
from sodamem.types import FactEvent, Interval

When = Literal["now", "first", "before", "within"]
_WHO = r"(?:[\w’'-]+ ){0,4}?"
_FIRST = re.compile(
    r"\b(?:originally|at first|initial(?:ly)?|first (?:report|mention|tell|told|said)\w*|start\w* out)\b", re.I
)
_BEFORE = re.compile(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|no longer|before|old|earlier|back then|prior)\b", re.I
)
_NOW = re.compile(
    r"\b(?:now|current(?:ly)?|at present|at the moment|these days|today|nowadays|still|right now)\b", re.I
)
# A question about an occasion in the life of a state asks for an event: "when did I move", "why did she quit".
_EVENT = re.compile(r"^\W*(?:when|why|how long|how many (?:day|week|month|year)s?|since when|in which month)\b", re.I)


@dataclass(frozen=True, kw_only=True, slots=True)
class StateAsked:
    """What a question asks of a slot. predicates: names that fill it · scope: stems that tell one slot of a predicate
    from another · value: stems of what a yes-or-no question asks about · when: of which time · within: that time."""

    predicates: tuple[str, ...]
    scope: frozenset[str]
    value: frozenset[str]
    when: When
    within: Interval | None


def state_asked(question: str, asked_at: datetime, within: Interval | None) -> StateAsked | None:
    """The slot that a question asks for, None for any other question. within: the time the question names."""
    if _EVENT.search(question):
        return None
    for predicates, patterns in _table().items():
        for pattern in patterns:
            if match := pattern.search(question):
                named = match.groupdict()
                when: When = (
                    "within"
                    if within is not None and within.end <= asked_at and not _NOW.search(question)
                    else "first"
                    if _FIRST.search(question)
                    else "before"
                    if _BEFORE.search(question) and not _NOW.search(question)
                    else "now"
                )
                return StateAsked(
                    predicates=predicates,
                    scope=frozenset(text.terms(named.get("scope") or "")),
                    value=frozenset(text.terms(named.get("value") or "")),
                    when=when,
                    within=within,
                )
    return None


def subjects(question: str, people: Collection[str], known: Iterable[str]) -> frozenset[str]:
    """Entity ids of whom a question is about, among the known subjects of facts: those it names, else `people`, who are
    the participants that "I" or a name stands for."""
    said = f" {' '.join(text.words(question))} "
    names = {subject: " ".join(text.words(subject.partition(":")[2])) for subject in known}
    persons = {subject: name for subject, name in names.items() if subject.startswith("person:") and name}
    named = {subject for subject, name in persons.items() if f" {name} " in said or f" {name}'s " in said}
    own = {" ".join(text.words(person)) for person in people}
    return frozenset(named or {subject for subject, name in persons.items() if name in own})


def of_slot(facts: Iterable[FactEvent], state: StateAsked, subjects: Collection[str]) -> list[FactEvent]:
    """Facts stated about the slot, whenever they held, by the time they count from. subjects: entity ids."""
    found = [
        fact
        for fact in facts
        if fact.predicate in state.predicates
        and fact.subject in subjects
        and asserts(fact)
        and fact.status != "invalid"
        and (not state.scope or bool(state.scope & _scope(fact)))
        and (not state.value or state.value <= _words(fact) or (bool(_words(fact)) and _words(fact) <= state.value))
    ]
    return sorted(found, key=lambda fact: (effective(fact), fact.order, fact.id))


def answering(
    facts: Iterable[FactEvent], state: StateAsked, subjects: Collection[str], at: datetime
) -> list[FactEvent]:
    """The facts of the slot that held at the time asked about; `at` is when the question is asked."""
    slot = of_slot((fact for fact in facts if fact.mentioned_at <= at), state, subjects)
    held = [fact for fact in slot if fact.polarity and "retraction" not in fact.flags]
    if state.when == "within" and state.within is not None:
        begun = state.within.start
        return [fact for fact in held if holds_at(fact, begun)] or [
            fact for fact in held if state.within.holds(effective(fact))
        ]
    if state.when == "first":
        return held[:1]
    if state.when == "before":
        over = [fact for fact in held if fact.status == "superseded"]
        return over[-1:]
    return [fact for fact in held if fact.status == "active" and holds_at(fact, at)]


def _scope(fact: FactEvent) -> frozenset[str]:
    said = (role.words or role.entity.partition(":")[2] for role in fact.roles if role.name != "value")
    return frozenset(stem for words in said for stem in text.terms(words))


def _words(fact: FactEvent) -> frozenset[str]:
    return frozenset(stem for role in fact.roles if role.name == "value" for stem in text.terms(role.words))


@cache
def _table() -> dict[tuple[str, ...], tuple[re.Pattern[str], ...]]:
    read = yaml.safe_load((resources.files("sodamem") / "states.yaml").read_text(encoding="utf-8"))
    return {
        tuple(predicates.split()): tuple(
            re.compile(pattern.replace("<who>", _WHO), re.IGNORECASE) for pattern in patterns
        )
        for predicates, patterns in read.items()
    }
