"""How well each sentence of the evidence fits a question: shared words, rank of its item, and whose words they are."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sodamem import text
from sodamem.reader.questions import Asked
from sodamem.reader.sentences import Sentence, sentences, words_of
from sodamem.types import Evidence

# A name set off by commas calls somebody and tells nothing of them: "Thanks, Caroline!", "Caroline, look".
_CALLED = re.compile(r"(?:^|,)\s*[A-Z][\w'’]*(?=\s*[,.!?]|$)|^(?:hey|hi|hello|wow|thanks|congrats|yeah|yep)\b[\s,]*[A-Z]\w*", re.IGNORECASE)
_ADDRESSED = frozenset({"you", "your", "yours", "you're", "you've", "you'll", "you'd", "yourself"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """Shares of a full match. turn: what words count that only the rest of the turn holds · rank: what is lost from the
    first to the last item read · asks: what a sentence loses that is itself a question · timely: what one gains whose
    time, or whose turn, lies within the time that the question names.
    """

    turn: float
    rank: float
    asks: float
    timely: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """A sentence with its fit. `share`: weight of the question's words it holds, 0 to 1, words of its turn counted in
    part · `own`: said by, or about, one of the people asked about · `score`: what candidates are compared by.
    """

    sentence: Sentence
    share: float
    own: bool
    score: float


def matches(asked: Asked, evidence: Sequence[Evidence], weights: Weights) -> list[Match]:
    """Every sentence of the evidence with its fit, best first; ties by rank and place."""
    rare = rarity(asked, evidence)
    found = []
    for position, item in enumerate(evidence):
        around = words_of(item.text)
        lost = weights.rank * position / max(1, len(evidence) - 1)
        for sentence in sentences(item):
            inside = weigh(sentence.terms, rare)
            share = (1 - weights.turn) * inside + weights.turn * weigh(sentence.terms | around, rare)
            score = share - lost - weights.asks * sentence.question + weights.timely * timely(sentence, asked)
            found.append(Match(sentence=sentence, share=share, own=concerns(sentence, asked.people), score=score))
    return sorted(found, key=lambda match: (-match.score, match.sentence.item.rank, match.sentence.place))


def timely(sentence: Sentence, asked: Asked) -> bool:
    """True when what is told lies within the time the question names: by its own times, else by when it was said."""
    within = asked.within
    if within is None:
        return False
    named = [value.interval for value in sentence.times if value.interval]
    return any(within.meets(interval) for interval in named) if named else within.holds(sentence.item.at)


def rarity(asked: Asked, evidence: Sequence[Evidence]) -> Mapping[str, float]:
    """Weight of each word of the question, adding up to 1: the fewer items of the pool hold it, the more it tells."""
    held = Counter(term for item in evidence for term in words_of(item.text) & asked.terms)
    weight = {term: math.log(1 + len(evidence) / (1 + held[term])) for term in sorted(asked.terms)}
    total = math.fsum(weight.values()) or 1.0
    return {term: value / total for term, value in weight.items()}


def weigh(terms: frozenset[str], rare: Mapping[str, float]) -> float:
    return math.fsum(value for term, value in rare.items() if term in terms)


def concerns(sentence: Sentence, people: Sequence[str]) -> bool:
    """True when one of these people says the sentence, is told of in it, or is spoken to; without people, always."""
    if not people or sentence.item.speaker in people:
        return True
    words = set(text.words(_CALLED.sub(" ", sentence.quote)))
    names = {word for who in people for word in text.words(who)}
    return bool(words & names) or (bool(words & _ADDRESSED) and not words & {"i", "my", "me"})
