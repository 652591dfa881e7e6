"""Finds one's way in a sentence from word to word: the verb before a place, the phrase before it, the clause around.

For what is read from a place outwards, where the clause grammar reads from left to right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sodamem.extractor.clauses import BREAKS, STOPS, Clause
from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.phrases import noun_before
from sodamem.extractor.verbs import Verb, read_verb
from sodamem.extractor.words import Words

_OPENERS = frozenset({"that", "which", "who"})


class Places:
    """One sentence. `masked`: words of time expressions · `skipped`: words of what a correction denies."""

    def __init__(
        self, words: Words, clauses: Sequence[Clause], masked: frozenset[int], skipped: range, lexicon: Lexicon
    ) -> None:
        self.words, self.low, self.clauses, self.masked = words, words.low, clauses, masked
        self.skipped, self.lex = skipped, lexicon

    def opens(self, at: int) -> bool:
        """True where a subject may begin."""
        word = self.low[at - 1] if at else ","
        joins = word in BREAKS or word in self.lex.joins or word in self.lex.introducers or word == "all"
        return (
            joins or word in self.lex.adverbs or word.endswith("ly") or at - 1 in self.masked or self.is_thinking(word)
        )

    def is_thinking(self, word: str) -> bool:
        lemma = next(iter(self.lex.verbs.get(word, {}).values()), "")
        return lemma in self.lex.opinion or lemma in self.lex.report

    def verb_before(self, at: int) -> Verb | None:
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

    def begin_before(self, at: int, verb: Verb) -> int:
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

    def left_break(self, at: int) -> int:
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

    def left_mark(self, at: int) -> int:
        """The first word after the last mark before word `at`."""
        return next((k + 1 for k in range(at - 1, -1, -1) if self.low[k] in BREAKS or self.low[k] in STOPS), 0)

    def first_noun(self, first: int, last: int) -> int:
        """Where the noun phrase that ends at `last` begins, after times, adverbs and "I notice"."""
        begin = first
        for k in range(first, last):
            if (
                k in self.masked
                or self.is_thinking(self.low[k])
                or (self.low[k] in self.lex.prepositions and self.low[k] != "of")
            ):
                begin = k + 1
        return begin

    def before(self, at: int) -> tuple[int, int]:
        """The noun phrase that ends right before word `at`, what a correction denies aside."""
        end = at
        while end > 0 and (
            self.low[end - 1] in BREAKS
            or self.low[end - 1] in self.lex.joins
            or (end - 1) in self.skipped
            or (end - 1) in self.masked
        ):
            end -= 1
        return noun_before(self.words, end, self.masked, self.lex), end

    def sentence_end(self, at: int) -> int:
        return next((k for k in range(at, len(self.low)) if self.low[k] in STOPS), len(self.low))

    def clause(self, verb: Verb, first: int) -> Clause:
        """A clause around a verb that the clause grammar did not open."""
        later = (clause.first for clause in self.clauses if clause.first > verb.at and clause.subject[0] > verb.at)
        last = min(later, default=self.sentence_end(verb.after))
        while last > verb.after and (self.low[last - 1] in BREAKS or self.low[last - 1] in self.lex.conjunctions):
            last -= 1
        opening = self.low[first - 1 : first] + self.low[first : verb.at]
        introducer = next((word for word in opening if word in self.lex.introducers), "")
        start = next((k for k in range(first, verb.at) if self.low[k] not in self.lex.adverbs), first)
        return Clause(first, max(last, verb.after), introducer, "thing", (start, start), verb)

    def stated(self, first: int, last: int) -> Clause:
        """The clause of an apposition: what it says is so whatever is said of it."""
        verb = Verb(at=first, after=last, lemma="be", form="base")
        return Clause(first, last, "", "thing", (first, first), verb)
