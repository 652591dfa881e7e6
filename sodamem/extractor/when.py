"""The times of a fact: when it happened, and since or until when it holds, from the time phrases of its clause.

Paper section 3.2: mention, occurrence and validity are three axes; an unresolved phrase is kept, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sodamem.types import Interval, TimeValue

_SINCE = re.compile(r"\b(?:since|from|starting|as of|beginning)\s+(?:the\s+)?$", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|till|til|through)\s+(?:the\s+)?$", re.IGNORECASE)
_FOR = re.compile(r"\bfor\s+(?:about\s+|over\s+|almost\s+|the\s+(?:past|last)\s+)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Times:
    """`since` and `until` bound a state, `occurred` is when something happened; `future`: after it was said."""

    values: tuple[TimeValue, ...] = ()
    occurred: Interval | None = None
    since: datetime | None = None
    until: datetime | None = None
    future: bool = False
    loose: bool = False  # "these days": about when it was said, which is no time that a state began

    def of_state(self) -> Times:
        """The same times for a state, which "lately" does not date."""
        return replace(self, occurred=None) if self.loose else self


def times_of(values: Sequence[TimeValue], text: str, at: datetime) -> Times:
    """Sorts the time values of one clause of `text`, said at `at`, by the word that stands before each."""
    occurred: Interval | None = None
    since: datetime | None = None
    until: datetime | None = None
    loose = False
    for value in values:
        if value.interval is None:
            continue
        opening = value.words.lower()
        before = text[max(0, value.start - 24) : value.start]
        if _SINCE.search(before) or opening.startswith(("since ", "starting ", "as of ")):
            since = since or value.interval.start
        elif _UNTIL.search(before) or opening.startswith(("until ", "till ", "through ")):
            until = until or value.interval.end
        elif _FOR.search(before) or opening.startswith("for "):
            if value.interval.start < at <= value.interval.end or value.interval.end <= at:
                since = since or value.interval.start
        elif occurred is None:
            occurred = value.interval
            loose = value.approximate and occurred.start < at <= occurred.end
    future = occurred is not None and occurred.start > at
    return Times(tuple(values), occurred, since, until, future, loose)


def validity(times: Times, *, temporary: bool, former: bool, changed: bool) -> tuple[datetime | None, datetime | None]:
    """(valid_from, valid_until) of a state: a change holds from its time, a temporary or former state also ends."""
    since, until, occurred = times.since, None, times.occurred
    if temporary:
        until = times.until or (occurred.end if occurred else None)
        since = since or (occurred.start if occurred else None)
    elif former:
        since, until = (occurred.start, occurred.end) if occurred else (since, times.until)
    elif changed and occurred:
        since = since or occurred.start
    return since, until if not (since and until) or since < until else None
