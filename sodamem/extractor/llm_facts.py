"""From what a model claims to what the words bear: each candidate becomes a fact, or is rejected and counted by reason.

Provenance rule of arXiv 2608.08055, section 4.2. Offsets, dates and ids are worked out here; the model only quotes.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace

from sodamem.extractor.card import card
from sodamem.extractor.entities import Register, entity_id, kind_of
from sodamem.extractor.lexicon import Lexicon, Predicate
from sodamem.extractor.llm_schema import Candidate
from sodamem.extractor.llm_windows import Window
from sodamem.extractor.sentences import Sentence, split
from sodamem.extractor.subject import Person
from sodamem.extractor.when import times_of, validity
from sodamem.protocols import Timeline
from sodamem.provenance import locate, piece
from sodamem.text import digest, normalise, terms, words
from sodamem.types import FactEvent, MessagePiece, Modality, Role, TimeValue, Turn

# Stamps that a program put into the text are no times of what is told (getzep/graphiti#1492).
_STAMP = re.compile(
    r"[\[(<{][^\])>}\n]{0,20}\b(?:saved|stored|recorded|created|updated|logged|imported|synced|timestamp|date)\b[^\])>}\n]*[\])>}]",
    re.IGNORECASE,
)
_FIRST_PERSON = frozenset({"i", "i'm", "i've", "i'd", "i'll"})
_SECOND_PERSON = frozenset({"you", "your", "you're", "you've", "you'd", "you'll", "yours"})
_SPEAKER = frozenset({"speaker", "the speaker", "i", "me", "user", "the user", "self"})
_OWNED = re.compile(r"^(?:the )?speaker['’]s (.+)$", re.IGNORECASE)
_SUGGESTS = frozenset({"advice", "intent", "future_plan", "question", "preference"})
_TYPES = {"place": "place", "employer": "organisation", "person": "person", "with": "person"}


class Rejected(Exception):  # noqa: N818 - control flow within this module, not a fault
    """A candidate that the words do not bear; the message is the reason under which it is counted."""


@dataclass(kw_only=True)
class Keeper:
    """The facts of one session as they are found. most: per turn; what is found beyond is a runaway."""

    speakers: dict[str, Person]  # turn id -> who speaks
    participants: dict[str, Person]  # lower-case first and full names -> who takes part
    lexicon: Lexicon
    timeline: Timeline
    most: int
    facts: dict[str, FactEvent] = field(default_factory=dict)
    rejected: Counter[str] = field(default_factory=Counter)
    register: Register = field(default_factory=Register)
    _per_turn: Counter[str] = field(default_factory=Counter)
    _times: dict[str, tuple[TimeValue, ...]] = field(default_factory=dict)
    _sentences: dict[str, list[Sentence]] = field(default_factory=dict)

    def add(self, candidate: Candidate, window: Window) -> None:
        """Keep what a candidate claims, or count why not."""
        try:
            fact = self._fact(candidate, window)
            if fact.id in self.facts:
                raise Rejected("duplicate")
            if self._per_turn[fact.pieces[0].turn_id] == self.most:
                raise Rejected("runaway")
        except Rejected as rejected:
            self.rejected[str(rejected)] += 1
            return
        self._per_turn[fact.pieces[0].turn_id] += 1
        self.facts[fact.id] = fact
        for role in fact.roles:
            self.register.add(role.entity, role.words)

    def sentences(self, turn: Turn) -> list[Sentence]:
        if turn.id not in self._sentences:
            self._sentences[turn.id] = split(turn.text, self.lexicon)
        return self._sentences[turn.id]

    # --- one candidate ----------------------------------------------------------------------------------------

    def _fact(self, said: Candidate, window: Window) -> FactEvent:
        turn, cited = self._cited(said, window)
        shown = " ".join(part.text for part in (*window.context, *window.own))
        speaker = self.speakers[turn.id]
        person = speaker if turn.role == "assistant" else self._subject(said, turn, cited, shown)
        roles = self._roles(said, shown)
        if said.quantity and normalise(said.quantity.words) not in normalise(cited.text):
            raise Rejected("invented")
        amount = said.quantity.words if said.quantity else ""
        values = [value for value in self._values(turn, cited) if value.words not in amount]
        times = times_of(values, turn.text, turn.at)
        modality = _meant(said, turn, times.future)
        changed = "state_change" in said.flags and modality in ("current_state", "past_event")
        since, until = validity(times, temporary="temporary" in said.flags, former=False, changed=changed)
        own = person.id == speaker.id and turn.role != "assistant"
        self.register.add(speaker.id, speaker.name)
        self.register.add(person.id, person.name)
        declared = self.lexicon.predicates.get(said.predicate)
        held = replace(times, since=since, until=until)
        return FactEvent(
            id=_id(said, person, cited),
            kind=said.kind,
            predicate=said.predicate,
            modality=modality,
            subject=person.id,
            text=card(person.name, declared, roles, cited.text, polarity=said.polarity, times=held),
            pieces=(cited,),
            mentioned_at=turn.at,
            order=(turn.at.isoformat(), turn.index, cited.start),
            speaker=turn.speaker,
            polarity=said.polarity,
            roles=roles,
            quantity=said.quantity,
            times=times.values,
            occurred=times.occurred,
            valid_from=since,
            valid_until=until,
            flags=said.flags if own else (*said.flags, "third_party"),
        )

    def _cited(self, said: Candidate, window: Window) -> tuple[Turn, MessagePiece]:
        part = window.part(said.turn)
        if part is None:
            raise Rejected("context" if said.turn.startswith("c") else "unknown_turn")
        found = locate(replace(part.turn, text=part.text), said.quote)
        if isinstance(found, str):
            raise Rejected(found)
        start, end = part.start + found.start, part.start + found.end
        if any(one.recalled and one.start < end and start < one.end for one in self.sentences(part.turn)):
            raise Rejected("recalled")
        return part.turn, piece(part.turn, start, end)

    def _subject(self, said: Candidate, turn: Turn, cited: MessagePiece, shown: str) -> Person:
        """Whom it is about. Somebody else must be named, and "I" is never the other one."""
        speaker, name = self.speakers[turn.id], said.subject.strip()
        low = normalise(name)
        if low in _SPEAKER or self.participants.get(low) == speaker:
            return speaker
        if owned := _OWNED.match(name):
            self._demand(owned[1], shown)
            return Person(f"{speaker.id}/{normalise(owned[1])}", f"{speaker.name}'s {owned[1]}")
        if other := self.participants.get(low):
            heard = set(words(turn.text))
            addressed = bool(heard & _SECOND_PERSON) or set(words(name)) & heard
            if not addressed or _FIRST_PERSON & set(words(cited.text)):
                raise Rejected("wrong_subject")
            return other
        self._demand(name, shown)
        type_ = kind_of(name, self.lexicon, frozenset(self.participants), "person" if name[:1].isupper() else "thing")
        return Person(entity_id(type_, name), name)

    def _roles(self, said: Candidate, shown: str) -> tuple[Role, ...]:
        declared = self.lexicon.predicates.get(said.predicate)
        for filler in said.roles.values():
            self._demand(filler, shown)
        return tuple(
            Role(name=name, entity=self._entity(name, filler, declared), words=filler)
            for name, filler in said.roles.items()
        )

    def _entity(self, role: str, filler: str, declared: Predicate | None) -> str:
        known = self.participants.get(normalise(filler))
        otherwise = declared.type if declared and role == "value" else _TYPES.get(role, "thing")
        return (
            known.id
            if known
            else entity_id(kind_of(filler, self.lexicon, frozenset(self.participants), otherwise), filler)
        )

    def _demand(self, claimed: str, shown: str) -> None:
        """Words of a model's own are no evidence: each must be among those it was shown, up to inflection."""
        if not words(claimed) or not set(terms(claimed)) <= set(terms(shown)):
            raise Rejected("invented")

    def _values(self, turn: Turn, cited: MessagePiece) -> list[TimeValue]:
        if turn.id not in self._times:
            stamps = [match.span() for match in _STAMP.finditer(turn.text)]
            read = self.timeline.read(turn.text, turn.at)
            self._times[turn.id] = tuple(v for v in read if not any(a <= v.start < b for a, b in stamps))
        return [value for value in self._times[turn.id] if cited.start <= value.start < cited.end]


def _meant(said: Candidate, turn: Turn, future: bool) -> Modality:
    """What an assistant says is advice or knowledge, never anybody's state; what lies ahead has not happened."""
    if turn.role == "assistant":
        return "advice" if said.modality in _SUGGESTS else "external_info"
    return "future_plan" if future and said.modality == "past_event" else said.modality


def _id(said: Candidate, person: Person, cited: MessagePiece) -> str:
    """A hash of content: the same words at the same place say the same fact in any history."""
    told = (said.predicate, person.id, normalise(said.roles["value"]), said.polarity)
    return f"fact:{digest(cited.turn_id, cited.start, cited.end, *told)[:20]}"
