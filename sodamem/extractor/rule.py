"""Deterministic extraction: sentences, clauses and declared cues give facts; no model is asked.

The step "extract candidates" of arXiv 2608.08055, Algorithm 1, as a grammar over the tables of this package.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sodamem.errors import ConfigError
from sodamem.extractor.entities import Register, entity_id
from sodamem.extractor.lexicon import Lexicon, load
from sodamem.extractor.past import Past
from sodamem.extractor.reading import Recall, TurnReader
from sodamem.extractor.sentences import split
from sodamem.extractor.subject import Person
from sodamem.extractor.writing import Setting
from sodamem.protocols import Extractor, Timeline
from sodamem.provenance import piece
from sodamem.types import Extraction, FactEvent, History, MessagePiece, Session, Turn

_REACH = 5  # facts that a bare "I meant York" may reach back over, to the last one whose value is of the same type


@dataclass(frozen=True, kw_only=True)
class RuleExtractor(Extractor):
    """Facts by grammar and declared cues (tables/*.yaml).

    max_facts_per_turn: what is found beyond is dropped and counted as `runaway` · open_predicates: also make facts
    with the verb as predicate where no declared one fits · advice: keep an assistant's suggestions as its own facts.
    """

    max_facts_per_turn: int
    open_predicates: bool
    advice: bool

    def __post_init__(self) -> None:
        if self.max_facts_per_turn < 1:
            raise ConfigError(
                f"extractor.max_facts_per_turn must be >= 1, got {self.max_facts_per_turn}. "
                "Choose extractor=turn to extract no facts"
            )

    @cached_property
    def _lexicon(self) -> Lexicon:
        return load()

    def extract(self, session: Session, history: History, timeline: Timeline) -> Extraction:
        """Pieces are sentences, and the clauses that facts cite. Equal input gives equal output, ids included.

        rejected: `recalled` sentences that repeat an earlier memory, `runaway` facts over the cap, `duplicate` facts
        that say again what the same turn has said (their pieces are kept on the first).
        A correction that the session does not explain is looked up in the sessions before it, see `past`.
        """
        past = Past(session, history, lambda earlier: self._extract(earlier, history, timeline, _forget).facts)
        return self._extract(session, history, timeline, past.facts)

    def _extract(self, session: Session, history: History, timeline: Timeline, recall: Recall) -> Extraction:
        lexicon, register, rejected = self._lexicon, Register(), Counter[str]()
        setting = Setting(
            lexicon=lexicon,
            known=known_people(session, history),
            timeline=timeline,
            register=register,
            open_predicates=self.open_predicates,
            advice=self.advice,
        )
        pieces: dict[str, MessagePiece] = {}
        facts: list[FactEvent] = []
        recent: defaultdict[str, deque[FactEvent]] = defaultdict(lambda: deque(maxlen=_REACH))
        for turn in session.turns:
            speaker = speaker_of(turn, history)
            sentences = split(turn.text, lexicon)
            if not sentences:
                continue
            register.add(speaker.id, speaker.name)
            reader = TurnReader(turn, speaker, setting, recent[speaker.id], recall)
            found = reader.read([sentence for sentence in sentences if not sentence.recalled])
            kept = found[: self.max_facts_per_turn]
            facts.extend(kept)
            cited = [piece(turn, sentence.start, sentence.end) for sentence in sentences]
            cited.extend(source for fact in kept for source in fact.pieces)
            pieces.update((source.id, source) for source in cited)
            rejected["recalled"] += len(sentences) - sum(not sentence.recalled for sentence in sentences)
            rejected["runaway"] += len(found) - len(kept)
            rejected["duplicate"] += reader.writer.duplicates
        return Extraction(
            pieces=tuple(pieces.values()),
            entities=register.entities(),
            facts=tuple(facts),
            rejected={reason: count for reason, count in sorted(rejected.items()) if count},
        )


def _forget(speaker: str, named: str) -> Iterator[FactEvent]:
    """What a look back finds while looking back: nothing, so that it ends."""
    yield from ()


def speaker_of(turn: Turn, history: History) -> Person:
    """Who speaks: the assistant, the history's user where the turn says only "user", else the named speaker."""
    if turn.role == "assistant":
        return Person("person:assistant", "assistant")
    name = history.user if turn.speaker in ("", "user") else turn.speaker
    return Person(entity_id("person", name), name)


def known_people(session: Session, history: History) -> frozenset[str]:
    """Lower-case first and full names of those who take part."""
    names = {turn.speaker for turn in session.turns} | set(history.speakers)
    low = {name.lower() for name in names if name}
    return frozenset(low | {name.split()[0] for name in low}) - {"user", "assistant"}
