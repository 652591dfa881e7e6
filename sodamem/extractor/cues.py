"""Matches a clause against the declared cues: which predicate it says, of what value, with which roles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from sodamem.extractor.clauses import BREAKS, STOPS, Clause
from sodamem.extractor.entities import entity_id, kind_of
from sodamem.extractor.lexicon import Cue, Lexicon
from sodamem.extractor.phrases import Noun, Segment, head, naming, nouns, quantity, segments
from sodamem.extractor.scopes import scope_role
from sodamem.extractor.words import Words
from sodamem.types import Quantity, Role

# The entity type of a role other than the value; a thing where it is not listed.
_TYPES = {"place": "place", "employer": "organisation", "with": "person"}
_WHERE = frozenset({"in", "at", "near", "for", "to", "with", "by"})


@dataclass(frozen=True, slots=True)
class Match:
    """A predicate that the clause says, its primary filler (`value`) and the other roles."""

    predicate: str
    value: Role
    roles: tuple[Role, ...] = ()
    quantity: Quantity | None = None
    change: bool = False
    ends: bool = False
    neutral: bool = False  # the negation belongs to the cue: "can't stand"
    real: bool = False  # so does the modal: "could eat … every day"
    still: bool = False  # told of the past, and still so: "I ticked single"


class Complement:
    """What follows the verb of one clause from word `first` on, parsed once and asked by many cues."""

    def __init__(
        self,
        words: Words,
        clause: Clause,
        masked: frozenset[int],
        *,
        lexicon: Lexicon,
        known: frozenset[str],
        skip: int = 0,
        antecedent: Noun | None = None,
        receives: bool = False,
    ) -> None:
        self.words, self.clause, self.masked, self.lexicon, self.known = words, clause, masked, lexicon, known
        self.first = clause.verb.after + skip
        self.antecedent, self.receives = antecedent, receives

    @property
    def dated(self) -> bool:
        """True when the clause holds a time expression."""
        return any(i in self.masked for i in range(self.clause.first, self.clause.last))

    @property
    def particle(self) -> str:
        """The "out" of "work out", else empty."""
        word = self.words.low[self.first] if self.first < self.clause.last else ""
        return word if word in self.lexicon.particles else ""

    def after_particle(self) -> Complement:
        """The same complement read as "work out | at the gym"."""
        return self._skipping(1, self.receives)

    def received(self) -> Complement:
        """The same complement read by who receives it: "my uncle gave me | a camper van"."""
        return self._skipping(1, True)

    def _skipping(self, count: int, receives: bool) -> Complement:
        skip = self.first - self.clause.verb.after + count
        return Complement(
            self.words, self.clause, self.masked, lexicon=self.lexicon, known=self.known, skip=skip, receives=receives
        )

    @cached_property
    def segments(self) -> list[Segment]:
        return segments(self.words, self.first, self.clause.last, self.masked, self.lexicon)

    @cached_property
    def amount(self) -> Quantity | None:
        return quantity(self.words, self.first, self.clause.last, self.lexicon, times=True)

    def _after_of(self) -> list[Segment]:
        """What follows the first "of": it joins nouns and cuts nothing, unless a cue asks for it."""
        low = self.words.low
        return [
            Segment("of", at + 1, segment.last)
            for segment in self.segments
            for at in range(segment.first, segment.last)
            if low[at] == "of"
        ][:1]

    def leads(self, cue: Cue) -> bool:
        """True when one of the cue's words stands right before its preposition ("keen on", "a member of")."""
        low = self.words.low
        return any(
            low[i] in cue.words and (cue.fill or (i + 1 < self.clause.last and low[i + 1] in cue.value))
            for i in range(self.first, self.clause.last)
        )

    def follows(self, prepositions: tuple[str, ...]) -> bool:
        """True when the complement begins with one of these prepositions, adverbs aside."""
        at = self.first
        while at < self.clause.last and self.words.low[at] in self.lexicon.adverbs:
            at += 1
        return at < self.clause.last and self.words.low[at] in prepositions

    def says(self, *lists: str) -> bool:
        """True when the clause holds a phrase of one of these lists ("ended"); or the sentence, if it tells a topic."""
        words, clause = self.words, self.clause
        spans = {False: (words.start[clause.first], words.end[clause.last - 1]), True: (words.start[0], words.end[-1])}
        return any(self.lexicon.phrases[name].search(words.text, *spans[name in self.lexicon.topics]) for name in lists)

    def at(self, where: tuple[str, ...]) -> Iterator[Noun]:
        """The noun phrases at the first of these places that has any: object, complement, or a preposition.

        What stands before "where" is the place, if the clause tells none: "in York, where we live".
        """
        for place in where:
            preposition = "" if place in ("object", "complement") else place
            for segment in self.segments if place != "of" else self._after_of():
                if segment.preposition == preposition:
                    found = nouns(self.words, segment, self.masked, self.lexicon)
                    if found:
                        yield from found
                        return
        if self.antecedent is not None and _WHERE.issuperset(where):
            yield self.antecedent

    def is_name(self, noun: Noun) -> bool:
        return is_name(self.words, noun, self.lexicon)

    def role(self, name: str, noun: Noun, type_: str) -> Role:
        return filler(self.words, noun, name, type_, lexicon=self.lexicon, known=self.known)


