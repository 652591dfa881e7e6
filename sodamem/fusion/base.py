"""What all fusions share: the way from hits to a ranking, of which each fusion supplies what an award is worth."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping

from sodamem.fusion.awards import Awards, Floats, gather
from sodamem.fusion.ranking import Merged, merged, ranking
from sodamem.protocols import Fusion
from sodamem.store.snapshot import Snapshot
from sodamem.types import Hits, Query, Ranking


class AwardFusion(Fusion):
    """A fusion that values every award alone, and an item by the sum over its awards.

    `prepare` is the part of the work that does not depend on the knobs a sweep turns; replay keeps its result under
    `prepared_for`. `mass` is the rest.
    """

    unit: str
    theta: float | None
    beta: float

    @property
    def prepared_for(self) -> Hashable:
        """Everything that `prepare` depends on besides the awards."""
        return type(self).__name__

    def prepare(self, awards: Awards) -> Floats:
        """float64 [n]; the scores as they are, unless a fusion needs more."""
        return awards.score

    @abstractmethod
    def mass(self, awards: Awards, prepared: Floats) -> Floats:
        """What each award is worth: float64 [n]."""

    def value(self, awards: Awards, mass: Floats) -> Floats:
        """What each candidate is worth before merging: float64 [m]."""
        return awards.total(mass)

    def merged(self, awards: Awards, value: Floats) -> Merged:
        return merged(awards, value, self.theta, self.beta)

    def fuse(self, query: Query, hits: Mapping[str, Hits], strengths: Mapping[str, str], snapshot: Snapshot) -> Ranking:
        awards = gather(query, hits, strengths, snapshot, unit=self.unit, theta=self.theta)
        mass = self.mass(awards, self.prepare(awards))
        return ranking(awards, mass, self.merged(awards, self.value(awards, mass)))
