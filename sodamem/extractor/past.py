"""What was said in earlier sessions, looked up only when a correction names it, and never far back.

Paper section 4.4: "Sorry, I meant York, not Leeds" may come days later; only the history tells which slot it meant.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sodamem.text import normalise
from sodamem.types import FactEvent, History, Session

_NAMED = 60  # sessions to look back over for a value that is named
_UNNAMED = 5  # and for any value of a type


@dataclass(frozen=True, slots=True)
class Past:
    """The sessions before one. `extract` reads a session without looking back."""

    session: Session
    history: History
    extract: Callable[[Session], Sequence[FactEvent]]

    def facts(self, speaker: str, named: str = "") -> Iterator[FactEvent]:
        """Facts that a speaker told before, latest first; only from turns that hold the words, where any are named."""
        needle = normalise(named)
        for session in self._before(_NAMED if needle else _UNNAMED):
            told = tuple(
                turn
                for turn in session.turns
                if turn.role != "assistant" and (not needle or needle in normalise(turn.text))
            )
            if told:
                facts = self.extract(replace(session, turns=told))
                yield from (fact for fact in reversed(facts) if fact.speaker == speaker)

    def _before(self, count: int) -> Iterator[Session]:
        """At most `count` sessions, latest first. Sessions stand in order of time, and may be made when asked for."""
        sessions = self.history.sessions
        at = bisect_left(sessions, self.session.at, key=lambda session: session.at)
        for index in range(at - 1, max(at - 1 - count, -1), -1):
            yield sessions[index]
