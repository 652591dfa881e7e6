"""Currency by slots: what a slot holds, from when until when, and which fact took the place of which.

Memory spec section 5, after arXiv 2608.08055 sections 3.2 and 4.4. A slot is (subject, predicate, scope roles). Slots
and values are found in dicts and a fact is closed once, so the work grows with the number of facts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from sodamem.currency.claims import Claim, Fates, as_extracted
from sodamem.currency.rules import UNKNOWN, Rule, closers, read_table
from sodamem.currency.settle import Corrections, Succession
from sodamem.currency.values import read, read_role, value_of
from sodamem.currency.view import asserts
from sodamem.errors import ConfigError
from sodamem.protocols import Currency
from sodamem.types import Edge, FactEvent

Slot = tuple[str, str, tuple[object, ...]]  # subject, predicate, scope


@dataclass(frozen=True, kw_only=True)
class SlotCurrency(Currency):
    """slots: the table of predicates (see Rule) · aliases: predicate -> the predicate whose slot it fills ·
    padding: words that do not tell values apart · temporary_days: how long "for now" lasts when no end is said ·
    sitting_hours: how near a correction must be to a statement that it does not name."""

    slots: Mapping[str, Mapping[str, Any]]
    aliases: Mapping[str, str]
    padding: Sequence[str]
    temporary_days: float
    sitting_hours: float

    def __post_init__(self) -> None:
        for name in ("temporary_days", "sitting_hours"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"currency.{name} must be > 0, got {getattr(self, name)}. Give a positive number")
        for alias, predicate in self.aliases.items():
            if predicate not in self._rules or alias in self._rules:
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
    def _padding(self) -> frozenset[str]:
        return frozenset(self.padding)

    def resolve(self, facts: Sequence[FactEvent]) -> tuple[tuple[FactEvent, ...], tuple[Edge, ...]]:
        """The facts with status, validity and flags set, in order of effective time, and the edges between them.

        Facts that were resolved before are taken back to what was extracted first, so resolving again with more
        facts gives what resolving all of them at once would have given.
        """
        plain, fates = as_extracted(facts), Fates()
        sitting, brief = timedelta(hours=self.sitting_hours), timedelta(days=self.temporary_days)
        books = [(self._rule(slot), claims) for slot, claims in self._claims(plain).items()]
        for rule, claims in books:
            if any(claim.has("correction") or claim.has("retraction") for claim in claims):
                Corrections(rule=rule, fates=fates, sitting=sitting).apply(claims)
        for rule, claims in books:
            standing = [c for c in claims if c.fact.id not in fates.status and not c.has("retraction")]
            Succession(rule=rule, fates=fates, brief=brief).apply(standing)
        return fates.apply(plain)

    def _rule(self, slot: Slot) -> Rule:
        return UNKNOWN if None in slot[2] else self._rules.get(slot[1], UNKNOWN)

    def _claims(self, facts: Iterable[FactEvent]) -> dict[Slot, list[Claim]]:
        books: dict[Slot, list[Claim]] = defaultdict(list)
        vague: list[tuple[Slot, Claim]] = []
        told: dict[tuple[str, str], set[tuple[object, ...]]] = defaultdict(set)
        for fact in facts:
            if not asserts(fact):
                continue
            for slot, claim in self._says(fact):
                if None in slot[2]:
                    vague.append((slot, claim))
                else:
                    books[slot].append(claim)
                    told[slot[:2]].add(slot[2])
        for slot, claim in vague:  # a scope that is not told is the only one there is, if there is only one
            scopes = told[slot[:2]]
            books[(*slot[:2], next(iter(scopes))) if len(scopes) == 1 else slot].append(claim)
        return books

    def _says(self, fact: FactEvent) -> Iterable[tuple[Slot, Claim]]:
        predicate = self.aliases.get(fact.predicate, fact.predicate)
        ends = not fact.polarity or "retraction" in fact.flags
        yield self._claim(fact, predicate, ends=ends, exact=False, reason="ended" if ends else "changed")
        if not ends:
            slots = self._closers.get(predicate, ())
            for slot, exact in slots:
                found, claim = self._claim(fact, slot, ends=True, exact=exact, reason=predicate)
                if claim.value or len(slots) == 1:  # "I quit", and nobody said what: it may be any of several slots
                    yield found, claim

    def _claim(self, fact: FactEvent, predicate: str, *, ends: bool, exact: bool, reason: str) -> tuple[Slot, Claim]:
        said = {role.name: read_role(role, self._padding) for role in reversed(fact.roles)}
        defaults = dict(self._rules.get(predicate, UNKNOWN).scope)
        scope = tuple(
            said.get(name) or (read(word, self._padding) if word else None) for name, word in defaults.items()
        )
        value, old = value_of(fact, defaults, self._padding), said.get("from", ())
        claim = Claim(fact=fact, value=value, old=old, ends=ends, exact=exact, reason=reason)
        return (fact.subject, predicate, scope), claim
