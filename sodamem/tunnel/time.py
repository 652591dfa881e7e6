"""Time tunnel: turns said in, or soon after, the time that a question names; nothing for a question without one.

People tell of an event when it happens or in the days after it, so nearness decays from the window's end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import ConfigError
from sodamem.protocols import Tunnel
from sodamem.store.snapshot import Snapshot, moment
from sodamem.tunnel.bm25 import check
from sodamem.tunnel.expansion import allowed, flat
from sodamem.types import Hits, Query


@dataclass(frozen=True, kw_only=True)
class TimeTunnel(Tunnel):
    """Scores 1 inside the window, falling to 0 over `after` days behind it and `before` days ahead of it."""

    strength: str
    after: float
    before: float

    def __post_init__(self) -> None:
        check(self.strength, None)
        for name in ("after", "before"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"time.{name} must be >= 0 days, got {getattr(self, name)}")

    def open(self, snapshot: Snapshot) -> TimeSearcher:
        return TimeSearcher(self, snapshot)


class TimeSearcher:
    def __init__(self, tunnel: TimeTunnel, snapshot: Snapshot) -> None:
        self._tunnel, self._snapshot = tunnel, snapshot

    def search(self, query: Query) -> Hits:
        window = query.window.interval
        if window is None:
            return flat(np.zeros(0), None)
        turns = len(self._snapshot.turns)
        said = self._snapshot.said[:turns]
        late = _days(said - moment(window.end))  # negative inside
        early = _days(moment(window.start) - said)
        near = np.minimum(_fall(late, self._tunnel.after), _fall(early, self._tunnel.before))
        score = np.where((early <= 0) & (late < 0), 1.0, near)  # the window is half-open
        return flat(score * allowed(query, self._snapshot)[:turns], None)


def _days(spans: NDArray[Any]) -> NDArray[np.float64]:
    return spans.astype("timedelta64[s]").astype(np.float64) / 86_400


def _fall(days: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    """1 up to the edge of the window, 0 from `reach` days beyond it."""
    return np.clip(1 - np.maximum(days, 0) / reach, 0, 1) if reach else (days < 0).astype(float)
