"""What stories hand to the scribe, and what they get back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sodamem.dataset.synthetic.templates import Group, Happening, Holding, State, Taste
from sodamem.types import Interval, Kind, Modality


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """What a clause says, apart from its words."""

    predicate: str
    value: str
    subject: str = "user"
    scope: str = ""
    kind: Kind | None = None  # None = the predicate's own
    modality: Modality | None = None
    polarity: bool = True
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A clause that has been placed."""

    turn_id: str
    session: int
    exchange: int
    effective_at: datetime
    occurred: Interval | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Echo:
    """What a distractor imitates: the words of a story, and the event it told where it told one."""

    words: State | Holding | Happening | Taste
    group: Group | None = None
    value: str = ""
