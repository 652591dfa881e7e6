"""Reads idioms that say a fact about the speaker without naming it: "nothing beats sushi", "the scales say 82 kilos".

The idioms are declared in tables/frames.yaml; here they are found, and their values checked.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from sodamem.extractor.clauses import BREAKS, Clause
from sodamem.extractor.cues import Complement, Match, filler
from sodamem.extractor.lexicon import Frame, Lexicon
from sodamem.extractor.phrases import head, noun_before, quantity, trim
from sodamem.extractor.scopes import scope_role
from sodamem.extractor.verbs import Verb
from sodamem.extractor.words import Words
from sodamem.types import Role


def framed(
    words: Words, masked: frozenset[int], lexicon: Lexicon, known: frozenset[str]
) -> Iterator[tuple[Complement, Match]]:
    """What the idioms of a sentence say, each with the clause to read its meaning from."""
    tried = {id(frame): frame for key in lexicon.frames.keys() & set(words.low) for frame in lexicon.frames[key]}
    if not tried:
        return
    said = f" {' '.join(words.low)}"
    starts = list(accumulate((len(word) + 1 for word in words.low), initial=1))
    for frame in tried.values():
        for found in frame.pattern.finditer(said):
            first, last = (bisect_right(starts, place) - 1 for place in (found.start(), found.end() - 1))
            matched = _match(frame, found, starts, words, lexicon=lexicon, masked=masked, known=known)
            if matched is not None:
                told, match = matched
                verb = Verb(at=told, after=last + 1, lemma="be", form="base")
                clause = Clause(first, len(words), _introducer(words, first, frame, lexicon), "elided", (0, 0), verb)
                yield Complement(words, clause, masked, lexicon=lexicon, known=known), match


def _match(
    frame: Frame,
    found: re.Match[str],
    starts: list[int],
    words: Words,
    *,
    masked: frozenset[int],
    lexicon: Lexicon,
    known: frozenset[str],
) -> tuple[int, Match] | None:
    """The match, and the first word of the idiom."""
    declared = lexicon.predicates[frame.predicate]
    groups = found.groupdict()
    told = groups.get("scope") or ""
    if "amount" in groups:
        at = bisect_right(starts, found.start("amount")) - 1
        amount = quantity(words, at, len(words), lexicon, times=True)
        if amount is None or amount.unit not in declared.units or not amount.words.startswith(words.raw(at)):
            return None
        value = Role(name="value", entity="", words=amount.words)
        return bisect_right(starts, found.start()) - 1, Match(declared.name, value, (), amount, frame.change)
    first, last = (bisect_right(starts, place) - 1 for place in (found.start("value"), found.end("value") - 1))
    if found.start("value") == found.start():  # nothing of the idiom says where the value begins
        first = max(first, noun_before(words, last + 1, masked, lexicon))
    noun = trim(words, first, last + 1, lexicon)
    if noun is None or lexicon.is_class("empty", head(words, noun)) or words.low[noun.first] in lexicon.closed:
        return None
    said = words.low[noun.first : noun.last]
    if frame.fits and not any(
        lexicon.is_class(name, head(words, noun)) or not lexicon.classes[name].isdisjoint(said) for name in frame.fits
    ):
        return None
    role = filler(words, noun, "value", declared.type, lexicon=lexicon, known=known)
    if declared.type == "place" and not words.capital(noun.first):
        return None
    scope = scope_role(declared, _singular(told), role, words, lexicon=lexicon)
    if declared.by_value and scope is None:
        return None
    roles = (*((scope,) if scope else ()), *_called(words, noun.first, noun.last))
    begins = noun.first if found.start("value") == found.start() else bisect_right(starts, found.start()) - 1
    return begins, Match(declared.name, role, roles, None, frame.change)


def _called(words: Words, first: int, last: int) -> tuple[Role, ...]:
    at = next((k for k in range(first, last) if words.low[k] in ("named", "called")), last)
    name = words.span(at + 1, last) if at + 1 < last else ""
    return (Role(name="name", entity=f"other:{name.lower()}", words=name),) if name else ()


def _introducer(words: Words, first: int, frame: Frame, lexicon: Lexicon) -> str:
    if frame.supposed:
        return ""
    k = first
    while k > 0 and words.low[k - 1] not in BREAKS:
        k -= 1
    return next((word for word in words.low[k:first] if word in lexicon.introducers), "")


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
