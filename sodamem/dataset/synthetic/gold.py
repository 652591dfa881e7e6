"""What a perfect memory would hold of a synthetic history: every statement with its span, every slot over time.

A side channel for measuring extraction and currency (arXiv 2608.08055, sections 3.2 and 4.4); no pipeline reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from sodamem.types import Interval, Kind, Modality

_ASSERTED = frozenset({"past_event", "current_state", "preference"})


class Spell(NamedTuple):
    """One value of a slot while it was true: [valid_from, valid_until), open when it still is."""

    value: str
    valid_from: datetime
    valid_until: datetime | None

    def holds(self, when: datetime) -> bool:
        return self.valid_from <= when and (self.valid_until is None or when < self.valid_until)


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldStatement:
    """One claim, with the clause that makes it: `turn.text[start:end]`, in code points, contains `value`.

    subject: "user" or a person's name. effective_at: when the value began to hold, or the event happened: the start
    of the stated time, else the time of the turn; a correction inherits it from what it corrects.
    flags: change, correction, corrected, ended, drift, told_late, temporary, hypothetical.
    """

    turn_id: str
    start: int
    end: int
    subject: str
    predicate: str
    value: str
    kind: Kind
    modality: Modality
    polarity: bool
    occurred: Interval | None
    effective_at: datetime
    scope: str = ""  # which of several like objects, e.g. "10K" or "work phone"; empty for the usual one
    flags: tuple[str, ...] = ()

    @property
    def asserted(self) -> bool:
        """True when the speaker claims it as a lasting fact: no plan, advice, hypothesis or temporary state."""
        return self.modality in _ASSERTED and not {"hypothetical", "temporary", "corrected"} & set(self.flags)


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldSlot:
    """All values that one slot ever truly held, in order of valid_from; corrected-away values never held."""

    subject: str
    predicate: str
    cardinality: Literal["single", "multi"]
    timeline: tuple[Spell, ...]
    scope: str = ""

    def as_of(self, when: datetime) -> tuple[str, ...]:
        return tuple(spell.value for spell in self.timeline if spell.holds(when))


@dataclass(frozen=True, kw_only=True)
class Gold:
    """The gold of one history: statements in reading order, slots sorted by subject, predicate and scope."""

    statements: tuple[GoldStatement, ...]
    slots: tuple[GoldSlot, ...]

    def slot(self, subject: str, predicate: str, scope: str = "") -> GoldSlot | None:
        found = (s for s in self.slots if (s.subject, s.predicate, s.scope) == (subject, predicate, scope))
        return next(found, None)

    def current(self, subject: str, predicate: str, scope: str = "") -> tuple[str, ...]:
        """Values true at the end of the history; empty when none is, or the slot was never filled."""
        slot = self.slot(subject, predicate, scope)
        return tuple(spell.value for spell in slot.timeline if spell.valid_until is None) if slot else ()

    def as_of(self, subject: str, predicate: str, when: datetime, scope: str = "") -> tuple[str, ...]:
        """Values true at `when`, as known at the end of the history."""
        slot = self.slot(subject, predicate, scope)
        return slot.as_of(when) if slot else ()
