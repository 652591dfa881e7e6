"""Evidence as a model reads it: one record each, said when and by whom, every time worked out exactly once.

A reader that is told to shift "yesterday" itself shifts what was shifted before (getzep/zep-papers#4): the phrase stays
as it was said, and its reading stands beside it, in ISO, so that it can be computed with.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from sodamem.fence import one_line, record
from sodamem.text import estimate_tokens
from sodamem.types import Evidence, FactEvent, Interval, TimeValue

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_ISO_LENGTH = {"year": 4, "month": 7, "day": 10, "minute": 16}  # "2023", "2023-05", "2023-05-07", "2023-05-07T09:30"
# The dates that a card carries: its times are said by the quoted words and their readings instead.
_CARD_DATE = re.compile(r" \([^()]*\b\d{4}\)(?=[.:])")


def entry(label: str, item: Evidence, *, longest: int, stamped: bool = True) -> str:
    """One record: `[e1] Mon 2023-05-08 13:56 Ann: I went yesterday. (yesterday = 2023-05-07)`.

    longest: tokens of its words (estimated) beyond which they are cut · stamped: false where the moment of the session
    stands above already.
    """
    said = f" {stamp(item.at)}" if stamped else ""
    head = f"[{label}]{said} {one_line(item.speaker)}:"
    words = clipped(_words(item), longest)
    return record(head, " ".join((words, *(f"({note})" for note in _notes(item, words)))))


def stamp(moment: datetime) -> str:
    """A moment with its weekday, in any locale alike; the time of day only where there is one."""
    clock = f" {moment:%H:%M}" if moment.time() != datetime.min.time() else ""
    return f"{_WEEKDAYS[moment.weekday()]} {moment.date().isoformat()}{clock}"


def reading(interval: Interval) -> str:
    """An interval in ISO, as long as its grain is exact: "2023", "2023-05-07", "2023-05-01 to 2023-05-07"."""
    if size := _ISO_LENGTH.get(interval.grain):
        return interval.start.isoformat(timespec="minutes")[:size]
    first, last = interval.start.date(), (interval.end - timedelta(microseconds=1)).date()
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"


def clipped(words: str, longest: int) -> str:
    """The words up to so many tokens (estimated), with an ellipsis where some were left out."""
    tokens = re.finditer(r"\w+|[^\w\s]", words)
    over = next(itertools.islice(tokens, longest, None), None)
    return f"{words[: over.start()].rstrip()} …" if over else words


def within(items: Sequence[Evidence], budget: int, show: Callable[[int, Evidence], str]) -> list[Evidence]:
    """The first items whose records have at most `budget` tokens together (estimated), and one in any case."""
    kept: list[Evidence] = []
    spent = 0
    for place, item in enumerate(items):
        spent += estimate_tokens(show(place, item))
        if spent > budget and kept:
            break
        kept.append(item)
    return kept


def _words(item: Evidence) -> str:
    fact = item.fact
    if fact is None:
        return item.text.removeprefix(f"{item.speaker}: ")
    if fact.kind == "profile":
        return fact.text
    quote = " … ".join(piece.text for piece in fact.pieces)
    card = _CARD_DATE.sub("", fact.text.replace(fact.pieces[0].text, " ").strip(), count=1).rstrip(" .:")
    return f'{card}. "{quote}"' if card else f'"{quote}"'


def _notes(item: Evidence, words: str) -> list[str]:
    """What is known beside the words: readings of times, and whether what is said still holds."""
    notes = [f"{one_line(value.words)} = {_read(value)}" for value in item.times if _worth(value, words)]
    if item.fact is not None:
        return [*notes, *_validity(item.fact)]
    for fact in item.facts:
        if fact.status != "active" and fact.pieces[0].text in words:
            notes.append(f'"{one_line(fact.pieces[0].text)}" is {", ".join(_validity(fact))}')
    return list(dict.fromkeys(notes))


def _worth(value: TimeValue, words: str) -> bool:
    return value.interval is not None and value.words in words and not re.search(r"\d{4}", value.words)


def _read(value: TimeValue) -> str:
    assert value.interval is not None
    read = " or ".join(map(reading, (value.interval, *value.alternatives)))
    return f"about {read}" if value.approximate else read


def _validity(fact: FactEvent) -> list[str]:
    """What currency found out about a fact, unless one of its own times says it."""
    told = {value.interval for value in fact.times}
    begins = {interval.start for interval in told if interval}
    notes = []
    if fact.occurred and fact.occurred not in told:
        notes.append(f"happened {reading(fact.occurred)}")
    if fact.valid_from and fact.valid_from not in begins and fact.valid_from.date() != fact.mentioned_at.date():
        notes.append(f"since {fact.valid_from.date().isoformat()}")
    if fact.status == "invalid":
        return ["taken back later"]
    if fact.valid_until or fact.status == "superseded":
        ended = f" since {fact.valid_until.date().isoformat()}" if fact.valid_until else ""
        notes.append(f"no longer so{ended}")
    if "possible_conflict" in fact.flags:
        notes.append("other statements differ")
    return notes
