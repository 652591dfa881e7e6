"""Finds the clauses of a sentence: who it is about, its verb group, and where what follows the verb begins.

A hand-written grammar of finite English clauses: nominative pronouns, possessives and names open a clause; the verb
is known by its place after them and by its form. Words come from the tables, see `lexicon`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.morphology import Form, guess
from sodamem.extractor.words import Words

SubjectKind = Literal["speaker", "addressee", "pronoun", "name", "owned", "thing", "elided"]

_PRONOUNS: Mapping[str, SubjectKind] = {
    "i": "speaker", "we": "speaker", "you": "addressee", "he": "pronoun", "she": "pronoun", "they": "pronoun",
    "it": "thing", "that": "thing", "this": "thing", "there": "thing", "everyone": "thing", "what": "thing",
    "everything": "thing", "who": "thing", "these": "thing", "those": "thing", "nobody": "thing",
}  # fmt: skip
_OWNERS = frozenset({"my", "our", "his", "her", "their", "your"})
_BREAKS = frozenset(",;:—–-()\"“”")
_LONGEST_SUBJECT = 9  # words


@dataclass(frozen=True, slots=True)
class Verb:
    """The verb group: `at` is the main verb's place, `after` the first word of what follows it."""

    at: int
    after: int
    lemma: str
    form: Form
    aux: tuple[str, ...] = ()
    adverbs: tuple[str, ...] = ()
    negated: bool = False
    passive: bool = False
    outer: str = ""  # lemma of the verb that governs it: "want" in "want to go"
    effects: tuple[str, ...] = ()  # what the governing verbs make of it

    @property
    def past(self) -> bool:
        return self.form == "past" or any(word in ("was", "were", "had", "did") for word in self.aux)

    @property
    def perfect(self) -> bool:
        return self.form == "participle" and not self.passive

    @property
    def progressive(self) -> bool:
        return self.form == "ing" and bool(self.aux)


@dataclass(frozen=True, slots=True)
class Clause:
    """Words [first, last) of the sentence; `subject` is the span of the subject's words, empty when elided."""

    first: int
    last: int
    introducer: str
    kind: SubjectKind
    subject: tuple[int, int]
    verb: Verb
    inverted: bool = False
    inherited: bool = False  # subject taken over from the clause before: "I sold it and bought …"


def parse(words: Words, lexicon: Lexicon, known: frozenset[str]) -> list[Clause]:
    """The finite clauses of a sentence in order; `known` are lower-case names of people in the dialogue."""
    return _Parser(words, lexicon, known).clauses()


