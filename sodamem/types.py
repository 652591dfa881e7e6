"""The values that flow through the pipeline: dialogue, time, facts, hits, evidence, answers.

Data model of arXiv 2608.08055, section 3.2. All are frozen and keyword-only. Times are floating: the
conversation's own wall time, without a zone. Offsets are Unicode code points of the stored turn text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sodamem.calls import ChatReply as ChatReply
from sodamem.calls import ChatRequest as ChatRequest
from sodamem.calls import Message as Message
from sodamem.calls import Usage as Usage
from sodamem.errors import DataError, ProvenanceError

Grain = Literal["minute", "day", "week", "weekend", "month", "season", "quarter", "year", "decade", "span"]
Kind = Literal["fact", "event", "state", "preference", "profile"]
Modality = Literal[
    "past_event", "current_state", "future_plan", "preference", "intent", "question", "advice", "external_info"
]
Status = Literal["active", "superseded", "invalid"]
EdgeKind = Literal["DERIVED_FROM", "MENTIONS", "SUPERSEDES", "CONTRADICTS", "UPDATES", "SEMANTIC", "RELATION"]
ItemKind = Literal["turn", "piece", "fact"]
Order = Literal["near_to_far", "far_to_near"]
Label = Literal["correct", "incorrect", "unjudged"]

GRAINS: tuple[str, ...] = get_args(Grain)
KINDS: tuple[str, ...] = get_args(Kind)
MODALITIES: tuple[str, ...] = get_args(Modality)
STATUSES: tuple[str, ...] = get_args(Status)
EDGE_KINDS: tuple[str, ...] = get_args(EdgeKind)
ITEM_KINDS: tuple[ItemKind, ...] = get_args(ItemKind)


# --- time ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """A half-open stretch of floating time [start, end), never empty, with the grain it was said in."""

    start: datetime
    end: datetime
    grain: Grain

    def __post_init__(self) -> None:
        if self.start.tzinfo is not None or self.end.tzinfo is not None:
            raise DataError(f"interval must be floating time without a zone, got {self.start} .. {self.end}")
        if not self.start < self.end:
            raise DataError(f"interval must end after it starts, got [{self.start}, {self.end})")

    def meets(self, other: Interval) -> bool:
        """True when the two half-open intervals share at least one instant."""
        return self.start < other.end and other.start < self.end

    def holds(self, moment: datetime) -> bool:
        return self.start <= moment < self.end


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeValue:
    """One time expression as it was said and as it was read; `interval` None means unresolved, never guessed."""

    words: str
    start: int
    end: int
    anchor: datetime
    interval: Interval | None
    rule: str
    version: str
    approximate: bool = False
    alternatives: tuple[Interval, ...] = ()

    @property
    def ambiguous(self) -> bool:
        return bool(self.alternatives)


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """The temporal intent of a question: W (None when it names no time) and the direction δ that breaks ties."""

    interval: Interval | None = None
    order: Order = "near_to_far"


# --- dialogue -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One utterance. `id` is unique in its history and never renumbered; `index` is its place in the session."""

    id: str
    session_id: str
    index: int
    role: str
    speaker: str
    text: str
    at: datetime
    caption: str = ""

    def __post_init__(self) -> None:
        if self.at.tzinfo is not None:
            raise DataError(f"turn {self.id} must have floating time without a zone, got {self.at}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """Turns held in one sitting, at one time. Ids are scoped to the history."""

    id: str
    at: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, kw_only=True)
class History:
    """Everything one memory is built from. `sessions` may be a lazy sequence; `digest` identifies the content."""

    id: str
    sessions: Sequence[Session]
    digest: str
    user: str = "user"  # whose memory it is, where the dialogue has a user and an assistant
    speakers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question put to one history, with its gold. Gold fields never reach an index or a prompt."""

    id: str
    history_id: str
    text: str
    asked_at: datetime
    category: str  # the slug used in metric names, e.g. "category_2" or "knowledge-update"
    category_name: str
    gold: str
    gold_turns: tuple[str, ...] = ()
    gold_sessions: tuple[str, ...] = ()
    answerable: bool = True
    trap: str = ""  # the wrong answer that an adversarial question invites
    gold_interval: Interval | None = None
    erratum: str = ""  # why the gold is disputed; empty when it is not
    exclude: str = ""  # why retrieval cannot be scored on it (a reason slug); empty when it can


# --- memory -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class MessagePiece:
    """A span of a turn: `turn.text[start:end] == text` holds exactly, in code points."""

    turn_id: str
    start: int
    end: int
    text: str

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end or len(self.text) != self.end - self.start:
            raise ProvenanceError(f"piece of {self.turn_id} must span its text, got [{self.start}, {self.end})")

    @property
    def id(self) -> str:
        return f"{self.turn_id}#{self.start}-{self.end}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entity:
    """Somebody or something that facts are about; `type` is person, place, organisation, thing or other."""

    id: str
    type: str
    surfaces: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Role:
    """An argument of a fact: its role name, the entity that fills it, and the words that named it."""

    name: str
    entity: str
    words: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    value: float
    unit: str
    words: str


@dataclass(frozen=True, kw_only=True)
class FactEvent:
    """A typed statement that the dialogue supports, tied to the words it came from (paper section 3.2).

    Three time axes: `mentioned_at` (when it was said), `occurred` (when it happened), and
    `valid_from`/`valid_until` (while it holds; an open end means still true). A FactEvent without a piece
    cannot be constructed.
    """

    id: str
    kind: Kind
    predicate: str
    modality: Modality
    subject: str  # entity id
    text: str  # the card: what is stored about the fact, in words
    pieces: tuple[MessagePiece, ...]
    mentioned_at: datetime
    order: tuple[str, int, int]  # (ISO time of the turn, turn index, offset): what was said last, never arrival
    speaker: str = ""
    polarity: bool = True
    roles: tuple[Role, ...] = ()
    quantity: Quantity | None = None
    times: tuple[TimeValue, ...] = ()
    occurred: Interval | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    status: Status = "active"
    flags: tuple[str, ...] = ()  # e.g. correction, temporary, possible_conflict, quoted, hypothetical

    def __post_init__(self) -> None:
        if not self.pieces:
            raise ProvenanceError(f"fact {self.id} must cite at least one piece of a turn, got none")
        if self.valid_from and self.valid_until and not self.valid_from < self.valid_until:
            raise DataError(f"fact {self.id} must end after it starts, got {self.valid_from} .. {self.valid_until}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    source: str
    target: str
    kind: EdgeKind
    label: str = ""  # the role of a MENTIONS, the predicate of a RELATION, the reason of a SUPERSEDES
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """What one session yielded. `rejected` counts candidates that failed provenance, by reason."""

    pieces: tuple[MessagePiece, ...] = ()
    entities: tuple[Entity, ...] = ()
    facts: tuple[FactEvent, ...] = ()
    rejected: Mapping[str, int] = field(default_factory=dict)


# --- recall -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Query:
    """A question as analysed once by the pipeline, so that tunnels share nothing hidden."""

    text: str
    asked_at: datetime
    terms: tuple[str, ...]  # stemmed content words
    entities: tuple[str, ...]  # entity ids of the store that the question names
    speakers: tuple[str, ...]  # participants of the dialogue that the question names
    vector: NDArray[np.float32]  # [d], unit norm
    window: Window
    about_past: bool = False  # superseded facts may answer it
    as_of: datetime | None = None  # nothing said later may be seen


@dataclass(frozen=True, kw_only=True)
class Hits:
    """What one tunnel found: one row per award, as parallel arrays of length n.

    item: row of the item in the store's snapshot · head: rank (from 1) of the head it hangs from ·
    direct: the head itself, or something reached from it · score: the tunnel's own relevance, higher is better.
    """

    item: NDArray[np.int32]
    head: NDArray[np.int32]
    direct: NDArray[np.bool_]
    score: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.item)


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Fused items, best first, and the table of awards that put them there (m items, a awards).

    item: row of each item's best member · confidence, bonus: float64 [m] · member: int32, rows of all members, item
    after item, best first; those of item i are `member[bounds[i]:bounds[i + 1]]` · award_*: one row per (tunnel, head,
    hit), `award_place` points into the ranking (from 0).
    """

    item: NDArray[np.int32]
    confidence: NDArray[np.float64]
    bonus: NDArray[np.float64]
    member: NDArray[np.int32]
    bounds: NDArray[np.int64]
    tunnels: tuple[str, ...]
    award_place: NDArray[np.int32]
    award_tunnel: NDArray[np.int32]
    award_head: NDArray[np.int32]
    award_direct: NDArray[np.bool_]
    award_mass: NDArray[np.float64]

    def members(self, place: int) -> list[int]:
        """Rows merged into the item at `place` (from 0), best first."""
        return [int(row) for row in self.member[self.bounds[place] : self.bounds[place + 1]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Award:
    """Why an item is in the ranking: the mass that one tunnel gave it, through one head."""

    tunnel: str
    head: int
    direct: bool
    mass: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """One ranked item with its reasons. `turn_ids` are the turns it stands for, the best one first."""

    id: str
    kind: ItemKind
    rank: int
    turn_ids: tuple[str, ...]
    session_id: str
    speaker: str
    text: str
    at: datetime
    confidence: float
    awards: tuple[Award, ...]
    time_bonus: float = 0.0
    occurred: Interval | None = None
    status: Status = "active"
    fact: FactEvent | None = None
    facts: tuple[FactEvent, ...] = ()  # what its turns stated, as it stands now: superseded ones are among them
    times: tuple[TimeValue, ...] = ()  # time expressions of the words, read at the time they were said
    members: tuple[str, ...] = ()  # ids of the items merged into this one
    quotable: tuple[str, ...] = ()  # stored words that a citation of it may quote: its turns, verbatim


# --- answers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """A quotation that supports an answer; `evidence_id` must be in the pool the reader was given."""

    evidence_id: str
    turn_id: str
    quote: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    text: str
    citations: tuple[Citation, ...] = ()
    abstained: bool = False
    status: Literal["ok", "uncited", "failed"] = "ok"
    interval: Interval | None = None  # the resolved time, where the answer is one
    usage: tuple[Usage, ...] = ()
    trace: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a judge said; `unjudged` is never a default grade but a counted third state."""

    label: Label
    judge: str
    reason: str = ""
    raw: str = ""
    usage: tuple[Usage, ...] = field(default=())
