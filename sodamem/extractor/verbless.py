"""The order that tells a fact about the speaker: "Call me Kit"."""

from __future__ import annotations

from sodamem.extractor.clauses import Clause
from sodamem.extractor.cues import Complement, Match
from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.verbs import Verb
from sodamem.extractor.words import Words
from sodamem.types import Role


def named_me(words: Words, lexicon: Lexicon, known: frozenset[str]) -> tuple[Complement, Match] | None:
    """The match of such a sentence with a complement to read its meaning from, or None."""
    low = words.low
    for i in range(len(words) - 2):
        if low[i] == "call" and low[i + 1] == "me" and words.capital(i + 2) and low[i + 2].isalpha():
            name = words.raw(i + 2)
            match = Match("called", Role(name="value", entity=f"other:{name.lower()}", words=name), change=True)
            verb = Verb(at=0, after=len(words), lemma="be", form="base")
            clause = Clause(0, len(words), "", "elided", (0, 0), verb)
            return Complement(words, clause, frozenset(), lexicon=lexicon, known=known), match
    return None
