"""What a fact claims about one slot, and the notebook in which the fates of all facts are written.

Paper section 4.4. Facts are frozen: fates are collected while slots are settled, and applied once at the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sodamem.currency.values import Value
from sodamem.facts import effective
from sodamem.types import Edge, FactEvent, MessagePiece, Status

# The flags that currency owns. The inferred ones say that a bound of validity is another fact's, not the speaker's.
MARKS = frozenset({"possible_conflict", "duplicate", "inferred_start", "inferred_end"})


@dataclass(kw_only=True, slots=True)
class Claim:
    """One fact's say in one slot: it fills the slot with `value`, or ends the value there (() = whatever it holds).

    old: the value it says it replaces · adds: it stands beside what there is · exact: ends only a value named in the
    same words · start: the moment it counts from · place: where it stands in the order of effective time (a correction
    takes the place of what it corrects). What the passes ask often is read from the fact once, while it is at hand.
    """

    fact: FactEvent
    value: Value
    old: Value = ()
    ends: bool = False
    adds: bool = False
    exact: bool = False
    reason: str = "changed"
    id: str = field(init=False)
    start: datetime = field(init=False)
    place: datetime = field(init=False)
    corrects: bool = field(init=False)
    retracts: bool = field(init=False)
    changes: bool = field(init=False)
    brief: bool = field(init=False)
    until: datetime | None = field(init=False)

    def __post_init__(self) -> None:
        self.id, self.until, flags = self.fact.id, self.fact.valid_until, self.fact.flags
        self.start = self.place = effective(self.fact)
        self.corrects, self.retracts = "correction" in flags and not self.adds, "retraction" in flags
        self.changes, self.brief = "state_change" in flags, "temporary" in flags

    @property
    def turn(self) -> tuple[datetime, tuple[str, int, int], str]:
        return self.place, self.fact.order, self.id

    @property
    def told_time(self) -> bool:
        return self.fact.valid_from is not None or self.fact.occurred is not None

    @property
    def wording(self) -> tuple[object, ...]:
        """What must be equal for two claims to be one statement made twice; events are also told apart by time."""
        words = tuple(piece.text for piece in self.fact.pieces)
        if self.fact.modality != "past_event":
            return words
        return *words, self.fact.occurred or self.fact.mentioned_at


@dataclass(kw_only=True, slots=True)
class Fates:
    """What becomes of each fact, by id, and the edges that say why."""

    status: dict[str, Status] = field(default_factory=dict)
    since: dict[str, datetime] = field(default_factory=dict)
    until: dict[str, datetime] = field(default_factory=dict)
    flags: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    pieces: dict[str, list[MessagePiece]] = field(default_factory=lambda: defaultdict(list))
    edges: list[Edge] = field(default_factory=list)

    def supersede(self, loser: Claim, winner: Claim, reason: str) -> None:
        """Close the loser where the winner begins; an interval that would be empty is not written."""
        end, begun = winner.start, self.since.get(loser.id, loser.fact.valid_from)
        self.status.setdefault(loser.id, "superseded")
        if loser.start <= end and (begun is None or begun < end) and (loser.until is None or end < loser.until):
            self.until[loser.id] = end
        self.edges.append(Edge(source=winner.id, target=loser.id, kind="SUPERSEDES", label=reason))

    def begin(self, winner: Claim) -> None:
        """A value that took another's place is known to hold from there on."""
        if winner.fact.valid_from is None:
            self.since[winner.id] = winner.start

    def contradict(self, wrong: Claim, right: Claim, reason: str) -> None:
        self.status[wrong.id] = "invalid"
        self.edges.append(Edge(source=right.id, target=wrong.id, kind="CONTRADICTS", label=reason))

    def refine(self, new: Claim, old: Claim) -> None:
        self.edges.append(Edge(source=new.id, target=old.id, kind="UPDATES", label="refined"))

    def fold(self, again: Claim, first: Claim) -> None:
        """The same statement made twice is one active fact with the provenance of both."""
        self.status.setdefault(again.id, "superseded")
        self.flags[again.id].add("duplicate")
        self.pieces[first.id].extend(again.fact.pieces)

    def apply(self, facts: Iterable[FactEvent]) -> tuple[tuple[FactEvent, ...], tuple[Edge, ...]]:
        touched = self.status.keys() | self.since.keys() | self.until.keys() | self.flags.keys() | self.pieces.keys()
        return tuple(self._settled(fact) if fact.id in touched else fact for fact in facts), tuple(self.edges)

    def _settled(self, fact: FactEvent) -> FactEvent:
        flags = set(self.flags.get(fact.id, ()))
        flags |= {"inferred_start"} if fact.id in self.since else set()
        flags |= {"inferred_end"} if fact.id in self.until and fact.valid_until is None else set()
        new = [piece for piece in self.pieces.get(fact.id, ()) if piece not in fact.pieces]
        return replace(
            fact,
            status=self.status.get(fact.id, fact.status),
            valid_from=self.since.get(fact.id, fact.valid_from),
            valid_until=self.until.get(fact.id, fact.valid_until),
            flags=(*fact.flags, *sorted(flags - set(fact.flags))),
            pieces=(*fact.pieces, *new),
        )


def as_extracted(facts: Sequence[FactEvent]) -> list[FactEvent]:
    """The facts without the marks of an earlier resolution, one per id, in the order they were said."""
    folded = {piece for fact in facts if "duplicate" in fact.flags for piece in fact.pieces}
    plain = (_plain(fact, folded) for fact in facts)
    unique: dict[str, FactEvent] = {}
    for fact in sorted(plain, key=lambda fact: (fact.order, fact.id, fact.valid_from is None)):
        unique.setdefault(fact.id, fact)
    return list(unique.values())


def _plain(fact: FactEvent, folded: set[MessagePiece]) -> FactEvent:
    shared = len(fact.pieces) > 1 and "duplicate" not in fact.flags and not folded.isdisjoint(fact.pieces)
    if fact.status == "active" and MARKS.isdisjoint(fact.flags) and not shared:
        return fact
    own = tuple(piece for piece in fact.pieces if piece not in folded) if shared else fact.pieces
    return replace(
        fact,
        status="active",
        valid_from=None if "inferred_start" in fact.flags else fact.valid_from,
        valid_until=None if "inferred_end" in fact.flags else fact.valid_until,
        flags=tuple(flag for flag in fact.flags if flag not in MARKS),
        pieces=own or fact.pieces,
    )
