"""The two passes over one slot: what was never true, and what held when.

After arXiv 2608.08055 section 4.4. The first pass goes in the order of saying, since a
correction speaks of words; the second in the order of effective time, since a change speaks of the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sodamem.currency.claims import Claim, Fates
from sodamem.currency.held import Held
from sodamem.currency.rules import Rule


@dataclass(frozen=True, kw_only=True, slots=True)
class Corrections:
    """First pass: corrections and retractions make what they take back invalid, and take its place."""

    rule: Rule
    fates: Fates
    sitting: timedelta

    def apply(self, claims: Sequence[Claim]) -> None:
        """Go through the claims of the slot, given in the order they were said."""
        said = Held(loose=self.rule.loose or self.rule.holds == "single")
        denied: dict[tuple[str, int], list[Claim]] = {}  # turn -> what it denied: "not in Leeds, I live in York"
        for claim in claims:
            wrong = self._taken_back(claim, said)
            for target in wrong:
                self.fates.contradict(target, claim, "retracted" if claim.retracts else "corrected")
            if claim.ends:
                denied.setdefault(claim.fact.order[:2], []).extend(wrong)
                continue
            if claim.value:
                self._replace(claim, wrong or denied.get(claim.fact.order[:2], []))
                said.add(claim)

    def _replace(self, claim: Claim, wrong: Sequence[Claim]) -> None:
        """Let a correction hold from when the corrected value would have, unless it tells its own time."""
        if wrong:
            first = min(wrong, key=lambda target: target.turn)
            claim.start = claim.start if claim.told_time else first.start
            claim.place = max(claim.start, first.place)
            self.fates.begin(claim)

    def _taken_back(self, claim: Claim, said: Held) -> list[Claim]:
        """The last run of statements of the value in question; empty when the claim takes nothing back."""
        if not (claim.retracts or claim.corrects):
            return []
        named = claim.value if claim.ends else () if claim.changes else claim.old  # a change's old value was true
        last = said.last(named, exact=claim.exact)
        if last is None or (last.value == claim.value and not claim.ends):
            return []
        spoken, last_spoken = claim.fact.mentioned_at, last.fact.mentioned_at
        near = abs(spoken - last_spoken) <= self.sitting
        if claim.changes and not claim.retracts and (claim.start > last_spoken if claim.told_time else not near):
            return []  # the world changed after the words were said: they were true
        if not named and self.rule.holds != "single" and not near:
            return []  # one of several values, and nobody said which
        return said.take_run(last)


@dataclass(kw_only=True, slots=True)
class Succession:
    """Second pass: claims fill the slot, end values in it, or pass by with an end of their own."""

    rule: Rule
    fates: Fates
    brief: timedelta  # how long a temporary state lasts when no end was said
    held: Held = field(init=False)
    passing: list[Claim] = field(default_factory=list)  # temporary states not yet overtaken, of a single slot

    def __post_init__(self) -> None:
        self.held = Held(loose=self.rule.loose or self.rule.holds == "single")

    def apply(self, claims: Sequence[Claim]) -> None:
        """Go through the claims of the slot that stand, in whatever order they are given."""
        for claim in sorted(claims, key=lambda claim: claim.turn):
            if self._ends_by_itself(claim):
                if self.rule.holds == "single" and not claim.ends:
                    self.passing.append(claim)
            elif claim.ends:
                self._end(claim)
            elif claim.value:  # a fact that names no value fills nothing
                self._fill(claim)
        if self.rule.holds == "unknown":
            self._flag_conflicts()

    def _ends_by_itself(self, claim: Claim) -> bool:
        if claim.until is None and claim.brief and claim.fact.polarity:
            claim.until = self.fates.until[claim.id] = max(claim.start, claim.fact.mentioned_at) + self.brief
        return claim.until is not None

    def _end(self, claim: Claim) -> None:
        if self.rule.holds == "event":
            return
        for loser in self.held.take(claim.value, exact=claim.exact, all_if_unnamed=self.rule.holds == "single"):
            self.fates.supersede(loser, claim, claim.reason)

    def _fill(self, claim: Claim) -> None:
        losers = self._losers(claim)
        for loser in losers:
            self.fates.supersede(loser, claim, claim.reason)
        if losers:
            self.fates.begin(claim)
        if first := self.held.twin(claim):
            self.fates.fold(claim, first)
            return
        known = self.held.values
        if self.rule.holds == "single" and not claim.adds and known and claim.value not in known:
            self.fates.refine(claim, self.held.latest())
        self.held.add(claim)

    def _losers(self, claim: Claim) -> list[Claim]:
        changes = claim.changes
        if self.rule.holds == "multi" and changes and claim.old:
            return self.held.take(claim.old, exact=False, all_if_unnamed=False)
        known = claim.value in self.held.values and not changes  # said again: no news
        if self.rule.holds != "single" or claim.adds or known:
            return []
        losers = self.held.take_rivals(claim.value)
        if losers or changes:
            losers += [brief for brief in self.passing if brief.value != claim.value and _lasts(brief, claim.start)]
            self.passing = []
        return losers

    def _flag_conflicts(self) -> None:
        """Different states in a slot that nobody declared: all are kept, and marked for the reader."""
        states = [claim for claim in self.held.claims() if claim.fact.modality != "past_event"]
        if len({claim.value for claim in states}) > 1:
            for claim in states:
                self.fates.flags[claim.id].add("possible_conflict")


def _lasts(brief: Claim, moment: datetime) -> bool:
    return brief.until is not None and moment < brief.until
