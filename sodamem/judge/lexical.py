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
from sodamem.judge.stance import Stance, alternatives, asserted, cues, opposite, signed, stretches
from sodamem.judge.words import DENIED, canonical, content, declines, polarity, squeezed
from sodamem.metric.text import token_f1
from sodamem.protocols import Judge
from sodamem.types import Answer, Label, Question, Verdict

# A preference gold of LongMemEval is a rubric about meaning; words cannot tell whether an answer meets it.
_RUBRIC = re.compile(r"^the user would prefer\b", re.IGNORECASE)
_PARTS = re.compile(r"[,;]|\band\b|&", re.IGNORECASE)
_OR = re.compile(r"\bor\b|/", re.IGNORECASE)
_ITEM = 8  # words of an item of a bare list
# Such questions and golds want a guess.
_HYPOTHETICAL = re.compile(r"^\W*(?:would|might|could)\b|\b(?:might|likely|probably|potential(?:ly)?)\b", re.IGNORECASE)
_ALL: tuple[Stance, ...] = ("asserted", "guessed", "open")

Found = tuple[bool, str]


@dataclass(frozen=True, kw_only=True)
class LexicalJudge(Judge):
    """The first rule that applies decides: abstention, time, yes or no, amount, then words. The reason names it.

    f1: token F1 from which a paraphrase counts; 1 demands the same words · recall: share of the gold's words, beyond
    those of the question, that an answer must hold · parts: share of the parts of a listed gold that must be held ·
    items: things that a bare list may name where the gold names one, null for any number: who names every value there
    ever was would always be right · finer_dates: a day inside the month of the gold counts · off_by_one: categories
    whose "how many days" golds grant one unit either way; dates never do.
    """

    name: str
    f1: float
    recall: float
    parts: float
    items: int | None
    finer_dates: bool
    off_by_one: Sequence[str]

    def __post_init__(self) -> None:
        for name in ("f1", "recall", "parts"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"judge.{name} must be above 0 and at most 1, got {getattr(self, name)}")
        if self.items is not None and self.items < 1:
            raise ConfigError(f"judge.items must be >= 1 or null, got {self.items}")

    @property
    def digest(self) -> str:
        knobs = (self.f1, self.recall, self.parts, self.items, self.finer_dates, sorted(self.off_by_one))
        return text.digest("lexical", 4, cues(), *knobs)

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
        said = _Said.of(question, answer)
        if _same_words(question, said):
            return True, "the same words"
        if said.offers_others(question.gold):
            return False, "the answer offers several things"
        for rule in (self._time, _yes_or_no, self._amount):
            if (found := rule(question, said)) is not None:
                return found
        if declines(answer.text) and not declines(question.gold):
            return False, "the answer says it is not known"
        return self._words(question, said)

    def _verdict(self, label: Label, reason: str) -> Verdict:
        return Verdict(label=label, judge=self.name, reason=f"lexical: {reason}")

    # --- rules: a decision with its reason, or None where the rule does not apply ---------------------------------

    def _time(self, question: Question, said: _Said) -> Found | None:
        gold = times.gold_time(question)
        if gold is None:
            return None
        given = times.answer_times(said.answer)
        if not given:
            return False, "time: the answer asserts no date"
        if times.alternatives(said.answer):
            return False, "time: the answer offers several dates"
        return times.same_time(given[0], gold, finer=self.finer_dates), "times compared as intervals"

    def _amount(self, question: Question, said: _Said) -> Found | None:
        gold = quantities.sole(question.gold, question.text)
        if gold is None:
            return None
        granted = question.category in self.off_by_one and quantities.asks_amount(question.text)
        same = quantities.same_amount(gold, said.answer.text, off_by_one=granted)
        return (bool(same), "amounts compared as values" if same is not None else "amount: the answer asserts none")

    def _words(self, question: Question, said: _Said) -> Found:
        if self.items is not None and not _PARTS.search(question.gold) and _bare_list(said.whole) > self.items:
            return False, "words: the answer lists several things, the gold names one"
        gold, given = said.gold, said.words
        if not quantities.numbers(gold) <= quantities.numbers(given):
            return False, "words: a number of the gold is missing"
        wanted = said.fresh(gold)
        if any(map(_denied, gold)) and not any(map(_denied, given)):
            return False, "words: the gold denies and the answer does not"
        listed = bool(_PARTS.search(question.gold))
        share = self._share(question.gold, said) if listed else _held(wanted, given)
        if share >= (self.parts if listed else self.recall):
            return True, f"words: {share:.2f} of the gold held"
        if any(opposite(token) in given and token not in given for token in wanted):
            return False, "words: the answer denies it"
        score = token_f1(said.whole, question.gold)
        # Words that the question brought along make a high F1 alone: "a painting of Gandalf" for "of Aragorn".
        return score >= self.f1 and share > 0.5, f"words: token F1 {score:.2f}, {share:.2f} of the gold held"

    def _share(self, gold: str, said: _Said) -> float:
        """Share of a listed gold's parts that the answer holds, each by `recall` of its words; 0 if it denies one."""
        parts = [said.fresh(signed(part, _ALL)) for part in _PARTS.split(gold) if canonical(part)]
        if any(_held(list(map(opposite, part)), said.words) == 1 > _held(part, said.words) for part in parts):
            return 0.0
        return sum(_held(part, said.words) >= self.recall for part in parts) / len(parts)


