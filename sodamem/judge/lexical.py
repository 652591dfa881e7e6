"""Lexical judge: grades by words, amounts and dates, without a model, so anybody gets the same verdict.

Exact and containment match after normalisation follow SQuAD (Rajpurkar et al., EMNLP 2016); token F1 is LoCoMo's own
measure (Maharana et al., ACL 2024). Its accuracy is labelled lexical wherever it is shown: it is a floor for comparing
settings, not a claim about quality.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sodamem import text
from sodamem.errors import ConfigError
from sodamem.judge import quantities, times
from sodamem.judge.forms import conclusion, readings
from sodamem.judge.words import canonical, content, declines, denies, negated_before, polarity, squeezed
from sodamem.metric.text import token_f1
from sodamem.protocols import Judge
from sodamem.types import Answer, Label, Question, Verdict

# A preference gold of LongMemEval is a rubric about meaning; words cannot tell whether an answer meets it.
_RUBRIC = re.compile(r"^the user would prefer\b", re.IGNORECASE)
_PARTS = re.compile(r"[,;]|\band\b|&", re.IGNORECASE)
_EITHER = re.compile(r"\b(?:or|either|maybe|perhaps|might be)\b", re.IGNORECASE)

Found = tuple[bool, str]


@dataclass(frozen=True, kw_only=True)
class LexicalJudge(Judge):
    """The first rule that applies decides: abstention, time, yes or no, amount, then words. The reason names it.

    f1: token F1 from which a paraphrase counts; 1 demands the same words · recall: share of the gold's words, beyond
    those of the question, that an answer must hold · parts: share of the parts of a listed gold that must be held ·
    finer_dates: a day inside the month of the gold counts · off_by_one: categories whose "how many days" golds grant
    one unit either way; dates never do.
    """

    name: str
    f1: float
    recall: float
    parts: float
    finer_dates: bool
    off_by_one: Sequence[str]

    def __post_init__(self) -> None:
        for name in ("f1", "recall", "parts"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"judge.{name} must be above 0 and at most 1, got {getattr(self, name)}")

    @property
    def digest(self) -> str:
        knobs = (self.f1, self.recall, self.parts, self.finer_dates, sorted(self.off_by_one))
        return text.digest("lexical", 2, *knobs)

    def grade(self, question: Question, answer: Answer) -> Verdict:
        if answer.status == "failed":
            return self._verdict("unjudged", "the answer failed")
        answer = replace(answer, text=conclusion(answer.text))
        silent = answer.abstained or declines(answer.text)
        if not question.answerable:
            return self._verdict("correct" if silent else "incorrect", "abstention")
        if answer.abstained:
            return self._verdict("incorrect", "abstained on an answerable question")
        if not canonical(question.gold):
            return self._verdict("unjudged", "the gold has no words")
        if _RUBRIC.search(question.gold):
            return self._verdict("unjudged", "the gold is a rubric of preference")
        found = [self._compare(replace(question, gold=gold), answer) for gold in readings(question.gold)]
        right, reason = max(found, key=lambda pair: pair[0])
        return self._verdict("correct" if right else "incorrect", reason)

    def _compare(self, question: Question, answer: Answer) -> Found:
        for rule in (_same_words, self._time, _yes_or_no, self._amount):
            if (found := rule(question, answer)) is not None:
                return found
        if declines(answer.text) and not declines(question.gold):
            return False, "the answer says it is not known"
        return self._words(question, answer)

    def _verdict(self, label: Label, reason: str) -> Verdict:
        return Verdict(label=label, judge=self.name, reason=f"lexical: {reason}")

    # --- rules: a decision with its reason, or None where the rule does not apply ---------------------------------

    def _time(self, question: Question, answer: Answer) -> Found | None:
        gold = times.gold_time(question)
        if gold is None:
            return None
        given = times.answer_times(answer)
        if not given:
            return False, "time: the answer names no date"
        if times.alternatives(answer):
            return False, "time: the answer offers several dates"
        return times.same_time(given[0], gold, finer=self.finer_dates), "times compared as intervals"

    def _amount(self, question: Question, answer: Answer) -> Found | None:
        gold = quantities.sole(question.gold, question.text)
        if gold is None:
            return None
        granted = question.category in self.off_by_one and quantities.asks_amount(question.text)
        same = quantities.same_amount(gold, answer.text, off_by_one=granted)
        return (bool(same), "amounts compared as values" if same is not None else "amount: the answer names none")

    def _words(self, question: Question, answer: Answer) -> Found:
        gold, given = canonical(question.gold), canonical(answer.text)
        if not quantities.numbers(gold) <= quantities.numbers(given):
            return False, "words: a number of the gold is missing"
        asked = set(canonical(question.text))
        wanted = [token for token in content(gold) if token not in asked] or content(gold)
        held = [token for token in wanted if token in given]
        if held and not denies(gold) and all(negated_before(given, given.index(token)) for token in held):
            return False, "words: the answer denies it"
        if denies(gold) and not denies(given):
            return False, "words: the gold denies and the answer does not"
        if held and _offers_others(question.gold, answer.text):
            return False, "words: the answer offers several things"
        share = self._share(question.gold, given, asked) if _PARTS.search(question.gold) else _held(wanted, given)
        needed = self.parts if _PARTS.search(question.gold) else self.recall
        if share >= needed:
            return True, f"words: {share:.2f} of the gold held"
        score = token_f1(answer.text, question.gold)
        # Words that the question brought along make a high F1 alone: "a painting of Gandalf" for "of Aragorn".
        return score >= self.f1 and share > 0.5, f"words: token F1 {score:.2f}, {share:.2f} of the gold held"

    def _share(self, gold: str, given: Sequence[str], asked: set[str]) -> float:
        """Share of a listed gold's parts that the answer holds, each by `recall` of its words."""
        parts = [content(canonical(part)) for part in _PARTS.split(gold) if canonical(part)]
        fresh = [[token for token in part if token not in asked] or part for part in parts]
        return sum(_held(part, given) >= self.recall for part in fresh) / len(fresh)


def _same_words(question: Question, answer: Answer) -> Found | None:
    # Golds typed by hand run words together ("and Roses" as "andRoses"), so spaces do not count either.
    gold, given = canonical(question.gold), canonical(answer.text)
    return (True, "the same words") if gold == given or squeezed(question.gold) == squeezed(answer.text) else None


def _yes_or_no(question: Question, answer: Answer) -> Found | None:
    gold = polarity(question.gold)
    if gold is None or not _asks_yes_or_no(question.text):
        return None
    given = polarity(answer.text)
    return given is gold, "yes and no compared"


def _asks_yes_or_no(question: str) -> bool:
    first = (text.words(question) or [""])[0]
    return first not in {"what", "which", "who", "whom", "whose", "where", "when", "why", "how"}


def _held(wanted: Sequence[str], given: Sequence[str]) -> float:
    return sum(token in given for token in wanted) / len(wanted)


def _offers_others(gold: str, answer: str) -> bool:
    """Several things to choose from, where the gold names one; a long quotation may hold an "or" of its own."""
    return bool(_EITHER.search(answer)) and not _EITHER.search(gold) and len(text.words(answer)) <= 12
