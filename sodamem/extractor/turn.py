"""No facts at all: the memory is the raw turns.

The turn-level baseline of arXiv 2608.08055, section 5; what any extractor must improve on.
"""

from __future__ import annotations

from dataclasses import dataclass

from sodamem.protocols import Extractor, Timeline
from sodamem.types import Extraction, History, Session


@dataclass(frozen=True, kw_only=True)
class TurnExtractor(Extractor):
    """Extracts nothing; turns are stored by the memory whatever its extractor."""

    def extract(self, session: Session, history: History, timeline: Timeline) -> Extraction:
        return Extraction()
