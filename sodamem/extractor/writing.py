"""Writes facts down: ids, cards, pieces and times of what was found in one turn, each statement once.

Paper sections 3.2 and 4.2: three time axes, provenance of every fact, and ids that depend on content alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sodamem.extractor.card import card
from sodamem.extractor.cues import Complement, Match
from sodamem.extractor.entities import Register
from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.meaning import meaning
from sodamem.extractor.sentences import Sentence
from sodamem.extractor.subject import Person
from sodamem.extractor.when import times_of, validity
from sodamem.protocols import Timeline
from sodamem.provenance import piece
from sodamem.text import digest, normalise
from sodamem.types import FactEvent, MessagePiece, TimeValue, Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """What is the same for all turns of a session."""

    lexicon: Lexicon
    known: frozenset[str]  # lower-case names of those who take part
    timeline: Timeline
    register: Register
    open_predicates: bool
    advice: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One clause with everything that was found out beside its predicate."""

    span: tuple[int, int]
    complement: Complement
    person: Person
    question: bool
    values: tuple[TimeValue, ...]
    flags: tuple[str, ...]
    verb_linked: bool = True  # its verb says nothing else

    @property
    def verb(self) -> int:
        """Place of the verb that has spoken, -1 where there is none."""
        return self.complement.clause.verb.at if self.verb_linked else -1


class Writer:
    """Collects the facts of one turn; a statement that is made again only adds its piece."""

    def __init__(self, turn: Turn, speaker: Person, setting: Setting) -> None:
        self.turn, self.speaker, self.set = turn, speaker, setting
        self.duplicates = 0
        self._facts: dict[tuple[object, ...], FactEvent] = {}  # what is said -> the fact that says it first
        self._again: defaultdict[str, list[MessagePiece]] = defaultdict(list)  # fact -> where it is said again

    def facts(self) -> list[FactEvent]:
        return [self._with_all_pieces(fact) for fact in self._facts.values()]

    def add(self, said: Said, match: Match) -> FactEvent:
        """The fact that a match states."""
        setting, person = self.set, said.person
        declared = setting.lexicon.predicates.get(match.predicate)
        cited = piece(self.turn, *said.span)
        amount_words = match.quantity.words if match.quantity else ""
        told = [
            v for v in said.values if v.words not in amount_words and (not amount_words or amount_words not in v.words)
        ]
        times = times_of(told, self.turn.text, self.turn.at)
        clause = said.complement.clause
        meant = meaning(match, clause, cited.text, setting.lexicon, question=said.question, future=times.future)
        times = times if meant.kind == "event" else times.of_state()
        since, until = validity(
            times,
            temporary="temporary" in meant.flags,
            former=meant.former,
            changed=meant.change and meant.modality in ("current_state", "past_event"),
        )
        polarity = meant.polarity and not (meant.former and until is None)  # "I lived in Leeds", but not "… in 2015"
        roles = (match.value, *match.roles) if match.value.words else match.roles
        setting.register.add(person.id, person.name)
        for role in roles:
            if role.entity:
                setting.register.add(role.entity, role.words)
        held = replace(times, since=since, until=until)
        others = ("third_party",) if person.id != self.speaker.id else ()
        return self._store(
            FactEvent(
                id="",
                kind=meant.kind,
                predicate=match.predicate,
                modality=meant.modality,
                subject=person.id,
                text=card(person.name, declared, roles, cited.text, polarity=polarity, times=held),
                pieces=(cited,),
                mentioned_at=self.turn.at,
                order=self._order(cited.start),
                speaker=self.turn.speaker,
                polarity=polarity,
                roles=roles,
                quantity=match.quantity,
                times=times.values,
                occurred=times.occurred,
                valid_from=since,
                valid_until=until,
                flags=tuple(dict.fromkeys((*said.flags, *meant.flags, *others))),
            )
        )

    def restate(self, span: tuple[int, int], fact: FactEvent, values: Sequence[TimeValue] = ()) -> FactEvent:
        """An earlier fact as a sentence about it puts it; where that tells no time, it is that of the earlier one."""
        cited = piece(self.turn, *span)
        times = times_of(values, self.turn.text, self.turn.at)
        started = times.since or (times.occurred.start if times.occurred else None)
        name = self.speaker.name if fact.subject == self.speaker.id else fact.subject.partition(":")[2]
        declared = self.set.lexicon.predicates.get(fact.predicate)
        return self._store(
            replace(
                fact,
                id="",
                text=card(name, declared, fact.roles, cited.text, polarity=fact.polarity, times=times),
                pieces=(cited,),
                mentioned_at=self.turn.at,
                order=self._order(cited.start),
                times=tuple(values),
                occurred=times.occurred or fact.occurred,
                valid_from=started or fact.valid_from,
                valid_until=None,
                flags=fact.flags if fact.subject == self.speaker.id else (*fact.flags, "third_party"),
            )
        )

    def advise(self, sentence: Sentence) -> None:
        """Keeps an assistant's suggestion as its own fact, where it is one and advice is wanted."""
        if not self.set.advice or not self.set.lexicon.phrases["advice"].match(self.turn.text, sentence.start):
            return
        cited = piece(self.turn, sentence.start, sentence.end)
        fact = FactEvent(
            id="", kind="fact", predicate="suggested", modality="advice", subject=self.speaker.id,
            text=f"{self.speaker.name} suggested: {cited.text}", pieces=(cited,), mentioned_at=self.turn.at,
            order=self._order(cited.start), speaker=self.turn.speaker, flags=("third_party",),
        )  # fmt: skip
        self._store(fact)

    def _store(self, fact: FactEvent) -> FactEvent:
        fact = replace(fact, id=_id(fact))
        key = (fact.predicate, fact.subject, _value(fact), fact.polarity, fact.modality, fact.flags, fact.occurred)
        first = self._facts.setdefault(key, fact)
        if first is not fact:
            self.duplicates += 1
            self._again[first.id].extend(fact.pieces)
        return fact

    def _with_all_pieces(self, fact: FactEvent) -> FactEvent:
        again = self._again.get(fact.id)
        return replace(fact, pieces=tuple(dict.fromkeys((*fact.pieces, *again)))) if again else fact

    def _order(self, offset: int) -> tuple[str, int, int]:
        return (self.turn.at.isoformat(), self.turn.index, offset)


def _id(fact: FactEvent) -> str:
    """A hash of content: the same words at the same place say the same fact in any history."""
    cited = fact.pieces[0]
    said = (fact.predicate, fact.subject, _value(fact), fact.polarity)
    return f"fact:{digest(cited.turn_id, cited.start, cited.end, *said)[:20]}"


def _value(fact: FactEvent) -> str:
    return next((normalise(role.words) for role in fact.roles if role.name == "value"), "") or normalise(fact.text)
