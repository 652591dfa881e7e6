"""Reads one turn into facts: each clause, named slot and idiom gets its subject, predicate, meaning and times.

Where the stages of the rule extractor meet; paper sections 3.2 and 4.2.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from sodamem.extractor.amend import Value, corrected, other_roles, said_instead, takes_back
from sodamem.extractor.clauses import Clause, parse
from sodamem.extractor.contrast import Contrast, contrast, remark
from sodamem.extractor.cues import Complement, Match, filler, is_name, matches, preference_match
from sodamem.extractor.entities import entity_id, named
from sodamem.extractor.frames import framed
from sodamem.extractor.links import Linker
from sodamem.extractor.meaning import asked
from sodamem.extractor.mentions import Mention, mentions
from sodamem.extractor.open import open_match
from sodamem.extractor.phrases import Noun
from sodamem.extractor.scopes import scope_role
from sodamem.extractor.sentences import Sentence
from sodamem.extractor.subject import Context, Person, Subject, named_person, resolve
from sodamem.extractor.verbless import named_me
from sodamem.extractor.words import Words, tokenise
from sodamem.extractor.writing import Said, Setting, Writer
from sodamem.text import normalise
from sodamem.types import FactEvent, Role, TimeValue, Turn

_QUOTED = re.compile(r"“[^“”\n]{9,}”|\"[^\"\n]{9,}\"|(?<!\w)['‘][A-Z][^'‘’\n]{12,}['’](?!\w)")
_ME = ("me", "us")
_DATING = ("since", "after", "when")

Found = tuple[Said, Match]
Recall = Callable[[str, str], Iterator[FactEvent]]  # (speaker, words) -> facts of earlier sessions, latest first


@dataclass(frozen=True, slots=True)
class _Parsed:
    """One sentence, taken apart."""

    span: tuple[int, int]
    words: Words
    clauses: list[Clause]
    subjects: list[Subject | None]
    values: tuple[TimeValue, ...]
    masked: frozenset[int]  # words of time expressions
    denial: Contrast


class TurnReader:
    """State of reading one turn: its times (read once, when first needed), its people and its facts.

    `recent`: the speaker's last facts in this session, newest last; `recall`: those of earlier sessions. What a bare
    correction may replace.
    """

    def __init__(self, turn: Turn, speaker: Person, setting: Setting, recent: deque[FactEvent], recall: Recall) -> None:
        self.turn, self.speaker, self.set, self._recent, self._recall = turn, speaker, setting, recent, recall
        self.writer = Writer(turn, speaker, setting)
        self._context = Context(speaker, setting.lexicon)
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
                self.writer.advise(sentence)
                continue
            words = tokenise(text, sentence.start, sentence.end, setting.lexicon)
            if words.low:
                self._read(sentence, words)
        return self.writer.facts()

    def _read(self, sentence: Sentence, words: Words) -> None:
        lexicon, span = self.set.lexicon, (remark(words, self.set.lexicon), sentence.end)
        denial = contrast(words, lexicon)
        if denial.wrong == (0, 0) and self._recent and takes_back(words, lexicon):
            self._keep(self.writer.restate(span, replace(self._recent[-1], polarity=False, flags=("retraction",))))
            return
        parsed = self._parse(span, words, denial)
        slots = mentions(words, parsed.masked, self._context, lexicon)
        linked, open_slots = self._linked(parsed, slots)
        found = [*linked, *self._framed(parsed), *self._claused(parsed, linked, slots)]
        found = found or self._verbless(parsed)
        found += self._amended(parsed, open_slots, found)
        told: set[tuple[str, str, str]] = set()
        wrong = _words(words, denial.wrong)
        for said, match in found:
            if wrong and "correction" in said.flags and match.predicate in lexicon.predicates and not negated(said):
                match = _against(match, wrong)
            what = match.predicate, said.person.id, match.value.words.lower()
            if what not in told:
                self._keep(self.writer.add(said, self._slotted(match)))
            told.add(what)

    def _parse(self, span: tuple[int, int], words: Words, denial: Contrast) -> _Parsed:
        values = self._values(*span)
        masked = frozenset(
            i
            for value in values
            for i in range(*(bisect_left(words.start, place) for place in (value.start, value.end)))
        )
        clauses = parse(words, self.set.lexicon, self.set.known, masked)
        subjects = [resolve(clause, words, self._context, self.set.lexicon) for clause in clauses]
        return _Parsed(span, words, clauses, subjects, values, masked, denial)

    def _keep(self, fact: FactEvent) -> None:
        if fact.predicate in self.set.lexicon.predicates and fact.roles and "retraction" not in fact.flags:
            self._recent.append(fact)

    def _values(self, start: int, end: int) -> tuple[TimeValue, ...]:
        """The time expressions that begin in text[start:end]."""
        if self._times is None:
            self._times = self.set.timeline.read(self.turn.text, self.turn.at)
        first, last = (bisect_left(self._times, place, key=lambda value: value.start) for place in (start, end))
        return self._times[first:last]

    def _is_quoted(self, place: int) -> bool:
        nearest = bisect_right(self._quotes, (place, len(self.turn.text))) - 1
        return nearest >= 0 and place < self._quotes[nearest][1]

    # --- clauses ----------------------------------------------------------------------------------------------

    def _claused(self, parsed: _Parsed, linked: list[Found], slots: list[Mention]) -> Iterator[Found]:
        """What the clauses say by their verbs; verbs that tie a slot to its value have said it already."""
        wrong = _words(parsed.words, parsed.denial.wrong)
        spoken_for = {said.verb for said, _ in linked}
        names = {" ".join(parsed.words.low[slot.first + 1 : slot.last]) for slot in slots} if linked else set()
        for said, matches_ in self._said(parsed):
            if said.verb in spoken_for:
                continue
            for match in matches_:
                if match.value.words.lower() in names:
                    continue  # "I ordered laksa, my favourite"
                if wrong and not negated(said) and match.value.words.lower() == wrong.lower():
                    continue  # "married was a slip"
                yield said, match

    def _said(self, parsed: _Parsed) -> Iterator[tuple[Said, list[Match]]]:
        words, lexicon, clauses = parsed.words, self.set.lexicon, parsed.clauses
        shared: tuple[TimeValue, ...] = ()
        quoter: Person | None = None
        opening = next((n for n, clause in enumerate(clauses) if words.end[clause.last - 1] > parsed.span[0]), 0)
        for number, (clause, subject) in enumerate(zip(clauses, parsed.subjects, strict=True)):
            start = words.start[clause.first] if number != opening else parsed.span[0]
            span = parsed.span if len(clauses) == 1 else (start, words.end[clause.last - 1])
            span = span if span[0] < span[1] else (words.start[clause.first], words.end[clause.last - 1])
            values = self._values(*span) or (shared if clause.inherited else ())
            said = Said(
                span=span,
                complement=self._complement(parsed, clause, values),
                person=self.speaker,
                question=asked(clause, words, number == len(clauses) - 1, lexicon),
                values=values,
                flags=("correction",) if self._corrects(parsed, number == opening) else (),
            )
            if clause.verb.after < clause.last and words.low[clause.verb.after] in _ME and clause.kind != "speaker":
                received = replace(said, complement=said.complement.received())
                yield received, matches(received.complement)
            if subject is None:
                continue
            shared = values
            if self._is_quoted(words.start[clause.verb.at]):
                if clause.kind in ("speaker", "elided") and quoter is None:
                    continue  # words of somebody who is not named
                subject = Subject(quoter) if quoter and clause.kind in ("speaker", "elided") else subject
                said = replace(said, flags=(*said.flags, "quoted"))
            elif clause.verb.lemma in lexicon.report and clause.kind in ("name", "owned", "pronoun"):
                quoter = subject.person
            elif quoter is not None and number and clauses[number - 1].verb.lemma in lexicon.report:
                said = replace(said, flags=(*said.flags, "quoted"))
            if subject.noun == (0, 0):
                said = replace(said, person=subject.person)
                yield said, self._matches(said)

    def _complement(self, parsed: _Parsed, clause: Clause, values: tuple[TimeValue, ...]) -> Complement:
        antecedent = None
        if (
            clause.introducer == "where"
            and clause.subject[0] > 1
            and parsed.words.low[clause.subject[0] - 1] == "where"
        ):
            antecedent = Noun(*self._linker(parsed).before(clause.subject[0] - 1))
        return Complement(
            parsed.words,
            clause,
            parsed.masked,
            lexicon=self.set.lexicon,
            known=self.set.known,
            antecedent=antecedent if antecedent and antecedent.first < antecedent.last else None,
        )

    def _corrects(self, parsed: _Parsed, opens: bool) -> bool:
        return parsed.denial.corrects and (opens or parsed.denial.whole or self._denies_first(parsed))

    def _denies_first(self, parsed: _Parsed) -> bool:
        """ "Actually I don't live in York, I live in Leeds": the denial makes the next clause a correction too."""
        return bool(parsed.clauses) and parsed.clauses[0].verb.negated

    def _matches(self, said: Said) -> list[Match]:
        complement, verb = said.complement, said.complement.clause.verb
        if "preference" in verb.effects and "would" not in verb.aux:
            return preference_match(complement)
        declared = matches(complement)
        if declared or said.question or not self.set.open_predicates:
            return declared
        return open_match(complement)

    # --- named slots and idioms -------------------------------------------------------------------------------

    def _linker(self, parsed: _Parsed) -> Linker:
        return Linker(
            parsed.words,
            parsed.clauses,
            parsed.masked,
            skipped=parsed.denial.skipped,
            lexicon=self.set.lexicon,
            known=self.set.known,
        )

    def _linked(self, parsed: _Parsed, slots: list[Mention]) -> tuple[list[Found], list[tuple[Mention, Person]]]:
        """What the named slots hold; and the slots that are named without a value, with their owners."""
        found: list[Found] = []
        open_slots: list[tuple[Mention, Person]] = []
        linker = self._linker(parsed)
        for slot in slots:
            person = slot.person or self._about(parsed, slot.first)
            if person is None or self._is_quoted(parsed.words.start[slot.first]):
                continue
            links = linker.links(slot)
            if parsed.denial.corrects and all(link.complement.clause.verb.negated for link in links):
                links += [link for link in (linker.instead(slot),) if link is not None]
            if not links:
                open_slots.append((slot, person))
            for link in links:
                clause = link.complement.clause
                if asked(clause, parsed.words, True, self.set.lexicon):
                    continue
                said = self._around(parsed, clause, link.complement, link.inherited)
                found.append((replace(said, person=person, verb_linked=not link.inherited), link.match))
        return found, open_slots

    def _around(self, parsed: _Parsed, clause: Clause, complement: Complement, whole: bool) -> Said:
        words = parsed.words
        first, last = (0, len(words)) if whole else (clause.first, max(clause.last, clause.verb.after))
        span = (max(words.start[first], parsed.span[0]), words.end[min(last, len(words)) - 1])
        span = parsed.span if len(parsed.clauses) < 2 or span[0] >= span[1] else span
        dated = self._values(*span)
        if not dated and words.low[bisect_left(words.start, parsed.span[0])] in _DATING:
            dated = parsed.values  # "Since a dinner last week, laksa is my favourite"
        corrects = parsed.denial.corrects and (parsed.denial.whole or first == 0 or len(parsed.clauses) < 2)
        return Said(
            span=span,
            complement=complement,
            person=self.speaker,
            question=False,
            values=dated,
            flags=("correction",) if corrects else (),
        )

    def _about(self, parsed: _Parsed, at: int) -> Person | None:
        """Whom the clause at word `at` is about."""
        subjects = [s for c, s in zip(parsed.clauses, parsed.subjects, strict=True) if c.first <= at]
        return subjects[-1].person if subjects and subjects[-1] else None

    def _framed(self, parsed: _Parsed) -> Iterator[Found]:
        lexicon, words = self.set.lexicon, parsed.words
        if not words.low or words.low[-1] == "?" or self._is_quoted(words.start[0]):
            return
        for complement, match in framed(words, parsed.masked, lexicon, self.set.known):
            person = self._told_by(parsed, complement.clause.verb.at)
            if person is not None:
                yield replace(self._around(parsed, complement.clause, complement, False), person=person), match

    def _told_by(self, parsed: _Parsed, at: int) -> Person | None:
        """The speaker, or who is said to say or think the words from `at` on; None where nobody knows who."""
        low, lexicon = parsed.words.low, self.set.lexicon
        for k in range(at - 1, max(at - 4, -1), -1):
            lemma = next(iter(lexicon.verbs.get(low[k], {}).values()), "")
            if lemma in lexicon.report or lemma in ("think", "believe", "find", "swear"):
                clause = next((n for n, c in enumerate(parsed.clauses) if c.verb.at == k), None)
                subject = parsed.subjects[clause] if clause is not None else None
                return subject.person if subject else None
        return self.speaker

    def _verbless(self, parsed: _Parsed) -> list[Found]:
        found = named_me(parsed.words, self.set.lexicon, self.set.known)
        if found is None:
            return []
        complement, match = found
        said = self._around(parsed, complement.clause, complement, True)
        return [(replace(said, question="?" in parsed.words.low[-3:]), match)]

    # --- corrections ------------------------------------------------------------------------------------------

    def _amended(self, parsed: _Parsed, slots: list[tuple[Mention, Person]], found: list[Found]) -> list[Found]:
        """What "I meant York" means where the sentence itself does not say it as a fact."""
        words, denial, lexicon = parsed.words, parsed.denial, self.set.lexicon
        if any(match.predicate in lexicon.predicates and "correction" in said.flags and not negated(said)
               for said, match in found):  # fmt: skip
            return []
        said_no = [(said, match) for said, match in found if match.predicate in lexicon.predicates and negated(said)]
        denied = _words(words, denial.wrong)
        value = said_instead(words, denial, lexicon, denies=bool(denied or said_no))
        if value is None:
            return []
        if denial.corrects:
            for slot, person in slots:
                found_ = self._fill(parsed, slot, person, value)
                if found_ is not None:
                    return [found_]
            for said, match in said_no:
                role = filler(words, value.noun, "value", lexicon.predicates[match.predicate].type,
                              lexicon=lexicon, known=self.set.known)  # fmt: skip
                return [(self._plain(parsed, said.person), replace(match, value=role, neutral=False, ends=False))]
        names = bool(denied) or value.amount is not None or is_name(words, value.noun, lexicon)
        earlier = chain(reversed(self._recent), self._earlier(denied, parsed) if names else ())
        known = corrected(denied, value, earlier, words, lexicon=lexicon, known=self.set.known)
        if known is not None:
            self._restate(parsed, *known, denied, value)
        return []

    def _earlier(self, denied: str, parsed: _Parsed) -> Iterator[FactEvent]:
        """Earlier sessions are only asked by a sentence that says it corrects something."""
        if parsed.denial.corrects:
            yield from self._recall(self.turn.speaker, denied)

    def _restate(self, parsed: _Parsed, fact: FactEvent, role: Role, denied: str, value: Value) -> None:
        flags = ("correction",) if parsed.denial.corrects else ()
        roles = (role, *other_roles(fact, denied))
        again = replace(fact, roles=roles, quantity=value.amount, polarity=True, flags=flags)
        self._keep(self.writer.restate(parsed.span, again, parsed.values))

    def _fill(self, parsed: _Parsed, slot: Mention, person: Person, value: Value) -> Found | None:
        """ "I meant York, not Leeds, when I told you where I live": the slot is named, and the value stands alone."""
        lexicon, declared = self.set.lexicon, self.set.lexicon.predicates[slot.predicate]
        if declared.quantity and (value.amount is None or value.amount.unit not in declared.units):
            return None
        if declared.quantity and value.amount:
            role = Role(name="value", entity="", words=value.amount.words)
        else:
            role = filler(parsed.words, value.noun, "value", declared.type, lexicon=lexicon, known=self.set.known)
        scope = scope_role(declared, slot.scope, role, parsed.words, lexicon=lexicon)
        match = Match(declared.name, role, (scope,) if scope else (), value.amount)
        return self._plain(parsed, person), match

    def _plain(self, parsed: _Parsed, person: Person) -> Said:
        clause = self._linker(parsed).stated(0, len(parsed.words))
        complement = Complement(parsed.words, clause, parsed.masked, lexicon=self.set.lexicon, known=self.set.known)
        return replace(self._around(parsed, clause, complement, True), person=person)

    def _slotted(self, match: Match) -> Match:
        """ "I moved from Apollo to Gemini": what was said of Apollo tells which slot changes."""
        old = next((role for role in match.roles if role.name == "from"), None)
        if old is None or not match.change or match.predicate not in ("lives_in", "uses"):
            return match
        named_before = chain(reversed(self._recent), self._recall(self.turn.speaker, old.words))
        for fact in named_before:
            value = next((role for role in fact.roles if role.name == "value"), None)
            if value and fact.predicate in self.set.lexicon.predicates and old.words.lower() in value.words.lower():
                return replace(match, predicate=fact.predicate)
        return match


def _against(match: Match, wrong: str) -> Match:
    """The correction with what it denies, which tells which statement it corrects."""
    told = match.quantity is not None or any(role.name == "from" for role in match.roles)
    if told or normalise(match.value.words) == normalise(wrong):
        return match
    kind = match.value.entity.partition(":")[0]
    old = Role(name="from", entity=entity_id(kind, wrong) if kind else "", words=wrong)
    return replace(match, roles=(*match.roles, old))


def negated(said: Said) -> bool:
    return said.complement.clause.verb.negated


def _words(words: Words, span: tuple[int, int]) -> str:
    return words.span(*span) if span[0] < span[1] else ""
