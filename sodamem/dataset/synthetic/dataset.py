"""The default dataset: histories planned from a seed and read session by session, with questions and exact gold.

Shaped like LongMemEval (arXiv 2410.10813): a user and an assistant, dated sessions, seven types of question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from random import Random

from sodamem.dataset.synthetic import absent, stories, updates
from sodamem.dataset.synthetic.clock import Clock
from sodamem.dataset.synthetic.distractors import distract
from sodamem.dataset.synthetic.gold import Gold
from sodamem.dataset.synthetic.scribe import Scribe
from sodamem.dataset.synthetic.sessions import LazySessions
from sodamem.dataset.synthetic.templates import lexicon
from sodamem.errors import ConfigError, DataError
from sodamem.protocols import Corpus, Dataset
from sodamem.types import History, Question

VERSION = 1  # raised whenever the same parameters begin to give other words
SPLITS = ("all", "dev", "test")
_VARIANTS: dict[str, Sequence[Callable[[Scribe], None]]] = {
    "single-session-user": stories.VARIANTS["single-session-user"],
    "knowledge-update": updates.VARIANTS,
    "single-session-assistant": stories.VARIANTS["single-session-assistant"],
    "temporal-reasoning": stories.VARIANTS["temporal-reasoning"],
    "single-session-preference": stories.VARIANTS["single-session-preference"],
    "multi-session": stories.VARIANTS["multi-session"],
    "abstention": absent.VARIANTS,
}
CATEGORIES = tuple(_VARIANTS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The parameters that decide what a history says; how many histories there are does not."""

    seed: int
    sessions: int
    turns_per_session: int
    questions_per_history: int
    days_between_sessions: float
    distractors: int
    hard: bool

    @property
    def sha256(self) -> str:
        words = json.dumps([VERSION, lexicon().sha256, asdict(self)], sort_keys=True)
        return sha256(words.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One planned history: what is said where, what is asked, and the gold. Compact however long the history is."""

    history: History
    questions: tuple[Question, ...]
    gold: Gold


@lru_cache(maxsize=32)
def plan(shape: Shape, index: int) -> Plan:
    """Plan history `index` (from 0). A pure function, so histories can be made in any order, on any machine."""
    name = history_name(shape.seed, index)
    digest = sha256(f"{shape.sha256}/{name}".encode()).hexdigest()
    clock = Clock(key=digest, sessions=shape.sessions, days_between=shape.days_between_sessions)
    scribe = Scribe(
        key=digest,
        history_id=name,
        clock=clock,
        exchanges=shape.turns_per_session // 2,
        hard=shape.hard,
        rng=Random(f"{digest}/plan"),
    )
    for number in range(index * shape.questions_per_history, (index + 1) * shape.questions_per_history):
        round_, place = divmod(number, len(CATEGORIES))
        variants = _VARIANTS[CATEGORIES[place]]
        variants[round_ % len(variants)](scribe)
    for turn in range(shape.distractors):
        for echo in tuple(scribe.echoes):
            distract(scribe, echo, turn)
    assistant = lexicon().people["assistant"]
    sessions = LazySessions(
        key=digest,
        clock=clock,
        turns=shape.turns_per_session,
        cells=scribe.cells,
        speakers=(scribe.user, assistant),
    )
    history = History(id=name, sessions=sessions, digest=digest, user=scribe.user, speakers=(scribe.user, assistant))
    return Plan(history=history, questions=tuple(scribe.questions), gold=scribe.gold())


def history_name(seed: int, index: int) -> str:
    return f"syn{seed}-{index + 1:04d}"


def in_split(seed: int, index: int, split: str) -> bool:
    """Of every two neighbouring histories one is dev and one is test; a hash decides which."""
    pair = sha256(f"{seed}/{index // 2}".encode()).digest()[0]
    return split == "all" or ("dev", "test")[(pair + index) % 2] == split


@dataclass(frozen=True, kw_only=True)
class SyntheticCorpus(Corpus):
    """Opened synthetic data. `gold` is a side channel for measuring memories; pipelines do not read it."""

    name: str
    sha256: str
    history_ids: tuple[str, ...]
    notes: Mapping[str, Sequence[str]]
    shape: Shape
    indexes: Mapping[str, int]

    def history(self, history_id: str) -> History:
        return self._plan(history_id).history

    def questions(self, history_id: str) -> Sequence[Question]:
        return self._plan(history_id).questions

    def gold(self, history_id: str) -> Gold:
        """Every statement with its span, and every slot over time."""
        return self._plan(history_id).gold

    def _plan(self, history_id: str) -> Plan:
        if history_id not in self.indexes:
            raise DataError(f"history_id must be one of this corpus, got {history_id}. See history_ids.")
        return plan(self.shape, self.indexes[history_id])


@dataclass(frozen=True, kw_only=True)
class SyntheticDataset(Dataset):
    """Parameters of the generator. Equal parameters give equal bytes on any machine.

    split: all, dev or test · sessions per history, turns_per_session (user and assistant turns together) ·
    days_between_sessions: the mean; long histories are compressed into ten years · distractors: look-alikes per
    story, 0 to 6 · hard: the look-alikes are near-duplicates and slots change more often.
    """

    split: str
    seed: int
    histories: int
    sessions: int
    turns_per_session: int
    questions_per_history: int
    days_between_sessions: float
    distractors: int
    hard: bool

    def __post_init__(self) -> None:
        if self.split not in SPLITS:
            raise ConfigError(f"split must be one of {', '.join(SPLITS)}, got {self.split}. Choose one of them.")
        _between("seed", self.seed, 0, 2**31)
        _between("histories", self.histories, 1 if self.split == "all" else 2, 9999)
        _between("sessions", self.sessions, 4, 1_000_000)
        _between("turns_per_session", self.turns_per_session, 2, 1000)
        _between("questions_per_history", self.questions_per_history, 1, 42)
        _between("days_between_sessions", self.days_between_sessions, 0.01, 365)
        _between("distractors", self.distractors, 0, 6)
        # What planning may use at most, kept out of three sessions so that a story always finds four with room.
        needed = self.questions_per_history * (3 + self.distractors) + 8
        room = (self.sessions - 3) * (self.turns_per_session // 2)
        if needed > room:
            raise ConfigError(
                f"sessions must leave room for {needed} exchanges of facts, got room for {room}. "
                "Raise sessions or turns_per_session, or lower questions_per_history or distractors."
            )

    def open(self) -> SyntheticCorpus:
        indexes = [index for index in range(self.histories) if in_split(self.seed, index, self.split)]
        names = [history_name(self.seed, index) for index in indexes]
        shape = Shape(**{name: getattr(self, name) for name in Shape.__dataclass_fields__})
        return SyntheticCorpus(
            name="synthetic",
            sha256=shape.sha256,
            history_ids=tuple(names),
            notes={},
            shape=shape,
            indexes=dict(zip(names, indexes, strict=True)),
        )


def _between(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise ConfigError(f"{name} must be between {least} and {most}, got {value}. Choose a value in that range.")
