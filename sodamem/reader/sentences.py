"""Sentences of the evidence, each with its place, its words and the time expressions that stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sodamem import text
from sodamem.reader.questions import base
from sodamem.types import Evidence, FactEvent, TimeValue

# Ends at a mark that is followed by space or the end; titles, initials, "p.m." and the "1." of a list end nothing.
_END = re.compile(
    r"(?<!\s\d)(?<!\s\d\d)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\b[A-Z])(?<!\b[ap]\.m)[.!?]+[\"'”’)]*(?=\s|$)|\n+"
)
_PLAN = re.compile(
    r"\b(?:plan(?:s|ning|ned)?(?: on| to| for)?|going to|gonna|will|\w+['’]ll|hop(?:e|es|ing) to|wants? to|wanna|"
    r"intend\w*|can(?:no|['’])?t wait|look(?:ing)? forward|thinking (?:of|about)|(?:would|i['’]d) (?:like|love) to|"
    r"considering|dream(?:ing)? of|next (?:week|weekend|month|year|summer|time)|tomorrow|upcoming|soon)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:was|were|did|had|went|got|won|met|saw|took|made|ate|came|bought|ran|gave|told|said|felt|found|left|lost|"
    r"have (?:just |already |been )?\w+ed|\w+['’]ve|\w{2,}ed)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:not|never|no longer|\w+n['’]t|nobody|nothing|none)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """`quote` stands verbatim in turn `turn_id` of the item at `start`; `times` stand inside it."""

    item: Evidence
    turn_id: str
    quote: str
    start: int
    place: int  # number of the sentence in its turn, from 0
    terms: frozenset[str]
    times: tuple[TimeValue, ...]
    facts: tuple[FactEvent, ...]  # what the sentence states, as it stands now

    @property
    def planned(self) -> bool:
        """Speaks of what is to come and reports nothing done."""
        return bool(_PLAN.search(self.quote)) and not _DONE.search(_PLAN.sub(" ", self.quote))

    @property
    def empty(self) -> bool:
        """Asks, or greets and cheers, and tells nothing."""
        return self.question or len(self.terms) < 2

    @property
    def question(self) -> bool:
        return self.quote.rstrip("\"'”’) ").endswith("?")

    @property
    def denied(self) -> bool:
        return bool(_DENIES.search(self.quote))


def words_of(value: str) -> frozenset[str]:
    return frozenset(base(term) for term in text.terms(value))


def sentences(item: Evidence) -> list[Sentence]:
    """Sentences of the turns an item stands for, in order; a fact's times are found again by their words."""
    found = []
    facts = {fact.id: fact for fact in (*((item.fact,) if item.fact else ()), *item.facts)}.values()
    for turn_id, source in zip(item.turn_ids, item.quotable, strict=True):
        times = item.times if turn_id == item.turn_ids[0] else ()
        for place, (start, end) in enumerate(spans(source)):
            inside = tuple(value for value in times if start <= _offset(value, source) < end)
            quote = source[start:end]
            found.append(
                Sentence(
                    item=item,
                    turn_id=turn_id,
                    quote=quote,
                    start=start,
                    place=place,
                    terms=words_of(quote),
                    times=inside,
                    facts=tuple(fact for fact in facts if _states(fact, turn_id, start, end)),
                )
            )
    return found


def _states(fact: FactEvent, turn_id: str, start: int, end: int) -> bool:
    return any(piece.turn_id == turn_id and piece.start < end and start < piece.end for piece in fact.pieces)


def _offset(value: TimeValue, source: str) -> int:
    """Where the expression stands in the turn; -1 when its words are not there."""
    return value.start if source[value.start : value.end] == value.words else source.find(value.words)


def spans(source: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each sentence, without surrounding space."""
    begin = 0
    for match in (*_END.finditer(source), None):
        end = match.end() if match else len(source)
        piece = source[begin:end]
        if re.search(r"\w", piece):
            yield begin + len(piece) - len(piece.lstrip()), begin + len(piece.rstrip())
        begin = end


def speakers(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.speaker for item in evidence if item.speaker))
