"""Sentences that the clause grammar does not open: "Sushi is my favourite food", "Call me Kit", "I meant York"."""

from __future__ import annotations

from collections.abc import Callable

from sodamem.extractor.clauses import Clause
from sodamem.extractor.cues import Complement, Match, filler, slot
from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.phrases import head, quantity, trim
from sodamem.extractor.verbs import Verb
from sodamem.extractor.words import Words
from sodamem.types import Quantity, Role, TimeValue

_BE = ("is", "are", "'s", "was", "became", "becomes")


def verbless(
    words: Words, times: Callable[[], tuple[TimeValue, ...]], lexicon: Lexicon, known: frozenset[str]
) -> tuple[Complement, Match] | None:
    """The match of such a sentence with a complement to read its meaning from, or None."""
    match = _named(words) or _reversed(words, times, lexicon, known)
    if match is None:
        return None
    verb = Verb(at=0, after=len(words), lemma="be", form="base")
    clause = Clause(0, len(words), "", "elided", (0, 0), verb)
    return Complement(words, clause, frozenset(), lexicon=lexicon, known=known), match


def _named(words: Words) -> Match | None:
    """The only order that tells a fact about the speaker: "Call me Kit"."""
    low = words.low
    for i in range(len(words) - 2):
        if low[i] == "call" and low[i + 1] == "me" and words.capital(i + 2) and low[i + 2].isalpha():
            name = words.raw(i + 2)
            return Match("called", Role(name="value", entity=f"other:{name.lower()}", words=name), change=True)
    return None


def _reversed(
    words: Words, times: Callable[[], tuple[TimeValue, ...]], lexicon: Lexicon, known: frozenset[str]
) -> Match | None:
    """The slot comes last: "Sushi is my favourite food", "Last week coral became my favourite colour"."""
    low = words.low
    for i in range(2, len(words)):
        if low[i] != "my" or low[i - 1] not in (*_BE, "still", "now"):
            continue
        end = next((k for k in range(i + 1, len(words)) if not low[k].replace("-", "").isalnum()), len(words))
        named = slot(low[i + 1 : end], lexicon)
        verb = i - 1 if low[i - 1] in _BE else i - 2
        if named is None:
            continue
        ends = [value.end for value in times() if value.end <= words.start[verb]]
        begin = next((k for k in range(verb) if words.start[k] >= max(ends, default=0)), verb)
        value = trim(words, begin, verb, lexicon)
        if value is None or lexicon.is_class("empty", head(words, value)) or low[verb] not in _BE:
            continue
        declared = lexicon.predicates[named[0]]
        if declared.quantity or not low[value.first].replace("-", "").isalnum() or "," in low[value.first : value.last]:
            continue
        scope = (Role(name=declared.scope, entity=f"thing:{named[1]}", words=named[1]),) if declared.scope else ()
        return Match(
            declared.name,
            filler(words, value, "value", declared.type, lexicon=lexicon, known=known),
            scope,
            change=low[verb].startswith("becam") or "now" in low[verb:i],
        )
    return None


def replacement(
    words: Words, begin: int, old: Role, lexicon: Lexicon, known: frozenset[str]
) -> tuple[Role, Quantity | None] | None:
    """What "I meant …" puts in the place of `old`: the noun phrase or amount from word `begin`.

    None where there is no such thing, or one of another type: York cannot replace a job.
    """
    end = next((k for k in range(begin, len(words)) if words.low[k] in (",", ".", "!", "?", ";", "not")), len(words))
    amount = quantity(words, begin, end, lexicon, times=True)
    if amount is not None and not old.entity:
        return Role(name="value", entity="", words=amount.words), amount
    value = trim(words, begin, end, lexicon)
    if value is None or value.last - value.first > 4 or lexicon.is_class("empty", head(words, value)):
        return None
    type_ = old.entity.partition(":")[0]
    new = filler(words, value, "value", type_, lexicon=lexicon, known=known)
    return (new, amount) if type_ and new.entity.startswith(f"{type_}:") else None
