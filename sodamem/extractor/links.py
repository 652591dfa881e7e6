"""Ties a named slot to its value: "X is my …", "my … is X", "X, my …, …", "changed my … to X", "X as my …".

One grammar for every slot that has a name, so that a predicate only declares its nouns (tables/predicates.yaml).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sodamem.extractor.clauses import BREAKS, STOPS, Clause
from sodamem.extractor.cues import Complement, Match, filler
from sodamem.extractor.lexicon import Lexicon, Predicate
from sodamem.extractor.mentions import Mention
from sodamem.extractor.phrases import Noun, head, noun_before, quantity, trim
from sodamem.extractor.places import Places
from sodamem.extractor.scopes import scope_role
from sodamem.extractor.verbs import Verb, read_verb
from sodamem.extractor.words import Words
from sodamem.types import Quantity, Role

# Verbs between a slot and its value, and where the value then stands.
_SAYS = {
    "be": ("complement", "by", "on", "at", "in", "to"), "become": ("complement",), "remain": ("complement",),
    "stay": ("complement", "at", "on"), "change": ("to",), "switch": ("to",), "go": ("to", "by"), "move": ("to",),
    "turn": ("to",), "upgrade": ("to",), "set": ("to", "at"), "raise": ("to",), "stand": ("at",), "run": ("at", "on"),
    "sit": ("at",), "come": ("at", "in", "to"), "say": ("object",), "read": ("object",), "show": ("object",),
    "take": ("object",), "cost": ("object",), "do": ("object",), "include": ("object",), "have": ("object",),
    "reach": ("object",), "drop": ("to",), "put": ("at",),
}  # fmt: skip
_TELLING = frozenset({"say", "read", "show", "take", "cost", "do", "include", "have", "reach", "come"})  # amounts, or …
_STILL = frozenset({"be", "cost", "take", "stand", "run", "sit", "say", "read", "show", "include", "remain", "stay",
                    "do", "have"})  # fmt: skip
_LINKING = frozenset({"be", "become", "remain", "stay"})
_TAKING_PLACE = frozenset({"take", "replace", "overtake", "beat", "serve", "count", "succeed"})  # "… as my favourite"
_CHANGING = frozenset({
    "change", "switch", "upgrade", "improve", "bring", "set", "move", "lower", "cut", "raise", "renew", "beat",
    "reduce", "increase", "transfer", "turn", "break", "push", "boost", "downgrade", "smash", "better",
})  # fmt: skip
_MAKING = frozenset({"make", "call", "consider", "declare"})
_WHICH = frozenset({"first", "second", "third", "last", "next", "other", "same", "wrong", "right"})
_ANAPHORS = frozenset({"it", "that", "this", "which"})


@dataclass(frozen=True, slots=True)
class Link:
    """What a slot was found to hold, the clause to read its meaning from, and the verb that is thereby spoken for."""

    complement: Complement
    match: Match
    inherited: bool = False  # the value stands in the clause before, whose time it shares


class Linker(Places):
    """Finds the values of the slots named in one sentence. `known`: lower-case names of people in the dialogue."""

    def __init__(
        self,
        words: Words,
        clauses: Sequence[Clause],
        masked: frozenset[int],
        *,
        skipped: range,
        lexicon: Lexicon,
        known: frozenset[str],
    ) -> None:
        super().__init__(words, clauses, masked, skipped, lexicon)
        self.known = known

    def links(self, mention: Mention) -> list[Link]:
        """What a slot is said to hold: one value, or those of a list where it may hold several."""
        found = self._link_one(mention)
        if found is None or not self.lex.predicates[mention.predicate].many:
            return [found] if found else []
        listed = list(found.complement.at(("complement",)))[1:] if found.complement.clause.verb.lemma == "be" else []
        others = (self._link(mention, found.complement, noun) for noun in listed)
        return [found, *(other for other in others if other is not None)]

    def _link_one(self, mention: Mention) -> Link | None:
        """The value of a slot, by the first way of saying it that fits."""
        if mention.asks:
            return self._is_said(mention)  # "York is where I live"
        if mention.old:
            return self._changes(mention)
        if mention.held_by:
            return self._holds(mention)
        ways = (self._says, self._is_said, self._changes, self._noted, self._apposed, self._followed)
        return next((found for way in ways if (found := way(mention)) is not None), None)

    def instead(self, mention: Mention) -> Link | None:
        """ "About my gym, …, it's Ironworks": a slot named before, and "it" said to be its value."""
        for i in range(mention.last, len(self.low) - 2):
            if self.low[i] not in ("it", "that") or self.low[i - 1] not in (*BREAKS, "but", "and", "no"):
                continue
            verb = read_verb(self.words, i + 1, "thing", (), self.lex)
            if verb is not None and verb.lemma == "be" and not verb.negated:
                found = self._at_complement(mention, verb, i)
                return replace(found, match=replace(found.match, real=True)) if found else None
        return None

    # --- the ways of saying it ---------------------------------------------------------------------------------

    def _says(self, mention: Mention) -> Link | None:
        """ "My favourite food is sushi", "my phone is on the 5 GB plan", "on my badge it says nurse"."""
        it = mention.carrier and self.low[mention.last : mention.last + 1] == ["it"]
        i = mention.last + it
        while i in self.masked:
            i += 1
        if not self.opens(mention.first) and not it:
            return None  # "is my gym …?", "losing my job gave …", "in my home town …"
        verb = read_verb(self.words, i, "owned", (), self.lex)
        if verb is not None and verb.progressive and self.lex.predicates[mention.predicate].doing:
            verb = Verb(verb.at - 1, verb.at, "be", "base", negated=verb.negated)  # "my hobby is juggling"
        return self._at_complement(mention, verb, self.left_break(mention.first)) if verb is not None else None

    def _holds(self, mention: Mention) -> Link | None:
        """ "My flat in Leeds has no lift", "my desk is at Brightwater Labs"."""
        at = mention.last + (self.low[mention.last : mention.last + 1] in (["is"], ["'s"]))
        if self.low[at : at + 1] != [mention.held_by]:
            return None
        end = at + 1
        while end < min(len(self.low), at + 5) and (
            self.words.capital(end) or (end == at + 1 and self.low[end] == "the")
        ):
            end += 1
        noun = trim(self.words, at + 1, end, self.lex)
        around = next((c for c in reversed(self.clauses) if c.first <= mention.first), None)
        clause = replace(around, verb=Verb(mention.first, end, "be", "base")) if around else self.stated(0, end)
        return (
            self._link(mention, self._complement(replace(clause, last=max(end, clause.last))), noun) if noun else None
        )

    def _at_complement(self, mention: Mention, verb: Verb, first: int) -> Link | None:
        places = ("to", "at", "from") if verb.passive else _SAYS.get(verb.lemma, ())
        if not places:
            return None
        clause = self.clause(verb, first)
        complement = self._complement(clause)
        declared = self.lex.predicates[mention.predicate]
        if declared.quantity:
            return self._measured(mention, complement, verb.after, clause.last)
        for noun in complement.at(places):
            amount = quantity(self.words, noun.first, noun.last, self.lex)
            if verb.lemma in _TELLING and not mention.carrier and amount is None:
                return None
            found = self._link(mention, complement, noun, changes=verb.passive or verb.lemma not in _STILL)
            if found is not None:
                return found
            break
        return None

    def _is_said(self, mention: Mention) -> Link | None:
        """ "Sushi is my favourite food", "teal has taken over as my favourite"; "it" is the value said before."""
        verb = self.verb_before(mention.first)
        if verb is None or (verb.lemma not in _LINKING and verb.lemma not in _TAKING_PLACE):
            return None
        if verb.lemma in _TAKING_PLACE and self.low[mention.first - 1] != "as":
            return None
        begin = self.begin_before(verb.at, verb)
        first = self.left_break(begin)
        changes = verb.lemma not in ("be", "remain")
        clause = self.clause(replace(verb, after=mention.last), first)
        if begin and self.low[begin - 1] in _ANAPHORS:
            first = begin - 1
            while first > 0 and self.low[first - 1] in self.lex.adverbs:
                first -= 1
            joined = self.low[first - 1 : first]
            if joined and joined[0] not in BREAKS and joined[0] not in self.lex.joins:
                return None
            value = self._antecedent(mention, first)
            return self._valued(mention, clause, value, first, changes=changes, inherited=True)
        value = (self.first_noun(first, begin), begin)
        return self._valued(mention, clause, value, begin, changes=changes)

    def _changes(self, mention: Mention) -> Link | None:
        """ "I changed my favourite colour to coral", "the engineer set my home line to 250 Mbps"."""
        verb = self.verb_before(mention.first)
        if verb is None or verb.lemma not in _CHANGING:
            return None
        asked = next((clause for clause in self.clauses if clause.verb.at == verb.at), None)
        clause = replace(asked, verb=replace(asked.verb, after=mention.last)) if asked else None
        clause = clause or self.clause(replace(verb, after=mention.last), self.left_break(verb.at))
        complement = self._complement(replace(clause, last=max(clause.last, mention.last)))
        if self.lex.predicates[mention.predicate].quantity:
            last = self.sentence_end(mention.last)
            return self._measured(mention, complement, mention.last, last, changes=True)
        noun = next(complement.at(("to", "with", "for")), None)
        return self._link(mention, complement, noun, changes=True) if noun else None

    def _noted(self, mention: Mention) -> Link | None:
        """ "The nurse noted 77 kilos as my weight"; what a watch said "for my 5K best"."""
        at = mention.first - 1
        begin = noun_before(self.words, mention.first, self.masked, self.lex)
        makes = self.lex.verbs.get(self.low[begin - 1], {}).values() if 0 < begin <= at else ()
        if not _MAKING.isdisjoint(makes):  # "I've made Valencia my home"
            return self._valued(mention, self.stated(begin - 1, mention.last), (begin, mention.first), begin)
        if at < 1 or self.low[at] not in ("as", "for"):
            return None
        if self.low[at] == "for" and not self.lex.predicates[mention.predicate].quantity:
            return None
        clause = self.stated(self.left_break(at), mention.last)
        return self._valued(mention, clause, self.before(at), at)

    def _apposed(self, mention: Mention) -> Link | None:
        """ "The showers at Ironworks, my gym, are cold", "… is teal, my favourite colour"."""
        at = mention.first - 1
        ends = mention.last >= len(self.low) or self.low[mention.last] in BREAKS or self.low[mention.last] in STOPS
        after = self.low[mention.last : mention.last + 1]
        if at < 1 or self.low[at] not in (",", "—", "–", "-", "(") or not (ends or after[0] in self.lex.trailing):
            return None
        clause = self.stated(self.left_break(at), mention.last)
        begin, end = self.before(at)
        if begin and self.low[begin - 1] in ("my", "our", "his", "her"):
            return None  # a list: "my keys, my job"
        return self._valued(mention, clause, (begin, end), at, inherited=True)

    def _followed(self, mention: Mention) -> Link | None:
        """ "I have a new hobby now, pottery", "she set a new 5K best last week, 24:30"."""
        at = next((k for k in range(mention.last, len(self.low)) if self.low[k] in (",", ":", "—", "–")), None)
        if at is None or not mention.fresh:
            return None
        between = range(mention.last, at)
        if any(k not in self.masked and self.low[k] not in self.lex.adverbs for k in between):
            return None
        end = next((k for k in range(at + 1, len(self.low)) if self.low[k] in BREAKS | STOPS), len(self.low))
        clause = self.stated(self.left_break(mention.first), end)
        complement = self._complement(clause)
        if self.lex.predicates[mention.predicate].quantity:
            return self._measured(mention, complement, at + 1, end, changes=True)
        noun = trim(self.words, at + 1, end, self.lex)
        return self._link(mention, complement, noun, changes=True) if noun else None

    # --- values ------------------------------------------------------------------------------------------------

    def _valued(
        self,
        mention: Mention,
        clause: Clause,
        value: tuple[int, int],
        before: int,
        *,
        changes: bool = False,
        inherited: bool = False,
    ) -> Link | None:
        """A value that stands before its slot, in words [first, last); an amount is looked for before word `before`."""
        complement = self._complement(clause)
        if self.lex.predicates[mention.predicate].quantity:
            first = self.left_mark(before - 1) if inherited else value[0]
            return self._measured(mention, complement, first, before, changes=changes, inherited=inherited)
        noun = trim(self.words, *value, self.lex) if value[0] < value[1] else None
        if noun is None or any(self._is_no_noun(k) for k in range(noun.first, noun.last)):
            return None
        return self._link(mention, complement, noun, changes=changes, inherited=inherited)

    def _is_no_noun(self, k: int) -> bool:
        """True for a mark, a word of a closed class, and a verb that is likelier one than a noun: "come alive"."""
        word, forms = self.low[k], self.lex.verbs.get(self.low[k], {})
        verb = ("base" in forms or "past" in forms) and word not in self.lex.weak and not self.words.capital(k)
        return word in BREAKS or word in self.lex.closed or verb

    def _link(
        self, mention: Mention, complement: Complement, noun: Noun, *, changes: bool = False, inherited: bool = False
    ) -> Link | None:
        declared = self.lex.predicates[mention.predicate]
        if self.low[noun.last - 1] == "one" and noun.last - noun.first > 1:
            if not _WHICH.isdisjoint(self.low[noun.first : noun.last]):
                return None  # "my favourite is the second one"
            noun = replace(noun, last=noun.last - 1)  # "the 5 GB one"
        said = head(self.words, noun)
        if self.lex.is_class("empty", said) or self.low[noun.first] in self.lex.negations:
            return None
        if not self._fits(mention, declared, noun, complement):
            return None
        value = filler(self.words, noun, "value", declared.type, lexicon=self.lex, known=self.known)
        amount = quantity(self.words, noun.first, noun.last, self.lex)
        return self._done(mention, complement, value, amount, changes=changes, inherited=inherited)

    def _measured(
        self,
        mention: Mention,
        complement: Complement,
        first: int,
        last: int,
        *,
        changes: bool = False,
        inherited: bool = False,
    ) -> Link | None:
        declared = self.lex.predicates[mention.predicate]
        amount = quantity(self.words, first, last, self.lex, times=True)
        if amount is None or (declared.units and amount.unit not in declared.units):
            return None
        value = Role(name="value", entity="", words=amount.words)
        return self._done(mention, complement, value, amount, changes=changes, inherited=inherited)

    def _done(
        self,
        mention: Mention,
        complement: Complement,
        value: Role,
        amount: Quantity | None,
        *,
        changes: bool,
        inherited: bool,
    ) -> Link:
        declared, clause = self.lex.predicates[mention.predicate], complement.clause
        scope = scope_role(declared, mention.scope, value, self.words, lexicon=self.lex)
        now = "now" in self.low[clause.first : clause.last + 1]
        match = Match(declared.name, value, (scope,) if scope else (), amount, changes or now or mention.fresh)
        return Link(complement, match, inherited)

    def _fits(self, mention: Mention, declared: Predicate, noun: Noun, complement: Complement) -> bool:
        """Whether a value may fill its slot: a name where one is due, and what a carrier ("phone") can tell."""
        if declared.type in ("place", "organisation"):
            article = self.low[noun.first - 1 : noun.first] in (["the"], ["a"], ["an"])
            known = self.low[noun.last - 1] in self.lex.organisations | self.lex.organisation_words
            return complement.is_name(noun) or known or (article and not mention.carrier)
        if not mention.carrier:
            return True
        said = self.low[noun.first : noun.last]
        if any(word in self.lex.classes[name] for name in declared.fits for word in said) or not declared.fits:
            return True
        amount = quantity(self.words, noun.first, noun.last, self.lex)
        return amount is not None and amount.unit in declared.units

    def _antecedent(self, mention: Mention, at: int) -> tuple[int, int]:
        """What "it" stands for before word `at`: a value of a fitting class, else the noun phrase right before."""
        begin, end = self.before(at)
        classes = self.lex.predicates[mention.predicate].by_value
        if not classes or any(self.lex.is_class(name, self.low[begin:end]) for name in classes):
            return begin, end
        mark = self.left_mark(at - 1)
        fits = (k for k in range(mark, at) if any(self.lex.is_class(name, [self.low[k]]) for name in classes))
        found = next(fits, None)
        if found is None:
            return begin, end
        last = found + 1
        while last < at and any(self.lex.is_class(name, [self.low[last]]) for name in classes):
            last += 1
        return self.before(last)[0], last

    def _complement(self, clause: Clause) -> Complement:
        return Complement(self.words, clause, self.masked, lexicon=self.lex, known=self.known)
