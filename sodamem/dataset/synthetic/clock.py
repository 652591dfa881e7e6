"""Session times by arithmetic: session i is dated without looking at the others, months apart or minutes apart.

The spacing follows LongMemEval's histories, which spread over months and visit every weekday.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

_DAY = 24 * 60
_LONGEST = 3650 * _DAY  # ten years: beyond that, sessions move closer together instead
_EPOCH = datetime(2022, 1, 3)


@dataclass(frozen=True, kw_only=True, slots=True)
class Clock:
    """Strictly increasing times for `sessions` sessions, about `days_between` days apart."""

    key: str
    sessions: int
    days_between: float

    @property
    def start(self) -> datetime:
        return _EPOCH + timedelta(days=Random(f"{self.key}/start").randrange(540))

    def at(self, index: int) -> datetime:
        """Time of session `index`, to the minute. O(1)."""
        rng = Random(f"{self.key}/time/{index}")
        gap = max(2, int(min(self.days_between * _DAY, _LONGEST / self.sessions)))
        if gap < 2 * _DAY:
            return self.start + timedelta(minutes=index * gap + rng.randrange(gap // 2))
        day = index * gap // _DAY + rng.randrange(gap // _DAY - 1)
        # Some talks happen just after midnight, where "yesterday" is easily read as the wrong day.
        minute = rng.randrange(5, 55) if rng.random() < 0.05 else rng.randrange(7 * 60, 23 * 60)
        return self.start + timedelta(days=day, minutes=minute)

    def asked_at(self, number: int) -> datetime:
        """Time of question `number`: within ten days after the last session."""
        rng = Random(f"{self.key}/asked/{number}")
        return self.at(self.sessions - 1) + timedelta(minutes=rng.randrange(60, 10 * _DAY))
