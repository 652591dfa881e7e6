"""The values that one slot holds at one point of the pass over it, found by value, by head word and by recency.

Paper section 4.4; every look-up is a dict access, so a slot with many values costs no more per fact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sodamem.currency.claims import Claim
from sodamem.currency.values import Value, covers, refines

_AMBIGUOUS = 8  # so many things of one name: "the guitar" cannot tell which, and looking at more would not help


class Held:
    """Claims that hold, by value, each value's claims in the order they came."""

    def __init__(self, *, loose: bool) -> None:
        self.loose = loose
        self.values: dict[Value, list[Claim]] = {}
        self._heads: defaultdict[str, dict[Value, None]] = defaultdict(dict)
        self._twins: dict[Value, dict[object, Claim]] = {}  # first claim of each wording, of values said twice
        self._order: list[Claim] = []
        self._gone: set[str] = set()

    def claims(self) -> Iterator[Claim]:
        return (claim for claims in self.values.values() for claim in claims)

    def add(self, claim: Claim) -> None:
        self.values.setdefault(claim.value, []).append(claim)
        for part in claim.value:
            self._heads[part[-1]][claim.value] = None
        self._order.append(claim)

    def twin(self, claim: Claim) -> Claim | None:
        """The claim, still held, that made the same statement in the same words."""
        held = self.values.get(claim.value)
        if not held:
            return None
        twins = self._twins.setdefault(claim.value, {held[0].wording: held[0]})
        first = twins.setdefault(claim.wording, claim)
        return None if first is claim else first

    def latest(self, value: Value | None = None) -> Claim:
        """The last claim that came, of a value if one is given; only asked when there is one."""
        if value is not None:
            return self.values[value][-1]
        while self._order[-1].id in self._gone:
            self._order.pop()
        return self._order[-1]

    def last(self, named: Value, *, exact: bool) -> Claim | None:
        """The last claim of the named value, or of any value when none is named."""
        if not self.values:
            return None
        if not named:
            return self.latest()
        value = self._find(named, exact)
        return None if value is None else self.latest(value)

    def take(self, named: Value, *, exact: bool, all_if_unnamed: bool) -> list[Claim]:
        """Remove and return the claims of the named value."""
        if not named:
            return [claim for value in list(self.values) for claim in self._drop(value)] if all_if_unnamed else []
        value = self._find(named, exact)
        return [] if value is None else self._drop(value)

    def take_rivals(self, value: Value) -> list[Claim]:
        """Remove and return the claims of every value that cannot hold together with this one."""
        rivals = [other for other in self.values if other != value and not refines(other, value)]
        return [claim for other in rivals for claim in self._drop(other)]

    def take_run(self, last: Claim) -> list[Claim]:
        """Remove and return the last claim of a value and those before it with no other value between them."""
        claims = self.values[last.value]
        run: list[Claim] = []
        if self.latest() is last:
            while self.values.get(last.value) and self.latest().value == last.value:
                run.append(self._pop(last.value))
        else:
            run.append(self._pop(last.value))
        if not claims:
            self._drop(last.value)
        return run

    def _pop(self, value: Value) -> Claim:
        claim = self.values[value].pop()
        self._gone.add(claim.id)
        return claim

    def _drop(self, value: Value) -> list[Claim]:
        claims = self.values.pop(value)
        for part in value:
            self._heads[part[-1]].pop(value, None)
        self._gone.update(claim.id for claim in claims)
        self._twins.pop(value, None)
        return claims

    def _find(self, named: Value, exact: bool) -> Value | None:
        if named in self.values:
            return named
        if exact or not self.loose:
            return None
        alike = self._heads.get(named[-1][-1], {})
        found = [value for value in alike if covers(named, value)] if len(alike) <= _AMBIGUOUS else []
        return found[0] if len(found) == 1 else None
