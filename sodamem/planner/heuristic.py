"""Plans without a model: asks the memory in several ways and fuses the answers; enumerates where a number is asked for.

The model-free counterpart of paper section 4.6; rankings are fused by reciprocal rank (Cormack et al., SIGIR 2009).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sodamem.errors import ConfigError
from sodamem.protocols import Desk, Planner
from sodamem.text import STOP_WORDS, normalise, words
from sodamem.types import Evidence, Question, TimeValue

_MANY = re.compile(r"\bhow (?:many|often)\b|\b(?:list|all|each|every|total|which ones)\b", re.IGNORECASE)
_FORM = frozenset(
    ("how", "many", "much", "often", "long", "what", "which", "who", "when", "where", "why", "times", "total", "number")
)
_PAIR = re.compile(
    r"\b(?:between|first,?|earlier,?|later,?|more,?|of)\s+(?P<one>[^,?]+?),?\s+(?:and|or)\s+(?P<two>[^?]+)"
    r"|\b(?P<before>[^,?]{8,}?)\s+(?:before|after|since)\s+(?P<after>[^?]{8,})",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“]([^\"”]{3,})[\"”]|(?<!\w)['‘]([^'’]{3,})['’](?!\w)")
_NAME = re.compile(r"(?<!^)\b[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*")


@dataclass(frozen=True, kw_only=True)
class HeuristicPlanner(Planner):
    """queries: at most so many, the question itself first · k: of reciprocal rank fusion · own: what the question's own
    ranking counts, in rankings · top: items handed on · per_session: where a number is asked for, items of each session
    that come before what else there is; null never enumerates.
    """

    queries: int
    k: float
    own: float
    top: int
    per_session: int | None

    def __post_init__(self) -> None:
        for name in ("queries", "top", "per_session"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ConfigError(f"planner.{name} must be >= 1, got {getattr(self, name)}")
        for name in ("k", "own"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"planner.{name} must be > 0, got {getattr(self, name)}")

    def gather(self, question: Question, recall: Desk) -> Sequence[Evidence]:
        """The fused ranking of all queries, best first, ties by id; each query is noted with what it alone brought."""
        asked = queries(question.text, recall.read(question.text, question.asked_at))[: self.queries]
        found: dict[str, Evidence] = {}
        scores: dict[str, float] = defaultdict(float)
        for place, words_ in enumerate(asked):
            items = recall(replace(question, text=words_))
            new = [item.id for item in items if item.id not in found]
            for rank, item in enumerate(items, start=1):
                found.setdefault(item.id, item)
                scores[item.id] += (1.0 if place else self.own) / (self.k + rank)
            recall.note({"step": place + 1, "call": {"tool": "search", "query": words_}, "new": new if place else []})
        ordered = sorted(found.values(), key=lambda item: (-scores[item.id], item.id))
        if self.per_session is not None and _MANY.search(question.text):
            ordered = spread(ordered, self.per_session)
        return tuple(replace(item, rank=rank) for rank, item in enumerate(ordered[: self.top], start=1))


def queries(question: str, times: Sequence[TimeValue]) -> list[str]:
    """The question, and what else to ask: its parts, what it quotes, its topic without times, names with the topic."""
    topic = _topic(_without(question, times))
    asked = [question, *_parts(question), *(one or two for one, two in _QUOTED.findall(question)), topic]
    names = [name for name in _NAME.findall(question) if normalise(name) not in STOP_WORDS]
    bare = _topic(_without(question, times), skip=frozenset(word for name in names for word in words(name)))
    asked += [f"{name} {bare}" for name in names if bare] if len(names) > 1 else [bare]
    unique = {normalise(one): one.strip() for one in reversed(asked) if one.strip()}
    return list(reversed(unique.values()))


def spread(items: Sequence[Evidence], per_session: int) -> list[Evidence]:
    """The same items, the best `per_session` of every session first: what is counted lies in many places."""
    taken: dict[str, int] = defaultdict(int)
    first: list[Evidence] = []
    rest: list[Evidence] = []
    for item in items:
        taken[item.session_id] += 1
        (first if taken[item.session_id] <= per_session else rest).append(item)
    return [*first, *rest]


def _parts(question: str) -> Iterable[str]:
    found = _PAIR.search(question)
    return [part.strip() for part in found.groups() if part] if found else []


def _topic(text: str, skip: frozenset[str] = frozenset()) -> str:
    return " ".join(word for word in words(text) if word not in STOP_WORDS | _FORM | skip)


def _without(text: str, times: Sequence[TimeValue]) -> str:
    for value in sorted(times, key=lambda value: -value.start):
        text = f"{text[: value.start]} {text[value.end :]}"
    return text
