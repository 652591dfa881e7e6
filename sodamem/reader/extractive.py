"""Extractive reader: answers from the words, times and facts of the evidence, quoted and cited; needs no model.

Paper section 4.6 asks for selected evidence and mandatory citations; here the selection is by shared words, whose
words they are, and the time a sentence names. It abstains where nothing fits, or where only somebody else fits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from sodamem.errors import ConfigError
from sodamem.protocols import Reader
from sodamem.reader import phrases
from sodamem.reader.citations import verified
from sodamem.reader.counting import counted
from sodamem.reader.matching import Match, Weights, matches, of, rarity, weigh
from sodamem.reader.questions import Asked, analyse
from sodamem.reader.sentences import Sentence, sentences, speakers, words_of
from sodamem.reader.stated import stated
from sodamem.reader.when import Dated, TimeWeights, coarsened, dated, distance, length_said
from sodamem.reader.wording import show
from sodamem.states import state_asked
from sodamem.types import Answer, Citation, Evidence, Interval, Question

UNKNOWN = "I do not know: the memory holds nothing about this."
OTHERS = "I do not know: the memory tells this of somebody else."
PLANNED = "I do not know: the memory holds a plan, not whether it happened."
# How questions name two events whose distance they ask for.
_ENDS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bbetween (?P<first>.+?) and (?P<second>.+?)\??$",
        r"\bfrom (?P<first>.+?) (?:to|until) (?P<second>.+?)\??$",
        r"\bsince (?P<first>.+?) when (?P<second>.+?)\??$",
        r"\b(?:after|before) (?P<first>.+?),? (?:did|was|were|had) (?P<second>.+?)\??$",
        r"\bdid (?P<second>.+?) (?:after|before) (?P<first>.+?)\??$",
    )
)
_TO_NOW = re.compile(r"\b(?:ago|since)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ExtractiveReader(Reader):
    """Reads the first `depth` evidence items.

    turn, rank, asks: how sentences are compared (matching.Weights) · here, near, fits: how times are
    (when.TimeWeights) · floor: what a sentence must hold of the question's words, weighed by rarity, to answer ·
    margin: by how much a sentence of somebody else that holds more of the question's words may fit better than those of
    the people asked about · facts: share of the question's words that a fact's statement must hold for its value to
    answer · undated: a report that names no time is dated by the day it was said · quotes: sentences that answer a
    question for several things · context: sentences quoted after the best one, which often holds only the topic ·
    states: whether a question for a state is answered by the facts of its slot, wherever in the evidence they stand.
    """

    depth: int
    turn: float
    rank: float
    asks: float
    here: float
    near: float
    fits: float
    floor: float
    margin: float
    facts: float
    undated: bool
    quotes: int
    context: int
    states: bool

    def __post_init__(self) -> None:
        for name in ("depth", "quotes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"reader.{name} must be >= 1, got {getattr(self, name)}")
        if self.context < 0:
            raise ConfigError(f"reader.context must be >= 0, got {self.context}")
        if self.rank < 0:
            raise ConfigError(f"reader.rank must be >= 0, got {self.rank}")
        for name in ("turn", "asks", "here", "near", "fits", "floor", "facts"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"reader.{name} must be between 0 and 1, got {getattr(self, name)}")

    @cached_property
    def _weights(self) -> Weights:
        return Weights(turn=self.turn, rank=self.rank, asks=self.asks, timely=self.fits)

    @cached_property
    def _time_weights(self) -> TimeWeights:
        return TimeWeights(here=self.here, near=self.near, fits=self.fits)

    def read(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        asked = analyse(question, speakers(evidence[: self.depth]))
        pool = evidence[: self.depth]
        state = state_asked(question.text, question.asked_at, asked.within) if self.states else None
        if state and (known := stated(asked, state, evidence)) is not None:
            return verified(cited(known.words, known.support), evidence)
        found = [match for match in matches(asked, pool, self._weights) if not stale(match.sentence, asked)]
        own = [match for match in found if match.own]
        fitting = [match for match in own if match.fit >= self.floor]
        if not fitting:
            return Answer(text=UNKNOWN, abstained=True)
        other = next((match for match in found if not match.own), None)
        if other and other.score - own[0].score > self.margin and other.fit > max(match.fit for match in own):
            return Answer(text=OTHERS, abstained=True)
        return verified(self._compose(asked, own, evidence), evidence)

    def _compose(self, asked: Asked, own: list[Match], evidence: Sequence[Evidence]) -> Answer:
        if asked.form == "when":
            return self._when(asked, own)
        if asked.form in ("between", "how_long"):
            return self._between(asked, own, evidence) or self._length(asked, own)
        if asked.form == "count":
            number = counted(asked, own)
            if number is None:
                return Answer(text=UNKNOWN, abstained=True)
            listed = f": {', '.join(number.items)}" if number.items else ""
            return cited(f"{number.words}{listed}", number.support)
        if asked.form == "yes_no":
            return _yes_or_no(asked, own)
        return self._thing(asked, own, evidence[: self.depth])

    # --- times --------------------------------------------------------------------------------------------------------

    def _when(self, asked: Asked, own: Sequence[Match]) -> Answer:
        found = dated(asked, own, self._time_weights, self.undated)
        if not found:
            return Answer(text=UNKNOWN, abstained=True)
        best = found[0]
        interval = coarsened(best.interval, asked)
        return cited(show(interval), (best.said, best.support), interval=interval, rule=best.rule)

    def _between(self, asked: Asked, own: Sequence[Match], evidence: Sequence[Evidence]) -> Answer | None:
        """The distance of two dated events, or of one from the moment of asking ("how many days ago").

        All evidence is read for each of two events: recall ranked it for both together, so either may stand low.
        """
        ends = next((found for pattern in _ENDS if (found := pattern.search(asked.text))), None)
        if ends is None:
            one = self._exact(asked, own) if _TO_NOW.search(asked.text) else None
            now = Interval(start=asked.at, end=asked.at + timedelta(minutes=1), grain="minute")
            gap = distance(one.interval, now, asked.unit) if one else None
            return cited(gap, (one.said, one.support)) if one and gap else None
        first, second = (self._event(asked, ends[name], evidence) for name in ("first", "second"))
        if first is None or second is None or first.said == second.said:
            return None
        gap = distance(first.interval, second.interval, asked.unit)
        return cited(gap, (first.support, second.support)) if gap else None

    def _event(self, asked: Asked, words: str, evidence: Sequence[Evidence]) -> Dated | None:
        question = Question(
            id="", history_id="", text=f"When did {' '.join(asked.people)} {words}?", asked_at=asked.at, category="",
            category_name="", gold="",
        )  # fmt: skip
        part = analyse(question, asked.people)
        own = [match for match in matches(part, evidence, self._weights) if match.own and match.fit >= self.floor]
        return self._exact(part, own)

    def _exact(self, asked: Asked, own: Sequence[Match]) -> Dated | None:
        return next(iter(dated(asked, own, self._time_weights, self.undated)), None)

    def _length(self, asked: Asked, own: Sequence[Match]) -> Answer:
        """The length a matching sentence states; one that holds a length gains what one with a time would."""
        stated = [(match, words) for match in own if (words := length_said(match.sentence.quote))]
        if not stated:
            return Answer(text=UNKNOWN, abstained=True)
        match, words = max(stated, key=lambda pair: (pair[0].score, -pair[0].sentence.item.rank))
        since = next((v.interval for v in match.sentence.times if v.rule == "lasting" and v.interval), None)
        known = f" (since {since.start.year})" if since and "year" in words else ""
        return cited(f"{words}{known}", (match.sentence,))

    # --- things -------------------------------------------------------------------------------------------------------

    def _thing(self, asked: Asked, own: Sequence[Match], pool: Sequence[Evidence]) -> Answer:
        told = [match for match in own if match.fit >= self.floor and not match.sentence.question]
        if not told:
            return Answer(text=UNKNOWN, abstained=True)
        if (known := _listed(asked, told[0].sentence) or self._fact(asked, told, pool)) is not None:
            return known
        # A sentence that holds what is asked for, a place or a person, gains what one with a time would.
        spans = {id(match): phrases.short(asked, match.sentence) for match in told}
        told.sort(key=lambda m: (-m.score - self.here * bool(spans[id(m)]), m.sentence.item.rank, m.sentence.place))
        if asked.many:
            chosen = list({m.sentence.quote: m for m in told if m.sentence.terms & asked.terms}.values())[: self.quotes]
            chosen = chosen or told[:1]
            return cited(" ".join(spans[id(m)] or m.sentence.quote for m in chosen), [m.sentence for m in chosen])
        best = told[0].sentence
        if answer := spans[id(told[0])]:
            return cited(answer, (best,))
        after = [one for one in sentences(best.item) if one.turn_id == best.turn_id and one.place > best.place]
        quoted = [best, *(one for one in after[: self.context] if not one.question)]
        return cited(" ".join(one.quote for one in quoted), quoted)

    def _fact(self, asked: Asked, told: Sequence[Match], pool: Sequence[Evidence]) -> Answer | None:
        """The value of the best fact whose own statement, without the words it quotes, is about what is asked.

        Asked for several things, the values of all facts that say the same of them are listed.
        """
        rare = rarity(asked, pool)
        values: dict[str, Sentence] = {}
        predicate = ""
        for sentence in (match.sentence for match in told):
            for fact in sentence.facts:
                value = phrases.value(asked, fact) if fact.status == "active" or asked.past else None
                about = weigh(words_of(phrases.headline(fact)), rare) >= self.facts
                if value and about and predicate in ("", fact.predicate) and of(fact, asked):
                    predicate = fact.predicate
                    values.setdefault(value, sentence)
        chosen = list(values)[: None if asked.many else 1]
        return cited(", ".join(chosen), [values[value] for value in chosen]) if chosen else None


def stale(sentence: Sentence, asked: Asked) -> bool:
    """True when the sentence says only what no longer holds and the question is about now.

    Turns go on saying what later ones replaced; only the facts they stated know.
    """
    if asked.form == "when" or asked.done or asked.past:
        return False
    return bool(sentence.facts) and all(fact.status != "active" for fact in sentence.facts)


def _listed(asked: Asked, sentence: Sentence) -> Answer | None:
    """The item of a numbered list in the sentence's turn, where the question asks for one by its place."""
    turn = sentence.item.quotable[sentence.item.turn_ids.index(sentence.turn_id)]
    item = phrases.listed(asked.text, turn)
    holds = [one for one in sentences(sentence.item) if item and one.turn_id == sentence.turn_id and item in one.quote]
    return cited(item, holds[:1]) if item and holds else None


def _yes_or_no(asked: Asked, own: Sequence[Match]) -> Answer:
    told = [match.sentence for match in own if not match.sentence.question]
    if not told:
        return Answer(text=UNKNOWN, abstained=True)
    best = told[0]
    if asked.done and best.planned:
        return cited(PLANNED, (best,), abstained=True)
    return cited(f"{'No' if best.denied else 'Yes'}: {best.quote}", (best,))


def cited(
    said: str,
    support: Sequence[Sentence],
    *,
    interval: Interval | None = None,
    abstained: bool = False,
    rule: str = "",
) -> Answer:
    """An answer that cites the sentences it rests on, each once; `rule` notes how a time was read."""
    citations = tuple(
        Citation(evidence_id=one.item.id, turn_id=one.turn_id, quote=one.quote)
        for one in {(one.item.id, one.turn_id, one.start): one for one in support}.values()
    )
    trace = ({"time": rule},) if rule else ()
    return Answer(text=said, citations=citations, interval=interval, abstained=abstained, trace=trace)
