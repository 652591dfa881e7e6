"""Finds the clauses of a sentence: who each is about, its verb group, and where it begins and ends.

A hand-written grammar of finite English clauses: nominative pronouns, possessives and names open a clause where a
verb follows them. Words come from the tables, see `lexicon`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.morphology import Form
from sodamem.extractor.verbs import SubjectKind, Verb, read_verb
from sodamem.extractor.words import Words

_PRONOUNS: Mapping[str, SubjectKind] = {
    **dict.fromkeys(("i", "we"), "speaker"),
    **dict.fromkeys(("he", "she", "they"), "pronoun"),
    **dict.fromkeys(("it", "that", "this", "these", "those", "there", "what", "who"), "thing"),
    **dict.fromkeys(("everyone", "everybody", "everything", "nobody"), "thing"),
    "you": "addressee",
}
_OWNERS = frozenset({"my", "our", "his", "her", "their", "your"})
_ARTICLES = frozenset({"the", "a", "an"})
BREAKS = frozenset(',;:—–-()"“”')
STOPS = frozenset(".!?…")
_JOINING = frozenset({"and", "but", "then", "or"})
GERUND = "-ing"  # introduces "playing the harp keeps me sane"
_TASTES = frozenset({"like", "love", "enjoy", "hate", "prefer", "adore", "dislike"})
_RARE = frozenset({"let", "me", "us", "as"})  # these open a clause in few places only
_OBJECTS = frozenset({"me", "us", "my", "our", "him", "it"})
_LONGEST_SUBJECT = 9  # words
_LONGEST_OPENING = 6  # words before the first subject: a time, a greeting, a topic
_LONGEST_JOINT = 8  # words between a conjunction and the subject it introduces


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


def parse(words: Words, lexicon: Lexicon, known: frozenset[str], masked: frozenset[int]) -> list[Clause]:
    """The finite clauses of a sentence in order.

    known: lower-case names of people in the dialogue · masked: words of time expressions, which open no clause.
    """
    parser = _Parser(words, lexicon, known, masked)
    found: list[Clause] = []
    i = edge = 0  # edge: everything before it belongs to the clauses found so far
    while i < len(words):
        clause = parser.open(i, edge, found[-1] if found else None)
        if clause is None:
            i += 1
            continue
        if found:
            found[-1] = parser.cut(found[-1], clause.first)
        found.append(clause)
        i = edge = clause.verb.after
    if found:
        found[-1] = parser.cut(found[-1], len(words))
    return found


class _Parser:
    def __init__(self, words: Words, lexicon: Lexicon, known: frozenset[str], masked: frozenset[int]) -> None:
        self.words, self.low, self.lex, self.known, self.masked = words, words.low, lexicon, known, masked
        self.size = len(words)
        self.joins = lexicon.joins

    def open(self, i: int, edge: int, before: Clause | None) -> Clause | None:
        """The clause whose subject (or verb, where the subject is left out) stands at word i."""
        word = self.low[i]
        kind = _PRONOUNS.get(word)
        boundary = self._is_boundary(i, edge, before)
        if word in _RARE or word.endswith("ing") or (before and self.low[i - 1] == "to"):
            rare = self._proposal(i) or (before and (self._seen_doing(i, before) or self._purpose(i, before)))
            rare = rare or (self._participial(i) if boundary else None)
            if rare is not None:
                return rare
        if kind in ("speaker", "pronoun") or (kind and boundary):
            return self._with_subject(i, i + 1, kind, edge, before)
        named = self.words.capital(i) and i not in self.masked and (self._is_known(i) or self._may_be_name(i))
        if not boundary and not (named and "," in self.low[edge:i] and self._is_finite(self._name_end(i))):
            return None
        if word in _OWNERS or word in _ARTICLES:
            end = self._subject_end(i + 1)
            return self._with_subject(i, end, "owned" if word in _OWNERS else "thing", edge, before) if end else None
        if not named:
            return self._joined(i, edge, before) if before else self._elided(i)
        end = self._name_end(i)
        if end < self.size and self.low[end] == "'s" and not self._is_copula(end):
            end = self._subject_end(end + 1)
            return self._with_subject(i, end, "owned", edge, before) if end else None
        return self._with_subject(i, end, "name", edge, before)

    def cut(self, clause: Clause, last: int) -> Clause:
        """The clause without what comes after it, and without the marks and joining words in between."""
        least, last = clause.verb.after, min(clause.last, last)
        while last > least and (
            self.low[last - 1] in BREAKS or self.low[last - 1] in STOPS or self.low[last - 1] in self.joins
        ):
            last -= 1
        return replace(clause, last=max(last, least))

    # --- the ways to open -----------------------------------------------------------------------------------

    def _with_subject(self, i: int, end: int, kind: SubjectKind, edge: int, before: Clause | None) -> Clause | None:
        inverted = i > edge and self.low[i - 1] in self.lex.auxiliaries and i - 1 not in self.masked
        verb = read_verb(self.words, end, kind, (self.low[i - 1],) if inverted else (), self.lex)
        if verb is None:
            return None
        first, introducer = self._left_edge(i - inverted, edge)
        if before and i == edge:  # "I wish I had a garden": the verb before says how this clause is meant
            introducer = before.verb.lemma
        leading = tuple(word for word in self.low[first:i] if word in self.lex.adverbs)
        return Clause(
            first, self.size, introducer, kind, (i, end), replace(verb, adverbs=leading + verb.adverbs), inverted
        )

    def _joined(self, i: int, edge: int, before: Clause) -> Clause | None:
        """Takes over the subject of the clause before it: "… and bought a bike"."""
        if i in self.masked or self.low[i] in self.lex.adverbs:
            return None
        joint = i
        while joint > edge and self.low[joint - 1] in self.lex.adverbs:
            joint -= 1
        if joint == edge or (self.low[joint - 1] not in _JOINING and self.low[joint - 1] != ","):
            return None
        word, form = self.low[i], before.verb.form
        forms = self.lex.verbs.get(word, {})
        finite = "past" in forms or ("s" in forms and form == "s") or word in ("am", "was", "have")
        hanging = not finite and self.low[joint - 1] != "," and "base" in forms
        hanging = hanging and (form == "base" or before.verb.effects != ())
        adverb = joint < i or "now" in self.low[i:]
        going_on = self._goes_on(i, before) and (form == "base" or (form in ("past", "participle") and adverb))
        if not (hanging or going_on or finite) or (word in self.lex.weak and not going_on):
            return None
        verb = read_verb(self.words, i, before.kind, (), self.lex)
        if verb is None:
            return None
        if hanging:  # "I want to travel and see": the second verb hangs from what governs the first
            verb = replace(verb, outer=before.verb.outer, effects=before.verb.effects)
        first, introducer = self._left_edge(i, edge)
        return Clause(first, self.size, introducer, before.kind, before.subject, verb, inherited=True)

    def _goes_on(self, i: int, before: Clause) -> bool:
        """True for the present of one who did or does something else before: "I live in York and use vim"."""
        form: Form = "base" if before.kind in ("speaker", "elided") else "s"
        lemma = self.lex.verbs.get(self.low[i], {}).get(form, "")
        tastes = before.verb.lemma in _TASTES or lemma in _TASTES
        plain = all(self.lex.auxiliaries[word] in ("be", "have") for word in before.verb.aux)
        if tastes or not plain or before.verb.effects or lemma not in self.lex.cues or self.low[i - 1] == ",":
            return False
        following = self._word(i + 1)
        joins = following in self.joins or following == "of" or not following.isalnum()
        return following != "" and not joins and self.low[i - 1] not in self.lex.determiners

    def _elided(self, i: int) -> Clause | None:
        """A sentence whose speaker leaves "I" out: "Just moved to Leeds!", "Thinking of moving"."""
        word, following = self.low[i], self.low[i + 1] if i + 1 < self.size else ""
        forms = self.lex.verbs.get(word, {})
        chain = self.lex.chains.get(forms.get("ing", ""))
        opens = "past" in forms or (chain is not None and following in chain.links)  # but not "Moving is hard"
        adjective = word in self.lex.participial and following not in self.lex.determiners
        adjective = adjective or following in ("is", "was", "are", "were")
        asks = word in self.lex.auxiliaries and (following in _PRONOUNS or following in _OWNERS or self._capital(i + 1))
        if not opens or adjective or asks or word in self.lex.weak:
            return None
        if not all(w in self.lex.adverbs or w in BREAKS or w in self.known or w in _JOINING for w in self.low[:i]):
            return None
        verb = read_verb(self.words, i, "speaker", ("am",) if "ing" in forms else (), self.lex)
        if verb is None or verb.lemma == "be":  # "Gonna be a great night": not the speaker
            return None
        return Clause(0, self.size, "", "elided", (i, i), verb)

    def _proposal(self, i: int) -> Clause | None:
        """ "Let's celebrate": nobody's fact, but it ends the clause before."""
        if self.low[i : i + 2] not in (["let", "'s"], ["let", "us"]):
            return None
        verb = read_verb(self.words, i + 2, "addressee", (), self.lex)
        return Clause(i, self.size, "", "addressee", (i, i + 1), verb) if verb else None

    def _purpose(self, i: int, before: Clause) -> Clause | None:
        """ "I left Acme to join Globex": who has left for it has done it."""
        if self.low[i - 1] != "to" or before.verb.lemma not in ("leave", "quit") or not before.verb.past:
            return None
        verb = read_verb(self.words, i, "speaker", (), self.lex)
        if verb is None or verb.lemma not in self.lex.cues:
            return None
        verb = replace(verb, form="past", effects=(*verb.effects, "begin"))
        return Clause(i, self.size, "", before.kind, before.subject, verb, inherited=True)

    def _seen_doing(self, i: int, before: Clause) -> Clause | None:
        """ "You'll find me lifting at Ironworks"."""
        sees = before.verb.lemma in ("find", "see", "catch", "hear") and before.verb.after == i
        if not sees or self.low[i] not in ("me", "us") or "ing" not in self.lex.verbs.get(self._word(i + 1), {}):
            return None
        verb = read_verb(self.words, i + 1, "speaker", ("am",), self.lex)
        return Clause(i, self.size, "", "speaker", (i, i + 1), verb) if verb else None

    def _participial(self, i: int) -> Clause | None:
        """ "Being a nurse, I …", "as someone who is single, I …", "playing the harp keeps me sane"."""
        low, mine = self.low, {"i", "we", "me", "us"}
        opens = low[i : i + 3] if low[i] == "as" else low[i : i + 1]
        if opens[:1] == ["as"] and self._word(i + 1) in ("someone", "somebody") and self._word(i + 2) == "who":
            verb = read_verb(self.words, i + 3, "name", (), self.lex)
            speaks = verb is not None and not mine.isdisjoint(low[verb.after : i + 16])
            return Clause(i, self.size, "", "elided", (i, i), verb) if verb and speaks else None
        if low[i] == "being" or (low[i] == "as" and self._word(i + 1) in ("a", "an")):
            end = next((k for k in range(i + 1, min(self.size, i + 8)) if low[k] == "," or low[k] in mine), 0)
            told = end and (low[end] in ("i", "we") or self._word(end + 1) in ("i", "we") or low[i] == "being")
            stop = next((k for k in range(i + 2, end) if self._word(k + 1) in mine and low[k].endswith("s")), end)
            verb = Verb(i, i + 1, "be", "base")
            return Clause(i, stop, "", "elided", (i, i), verb) if told and stop > i + 1 else None
        if "ing" not in self.lex.verbs.get(low[i], {}):
            return None
        ends = range(i + 2, min(self.size, i + 9) - 1)
        end = next((k for k in ends if low[k].endswith("s") and low[k + 1] in ("me", "us")), 0)
        verb = read_verb(self.words, i, "speaker", ("am",), self.lex) if end else None
        return Clause(i, end, GERUND, "elided", (i, i), verb) if verb and verb.after <= end else None

    def _word(self, i: int) -> str:
        return self.low[i] if i < self.size else ""

    # --- edges ----------------------------------------------------------------------------------------------------

    def _is_boundary(self, i: int, edge: int, before: Clause | None) -> bool:
        """True where a new clause may begin: after a break, a joining word, or before anything else was said."""
        if before and i - 1 == edge and self.low[edge] in self.lex.prepositions and self.low[i] in _ARTICLES:
            return False  # "I look after a cat"
        while i > edge:
            word = self.low[i - 1]
            if i - 1 in self.masked or (i in self.masked and word in self.lex.prepositions | self.lex.determiners):
                i -= 1
                continue
            if word in BREAKS or word in self.joins:
                return True
            if word not in self.lex.adverbs and word not in self.lex.wh and word not in self.lex.auxiliaries:
                opening = before is None and i - edge <= _LONGEST_OPENING
                return opening and word not in self.lex.prepositions and word not in self.lex.determiners
            i -= 1
        return before is None or before.verb.lemma in self.lex.opinion or before.verb.lemma in self.lex.report

    def _left_edge(self, i: int, edge: int) -> tuple[int, str]:
        """First word of the clause and what introduces it: back to the last break or joining word."""
        if edge == 0:
            openers = (word for word in self.low[:i] if word in self.lex.subordinators or word in self.lex.introducers)
            return 0, next(openers, "")
        for k in range(i - 1, max(edge, i - _LONGEST_JOINT) - 1, -1):
            if k in self.masked:
                continue
            if self.low[k] in BREAKS:
                return k + 1, ""
            if self.low[k] in self.joins or self.low[k] in self.lex.introducers:
                return k + 1, self.low[k]
        return i, ""

    # --- subjects -------------------------------------------------------------------------------------------------

    def _is_known(self, i: int) -> bool:
        return self.low[i] in self.lex.people or self.low[i] in self.known

    def _may_be_name(self, i: int) -> bool:
        """True for an unlisted capitalised word inside a sentence that does something: "and Zorba left"."""
        word, before = self.low[i], self.low[i - 1] if i else "."
        inside = before not in STOPS and before not in self.lex.adverbs and before != "or"
        common = word in self.lex.closed or word in self.lex.places or word in self.lex.organisations
        end = self._name_end(i)
        acts = end < self.size and self.low[end] not in self.lex.auxiliaries
        return inside and word.isalpha() and len(word) > 2 and not common and acts

    def _capital(self, i: int) -> bool:
        return i < self.size and self.words.capital(i)

    def _name_end(self, i: int) -> int:
        """Past up to three capitalised words."""
        end = i + 1
        while end < min(self.size, i + 3) and self.words.capital(end) and self.low[end] not in _PRONOUNS:
            end += 1
        return end

    def _subject_end(self, i: int) -> int:
        """End of a noun phrase that begins at i and is followed by a finite verb; 0 when there is none."""
        for k in range(i, min(self.size, i + _LONGEST_SUBJECT)):
            word = self.low[k]
            if word == "'s":
                if self._is_copula(k):
                    return k
            elif word in BREAKS or word in STOPS or word in ("and", "or", "but", "that", "which", "who", "i", "we"):
                return 0
            elif k > i and self._is_finite(k):
                while k > i + 1 and (self.low[k - 1] in self.lex.adverbs or self.low[k - 1] in self.lex.negations):
                    k -= 1
                return k
            elif word in self.lex.prepositions and self.low[i - 1] in _ARTICLES:
                return 0  # "the week before 4 September Oscar began": a time, not a subject
        return 0

    def _is_finite(self, k: int) -> bool:
        word = self.low[k] if k < self.size else ""
        if word in self.lex.auxiliaries:
            return word not in ("be", "been", "being", "having")
        forms = self.lex.verbs.get(word, {})
        likely = word not in self.lex.weak or self._word(k + 1) in _OBJECTS  # "my carrier put me on …"
        return likely and ("past" in forms or "s" in forms)

    def _is_copula(self, k: int) -> bool:
        """True where 's stands for "is" or "has", not for an owner."""
        following = self.low[k + 1] if k + 1 < self.size else ""
        return (
            following in ("a", "an", "the", "not", "my", "our", "been", "in", "at", "from")
            or following in self.lex.adverbs
            or following in self.lex.participial
            or "ing" in self.lex.verbs.get(following, {})
        )