@dataclass(frozen=True, slots=True)
class _Said:
    """What an answer commits to, as the rules look at it.

    answer: its assertions alone · committed: with its denials · words: signed · gold: the gold's words, signed · asked:
    those of the question · whole: all that the answer says.
    """

    answer: Answer
    committed: str
    words: Sequence[str]
    gold: Sequence[str]
    asked: frozenset[str]
    whole: str

    @classmethod
    def of(cls, question: Question, answer: Answer) -> _Said:
        kept: set[Stance] = {"asserted", *(stance for _, stance in stretches(question.gold) if stance in _ALL)}
        if _HYPOTHETICAL.search(question.text) or _HYPOTHETICAL.search(question.gold):
            kept.add("guessed")
        return cls(
            answer=replace(answer, text=asserted(answer.text, kept)),
            committed=asserted(answer.text, kept | {"denied", "cue"}),
            words=signed(answer.text, kept),
            gold=signed(question.gold, _ALL),
            asked=frozenset(canonical(question.text)),
            whole=answer.text,
        )

    def fresh(self, tokens: Sequence[str]) -> list[str]:
        """Signed words that carry a topic and do not come from the question; all where nothing else is left."""
        return [token for token in content(tokens) if token.removeprefix(DENIED) not in self.asked] or content(tokens)

    def offers_others(self, gold: str) -> bool:
        """Something else to choose from, where the gold names one thing: an "or" with the gold on one side alone."""
        if _OR.search(gold):
            return False
        wanted = set(self.fresh(self.gold))
        known = {*content(self.gold), *self.asked}
        for left, right in alternatives(self.answer.text):
            if quantities.restates(left, right):
                continue
            here, there = set(content(canonical(left))), set(content(canonical(right)))
            if (here & wanted and there - known) or (there & wanted and here - known):
                return True
        return False


def _same_words(question: Question, said: _Said) -> bool:
    # Golds typed by hand run words together ("and Roses" as "andRoses"), so spaces do not count either.
    same = said.words == said.gold or squeezed(said.committed) == squeezed(question.gold)
    return same and bool(said.words or not said.gold)


def _bare_list(answer: str) -> int:
    """Different things that an answer lists where it is nothing but a list of names and phrases; 0 for a sentence."""
    parts = [canonical(part) for part in _PARTS.split(answer)]
    bare = not re.search(r"[.!?:]\s", answer.strip()) and all(0 < len(part) <= _ITEM for part in parts)
    return len({tuple(part) for part in parts}) if bare and len(parts) > 1 else 0


def _yes_or_no(question: Question, said: _Said) -> Found | None:
    gold = polarity(question.gold)
    if gold is None or not _asks_yes_or_no(question.text):
        return None
    return polarity(said.committed) is gold, "yes and no compared"


def _asks_yes_or_no(question: str) -> bool:
    first = (text.words(question) or [""])[0]
    return first not in {"what", "which", "who", "whom", "whose", "where", "when", "why", "how"}


def _held(wanted: Sequence[str], given: Sequence[str]) -> float:
    return sum(token in given for token in wanted) / len(wanted)


def _denied(token: str) -> bool:
    return token.startswith(DENIED)
