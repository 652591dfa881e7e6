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
from sodamem.types import Evidence, FactEvent

# A name set off by commas calls somebody and tells nothing of them: "Thanks, Caroline!", "Caroline, look".
_CALLED = re.compile(
    r"(?:^|,)\s*[A-Z][\w'’]*(?=\s*[,.!?]|$)|^(?:hey|hi|hello|wow|thanks|congrats|yeah|yep)\b[\s,]*[A-Z]\w*",
    re.IGNORECASE,
)
_PREFIX = 5  # letters that two stems must share for one to be a form of the other
_SELF = re.compile(r"\b(?:I|I['’]\w+|we|we['’]\w+|me|us)\b")
# Somebody else as the subject: "my uncle Oscar visited", "Ravi went". Verbs that only people are the subject of.
_KIN = (
    r"[Mm]y (?:\w+ )?(?:mom|mother|dad|father|sister|brother|wife|husband|grand\w+|aunt|uncle|cousin|friend|son|"
    r"daughter|neighbou?r|colleague|co-?worker|boss|roommate|flatmate|partner|niece|nephew)(?: [A-Z]\w+)?"
)
_VERB = (
    r"went|met|got|gets|bought|lives|works|likes|loves|dislikes|plays|visited|moved|started|joined|finished|adopted|owns|"
    r"left|quit|switched|sold|lost|gave"
)
_THIRD = re.compile(
    rf"\b{_KIN}(?= (?:just |really |also |now )?(?:is|was|has|had|{_VERB}|\w{{2,}}ed)\b)"
    rf"|\b(?!Just|Also|Finally|Recently|Already|Who|What|That|It|Then)[A-Z][a-z]{{2,}}(?<!ing)(?<!ly)(?= (?:{_VERB})\b)"
)
_ADDRESSED = frozenset({"you", "your", "yours", "you're", "you've", "you'll", "you'd", "yourself"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """Shares of a full match. turn: what words count that only the rest of the turn holds · rank: what an item loses in
    which recall has no confidence, next to the first · asks: what a sentence loses that asks, greets, or speaks of its
    listener · timely: what one gains whose time, or whose turn, lies within the time that the question names.
    """

    turn: float
    rank: float
    asks: float
    timely: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """A sentence with its fit. `share`: weight of the question's words it holds, 0 to 1, words of its turn counted in
    part · `fit`: with what its time adds, for the floor · `own`: said by, or about, one of the people asked about ·
    `score`: what candidates are compared by.
    """

    sentence: Sentence
    share: float
    fit: float
    own: bool
    score: float


def matches(asked: Asked, evidence: Sequence[Evidence], weights: Weights) -> list[Match]:
    """Every sentence of the evidence with its fit, best first; ties by rank and place."""
    rare = rarity(asked, evidence)
    first = max((item.confidence for item in evidence), default=0.0)
    found = []
    for item in evidence:
        around = words_of(item.text)
        lost = weights.rank * (1 - item.confidence / first) if first > 0 else 0.0
        for sentence in sentences(item):
            inside = weigh(sentence.terms, rare)
            share = (1 - weights.turn) * inside + weights.turn * weigh(sentence.terms | around, rare)
            fit = share + weights.timely * timely(sentence, asked)
            own = concerns(sentence, asked)
            score = fit - lost - weights.asks * (sentence.empty or _to_another(sentence.quote))
            found.append(Match(sentence=sentence, share=share, fit=fit, own=own, score=score))
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
    """Weight of the question's words that are among the terms; "mentorship" is held by "mentor"."""
    return math.fsum(value for term, value in rare.items() if _held(term, terms))


def _held(term: str, terms: frozenset[str]) -> bool:
    return term in terms or (
        len(term) >= _PREFIX
        and any(other.startswith(term) or term.startswith(other) for other in terms if len(other) >= _PREFIX)
    )


def concerns(sentence: Sentence, asked: Asked) -> bool:
    """True when a person asked about says the sentence of themselves, is told of in it, or is spoken to.

    Without people to be asked about, every sentence does.
    """
    people = asked.people
    if not people:
        return True
    told = [fact for fact in sentence.facts if fact.subject.startswith("person:")]
    if told:
        return any(of(fact, asked) for fact in told)
    if sentence.item.speaker in people:
        return not _of_another(sentence.quote, asked)
    words = set(text.words(_CALLED.sub(" ", sentence.quote)))
    names = {word for who in people for word in text.words(who)}
    return bool(words & names) or (bool(words & _ADDRESSED) and not words & {"i", "my", "me"})


def of(fact: FactEvent, asked: Asked) -> bool:
    """True when the question names the subject of the fact, or is about that person by "I"; without people, always."""
    subject = words_of(fact.subject.partition(":")[2].replace("_", " "))
    return not asked.people or bool(subject & words_of(f"{asked.text} {' '.join(asked.people)}"))


def _to_another(quote: str) -> bool:
    """True when a sentence speaks to the listener and not of its speaker: "You did great!"."""
    words = text.words(quote)
    return not _SELF.search(quote) and "my" not in words and bool(_ADDRESSED & set(words))


def _of_another(quote: str, asked: Asked) -> bool:
    """True when a speaker tells of a third person ("my uncle Oscar visited ..") whom the question does not name."""
    if _SELF.search(quote):
        return False
    other = _THIRD.search(quote)
    return bool(other) and not words_of(other[0]) & words_of(asked.text)  # type: ignore[index]
