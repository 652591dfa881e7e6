"""Answers that are numbers: distinct things counted one by one where facts name them, else a number that was stated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sodamem import text
from sodamem.reader.matching import Match, of
from sodamem.reader.questions import Asked, base
from sodamem.reader.sentences import Sentence, words_of

_NUMBERS = text.words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
_ORDINALS = text.words("zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")
_COUNTED = re.compile(
    r"\bhow many (?:different |other |more |total )?(?P<noun>(?:[\w'-]+ )*?[\w'-]+)"
    r"(?= (?:of|do|does|did|has|have|had|is|are|was|were|in|on|at|can|could|will|would)\b|\?|$)",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"[$€£]\s?\d[\d,]*(?:\.\d+)?k?|\b\d[\d,]*(?:\.\d+)? (?:dollars|euros|pounds|bucks|percent)\b|\b\d+(?:\.\d+)?%",
    re.IGNORECASE,
)
_OFTEN = re.compile(
    r"\b(?:(?:(?:once|twice|\w+ times) or )?(?:once|twice|thrice|\w+ times) (?:a|per|every|each) "
    r"(?:day|week|month|year)|(?:every|each) (?:other |single )?\w+(?: \w+)?|daily|weekly|monthly|yearly|"
    r"(?:a few|several|\w+) days a week)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[$€£]?\d[\d,]*(?:\.\d+)?|[\w'’-]+")
_REACH = 3  # words between a number and what it counts: "three cute little turtles"


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """A number in words with the sentences that give it; `items` name what was counted, empty for a stated number."""

    words: str
    support: tuple[Sentence, ...]
    items: tuple[str, ...] = ()


def counted(asked: Asked, found: Sequence[Match]) -> Counted | None:
    """The count the evidence supports, or None when it names neither things nor a number."""
    for pattern in _patterns(asked):
        for match in found:
            if hit := pattern.search(match.sentence.quote):
                return Counted(words=hit[0], support=(match.sentence,))
        return None
    noun = _COUNTED.search(asked.text)
    # What is counted stands within the first words after "how many", whatever describes it further.
    heads = words_of(" ".join(noun["noun"].split()[:_REACH])) if noun else frozenset()
    return _enumerated(asked, heads, found) or _stated(heads, found)


def _patterns(asked: Asked) -> list[re.Pattern[str]]:
    low = asked.text.lower()
    return [_OFTEN] if "how often" in low else [_MONEY] if "how much" in low else []


def _enumerated(asked: Asked, heads: frozenset[str], found: Sequence[Match]) -> Counted | None:
    """Distinct values of active facts that are of the counted kind: at least two, or there is nothing to count."""
    items: dict[frozenset[str], tuple[str, Sentence]] = {}
    for sentence in (match.sentence for match in found):
        for fact in sentence.facts:
            if fact.status != "active" or not fact.polarity or fact.modality not in _REAL or not of(fact, asked):
                continue
            kind = words_of(fact.predicate.replace("_", " "))
            for role in fact.roles:
                words = words_of(role.words)
                if role.name == "value" and heads & (words | kind):
                    items.setdefault(words - heads, (role.words, sentence))
    items.pop(frozenset(), None) if len(items) > 1 else None  # "a bike" may be any of those named more exactly
    if len(items) < 2:
        return None
    named = tuple(words for words, _ in items.values())
    return Counted(words=str(len(named)), support=tuple(sentence for _, sentence in items.values()), items=named)


_REAL = frozenset({"past_event", "current_state", "preference"})


def _stated(heads: frozenset[str], found: Sequence[Match]) -> Counted | None:
    """A number that stands before the counted noun; an ordinal ("my fourth tournament") counts up to itself."""
    best: tuple[int, Counted] | None = None
    for match in found:
        tokens = [(token[0], token[0].lower()) for token in _TOKEN.finditer(match.sentence.quote)]
        for place, (_, low) in enumerate(tokens):
            number = _value(low)
            ahead = [base(text.stem(word.removesuffix("'s"))) for _, word in tokens[place + 1 : place + 2 + _REACH]]
            if number is None or not heads & set(ahead):
                continue
            counted_ = Counted(
                words=tokens[place][0] if low not in _ORDINALS else _NUMBERS[number], support=(match.sentence,)
            )
            if low not in _ORDINALS:
                return best[1] if best and best[0] > number else counted_
            if best is None or number > best[0]:
                best = (number, counted_)
    return best[1] if best else None


def _value(word: str) -> int | None:
    plain = word.replace(",", "")
    if plain.isdigit():
        return int(plain)
    for names in (_NUMBERS, _ORDINALS):
        if word in names:
            return names.index(word)
    return None