def is_name(words: Words, noun: Noun, lexicon: Lexicon) -> bool:
    first = words.low[noun.first]
    return first in lexicon.places or (words.capital(noun.first) and first not in lexicon.not_names)


def filler(words: Words, noun: Noun, name: str, type_: str, *, lexicon: Lexicon, known: frozenset[str]) -> Role:
    """The role that a noun phrase fills, without "named Rex"; a known name gives the entity its own type."""
    said = words.span(noun.first, naming(words, noun))
    kind = kind_of(said, lexicon, known, type_) if is_name(words, noun, lexicon) else type_
    if kind == "place":
        said = words.span(noun.first, _wider_place(words, naming(words, noun), lexicon, known))
    return Role(name=name, entity=entity_id(kind, said), words=said)


def _wider_place(words: Words, last: int, lexicon: Lexicon, known: frozenset[str]) -> int:
    """Takes in ", UK" after "Leeds" and ", Leeds" after "Headingley"; not the next of a list, nor a person."""
    end = last + 1
    while end < min(len(words), last + 4) and words.capital(end):
        end += 1
    ends = end >= len(words) or words.low[end] in STOPS or words.low[end] in BREAKS
    if words.low[last : last + 1] != [","] or end == last + 1 or not ends or not words.capital(last - 1):
        return last
    place = kind_of(words.span(last + 1, end), lexicon, known, "place") == "place"
    return end if place and words.low[last + 1] not in lexicon.closed else last


def matches(complement: Complement) -> list[Match]:
    """All predicates whose cue fits, each once, in the order of the table; a listed value gives one match each."""
    verb, lexicon = complement.clause.verb, complement.lexicon
    found: list[Match] = []
    taken: set[str] = set()
    lemma = "want" if verb.lemma in ("like", "love") and "would" in verb.aux else verb.lemma
    keys = [(lemma, complement)]
    if complement.particle:
        keys.insert(0, (f"{lemma}_{complement.particle}", complement.after_particle()))
    for key, rest in keys:
        for cue in lexicon.cues.get(key, ()):
            if cue.predicate in taken:
                continue
            fitting = [_scoped(match, cue, rest) for match in _fit(cue, rest)]
            if fitting and (cue.negated or cue.alone):  # "never enjoy" says the opposite of what the verb says
                return fitting
            if fitting:
                taken.add(cue.predicate)
                found.extend(fitting if lexicon.predicates[cue.predicate].many else fitting[:1])
        if found:
            break
    return found


def _scoped(match: Match, cue: Cue, rest: Complement) -> Match:
    declared = rest.lexicon.predicates[match.predicate]
    if not declared.scope or any(role.name == declared.scope for role in match.roles):
        return match
    scope = scope_role(declared, cue.scope, match.value, rest.words, lexicon=rest.lexicon)
    return replace(match, roles=(*match.roles, scope)) if scope else match


