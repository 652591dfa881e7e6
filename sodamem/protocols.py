"""The architecture on two screens: one Protocol per stage of the pipeline, in the order data flows.

A *tunnel* is a first-stage retriever over one signal (words, vectors, the graph, time); recall opens several
and fuses what they find. Configuration and state are apart: components are frozen, `open` gives what runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sodamem.types import (
    Answer,
    ChatReply,
    ChatRequest,
    Edge,
    Evidence,
    Extraction,
    FactEvent,
    History,
    Hits,
    Query,
    Question,
    Ranking,
    Session,
    TimeValue,
    Verdict,
    Window,
)

if TYPE_CHECKING:
    from sodamem.store.snapshot import Snapshot

T = TypeVar("T")


class Corpus(Protocol):
    """Opened data: histories are loaded one at a time, questions are grouped by history."""

    name: str
    sha256: str  # of the file read, or of the generator's parameters
    history_ids: tuple[str, ...]
    notes: Mapping[str, Sequence[str]]  # what the loader repaired, flagged or left out: reason -> ids

    def history(self, history_id: str) -> History: ...
    def questions(self, history_id: str) -> Sequence[Question]: ...


class Dataset(Protocol):
    """Where histories and questions come from. `open` reads; it raises DataError in one line."""

    split: str  # dev, test or all

    def open(self) -> Corpus: ...


class Timeline(Protocol):
    """Reads time expressions against an anchor (paper section 4.3). Deterministic; reads no clock."""

    def read(self, text: str, at: datetime) -> tuple[TimeValue, ...]: ...
    def window(self, question: str, asked_at: datetime) -> Window: ...


class Extractor(Protocol):
    """Turns one session into pieces, entities and candidate FactEvents (paper section 4.2)."""

    def extract(self, session: Session, history: History, timeline: Timeline) -> Extraction: ...


class Currency(Protocol):
    """Decides what is true now (paper section 4.4): a pure function of the facts, so arrival cannot matter."""

    def resolve(self, facts: Sequence[FactEvent]) -> tuple[tuple[FactEvent, ...], tuple[Edge, ...]]: ...


class Linker(Protocol):
    """Draws SEMANTIC and RELATION edges between facts, of bounded degree (paper section 4.4)."""

    def link(self, facts: Sequence[FactEvent]) -> tuple[Edge, ...]: ...


class Maintenance(Protocol):
    """Works out profiles between sessions, never on the read path (paper section 4.4, dreaming)."""

    def dream(self, facts: Sequence[FactEvent]) -> tuple[tuple[FactEvent, ...], tuple[Edge, ...]]: ...


class FittedEncoder(Protocol):
    @property
    def digest(self) -> str: ...  # names the model and its parameters: the key of every cached vector
    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]: ...  # [n, dimension], unit norm


class Encoder(Protocol):
    """Text to vectors. `fit` sees the texts of one store; a pretrained encoder ignores them."""

    def fit(self, texts: Sequence[str]) -> FittedEncoder: ...


class Searcher(Protocol):
    def search(self, query: Query) -> Hits: ...


class Tunnel(Protocol):
    """A first-stage retriever over one signal. `strength` picks its column of the mass table (section 4.5)."""

    strength: str  # strong or weak

    def open(self, snapshot: Snapshot) -> Searcher: ...


class Fusion(Protocol):
    """Awards of all tunnels to one ranking (paper section 4.5). Pure array work, so it can be replayed."""

    def fuse(
        self, query: Query, hits: Mapping[str, Hits], strengths: Mapping[str, str], snapshot: Snapshot
    ) -> Ranking: ...


class Chat(Protocol):
    """Text in, text out: the only way to a model. Thread-safe and blocking; raises ServiceError, never guesses."""

    @property
    def digest(self) -> str: ...  # model, server settings and sampling: part of every cache key and judge identity
    def ask(self, request: ChatRequest) -> ChatReply: ...


class Desk(Protocol):
    """Where a planner works on one memory: it recalls, looks around an item, reads times, and notes its steps."""

    def __call__(self, question: Question) -> Sequence[Evidence]: ...
    def around(self, item: Evidence, radius: int) -> Sequence[Evidence]: ...  # turns of the same session
    def read(self, text: str, at: datetime) -> tuple[TimeValue, ...]: ...
    def note(self, step: Mapping[str, object]) -> None: ...  # becomes part of the answer's trace


class Planner(Protocol):
    """Grows the evidence pool before reading (paper section 4.6). `recall` is a desk: calling it recalls."""

    def gather(self, question: Question, recall: Desk) -> Sequence[Evidence]: ...


class Reader(Protocol):
    """Composes an answer from evidence, with citations into it (paper section 4.6)."""

    def read(self, question: Question, evidence: Sequence[Evidence]) -> Answer: ...


class Judge(Protocol):
    """Grades an answer against the gold. Its digest covers model, prompt, parser and settings."""

    name: str

    def grade(self, question: Question, answer: Answer) -> Verdict: ...


class Executor(Protocol):
    """Does the jobs of a run, one for each history: in turn, in threads, in other processes, on other machines.

    `spread` gives what `for job in jobs: yield from job()` does: the same items, in that order, each as soon as it is
    there, and the same error at the same place.
    """

    apart: ClassVar[bool]  # jobs are pickled and done in other processes

    def ready(self) -> None:
        """Raises where it cannot work here, before a run is begun."""
        return  # most can always work, and inherit this

    def spread(self, jobs: Iterable[Callable[[], Iterator[T]]]) -> Generator[T, None, None]: ...


class Tracker(Protocol):
    """Where runs are recorded; a context that ends FAILED when its body raises."""

    def run(self, name: str, params: Mapping[str, object]) -> AbstractContextManager[Any]: ...
