"""The ablation without time resolution: no expression is read, no question has a window.

arXiv 2608.08055, section 4.3, where the timeline is optional.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sodamem.protocols import Timeline
from sodamem.types import TimeValue, Window


@dataclass(frozen=True, kw_only=True)
class NoTimeline(Timeline):
    """Reads nothing; facts keep their mention time only."""

    def read(self, text: str, at: datetime) -> tuple[TimeValue, ...]:
        return ()

    def window(self, question: str, asked_at: datetime) -> Window:
        return Window()
