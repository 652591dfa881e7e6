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
    "change", "switch", "upgrade", "improve", "bring", "set", "move", "lower", "cut", "raise", "renew", "beat", "reduce",
    "increase", "transfer", "turn", "break", "push", "boost", "downgrade", "smash", "better",
})  # fmt: skip
_ANAPHORS = frozenset({"it", "that", "this", "which"})
_OPENERS = frozenset({"that", "which", "who"})


@dataclass(frozen=True, slots=True)
class Link:
    """What a slot was found to hold, the clause to read its meaning from, and the verb that is thereby spoken for."""

    complement: Complement
    match: Match
    inherited: bool = False  # the value stands in the clause before, whose time it shares


class Linker:
    """Finds the values of the slots named in one sentence. `masked`: words of time expressions."""

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
        self.words, self.low, self.clauses, self.masked = words, words.low, clauses, masked
        self.skipped, self.lex, self.known = skipped, lexicon, known
        self.joins = lexicon.joins

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
            return None
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
        if not self._opens(mention.first) and not it:
            return None  # "is my gym …?", "losing my job gave …", "in my home town …"
        verb = read_verb(self.words, i, "owned", (), self.lex)
        if verb is not None and verb.progressive and self.lex.predicates[mention.predicate].doing:
            verb = Verb(verb.at - 1, verb.at, "be", "base", negated=verb.negated)  # "my hobby is juggling"
        return self._at_complement(mention, verb, self._left_break(mention.first)) if verb is not None else None

    def _opens(self, at: int) -> bool:
        """True where a subject may begin."""
        word = self.low[at - 1] if at else ","
        joins = word in BREAKS or word in self.joins or word in self.lex.introducers or word == "all"
        return joins or word in self.lex.adverbs or word.endswith("ly") or at - 1 in self.masked or self._is_thinking(word)

    def _is_thinking(self, word: str) -> bool:
        lemma = next(iter(self.lex.verbs.get(word, {}).values()), "")
        return lemma in self.lex.opinion or lemma in self.lex.report

    def _holds(self, mention: Mention) -> Link | None:
        """ "My flat in Leeds has no lift", "my desk is at Brightwater Labs"."""
        at = mention.last + (self.low[mention.last : mention.last + 1] in (["is"], ["'s"]))
        if self.low[at : at + 1] != [mention.held_by]:
            return None
        end = at + 1
        while end < min(len(self.low), at + 5) and (self.words.capital(end) or (end == at + 1 and self.low[end] == "the")):
            end += 1
        noun = trim(self.words, at + 1, end, self.lex)
        around = next((c for c in reversed(self.clauses) if c.first <= mention.first), None)
        clause = replace(around, verb=Verb(mention.first, end, "be", "base")) if around else self.stated(0, end)
        return self._link(mention, self._complement(replace(clause, last=max(end, clause.last))), noun) if noun else None

    def _at_complement(self, mention: Mention, verb: Verb, first: int) -> Link | None:
        places = ("to", "at", "from") if verb.passive else _SAYS.get(verb.lemma, ())
        if not places:
            return None
        clause = self._clause(verb, first)
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
        verb = self._verb_before(mention.first)
        if verb is None or (verb.lemma not in _LINKING and verb.lemma not in _TAKING_PLACE):
            return None
        if verb.lemma in _TAKING_PLACE and self.low[mention.first - 1] != "as":
            return None
        begin = self._begin_before(verb.at, verb)
        first = self._left_break(begin)
        changes = verb.lemma != "be" and verb.lemma != "remain"
        clause = self._clause(replace(verb, after=mention.last), first)
        if begin and self.low[begin - 1] in _ANAPHORS:
            first = begin - 1
            while first > 0 and self.low[first - 1] in self.lex.adverbs:
                first -= 1
            joined = self.low[first - 1 : first]
            if joined and joined[0] not in BREAKS and joined[0] not in self.joins:
                return None
            value = self._antecedent(mention, first)
            return self._valued(mention, clause, value, first, changes=changes, inherited=True)
        value = (self._first_noun(first, begin), begin)
        return self._valued(mention, clause, value, begin, changes=changes)

    def _changes(self, mention: Mention) -> Link | None:
        """ "I changed my favourite colour to coral", "the engineer set my home line to 250 Mbps"."""
        verb = self._verb_before(mention.first)
        if verb is None or verb.lemma not in _CHANGING:
            return None
        asked = next((clause for clause in self.clauses if clause.verb.at == verb.at), None)
        clause = replace(asked, verb=replace(asked.verb, after=mention.last)) if asked else None
        clause = clause or self._clause(replace(verb, after=mention.last), self._left_break(verb.at))
        complement = self._complement(replace(clause, last=max(clause.last, mention.last)))
        if self.lex.predicates[mention.predicate].quantity:
            last = self._sentence_end(mention.last)
            return self._measured(mention, complement, mention.last, last, changes=True)
        noun = next(complement.at(("to", "with", "for")), None)
        return self._link(mention, complement, noun, changes=True) if noun else None

    def _noted(self, mention: Mention) -> Link | None:
        """ "The nurse noted 77 kilos as my weight"; what a watch said "for my 5K best"."""
        at = mention.first - 1
        if at < 1 or self.low[at] not in ("as", "for"):
            return None
        if self.low[at] == "for" and not self.lex.predicates[mention.predicate].quantity:
            return None
        clause = self.stated(self._left_break(at), mention.last)
        return self._valued(mention, clause, self.before(at), at)

    def _apposed(self, mention: Mention) -> Link | None:
        """ "The showers at Ironworks, my gym, are cold", "… is teal, my favourite colour"."""
        at = mention.first - 1
        ends = mention.last >= len(self.low) or self.low[mention.last] in BREAKS or self.low[mention.last] in STOPS
        after = self.low[mention.last : mention.last + 1]
        if at < 1 or self.low[at] not in (",", "—", "–", "-", "(") or not (ends or after[0] in self.lex.trailing):
            return None
        clause = self.stated(self._left_break(at), mention.last)
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
        clause = self.stated(self._left_break(mention.first), end)
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
            first = self._left_mark(before - 1) if inherited else value[0]
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
            noun = replace(noun, last=noun.last - 1)  # "the 5 GB one"
        said = head(self.words, noun)
        if self.lex.is_class("empty", said) or self.low[noun.first] in self.lex.negations:
            return None
        if mention.carrier and not self._fits(declared, noun, complement):
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

    def _fits(self, declared: Predicate, noun: Noun, complement: Complement) -> bool:
        """Whether a value tells a slot that is only named by what carries it ("phone", "badge", "home")."""
        if declared.type in ("place", "organisation"):
            return complement.is_name(noun)
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
        mark = self._left_mark(at - 1)
        fits = (k for k in range(mark, at) if any(self.lex.is_class(name, [self.low[k]]) for name in classes))
        found = next(fits, None)
        if found is None:
            return begin, end
        last = found + 1
        while last < at and any(self.lex.is_class(name, [self.low[last]]) for name in classes):
            last += 1
        return self.before(last)[0], last

    # --- places in the sentence --------------------------------------------------------------------------------

    def _verb_before(self, at: int) -> Verb | None:
        """The verb group that ends right before word `at`, "as" and adverbs aside."""
        low, lex = self.low, self.lex
        end = at
        while end > 0 and (low[end - 1] in lex.adverbs or low[end - 1] in ("as", "over", "the")):
            end -= 1
        begin = end
        while begin > 0 and (
            low[begin - 1] in lex.auxiliaries
            or low[begin - 1] in lex.adverbs
            or low[begin - 1] in lex.negations
            or low[begin - 1] == "'s"
            or (begin == end and low[begin - 1] in lex.verbs)
        ):
            begin -= 1
        if begin == end and "as" in low[end:at]:  # "curry replaced pasta as my favourite"
            begin = next((k for k in range(end - 1, max(end - 6, 0), -1) if low[k] in ("replaced", "replaces")), end)
            return read_verb(self.words, begin, "thing", (), lex) if begin < end else None
        while begin < end and low[begin] in lex.adverbs:
            begin += 1
        verb = read_verb(self.words, begin, "thing", (), lex) if begin < end else None
        if verb is None or verb.after > end:
            verb = read_verb(self.words, begin, "speaker", (), lex) if begin < end else None
        return replace(verb, at=verb.at) if verb is not None and verb.after <= at else None

    def _begin_before(self, at: int, verb: Verb) -> int:
        """Where the verb group of the main verb at word `at` begins."""
        low, lex = self.low, self.lex
        begin = at
        while begin > 0 and (
            low[begin - 1] in lex.auxiliaries
            or low[begin - 1] in lex.adverbs
            or low[begin - 1] in lex.negations
            or low[begin - 1] == "'s"
        ):
            begin -= 1
        return begin

    def _left_break(self, at: int) -> int:
        """The first word of the stretch that holds word `at`: after a break, a joining word, or a time."""
        k = at
        while k > 0:
            if k - 1 in self.masked:
                k -= 1
                continue
            word = self.low[k - 1]
            joins = word in self.lex.conjunctions or word in self.lex.subordinators
            if word in BREAKS or word in STOPS or (joins and word not in ("as", "after", "before")):
                return k - 1 if word in _OPENERS and word != "that" else k
            k -= 1
        return 0

    def _left_mark(self, at: int) -> int:
        """The first word after the last mark before word `at`."""
        return next((k + 1 for k in range(at - 1, -1, -1) if self.low[k] in BREAKS or self.low[k] in STOPS), 0)

    def _first_noun(self, first: int, last: int) -> int:
        """Where the noun phrase that ends at `last` begins, after times, adverbs and "I notice"."""
        begin = first
        for k in range(first, last):
            if k in self.masked or self._is_thinking(self.low[k]) or (self.low[k] in self.lex.prepositions and self.low[k] != "of"):
                begin = k + 1
        return begin

    def before(self, at: int) -> tuple[int, int]:
        """The noun phrase that ends right before word `at`, what a correction denies aside."""
        end = at
        while end > 0 and (
            self.low[end - 1] in BREAKS
            or self.low[end - 1] in self.joins
            or (end - 1) in self.skipped
            or (end - 1) in self.masked
        ):
            end -= 1
        return noun_before(self.words, end, self.masked, self.lex), end

    def _sentence_end(self, at: int) -> int:
        return next((k for k in range(at, len(self.low)) if self.low[k] in STOPS), len(self.low))

    def _clause(self, verb: Verb, first: int) -> Clause:
        """A clause around a verb that the clause grammar did not open."""
        later = (clause.first for clause in self.clauses if clause.first > verb.at and clause.subject[0] > verb.at)
        last = min(later, default=self._sentence_end(verb.after))
        while last > verb.after and (self.low[last - 1] in BREAKS or self.low[last - 1] in self.lex.conjunctions):
            last -= 1
        opening = self.low[first - 1 : first] + self.low[first:verb.at]
        introducer = next((word for word in opening if word in self.lex.introducers), "")
        start = next((k for k in range(first, verb.at) if self.low[k] not in self.lex.adverbs), first)
        return Clause(first, max(last, verb.after), introducer, "thing", (start, start), verb)

    def stated(self, first: int, last: int) -> Clause:
        """The clause of an apposition: what it says is so whatever is said of it."""
        verb = Verb(at=first, after=last, lemma="be", form="base")
        return Clause(first, last, "", "thing", (first, first), verb)

    def _complement(self, clause: Clause) -> Complement:
        return Complement(self.words, clause, self.masked, lexicon=self.lex, known=self.known)

