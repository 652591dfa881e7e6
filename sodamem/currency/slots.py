"""Currency by slots: what a slot holds, from when until when, and which fact took the place of which.

After arXiv 2608.08055 sections 3.2 and 4.4. A slot is (subject, predicate, scope roles). Slots
and values are found in dicts and a fact is closed once, so the work grows with the number of facts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from sodamem.currency.claims import Claim, Fates, as_extracted
from sodamem.currency.rules import UNKNOWN, Rule, closers, read_table
from sodamem.currency.settle import Corrections, Succession
from sodamem.currency.values import Value, read, read_role, value_of
from sodamem.errors import ConfigError
from sodamem.facts import asserts
from sodamem.protocols import Currency
from sodamem.types import Edge, FactEvent, Role

Scope = tuple[Value | None, ...]  # None: nobody told, and nothing is usual
Slot = tuple[str, str, Scope]  # subject, predicate, scope


@dataclass(frozen=True, kw_only=True)
class SlotCurrency(Currency):
    """slots: the table of predicates (see Rule) · aliases: predicate -> the predicate whose slot it fills ·
    synonyms: word of a scope -> the word it stands for · padding: words that do not tell values apart · additions:
    patterns of words that add a value to what there is, so that it replaces nothing ("I also have a dog") ·
    temporary_days: how long "for now" lasts when no end is said · sitting_hours: how near a correction must be to a
    statement that it does not name."""

    slots: Mapping[str, Mapping[str, Any]]
    aliases: Mapping[str, str]
    synonyms: Mapping[str, str]
    padding: Sequence[str]
    additions: Sequence[str]
    temporary_days: float
    sitting_hours: float

    def __post_init__(self) -> None:
        for name in ("temporary_days", "sitting_hours"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"currency.{name} must be > 0, got {getattr(self, name)}. Give a positive number")
        rules = self._rules  # read now, so that a wrong table is refused at once
        for alias, predicate in self.aliases.items():
            if predicate not in rules or alias in rules:
                raise ConfigError(
                    f"currency.aliases.{alias} must stand for a predicate of currency.slots and not be one itself, "
                    f"got {predicate!r}. Declare that predicate or drop the alias"
                )

    @cached_property
    def _rules(self) -> dict[str, Rule]:
        return read_table(self.slots)

    @cached_property
    def _closers(self) -> dict[str, list[tuple[str, bool]]]:
        return closers(self._rules)

    @cached_property
    def _scopes(self) -> dict[str, dict[str, Value | None]]:
        """By predicate that has any: its scope roles, and the value each has when it is not told."""
        return {
            predicate: {role: read(usual, self._padding) if usual else None for role, usual in rule.scope}
            for predicate, rule in self._rules.items()
            if rule.scope
        }

    @cached_property
    def _nouns(self) -> dict[str, set[Value]]:
        """By predicate that has any: the words that mean the slot itself."""
        rules = self._rules.items()
        return {name: {read(noun, self._padding) for noun in rule.nouns} for name, rule in rules if rule.nouns}

    @cached_property
    def _additions(self) -> re.Pattern[str]:
        return re.compile("|".join(self.additions) or r"(?!)", re.IGNORECASE)

    @cached_property
    def _padding(self) -> frozenset[str]:
        return frozenset(self.padding)

    def resolve(self, facts: Sequence[FactEvent]) -> tuple[tuple[FactEvent, ...], tuple[Edge, ...]]:
        """The facts with status, validity and flags set, in the order they were said, and the edges between them.

        Facts that were resolved before are taken back to what was extracted first, so resolving again with more
        facts gives what resolving all of them at once would have given.
        """
        plain, fates = as_extracted(facts), Fates()
        sitting, brief = timedelta(hours=self.sitting_hours), timedelta(days=self.temporary_days)
        books = [(self._rule(slot), claims) for slot, claims in self._claims(plain).items()]
        for rule, claims in books:
            if any(claim.corrects or claim.retracts for claim in claims):
                Corrections(rule=rule, fates=fates, sitting=sitting).apply(claims)
        for rule, claims in books:
            standing = [claim for claim in claims if claim.id not in fates.status and not claim.retracts]
            Succession(rule=rule, fates=fates, brief=brief).apply(standing)
        return fates.apply(plain)

    def _rule(self, slot: Slot) -> Rule:
        return UNKNOWN if None in slot[2] else self._rules.get(slot[1], UNKNOWN)

    def _claims(self, facts: Iterable[FactEvent]) -> dict[Slot, list[Claim]]:
        """Claims by slot, each slot's in the order they were said."""
        stated = [fact for fact in facts if asserts(fact)]
        told: dict[tuple[str, str], set[Scope]] = defaultdict(set)
        for fact in stated:
            predicate = self.aliases.get(fact.predicate, fact.predicate)
            if predicate in self._scopes and None not in (scope := self._scope(fact, predicate)):
                told[fact.subject, predicate].add(scope)
        books: dict[Slot, list[Claim]] = defaultdict(list)
        for fact in stated:
            for slot, claim in self._says(fact):
                scope = self._scope(fact, slot)
                if None in scope and len(known := told[fact.subject, slot]) == 1:
                    scope = next(iter(known))  # what nobody told is the only one there is
                books[fact.subject, slot, scope].append(claim)
        return books

    def _says(self, fact: FactEvent) -> Iterable[tuple[str, Claim]]:
        """What a fact claims in the slot of its predicate, and in those that this predicate closes."""
        predicate = self.aliases.get(fact.predicate, fact.predicate)
        ends = not fact.polarity or "retraction" in fact.flags
        old = next((read_role(role, self._padding) for role in fact.roles if role.name == "from"), ())
        reason = "ended" if ends else "changed"
        value = self._value(fact, predicate)
        value = () if ends and value in self._nouns.get(predicate, ()) else value
        adds = self._adds(fact, single=self._rules.get(predicate, UNKNOWN).holds == "single")
        yield predicate, Claim(fact=fact, value=value, old=old, ends=ends, adds=adds, reason=reason)
        slots = () if ends else self._closers.get(predicate, ())
        for slot, exact in slots:
            value = self._value(fact, slot)
            if value or len(slots) == 1:  # "I quit", and nobody said what: it may be any of several slots
                value = () if value in self._nouns.get(slot, ()) else value
                yield slot, Claim(fact=fact, value=value, ends=True, exact=exact, reason=predicate)

    def _value(self, fact: FactEvent, predicate: str) -> Value:
        return value_of(fact, self._scopes.get(predicate, ()), self._padding)

    def _adds(self, fact: FactEvent, *, single: bool) -> bool:
        if "state_change" in fact.flags or not ("correction" in fact.flags or single):
            return False
        return any(self._additions.search(piece.text) for piece in fact.pieces)

    def _scope(self, fact: FactEvent, predicate: str) -> Scope:
        wanted = self._scopes.get(predicate)
        if wanted is None:
            return ()
        said = {role.name: self._scope_value(role) for role in fact.roles if role.name in wanted}
        return tuple(said.get(name) or usual for name, usual in wanted.items())

    def _scope_value(self, role: Role) -> Value:
        same = self.synonyms.get(role.words.casefold())
        return read(same, self._padding) if same else read_role(role, self._padding)