class _Parser:
    def __init__(self, words: Words, lexicon: Lexicon, known: frozenset[str]) -> None:
        self.words, self.low, self.lex, self.known = words, words.low, lexicon, known
        self.size = len(words)

    def clauses(self) -> list[Clause]:
        found: list[Clause] = []
        i = edge = 0
        while i < self.size:
            clause = self._open(i, edge, found)
            if clause is None:
                i += 1
                continue
            if found:
                found[-1] = replace(found[-1], last=self._trim(found[-1].verb.after, clause.first))
            found.append(clause)
            i = edge = clause.verb.after
        if found:
            found[-1] = replace(found[-1], last=self._trim(found[-1].verb.after, self.size))
        return found

    # --- where a clause opens ---------------------------------------------------------------------------------

    def _open(self, i: int, edge: int, found: list[Clause]) -> Clause | None:
        low = self.low
        word = low[i]
        kind = _PRONOUNS.get(word)
        boundary = self._at_boundary(i, edge, found)
        if kind in ("speaker", "pronoun") or (kind is not None and boundary):
            return self._with_subject(i, i + 1, kind, edge, found) if kind else None
        named = self.words.capital(i) and self._is_name(i)
        if not boundary and not (named and "," in low[edge:i] and self._finite(self._name_end(i))):
            return None
        if word in _OWNERS or word in ("the", "a", "an"):
            end = self._subject_end(i + 1)
            return self._with_subject(i, end, "owned" if word in _OWNERS else "thing", edge, found) if end else None
        if named:
            end = self._name_end(i)
            if end < self.size and low[end] == "'s" and not self._is_copula(end):
                owned = self._subject_end(end + 1)
                return self._with_subject(i, owned, "owned", edge, found) if owned else None
            return self._with_subject(i, end, "name", edge, found)
        return self._without_subject(i, edge, found)

    def _at_boundary(self, i: int, edge: int, found: list[Clause]) -> bool:
        if i == edge:
            return not found or found[-1].verb.lemma in self.lex.opinion or found[-1].verb.lemma in self.lex.report
        before = self.low[i - 1]
        if before in _BREAKS or before in self.lex.conjunctions or before in self.lex.subordinators:
            return True
        if before in self.lex.adverbs or before in self.lex.wh:
            return self._at_boundary(i - 1, edge, found)
        if before in self.lex.auxiliaries:  # a question: "Did Tom …"
            return self._at_boundary(i - 1, edge, found)
        # Before the first verb anything may stand: a time, a greeting, a topic.
        return not found and i - edge <= 6 and before not in self.lex.prepositions and before not in self.lex.determiners

    def _with_subject(self, i: int, end: int, kind: SubjectKind, edge: int, found: list[Clause]) -> Clause | None:
        inverted = i > edge and self.low[i - 1] in self.lex.auxiliaries
        verb = self._verb(end, kind, (self.low[i - 1],) if inverted else ())
        if verb is None:
            return None
        first, introducer = self._left_edge(i - inverted, edge)
        return Clause(first, self.size, introducer, kind, (i, end), verb, inverted)

    def _without_subject(self, i: int, edge: int, found: list[Clause]) -> Clause | None:
        """"… and bought a bike" takes over the subject; "Just moved to Leeds!" leaves it to the speaker."""
        word = self.low[i]
        before = self.low[i - 1] if i else ""
        forms = self.lex.verbs.get(word, {})
        if found:
            joined = i > edge and (before in ("and", "but", "then", "or") or before in self.lex.adverbs)
            finite = "past" in forms or ("s" in forms and found[-1].verb.form == "s") or word in ("am", "was", "have")
            agrees = finite or ("base" in forms and found[-1].verb.form == "base" and not found[-1].verb.aux)
            if not joined or not agrees or word in self.lex.weak or not self._and_before(i, edge):
                return None
            verb = self._verb(i, found[-1].kind, ())
            if verb is None:
                return None
            first, introducer = self._left_edge(i, edge)
            return Clause(first, self.size, introducer, found[-1].kind, found[-1].subject, verb, inherited=True)
        opens = "past" in forms or ("ing" in forms and word not in ("being", "speaking", "according"))
        following = self.low[i + 1] if i + 1 < self.size else ""
        adjective = word in self.lex.participial and following not in self.lex.determiners
        if not opens or adjective or word in self.lex.weak or any(c.isdigit() for c in word):
            return None
        if i and not all(w in self.lex.adverbs or w in _BREAKS or w in self.known or w in ("and", "but") for w in self.low[:i]):
            return None
        verb = self._verb(i, "speaker", ("am",) if "ing" in forms else ())
        return None if verb is None else Clause(0, self.size, "", "elided", (i, i), verb)

    def _and_before(self, i: int, edge: int) -> bool:
        while i > edge and self.low[i - 1] in self.lex.adverbs:
            i -= 1
        return i > edge and self.low[i - 1] in ("and", "but", "then", "or", ",")

    def _left_edge(self, i: int, edge: int) -> tuple[int, str]:
        """First word of the clause and what introduces it: back to the last break, conjunction or subordinator."""
        if edge == 0:
            openers = (self.low[k] for k in range(i))
            opener = next((w for w in openers if w in self.lex.subordinators or w in self.lex.introducers), "")
            return 0, opener
        for k in range(i - 1, max(edge, i - 8) - 1, -1):
            word = self.low[k]
            if word in self.lex.subordinators or word in self.lex.conjunctions:
                return k + 1, word
            if word in _BREAKS:
                return k + 1, ""
        return i, ""

    def _trim(self, least: int, last: int) -> int:
        """Leaves out the marks and joining words between this clause and the next."""
        while last > least and (
            self.low[last - 1] in _BREAKS
            or self.low[last - 1] in self.lex.conjunctions
            or self.low[last - 1] in self.lex.subordinators
            or self.low[last - 1] in ".!?…"
        ):
            last -= 1
        return last

    # --- subjects ---------------------------------------------------------------------------------------------

    def _is_name(self, i: int) -> bool:
        word = self.low[i]
        if word in self.lex.people or word in self.known:
            return True
        inside = i > 0 and self.low[i - 1] not in ".!?…\"“" and self.low[i - 1] not in self.lex.adverbs
        return (
            inside and word.isalpha() and len(word) > 2 and word not in self.lex.not_names and word not in self.lex.places
            and word not in self.lex.organisations and word not in self.lex.adverbs and word not in self.lex.closed
        )  # fmt: skip

    def _name_end(self, i: int) -> int:
        end = i + 1
        while end < self.size and end < i + 3 and self.words.capital(end) and self.low[end].isalpha():
            if self.low[end] in _PRONOUNS:
                break
            end += 1
        return end

    def _subject_end(self, i: int) -> int:
        """End of a noun phrase that begins at i and is followed by a finite verb; 0 when there is none."""
        for k in range(i, min(self.size, i + _LONGEST_SUBJECT)):
            word = self.low[k]
            if word == "'s":
                if self._is_copula(k):
                    return k
                continue
            if word in _BREAKS or word in ".!?…" or word in ("and", "or", "but", "that", "which", "who", "i", "we"):
                return 0
            if k > i and self._finite(k):
                return self._before_adverbs(i, k)
            if word in self.lex.prepositions and self.low[i - 1] in ("the", "a", "an"):
                return 0
        return 0

    def _before_adverbs(self, i: int, end: int) -> int:
        while end > i + 1 and self.low[end - 1] in self.lex.adverbs:
            end -= 1
        return end

    def _finite(self, k: int) -> bool:
        word = self.low[k] if k < self.size else ""
        if word in self.lex.auxiliaries:
            return word not in ("be", "been", "being", "having")
        forms = self.lex.verbs.get(word, {})
        return word not in self.lex.weak and ("past" in forms or "s" in forms)

    def _is_copula(self, k: int) -> bool:
        """True where 's stands for "is" or "has", not for an owner."""
        following = self.low[k + 1] if k + 1 < self.size else ""
        return (
            following in ("a", "an", "the", "not", "my", "our", "been", "so", "in", "at", "from", "getting", "going")
            or following in self.lex.adverbs
            or (following in self.lex.participial)
            or "ing" in self.lex.verbs.get(following, {})
        )

    # --- verbs ------------------------------------------------------------------------------------------------

    def _verb(self, i: int, kind: SubjectKind, aux: tuple[str, ...]) -> Verb | None:
        lex, low = self.lex, self.low
        adverbs: list[str] = []
        seen = list(aux)
        negated, last_aux = False, i
        while i < self.size:
            word = low[i]
            if word == "'s":
                word = "is"
            if word in lex.auxiliaries:
                seen.append(word)
                last_aux = i
            elif word in lex.negations:
                negated = True
            elif word == "no" and i + 1 < self.size and low[i + 1] == "longer":
                negated, i = True, i + 1
            elif word in lex.adverbs or (word.endswith("ly") and "base" not in lex.verbs.get(word, {})):
                adverbs.append(word)
            else:
                break
            i += 1
        main = self._main(i, seen, last_aux, kind)
        if main is None:
            return None
        at, lemma, form, passive = main
        own = tuple(seen[:-1]) if at == last_aux and seen and lex.auxiliaries.get(low[at].replace("'s", "is")) and at < i else tuple(seen)
        after = i if at < i else i + 1
        while after < self.size and (low[after] in lex.negations or low[after] == "no-longer"):
            negated, after = True, after + 1
        return self._chained(Verb(at, after, lemma, form, own, tuple(adverbs), negated, passive))

    def _main(self, i: int, aux: list[str], last_aux: int, kind: SubjectKind) -> tuple[int, str, Form, bool] | None:
        """(place, lemma, form, passive) of the main verb, given the auxiliaries before it."""
        low, lex = self.low, self.lex
        governs = lex.auxiliaries.get(aux[-1], "") if aux else ""
        word = low[i] if i < self.size else ""
        forms: Mapping[Form, str] = lex.verbs.get(word, {})
        if not forms and word.isalpha() and kind in ("speaker", "pronoun", "addressee", "name") and word not in lex.closed:
            forms = guess(word)
        if governs == "be":
            if "ing" in forms and word not in lex.participial:
                return i, forms["ing"], "ing", False
            if "participle" in forms and word not in lex.participial and "base" not in forms:
                return i, forms["participle"], "participle", True
            if "participle" in forms and word in ("read", "put", "hit"):
                return i, forms["participle"], "participle", True
            return last_aux, "be", _be_form(aux), False
        if governs == "have":
            if word == "got" and "just" not in low[last_aux:i]:  # "I've got a dog" is having one
                return i, "have", "base", False
            if "participle" in forms:
                return i, forms["participle"], "participle", False
            return last_aux, "have", "past" if aux[-1] == "had" else "base", False
        if governs in ("do", "modal"):
            if "base" in forms:
                return i, forms["base"], "base", False
            if governs == "modal" and aux[-1] == "would" and "participle" in forms:  # I'd gone
                return i, forms["participle"], "participle", False
            if governs == "do" and word not in ("i", "you", "we", "he", "she", "they", "it"):
                return last_aux, "do", "past" if aux[-1] == "did" else "base", False
            return None
        for form in ("past", "s", "base"):
            if form in forms:
                if kind in ("name", "owned", "thing") and form == "base" and not word.endswith("s"):
                    continue
                return i, forms[form], form, False  # type: ignore[return-value]
        return None

    def _chained(self, verb: Verb) -> Verb:
        """Follows "want to", "started -ing", "going to" down to the verb that names what is done."""
        if verb.lemma == "get" and verb.after < self.size:
            done = self.low[verb.after]
            forms = self.lex.verbs.get(done, {})
            if "participle" in forms and "base" not in forms and done not in self.lex.participial:
                return replace(verb, at=verb.after, after=verb.after + 1, lemma=forms["participle"], passive=True)
        for _ in range(3):
            chain = self.lex.chains.get(verb.lemma)
            i = verb.after
            if chain is None or i >= self.size or (verb.lemma == "use" and verb.form != "past"):
                return verb
            link = self.low[i]
            if link in chain.links and link not in ("ing", "bare"):
                inner = i + 1
                while inner < self.size and (self.low[inner] in self.lex.adverbs or self.low[inner] in self.lex.negations):
                    inner += 1
                form: Form = "base" if link == "to" else "ing"
            elif "ing" in chain.links:
                inner, form = i, "ing"
            else:
                return verb
            forms = self.lex.verbs.get(self.low[inner], {}) if inner < self.size else {}
            if form not in forms:
                return verb
            effect = chain.effect if chain.effect != "go" else "future_plan" if link == "to" and verb.progressive else "none"
            verb = replace(
                verb, at=inner, after=inner + 1, lemma=forms[form], outer=verb.lemma, effects=(*verb.effects, effect)
            )
        return verb


def _be_form(aux: list[str]) -> Form:
    if aux[-1] in ("was", "were"):
        return "past"
    return "participle" if aux[-1] == "been" else "base"
