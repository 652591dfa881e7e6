"""Overlap of an answer's words with the gold's: the measure of LoCoMo's paper, token F1 with stemming.

Maharana et al. 2024, section 5: per category, multi-hop golds are lists whose parts are matched one by one.
"""

from __future__ import annotations

import re
import string
from collections import Counter

import Stemmer

_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)

# What counts as declining an adversarial question in the paper's evaluation.
_DECLINES = ("no information available", "not mentioned")


def stems(text: str) -> list[str]:
    """Lower-cased words without punctuation and articles, by Porter's own stemmer.

    The paper's script stems with NLTK's extension of it, which differs on a few words such as "dying".
    """
    words = _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()
    return list(Stemmer.Stemmer("porter").stemWords(words))  # made anew: a stemmer must not be shared by threads


def token_f1(answer: str, gold: str) -> float:
    """Harmonic mean of precision and recall over stems, each counted as often as it occurs; 0 without overlap."""
    said, wanted = stems(answer), stems(gold)
    common = (Counter(said) & Counter(wanted)).total()
    return 2 * common / (len(said) + len(wanted)) if common else 0.0


def multi_hop_f1(answer: str, gold: str) -> float:
    """Mean, over the comma-separated parts of the gold, of the best F1 that a part of the answer reaches."""
    parts = answer.split(",")
    best = [max(token_f1(part, wanted) for part in parts) for wanted in gold.split(",")]
    return sum(best) / len(best)


def locomo_f1(answer: str, gold: str, category: str) -> float:
    """The paper's score of one answer, by category slug (`category_1` .. `category_5`)."""
    if category == "category_1":
        return multi_hop_f1(answer, gold)
    if category == "category_3":
        return token_f1(answer, gold.partition(";")[0])  # what follows the semicolon explains the gold
    if category == "category_5":
        return float(any(phrase in answer.lower() for phrase in _DECLINES))
    return token_f1(answer, gold)