def _applies(cue: Cue, rest: Complement) -> bool:
    """Whether the clause is one that the cue speaks of, whatever its value."""
    verb = rest.clause.verb
    if cue.passive != verb.passive or (cue.negated and (not verb.negated or rest.says("ended"))):
        return False
    if cue.receiver != rest.receives or (cue.could and "could" not in verb.aux):
        return False
    if cue.says and not rest.says(*cue.says):
        return False
    if cue.tense and cue.tense != ("past" if verb.past else "perfect" if verb.perfect else "present"):
        return False
    if (cue.words and not rest.leads(cue)) or (cue.near and not rest.follows(cue.value)):
        return False
    return not cue.objects or any(_in_classes(cue.objects, noun, rest) for noun in rest.at(("object",)))


def _fit(cue: Cue, rest: Complement) -> Iterator[Match]:
    verb, lexicon, words = rest.clause.verb, rest.lexicon, rest.words
    if not _applies(cue, rest):
        return
    type_ = lexicon.predicates[cue.predicate].type
    roles = tuple(
        rest.role(name, noun, _TYPES.get(name, "thing"))
        for name, where in cue.roles
        for noun in list(rest.at(where))[:1]
        if not words.raw(noun.first).isdigit() and not lexicon.is_class("empty", head(words, noun))
    )
    amount = rest.amount
    change = cue.change or verb.lemma == "become"
    if cue.value == ("none",):
        yield Match(cue.predicate, Role(name="value", entity="", words=""), roles, None, change, cue.ends)
        return
    if cue.value == ("quantity",):
        if amount and (not cue.unit or amount.unit in cue.unit.split()):
            value = Role(name="value", entity="", words=amount.words)
            yield Match(cue.predicate, value, roles, amount, change, cue.ends)
        return
    if cue.fill:
        value = Role(name="value", entity=entity_id(type_, cue.fill), words=cue.fill)
        yield Match(cue.predicate, value, roles, None, change, cue.ends)
        return
    for noun in rest.at(cue.value):
        if not _accepts(cue, noun, rest):
            continue
        called = naming(words, noun) + 1
        name = words.span(called, noun.last) if called < noun.last else ""
        own = (*roles, Role(name="name", entity=entity_id("other", name), words=name)) if name else roles
        counted = amount
        if noun.amount is not None:
            counted = Quantity(
                value=noun.amount,
                unit=_singular(head(words, noun)[-1]),
                words=words.span(noun.first, noun.last),
            )
        value = rest.role("value", noun, type_)
        yield Match(cue.predicate, value, own, counted, change, cue.ends, cue.negated, cue.could, cue.still)


def _accepts(cue: Cue, noun: Noun, rest: Complement) -> bool:
    words = head(rest.words, noun)
    if cue.excluded and any(rest.lexicon.is_class(name, words) for name in cue.excluded):
        return False
    if cue.within and all(rest.lexicon.classes[name].isdisjoint(words) for name in cue.within):
        return False
    if (cue.modified and len(words) < 2) or (len(words) == 2 and words[-1] in rest.lexicon.units):
        return False
    if cue.kind:
        said = rest.words.span(noun.first, noun.last)
        return rest.is_name(noun) and kind_of(said, rest.lexicon, rest.known, "") == cue.kind
    if cue.name:
        return rest.is_name(noun)
    if cue.classes:
        return _in_classes(cue.classes, noun, rest) or (cue.or_name and rest.is_name(noun))
    return True if not cue.or_name else rest.is_name(noun)


def _in_classes(classes: tuple[str, ...], noun: Noun, rest: Complement) -> bool:
    words = head(rest.words, noun)
    return any(rest.lexicon.is_class(name, words) for name in classes)


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def preference_match(complement: Complement) -> list[Match]:
    """Something that one likes to do: "I love hiking in the hills", "she hates to wait"."""
    verb, words = complement.clause.verb, complement.words
    last = verb.after
    for segment in complement.segments:
        for noun in nouns(words, segment, complement.masked, complement.lexicon)[:1]:
            if segment.preposition not in ("because", "since", "with") and (segment.preposition or last == verb.after):
                last = noun.last
    said = words.span(verb.at, last)
    hates = verb.outer in ("hate", "dislike")
    opposed = verb.negated and not hates and not complement.says("ended")  # "never enjoys camping"
    predicate = "dislikes" if hates or opposed else "likes"
    return [Match(predicate, Role(name="value", entity=entity_id("thing", said), words=said), neutral=opposed)]
