"""Words of answers in one spelling, and the few words that turn what a text says: negations, yes and no, declining.

Normalisation after SQuAD's (Rajpurkar et al., EMNLP 2016, section 6.1): case, articles and punctuation do not count.
Numbers are written in digits, so that "two" is 2, "1,000" is 1000 and "7th" is 7.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sodamem import text

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
# First to third tell an order more often than a number ("the bake sale first"), so they stay words.
_ORDINALS = "zeroth - - - fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {word: value for names in (_UNITS, _ORDINALS) for value, word in enumerate(names.split())}
_VALUES |= {word: 10 * value for value, word in enumerate(_TENS, start=2)}
_VALUES |= {"once": 1, "twice": 2, "thrice": 3}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
# Other words for the same person: a relative is told of as "my mom" and asked about as "her mother".
_SAME = {"mom": "mother", "mum": "mother", "dad": "father", "auntie": "aunt", "kid": "child", "kids": "children"}
_SAME |= {"grandma": "grandmother", "granny": "grandmother", "grandpa": "grandfather"}
_ARTICLES = frozenset({"a", "an", "the"})
_DIGITS = re.compile(r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:st|nd|rd|th)?")
_GLUED = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z]{3,})")

NEGATIONS = frozenset(
    text.words(
        "no not never none nobody nothing neither nor without cannot can't don't doesn't didn't isn't aren't wasn't "
        "weren't won't wouldn't couldn't shouldn't haven't hasn't hadn't instead rather except"
    )
)
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
    found: list[str] = []
    tens = False
    for raw in text.words(_GLUED.sub(" ", value)):
        for word in raw.split("-") if raw.replace("-", "").isalpha() else [raw]:
            if word in _SCALES and found and is_number(found[-1]):
                found[-1] = _plain(float(found[-1]) * _SCALES[word])
            elif word in _VALUES:
                number = _VALUES[word]
                if tens and 0 < number < 10:
                    number += int(found.pop())
                found.append(str(number))
            else:
                match = _DIGITS.fullmatch(word)
                found.append(_plain(float(match["number"].replace(",", ""))) if match else word)
            tens = word in _TENS
    return found


def _plain(number: float) -> str:
    return f"{number:.10g}" if number < 1e9 else f"{number:.0f}"


def is_number(word: str) -> bool:
    return bool(re.fullmatch(r"\d+(?:\.\d+)?", word))


def content(tokens: Sequence[str]) -> list[str]:
    """Canonical words without those that carry no topic; all of them where nothing else is left."""
    return [token for token in tokens if token not in _STOPS] or list(tokens)


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


def negated_before(tokens: Sequence[str], place: int, reach: int = 3) -> bool:
    """True when one of the `reach` words before a place denies what follows: "not Paris", "anything except Paris"."""
    return any(token in _NEGATIONS for token in tokens[max(0, place - reach) : place])


_NEGATIONS = frozenset(text.stem(word) for word in NEGATIONS) | NEGATIONS


def denies(tokens: Sequence[str]) -> bool:
    return any(token in _NEGATIONS for token in tokens)
