"""Extractive reader: composes answers from the words, times and facts of the evidence, quoted and cited; needs no model.

Paper section 4.6 asks for selected evidence and mandatory citations; here the selection is by shared words, whose
words they are, and the time a sentence names. It abstains where nothing fits, or where only somebody else fits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sodamem.errors import ConfigError
from sodamem.protocols import Reader
from sodamem.reader import phrases
from sodamem.reader.citations import verified
from sodamem.reader.counting import counted
from sodamem.reader.matching import Match, Weights, matches, rarity, weigh
from sodamem.reader.questions import Asked, analyse
from sodamem.reader.sentences import Sentence, sentences, speakers, words_of
from sodamem.reader.when import Dated, TimeWeights, coarsened, dated, distance, length_said
from sodamem.reader.wording import show
from sodamem.types import Answer, Citation, Evidence, Interval, Question

UNKNOWN = "I do not know: the memory holds nothing about this."
OTHERS = "I do not know: the memory tells this of somebody else."
PLANNED = "I do not know: the memory holds a plan, not whether it happened."
_BETWEEN = re.compile(r"\bbetween (?P<first>.+?) and (?P<second>.+?)\??$", re.IGNORECASE)
_SINCE_WHEN = re.compile(r"\bsince (?P<first>.+?) when (?P<second>.+?)\??$", re.IGNORECASE)
_SINCE = re.compile(r"\bsince\b", re.IGNORECASE)
_AGO = re.compile(r"\bago\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ExtractiveReader(Reader):
    """Reads the first `depth` evidence items.

    turn, rank, asks: how sentences are compared (matching.Weights) · here, near, fits: how times are (when.TimeWeights) ·
    floor: share of the question's words, weighed by rarity, that an answer's sentence and turn must hold · margin: by how
    much somebody else's sentence may fit better than those of the people asked about · undated: a report that names no
    time is dated by the day it was said · quotes: sentences that answer a question for several things ·
    context: sentences quoted after the best one, which often holds only the topic.
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
    undated: bool
    quotes: int
    context: int

    def __post_init__(self) -> None:
        for name in ("depth", "quotes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"reader.{name} must be >= 1, got {getattr(self, name)}")
        if self.context < 0:
            raise ConfigError(f"reader.context must be >= 0, got {self.context}")
        for name in ("turn", "rank", "asks", "here", "near", "fits", "floor"):
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
        pool = current(asked, evidence[: self.depth])
        found = matches(asked, pool, self._weights)
        own = [match for match in found if match.own and not stale(match.sentence, evidence, asked)]
        fitting = [match for match in own if match.fit >= self.floor]
        if not fitting:
            return Answer(text=UNKNOWN, abstained=True)
        other = next((match for match in found if not match.own), None)
        if other and other.score - own[0].score > self.margin:
            return Answer(text=OTHERS, abstained=True)
        return verified(self._compose(asked, own, pool), evidence)

    def _compose(self, asked: Asked, own: list[Match], pool: Sequence[Evidence]) -> Answer:
        if asked.form == "when":
            return self._when(asked, own)
        if asked.form in ("between", "how_long"):
            return self._between(asked, own, pool) or self._length(asked, own)
        if asked.form == "count":
            number = counted(asked, own)
            if number is None:
                return Answer(text=UNKNOWN, abstained=True)
            listed = f": {', '.join(number.items)}" if number.items else ""
            return cited(f"{number.words}{listed}", number.support)
        if asked.form == "yes_no":
            return _yes_or_no(asked, own)
        return self._thing(asked, own, pool)

    # --- times --------------------------------------------------------------------------------------------------------

    def _when(self, asked: Asked, own: Sequence[Match]) -> Answer:
        found = dated(asked, own, self._time_weights, self.undated)
        if not found:
            return Answer(text=UNKNOWN, abstained=True)
        best = found[0]
        interval = coarsened(best.interval, asked)
        return cited(show(interval), (best.said, best.support), interval=interval, rule=best.rule)

    def _between(self, asked: Asked, own: Sequence[Match], pool: Sequence[Evidence]) -> Answer | None:
        """The distance of two dated events, or of one from the moment of asking ("how many days ago")."""
        parts = _BETWEEN.search(asked.text) or _SINCE_WHEN.search(asked.text)
        if _AGO.search(asked.text) or (_SINCE.search(asked.text) and not parts):
            found = self._exact(asked, own)
            now = Interval(start=asked.at, end=asked.at.replace(microsecond=999_999), grain="minute")
            gap = found and distance(found.interval, now, asked.unit)
            return cited(gap, (found.said, found.support)) if found and gap else None
        if not parts:
            return None
        ends = [self._event(asked, parts[name], pool) for name in ("first", "second")]
        if None in ends or ends[0].said == ends[1].said:  # type: ignore[union-attr]
            return None
        gap = distance(ends[0].interval, ends[1].interval, asked.unit)  # type: ignore[union-attr]
        return cited(gap, [end.support for end in ends if end]) if gap else None

    def _event(self, asked: Asked, words: str, pool: Sequence[Evidence]) -> Dated | None:
        question = Question(
            id="", history_id="", text=f"When did {' '.join(asked.people)} {words}?", asked_at=asked.at, category="",
            category_name="", gold="",
        )  # fmt: skip
        part = analyse(question, asked.people)
        own = [match for match in matches(part, pool, self._weights) if match.own and match.fit >= self.floor]
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
        told = [match for match in own if not match.sentence.question] or list(own)
        told = [match for match in told if match.fit >= self.floor]
        if not told:
            return Answer(text=UNKNOWN, abstained=True)
        if answer := _listed(asked, told[0].sentence) or self._fact(asked, told, pool):
            return answer
        if asked.many:
            telling = [m.sentence for m in told if m.fit >= self.floor and m.sentence.terms & asked.terms]
            chosen = list({one.quote: one for one in telling}.values())[: self.quotes] or [told[0].sentence]
            return cited(" ".join(phrases.short(asked, one) or one.quote for one in chosen), chosen)
        best = told[0].sentence
        if answer := phrases.short(asked, best):
            return cited(answer, (best,))
        after = [one for one in sentences(best.item) if one.turn_id == best.turn_id and one.place > best.place]
        chosen = [best, *(one for one in after[: self.context] if not one.question)]
        return cited(" ".join(one.quote for one in chosen), chosen)

    def _fact(self, asked: Asked, told: Sequence[Match], pool: Sequence[Evidence]) -> Answer | None:
        """The value of the best fact whose own statement, without the words it quotes, is about what is asked.

        Asked for several things, the values of all facts that say the same of them are listed.
        """
        rare = rarity(asked, pool)
        values: dict[str, Sentence] = {}
        predicate = ""
        for match in told:
            fact = match.sentence.item.fact
            if fact is None or not any(piece.text in match.sentence.quote for piece in fact.pieces):
                continue
            value = phrases.value(asked, fact)
            about = weigh(words_of(phrases.headline(fact)), rare) >= self.floor
            if value and about and predicate in ("", fact.predicate):
                predicate = fact.predicate
                values.setdefault(value, match.sentence)
        chosen = list(values)[: None if asked.many else 1]
        return cited(", ".join(chosen), [values[value] for value in chosen]) if chosen else None


def current(asked: Asked, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence without facts that no longer hold, unless the question asks for what was."""
    return [item for item in evidence if item.status == "active" or (asked.past and item.status == "superseded")]


def stale(sentence: Sentence, evidence: Sequence[Evidence], asked: Asked) -> bool:
    """True when the sentence says what a later one has replaced: turns keep saying it, only facts know."""
    return not asked.past and any(
        piece.turn_id == sentence.turn_id and (piece.text in sentence.quote or sentence.quote in piece.text)
        for item in evidence
        if item.fact and item.status != "active"
        for piece in item.fact.pieces
    )


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
