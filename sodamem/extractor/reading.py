"""Reads one turn into facts: each clause gets its subject, its predicate, its meaning and its times.

Where the stages of the rule extractor meet; memory spec sections 2 and 3.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sodamem.extractor.card import card
from sodamem.extractor.clauses import Clause, parse
from sodamem.extractor.cues import Complement, Match, matches, noun_match, preference_match
from sodamem.extractor.entities import Register, named
from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.meaning import asked, meaning
from sodamem.extractor.open import open_match
from sodamem.extractor.sentences import Sentence
from sodamem.extractor.subject import Context, Person, Subject, named_person, resolve
from sodamem.extractor.verbless import replacement, verbless
from sodamem.extractor.when import Times, times_of, validity
from sodamem.extractor.words import Words, tokenise
from sodamem.protocols import Timeline
from sodamem.provenance import piece
from sodamem.text import digest, normalise
from sodamem.types import FactEvent, MessagePiece, TimeValue, Turn

_QUOTED = re.compile(r"“[^”\n]{9,}”|\"[^\"\n]{9,}\"|(?<!\w)['‘][A-Z][^'’\n]{12,}['’](?!\w)")


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
    """One clause with everything that was found out before its predicate is sought."""

    span: tuple[int, int]
    complement: Complement
    subject: Subject
    question: bool
    values: tuple[TimeValue, ...]
    flags: tuple[str, ...]


class TurnReader:
    """State of reading one turn: its times (read once, when first needed), its people and its facts.

    `recent`: the speaker's last facts in this session, newest last; what a bare correction may replace.
    """

    def __init__(self, turn: Turn, speaker: Person, setting: Setting, recent: deque[FactEvent]) -> None:
        self.turn, self.speaker, self.set, self._recent = turn, speaker, setting, recent
        self.duplicates = 0
        self._context = Context(speaker, setting.lexicon)
        self._facts: dict[tuple[object, ...], FactEvent] = {}  # what is said -> the fact that says it first
        self._again: defaultdict[str, list[MessagePiece]] = defaultdict(list)  # fact -> where it is said again
        self._quotes = [match.span() for match in _QUOTED.finditer(turn.text)]
        self._times: tuple[TimeValue, ...] | None = None

    def read(self, sentences: Sequence[Sentence]) -> list[FactEvent]:
        """The facts of these sentences, in order."""
        text, setting = self.turn.text, self.set
        for sentence in sentences:
            for id_, surface in named(text, sentence.start, sentence.end, setting.lexicon, setting.known):
                setting.register.add(id_, surface)
                if id_.startswith("person:"):
                    self._context.mention(named_person(surface, self._context))
            if self.turn.role == "assistant":
                self._advise(sentence)
                continue
            words = tokenise(text, sentence.start, sentence.end, setting.lexicon)
            if self._amend(sentence, words):
                continue
            clauses = parse(words, setting.lexicon, setting.known)
            found = [(said, match) for said in self._said(sentence, words, clauses) for match in self._matches(said)]
            for said, match in found or self._verbless(sentence, words):
                self._add(said, match)
        return [self._with_all_pieces(fact) for fact in self._facts.values()]

    def _with_all_pieces(self, fact: FactEvent) -> FactEvent:
        again = self._again.get(fact.id)
        return replace(fact, pieces=tuple(dict.fromkeys((*fact.pieces, *again)))) if again else fact

    # --- clauses ----------------------------------------------------------------------------------------------

    def _said(self, sentence: Sentence, words: Words, clauses: list[Clause]) -> Iterator[Said]:
        setting = self.set
        corrects = setting.lexicon.phrases["corrections"].match(self.turn.text, sentence.start)
        shared: tuple[TimeValue, ...] = ()
        quoter: Person | None = None
        for number, clause in enumerate(clauses):
            subject = resolve(clause, words, self._context, setting.lexicon)
            if subject is None:
                continue
            start = words.start[clause.first] if number else sentence.start
            end = words.end[clause.last - 1]
            values = self._values(start, end) or (shared if clause.inherited else ())
            shared = values
            flags = ("correction",) if corrects and number == 0 else ()
            if self._is_quoted(words.start[clause.verb.at]):
                if clause.kind in ("speaker", "elided") and quoter is None:
                    continue  # words of somebody who is not named
                subject = Subject(quoter) if quoter and clause.kind in ("speaker", "elided") else subject
                flags = (*flags, "quoted")
            elif clause.verb.lemma in setting.lexicon.report and clause.kind in ("name", "owned", "pronoun"):
                quoter = subject.person
            elif quoter is not None and number and clauses[number - 1].verb.lemma in setting.lexicon.report:
                flags = (*flags, "quoted")
            masked = frozenset(
                i for i in range(len(words)) if any(v.start <= words.start[i] < v.end for v in values)
            )  # fmt: skip
            yield Said(
                span=(sentence.start, sentence.end) if len(clauses) == 1 else (start, end),
                complement=Complement(words, clause, masked, lexicon=setting.lexicon, known=setting.known),
                subject=subject,
                question=asked(clause, words, number == len(clauses) - 1, setting.lexicon),
                values=values,
                flags=flags,
            )

    def _is_quoted(self, place: int) -> bool:
        nearest = bisect_right(self._quotes, (place, len(self.turn.text))) - 1
        return nearest >= 0 and place < self._quotes[nearest][1]

    def _values(self, start: int, end: int) -> tuple[TimeValue, ...]:
        """The time expressions that begin in text[start:end]."""
        if self._times is None:
            self._times = self.set.timeline.read(self.turn.text, self.turn.at)
        first, last = (bisect_left(self._times, place, key=lambda value: value.start) for place in (start, end))
        return self._times[first:last]

    def _matches(self, said: Said) -> list[Match]:
        complement, verb = said.complement, said.complement.clause.verb
        if said.subject.noun != (0, 0):
            found = noun_match(complement, said.subject.noun)
            return [found] if found else []
        if "preference" in verb.effects and "would" not in verb.aux:
            return preference_match(complement)
        declared = matches(complement)
        if declared or said.question or not self.set.open_predicates:
            return declared
        return open_match(complement)

    def _verbless(self, sentence: Sentence, words: Words) -> list[tuple[Said, Match]]:
        span = sentence.start, sentence.end
        found = verbless(words, lambda: self._values(*span), self.set.lexicon, self.set.known)
        if found is None:
            return []
        complement, match = found
        corrects = self.set.lexicon.phrases["corrections"].match(self.turn.text, sentence.start)
        said = Said(
            span=span,
            complement=complement,
            subject=Subject(self.speaker),
            question="?" in words.low[-3:],
            values=self._values(*span),
            flags=("correction",) if corrects else (),
        )
        return [(said, match)]

    # --- sentences about what was said ------------------------------------------------------------------------

    def _amend(self, sentence: Sentence, words: Words) -> bool:
        """Handles "forget that" and "I meant York": they speak about the speaker's last fact, not about the world."""
        text, phrases = self.turn.text, self.set.lexicon.phrases
        if not self._recent:
            return False
        taken_back = phrases["retractions"].search(text, sentence.start, sentence.end)
        before = [words.low[i] for i in range(len(words)) if taken_back and words.start[i] < taken_back.start()]
        if taken_back and not any(word in self.set.lexicon.negations or word in ("i", "to", "you") for word in before):
            self._restate(sentence, replace(self._recent[-1], polarity=False, flags=("retraction",)))
            return True
        opening = phrases["corrections"].match(text, sentence.start)
        starts = {sentence.start, opening.end() + 1 if opening else sentence.start}
        match = next((found for at in sorted(starts) if (found := phrases["replacements"].match(text, at))), None)
        if match is None:
            return False
        begin = next((i for i in range(len(words)) if words.start[i] >= match.end()), len(words))
        for old in reversed(self._recent):
            value = old.roles[0]
            new = replacement(words, begin, value, self.set.lexicon, self.set.known)
            if new is not None:
                role, amount = new
                kept = (role, *(other for other in old.roles[1:] if other.name != "from"))
                self._restate(sentence, replace(old, roles=kept, quantity=amount, polarity=True, flags=("correction",)))
                return True
        return False

    def _restate(self, sentence: Sentence, fact: FactEvent) -> None:
        cited = piece(self.turn, sentence.start, sentence.end)
        name = self.speaker.name if fact.subject == self.speaker.id else fact.subject.partition(":")[2]
        flags = fact.flags if fact.subject == self.speaker.id else (*fact.flags, "third_party")
        declared = self.set.lexicon.predicates.get(fact.predicate)
        self._store(
            replace(
                fact,
                text=card(name, declared, fact.roles, cited.text, polarity=fact.polarity, times=Times()),
                pieces=(cited,),
                mentioned_at=self.turn.at,
                order=self._order(cited.start),
                times=(),
                valid_until=None,
                flags=flags,
            )
        )

    def _advise(self, sentence: Sentence) -> None:
        if not self.set.advice or not self.set.lexicon.phrases["advice"].match(self.turn.text, sentence.start):
            return
        cited = piece(self.turn, sentence.start, sentence.end)
        fact = FactEvent(
            id="", kind="fact", predicate="suggested", modality="advice", subject=self.speaker.id,
            text=f"{self.speaker.name} suggested: {cited.text}", pieces=(cited,), mentioned_at=self.turn.at,
            order=self._order(cited.start), speaker=self.turn.speaker, flags=("third_party",),
        )  # fmt: skip
        self._store(fact)

    # --- facts ------------------------------------------------------------------------------------------------

    def _add(self, said: Said, match: Match) -> None:
        setting, person = self.set, said.subject.person
        declared = setting.lexicon.predicates.get(match.predicate)
        cited = piece(self.turn, *said.span)
        amount_words = match.quantity.words if match.quantity else ""
        times = times_of([v for v in said.values if v.words not in amount_words], self.turn.text, self.turn.at)
        meant = meaning(
            match,
            said.complement.clause,
            cited.text,
            setting.lexicon,
            question=said.question,
            future=times.future,
        )
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
        fact = FactEvent(
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
        self._store(fact)

    def _store(self, fact: FactEvent) -> None:
        """Gives a fact its id and keeps it; one that the turn has told before only adds its piece."""
        fact = replace(fact, id=_id(fact))
        key = (fact.predicate, fact.subject, _value(fact), fact.polarity, fact.modality, fact.flags, fact.occurred)
        first = self._facts.setdefault(key, fact)
        if first is not fact:
            self.duplicates += 1
            self._again[first.id].extend(fact.pieces)
        if fact.predicate in self.set.lexicon.predicates and fact.roles and "retraction" not in fact.flags:
            self._recent.append(fact)

    def _order(self, offset: int) -> tuple[str, int, int]:
        return (self.turn.at.isoformat(), self.turn.index, offset)


def _id(fact: FactEvent) -> str:
    """A hash of content: the same words at the same place say the same fact in any history."""
    cited = fact.pieces[0]
    said = (fact.predicate, fact.subject, _value(fact), fact.polarity)
    return f"fact:{digest(cited.turn_id, cited.start, cited.end, *said)[:20]}"


def _value(fact: FactEvent) -> str:
    return next((normalise(role.words) for role in fact.roles if role.name == "value"), "") or normalise(fact.text)
