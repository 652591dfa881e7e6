"""Lexical judge: grades by words, numbers and dates, without a model, so anybody gets the same verdict.

Exact and containment match after normalisation follow SQuAD's answer normalisation (Rajpurkar et al., EMNLP 2016);
token F1 is LoCoMo's own measure (Maharana et al., ACL 2024). Its accuracy is labelled lexical wherever it is shown:
it is a floor for comparing settings, not a claim about quality.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sodamem import text
from sodamem.errors import ConfigError
from sodamem.metric.text import token_f1
from sodamem.protocols import Judge
from sodamem.types import Answer, Interval, Question, Verdict

_NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
}
_NUMBER_WORDS |= {"once": "1", "twice": "2", "first": "1st", "second": "2nd", "third": "3rd"}
_ARTICLES = frozenset({"a", "an", "the"})


@dataclass(frozen=True, kw_only=True)
class LexicalJudge(Judge):
    """Correct when the gold is contained in the answer, or token F1 reaches `f1`, and no number of the gold is missing.

    f1: token F1 from which a paraphrase counts; 1 demands the same words · numbers: every number of the gold must be
    in the answer · dates: when both sides are times, they are compared as intervals, not as words.
    """

    name: str
    f1: float
    numbers: bool
    dates: bool

    def __post_init__(self) -> None:
        if not 0 < self.f1 <= 1:
            raise ConfigError(f"judge.f1 must be above 0 and at most 1, got {self.f1}")

    @property
    def digest(self) -> str:
        return text.digest("lexical", 1, self.f1, self.numbers, self.dates)

    def grade(self, question: Question, answer: Answer) -> Verdict:
        if answer.status == "failed":
            return self._verdict("unjudged", "the answer failed")
        if not question.answerable:
            return self._verdict("correct" if answer.abstained else "incorrect", "abstention")
        if answer.abstained:
            return self._verdict("incorrect", "abstained on an answerable question")
        gold, given = canonical(question.gold), canonical(answer.text)
        if not gold:
            return self._verdict("unjudged", "the gold has no words")
        if self.dates and (both := _times(question, answer)):
            agree = _same_time(*both)
            return self._verdict("correct" if agree else "incorrect", "times compared as intervals")
        if self.numbers and not _numbers(gold) <= _numbers(given):
            return self._verdict("incorrect", "a number of the gold is missing")
        if _contains(given, gold):
            return self._verdict("correct", "gold contained")
        score = token_f1(answer.text, question.gold)
        return self._verdict("correct" if score >= self.f1 else "incorrect", f"token F1 {score:.3f}")

    def _verdict(self, label: str, reason: str) -> Verdict:
        return Verdict(label=label, judge=self.name, reason=reason)  # type: ignore[arg-type]


def canonical(value: str) -> list[str]:
    """Words of an answer: articles dropped, number words as digits, stemmed."""
    found = []
    for word in text.words(value):
        if word not in _ARTICLES:
            found.append(_NUMBER_WORDS.get(word) or text.stem(word.replace(",", "") if word[0].isdigit() else word))
    return found


def _contains(longer: list[str], shorter: list[str]) -> bool:
    size = len(shorter)
    return any(longer[start : start + size] == shorter for start in range(len(longer) - size + 1))


def _numbers(tokens: list[str]) -> set[str]:
    return {token for token in tokens if re.fullmatch(r"\d+(?:[.:/\-]\d+)*", token)}


def _times(question: Question, answer: Answer) -> tuple[Interval, Interval] | None:
    gold = question.gold_interval
    return (gold, answer.interval) if gold and answer.interval else None


def _same_time(gold: Interval, given: Interval) -> bool:
    """Same grain and a common stretch; a finer answer inside a coarser gold also counts, a coarser one does not."""
    return gold.meets(given) and (given.grain == gold.grain or (given.start >= gold.start and given.end <= gold.end))
