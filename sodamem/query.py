"""Question analysis, once per question: words, entities, speakers, one embedding, temporal intent (section 4.5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from sodamem import text
from sodamem.protocols import Timeline
from sodamem.store.snapshot import Snapshot
from sodamem.types import Query, Question

# Cues that a superseded value may be what is asked for.
_PAST = re.compile(
    r"\b(?:used to|originally|previous(?:ly)?|former(?:ly)?|at first|initial(?:ly)?|back then|no longer|"
    r"before (?:i|he|she|they|that|the (?:move|change|switch))|old)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself", "i'm", "i've", "i'd", "i'll", "we", "our", "us"})
_ASSISTANT = re.compile(
    r"\b(?:you|your) (?:\w+ )?(?:told|said|suggest\w*|recommend\w*|mention\w*|gave|give|list\w*|provid\w*|advis\w*|"
    r"explain\w*|wrote|generat\w*|creat\w*|came up|shared?|describ\w*)\b|\bremind me\b|"
    r"\bprevious (?:chat|conversation)\b",
    re.IGNORECASE,
)
_LONGEST_NAME = 5  # words


class Names:
    """The names a store knows, for finding them in a question: entity surfaces and the dialogue's participants."""

    def __init__(self, snapshot: Snapshot, user: str) -> None:
        self.user = user
        self._speakers: dict[str, str] = {}
        for turn in snapshot.turns:
            self._speakers.setdefault(" ".join(text.words(turn.speaker)), turn.speaker)
        self.roles = {turn.speaker: turn.role for turn in snapshot.turns}
        people = sorted(
            (s for s, role in self.roles.items() if s and role not in ("user", "assistant")), key=lambda s: (-len(s), s)
        )
        pattern = "|".join(re.escape(name) for name in people)
        self._people = re.compile(rf"\b(?:{pattern})(?:['’]s)?\b", re.IGNORECASE) if people else None
        surfaces: dict[tuple[str, ...], set[str]] = {}
        for entity in snapshot.entities.values():
            for surface in entity.surfaces:
                if words := tuple(text.stem(word) for word in text.words(surface)):
                    surfaces.setdefault(words, set()).add(entity.id)
        self._surfaces: Mapping[tuple[str, ...], set[str]] = surfaces

    def entities(self, question: str) -> tuple[str, ...]:
        """Ids of the entities that the question names, in order of mention; longer names win over their parts."""
        words = [text.stem(word) for word in text.words(question)]
        found: dict[str, None] = {}
        place = 0
        while place < len(words):
            for size in range(min(_LONGEST_NAME, len(words) - place), 0, -1):
                named = tuple(words[place : place + size])
                if named in self._surfaces and not (size == 1 and named[0] in text.STOP_WORDS):
                    found |= dict.fromkeys(sorted(self._surfaces[named]))
                    place += size - 1
                    break
            place += 1
        return tuple(found)

    def without(self, question: str) -> str:
        """The question with the names of people taking part left out, a possessive 's with them."""
        return self._people.sub(" ", question).strip() if self._people else question

    def speakers(self, question: str) -> tuple[str, ...]:
        """Participants that a question is about: those it names, else the user for "I", the assistant for "you"."""
        words = text.words(question)
        named = [speaker for name, speaker in self._speakers.items() if name and f" {name} " in f" {' '.join(words)} "]
        named = [speaker for speaker in named if self.roles[speaker] not in ("user", "assistant")]
        if named:
            return tuple(named)
        asked = "assistant" if _ASSISTANT.search(question) else "user" if _FIRST_PERSON & set(words) else ""
        return tuple(speaker for speaker, role in self.roles.items() if role == asked)


def analyse(
    question: Question,
    names: Names,
    timeline: Timeline,
    encode: Callable[[str], NDArray[np.float32]],
    *,
    keep_names: bool,
) -> Query:
    """Everything tunnels and fusion may know about a question; its gold is not among it.

    With `keep_names` false, participants' names are left out of its words and its vector, unless nothing else is left.
    """
    about = question.text if keep_names else names.without(question.text) or question.text
    return Query(
        text=question.text,
        asked_at=question.asked_at,
        terms=tuple(text.terms(about)),
        entities=names.entities(question.text),
        speakers=names.speakers(question.text),
        vector=encode(about),
        window=timeline.window(question.text, question.asked_at),
        about_past=bool(_PAST.search(question.text)),
    )
