"""Extractive reader: answers with the best sentence of the evidence, quoted and cited; needs no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sodamem import text
from sodamem.errors import ConfigError
from sodamem.protocols import Reader
from sodamem.reader.citations import verified
from sodamem.types import Answer, Citation, Evidence, Interval, Question

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\d)[^.!?\n]*)*[.!?]*")
_WHEN = re.compile(r"^\W*(?:when|what (?:date|day|month|year|time)|which (?:day|month|year)|on what)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ExtractiveReader(Reader):
    """Picks among the sentences of the first `depth` evidence items by words shared with the question and by rank.

    rank_weight: what one place further down costs, in shares of a full match · floor: share of the question's words
    that the best sentence must hold, or the reader abstains.
    """

    depth: int
    rank_weight: float
    floor: float

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise ConfigError(f"reader.depth must be >= 1, got {self.depth}")
        for name in ("rank_weight", "floor"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"reader.{name} must be between 0 and 1, got {getattr(self, name)}")

    def read(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        wanted = set(text.terms(question.text))
        best: tuple[float, Evidence, str] | None = None
        for item in evidence[: self.depth]:
            for quote in sentences(item):
                share = len(wanted & set(text.terms(f"{item.speaker} {quote}"))) / max(1, len(wanted))
                score = share - self.rank_weight * (item.rank - 1)
                if best is None or score > best[0]:
                    best = (score, item, quote)
        if best is None or best[0] + self.rank_weight * (best[1].rank - 1) < self.floor:
            return Answer(text="I do not know: the memory holds nothing about this.", abstained=True)
        _, item, quote = best
        when = _time(item) if _WHEN.search(question.text) else None
        said = f"{show(when)} — “{quote}”" if when else f"“{quote}”"
        citation = Citation(evidence_id=item.id, turn_id=item.turn_ids[0], quote=quote)
        return verified(Answer(text=said, citations=(citation,), interval=when), evidence)


def sentences(item: Evidence) -> list[str]:
    """Sentences of the words an item quotes, verbatim, without surrounding space."""
    return [found.strip() for source in item.quotable for found in _SENTENCE.findall(source) if found.strip()]


def _time(item: Evidence) -> Interval | None:
    if item.occurred:
        return item.occurred
    return next((value.interval for value in item.times if value.interval), None)


def show(interval: Interval) -> str:
    """A time in the words of its grain: "7 May 2023", "May 2023", "2023", "1 to 7 May 2023"."""
    start, last = interval.start, interval.end
    if interval.grain == "year":
        return str(start.year)
    if interval.grain == "month":
        return f"{start:%B %Y}"
    if interval.grain == "minute":
        return f"{start.day} {start:%B %Y, %H:%M}"
    days = (last - start).total_seconds() / 86_400
    if days <= 1:
        return f"{start.day} {start:%B %Y}"
    final = last.fromordinal(last.toordinal() - (1 if (last.hour, last.minute, last.second) == (0, 0, 0) else 0))
    return f"{start.day} {start:%B %Y} to {final.day} {final:%B %Y}"
