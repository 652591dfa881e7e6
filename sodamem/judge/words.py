"""Words of answers in one spelling, and the few that make a text an answer of another kind: yes, no and declining.

Normalisation after SQuAD's (Rajpurkar et al., EMNLP 2016, section 6.1): case, articles and punctuation do not count.
Numbers are written in digits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sodamem import text
from sodamem.judge.numerals import in_digits, is_number, respelt

DENIED = "not:"  # before a word that a text denies
# Other words for the same person: a relative is told of as "my mom" and asked about as "her mother".
_SAME = {"mom": "mother", "mum": "mother", "dad": "father", "auntie": "aunt", "kid": "child", "kids": "children"}
_SAME |= {"grandma": "grandmother", "granny": "grandmother", "grandpa": "grandfather"}
_ARTICLES = frozenset({"a", "an", "the"})
_DECLINES = re.compile(
    r"\b(?:(?:do|does|did|could|can)(?:n[o']?t| not) (?:know|mention|say|tell|find|recall|provide)|not (?:been )?"
    r"(?:mentioned|specified|stated|available|provided|discussed)|no (?:information|mention|record|memory|evidence)|"
    r"(?:not|in)(?: enough|sufficient) information|cannot (?:be )?(?:determined?|answer(?:ed)?|say|tell)|"
    r"unknown|information is missing|no [\w' ]{1,40}(?:is|was|are|were) mentioned)\b",
    re.IGNORECASE,
)
_YES = frozenset({"yes", "yeah", "yep", "correct", "true", "definitely", "certainly", "likely", "probably", "possibly"})
_PLAINLY = re.compile(r"\b(?:yes|no)\b(?=\s*(?:[.,;:!]|$))", re.IGNORECASE)
_NO = frozenset({"no", "nope", "not", "unlikely", "never", "false", "neither"})


def canonical(value: str) -> list[str]:
    """Words of an answer in order: articles dropped, numbers in digits, the rest stemmed."""
    found: list[str] = []
    for word in spelt(value):
        if word not in _ARTICLES:
            found.append(word if is_number(word) else text.stem(_SAME.get(word, word)))
    return found


def spelt(value: str) -> list[str]:
    """Words with numbers in digits, unstemmed; words that were run together ("15April") come apart."""
    return in_digits(text.words(respelt(value)))


def content(tokens: Sequence[str]) -> list[str]:
    """Canonical words, signed or not, without those that carry no topic; all of them where nothing else is left."""
    return [token for token in tokens if token.removeprefix(DENIED) not in _STOPS] or list(tokens)


_STOPS = frozenset(text.stem(word) for word in text.STOP_WORDS) | text.STOP_WORDS | {"etc", "like", "yes"}


def squeezed(value: str) -> str:
    """Letters and digits alone, case-folded."""
    return re.sub(r"[\W_]", "", text.normalise(value))


def declines(answer: str) -> bool:
    """True when the words say that the answer is not known."""
    return bool(_DECLINES.search(answer))


def polarity(value: str) -> bool | None:
    """Yes (True) or no (False) as the text begins or plainly says it ("the answer is no."); None for neither.

    "Likely no" and "probably not" are no.
    """
    opening = text.words(value)[:3]
    for word in opening:
        if word in _NO:
            return False
        if word not in _YES:
            break
    if opening and opening[0] in _YES:
        return True
    said = _PLAINLY.search(value)
    return None if said is None else said[0].lower() == "yes"
