"""What a tunnel scores: items of given kinds or whole sessions, and how far a score spreads to neighbouring turns.

Context is what the paper does not have and dialogue rewards: an answer often shares no word with its question, but
the turn before it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.store.snapshot import Snapshot
from sodamem.types import ITEM_KINDS

SCOPES = ("item", "session")


@dataclass(frozen=True, kw_only=True)
class Documents:
    """Rows of the snapshot grouped into documents.

    scope: item (each row is a document) or session (all its turns; its score goes to every one of them) · kinds: which
    items are scored · context: share of a turn's score that goes to the turns 1, 2, … places before and after it in
    its session; [] for none.
    """

    scope: str
    kinds: Sequence[str]
    context: Sequence[float]

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise ConfigError(f"documents.scope must be one of {', '.join(SCOPES)}, got {self.scope!r}")
        if not self.kinds or not set(self.kinds) <= set(ITEM_KINDS):
            raise ConfigError(f"documents.kinds must be some of {', '.join(ITEM_KINDS)}, got {list(self.kinds)}")
        if list(self.kinds) != ["turn"] and (self.scope == "session" or self.context):
            raise ConfigError(f"documents.kinds must be [turn] with scope session or context, got {list(self.kinds)}")
        if not all(0 <= share <= 1 for share in self.context):
            raise ConfigError(f"documents.context must hold shares between 0 and 1, got {list(self.context)}")

    def of(self, snapshot: Snapshot) -> Grouping:
        return Grouping(self, snapshot)


class Grouping:
    """The documents of one snapshot. rows: int32 [n], the item rows that get a score, in canonical order."""

    def __init__(self, documents: Documents, snapshot: Snapshot) -> None:
        self.scope, self._context, self._snapshot = documents.scope, documents.context, snapshot
        wanted = [ITEM_KINDS.index(kind) for kind in documents.kinds]
        self.rows = np.flatnonzero(np.isin(snapshot.kind, wanted)).astype(np.int32)
        self._session = snapshot.session[self.rows]

    @cached_property
    def members(self) -> list[list[int]]:
        """Item rows that make up each document."""
        if self.scope == "item":
            return [[row] for row in self.rows.tolist()]
        found: list[list[int]] = [[] for _ in self._snapshot.sessions]
        for row, session in zip(self.rows.tolist(), self._session.tolist(), strict=True):
            found[session].append(row)
        return found

    def texts(self) -> list[str]:
        return ["\n".join(self._snapshot.texts[row] for row in rows) for rows in self.members]

    def spread(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of documents to scores of `rows`: a session's goes to each of its turns, a turn's to its context."""
        own = scores[self._session] if self.scope == "session" else scores
        total = own.copy()
        for distance, share in enumerate(self._context, start=1):
            together = self._session[distance:] == self._session[:-distance]
            total[distance:] += share * own[:-distance] * together
            total[:-distance] += share * own[distance:] * together
        return np.round(total, 6)
