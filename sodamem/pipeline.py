"""The one path every experiment goes through: ingest, recall, answer (arXiv 2608.08055, Algorithms 1 to 3)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from sodamem.chat.metered import meter
from sodamem.encoder.cache import VectorCache, cached_encode
from sodamem.errors import ConfigError, ModelError, StoreError
from sodamem.executor.ahead import ahead
from sodamem.protocols import (
    Currency,
    Encoder,
    Extractor,
    FittedEncoder,
    Fusion,
    Linker,
    Maintenance,
    Planner,
    Reader,
    Searcher,
    Timeline,
    Tunnel,
)
from sodamem.query import Names, analyse
from sodamem.store.snapshot import Snapshot
from sodamem.store.sqlite import SqliteStore, Store
from sodamem.types import (
    ITEM_KINDS,
    Answer,
    Award,
    Evidence,
    Extraction,
    History,
    Hits,
    Query,
    Question,
    Ranking,
    Session,
    TimeValue,
    Usage,
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Recall:
    """How much of a ranking becomes evidence, and what of a turn is searchable.

    top_k: evidence items handed on · speaker_in_text, caption_in_text: whether a turn is indexed with its speaker's
    name and with the caption of its picture · names_in_query: whether participants' names stay among the words and in
    the vector of a question; they occur everywhere, and who is meant is what the speaker tunnel knows.
    """

    top_k: int
    speaker_in_text: bool
    caption_in_text: bool
    names_in_query: bool

    def __post_init__(self) -> None:
        if self.top_k < 1:
            raise ConfigError(f"recall.top_k must be >= 1, got {self.top_k}")


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A history's finished memory, open for questions. Nothing here writes to the store.

    usage: every attempt at a model call that this opening made to ingest what was missing.
    """

    history: History
    snapshot: Snapshot
    names: Names
    encoder: FittedEncoder
    searchers: Mapping[str, Searcher]
    counts: Mapping[str, int]
    usage: tuple[Usage, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """All parts of one system. `settings` is the part of the configuration that decides what a store contains."""

    extractor: Extractor
    timeline: Timeline
    currency: Currency
    linker: Linker
    maintenance: Maintenance
    store: SqliteStore
    encoder: Encoder
    tunnels: Mapping[str, Tunnel]
    recall_options: Recall
    fusion: Fusion
    planner: Planner
    reader: Reader
    settings: Mapping[str, object]
    stores: Path  # default parent of the store folders
    cache: VectorCache | None = None
    at_once: int = 1  # sessions of a history that are extracted at a time; more pays where a model is asked
    progress: Callable[[str], None] = field(default=lambda _: None)

    # --- Algorithm 1: ingest ------------------------------------------------------------------------------------

    def ingest(self, history: History, store: Store) -> None:
        """Bring the store up to the history: only sessions it does not hold yet are read, each in one transaction.

        Whoever else fills the same store is waited for. Where extraction fails, the sessions before are in the store.
        A frozen store must hold them all already. Raises StoreError where it does not, or holds others.
        """
        if store.frozen and not store.complete:
            raise StoreError(f"store {store.path} must be complete to be read frozen. Run once with store.frozen=false")
        with _alone(store):
            self._fill(history, store)

    def _fill(self, history: History, store: Store) -> None:
        def extract(session: Session) -> Extraction:
            return self.extractor.extract(session, history, self.timeline)

        missing = (session for session in history.sessions if not store.holds(session))
        with closing(ahead(missing, extract, self.at_once)) as found:
            for session, extraction in found:
                store.add(session, extraction)
                self.progress(session.id)
        if len(history.sessions) != (held := store.counts()["sessions"]):
            raise StoreError(
                f"store {store.path} must hold the {len(history.sessions)} sessions of {history.id}, it holds {held}. "
                "It was filled from other data: choose another store.folder, or delete the file"
            )
        if not store.complete:
            facts, edges = self.currency.resolve(store.facts(extracted=True))
            links = self.linker.link([fact for fact in facts if fact.status == "active"])
            profiles, cited = self.maintenance.dream((*facts, *store.profiles()))
            store.finish(facts, (*edges, *links, *cited), profiles)

    @contextmanager
    def open(self, history: History) -> Iterator[Memory]:
        """Ingest what is missing, then open the memory for questions."""
        with self.store.open(history, self.settings, self.stores) as store:
            with meter() as paid:
                self.ingest(history, store)
            snapshot = Snapshot(
                store,
                speaker_in_text=self.recall_options.speaker_in_text,
                caption_in_text=self.recall_options.caption_in_text,
            )
            encoder = self.encoder.fit(snapshot.texts[: len(snapshot.turns)])  # what was said, whatever was made of it
            snapshot.use(lambda texts: cached_encode(encoder, texts, self.cache), self.timeline.read)
            yield Memory(
                history=history,
                snapshot=snapshot,
                names=Names(snapshot, history.user),
                encoder=encoder,
                searchers={name: tunnel.open(snapshot) for name, tunnel in self.tunnels.items()},
                counts=store.counts(),
                usage=tuple(paid),
            )

    # --- Algorithm 2: recall ------------------------------------------------------------------------------------

    def query(self, memory: Memory, question: Question) -> Query:
        def encode(text: str) -> NDArray[np.float32]:
            vector: NDArray[np.float32] = cached_encode(memory.encoder, [text], self.cache)[0]
            return vector

        return analyse(question, memory.names, self.timeline, encode, keep_names=self.recall_options.names_in_query)

    def search(self, memory: Memory, query: Query) -> dict[str, Hits]:
        """What every tunnel finds, before fusion."""
        return {name: searcher.search(query) for name, searcher in memory.searchers.items()}

    def rank(self, memory: Memory, query: Query) -> Ranking:
        strengths = {name: tunnel.strength for name, tunnel in self.tunnels.items()}
        return self.fusion.fuse(query, self.search(memory, query), strengths, memory.snapshot)

    def recall(self, memory: Memory, question: Question) -> tuple[Evidence, ...]:
        """The best `top_k` items for a question, each with the awards that put it there."""
        ranking = self.rank(memory, self.query(memory, question))
        return self.evidence(memory, ranking, self.recall_options.top_k)

    def evidence(self, memory: Memory, ranking: Ranking, top_k: int) -> tuple[Evidence, ...]:
        count = min(top_k, len(ranking.item))
        awards: list[list[Award]] = [[] for _ in range(count)]
        within = np.flatnonzero((ranking.award_place < count) & (ranking.award_mass != 0))
        columns = (
            ranking.award_place,
            ranking.award_tunnel,
            ranking.award_head,
            ranking.award_direct,
            ranking.award_mass,
        )
        for place, tunnel, head, direct, mass in zip(*(column[within].tolist() for column in columns), strict=True):
            awards[place].append(Award(tunnel=ranking.tunnels[tunnel], head=head, direct=direct, mass=mass))
        return tuple(self._item(memory.snapshot, ranking, place, tuple(awards[place])) for place in range(count))

    def _item(self, snapshot: Snapshot, ranking: Ranking, place: int, awards: tuple[Award, ...]) -> Evidence:
        rows = ranking.members(place)
        turns = dict.fromkeys(source for row in rows for source in snapshot.sources(row))
        row, turn = rows[0], snapshot.turns[snapshot.turn[rows[0]]]
        fact = snapshot.fact(row)
        return Evidence(
            id=snapshot.ids[row],
            kind=ITEM_KINDS[snapshot.kind[row]],
            rank=place + 1,
            turn_ids=tuple(snapshot.turns[other].id for other in turns),
            session_id=turn.session_id,
            speaker=turn.speaker,
            text=snapshot.texts[row],
            at=turn.at,
            confidence=float(ranking.confidence[place]),
            time_bonus=float(ranking.bonus[place]),
            awards=awards,
            occurred=fact.occurred if fact else None,
            status=fact.status if fact else "active",
            fact=fact,
            facts=tuple(snapshot.facts[number] for other in turns for number in snapshot.stated.get(other, ())),
            times=fact.times if fact else snapshot.times[snapshot.turn[row]],
            members=tuple(snapshot.ids[other] for other in rows[1:]),
            quotable=tuple(snapshot.turns[other].text for other in turns),
        )

    def around(self, memory: Memory, item: Evidence, radius: int) -> tuple[Evidence, ...]:
        """Turns at most `radius` turns from those an item stands for, in the order they were said; no mass, no rank."""
        snapshot = memory.snapshot
        own = [snapshot.row[turn] for turn in item.turn_ids]
        rows = sorted({near for row in own for near in snapshot.around(row, radius)} - set(own))
        return tuple(_turn(snapshot, row) for row in rows)

    # --- Algorithm 3: answer ------------------------------------------------------------------------------------

    def answer(self, memory: Memory, question: Question) -> tuple[Answer, tuple[Evidence, ...]]:
        """The reader's answer and the evidence pool it was given; the planner's steps open its trace.

        A model call that fails for good makes a failed answer, which says why and what it cost all the same.
        """
        seen, desk = blind(question), _Desk(pipeline=self, memory=memory)
        pool: tuple[Evidence, ...] = ()
        with meter() as paid:
            try:
                pool = tuple(self.planner.gather(seen, desk))
                answer = self.reader.read(seen, pool)
            except ModelError as error:
                answer = Answer(text="", status="failed", trace=({"failed": error.reason, "said": str(error)},))
        usage = (*answer.usage, *paid)
        return replace(answer, usage=usage, trace=(*desk.steps, *answer.trace)), pool


@contextmanager
def _alone(store: Store) -> Iterator[None]:
    """Hold the store's lock while it is filled: of two processes with the same history the second finds the work done.

    The system lets go of it when a process dies. A frozen store is only read.
    """
    if store.frozen:
        yield
        return
    lock = FileLock(f"{store.path}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _log.warning("store %s is being filled by another process; waiting for it", store.path)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True, kw_only=True)
class _Desk:
    """What a planner may ask of one memory (protocols.Desk), and the steps it has noted."""

    pipeline: Pipeline
    memory: Memory
    steps: list[Mapping[str, object]] = field(default_factory=list)

    def __call__(self, question: Question) -> tuple[Evidence, ...]:
        return self.pipeline.recall(self.memory, question)

    def around(self, item: Evidence, radius: int) -> tuple[Evidence, ...]:
        return self.pipeline.around(self.memory, item, radius)

    def read(self, text: str, at: datetime) -> tuple[TimeValue, ...]:
        return self.pipeline.timeline.read(text, at)

    def note(self, step: Mapping[str, object]) -> None:
        self.steps.append(step)


def _turn(snapshot: Snapshot, row: int) -> Evidence:
    """A turn as evidence that no ranking put there."""
    turn = snapshot.turns[row]
    return Evidence(
        id=turn.id,
        kind="turn",
        rank=0,
        turn_ids=(turn.id,),
        session_id=turn.session_id,
        speaker=turn.speaker,
        text=snapshot.texts[row],
        at=turn.at,
        confidence=0.0,
        awards=(),
        facts=tuple(snapshot.facts[number] for number in snapshot.stated.get(row, ())),
        times=snapshot.times[row],
        quotable=(turn.text,),
    )


def blind(question: Question) -> Question:
    """The question as a system may see it: without gold, trap or errata, and without the ids that give gold away.

    LongMemEval marks unanswerable questions in their id.
    """
    return replace(
        question,
        id="",
        history_id="",
        gold="",
        gold_turns=(),
        gold_sessions=(),
        answerable=True,
        trap="",
        gold_interval=None,
        erratum="",
        exclude="",
        category="",
        category_name="",
    )


def turn_ranking(evidence: Sequence[Evidence]) -> list[str]:
    """Turn ids in the order in which the ranking first reaches them."""
    return list(dict.fromkeys(turn for item in evidence for turn in item.turn_ids))
