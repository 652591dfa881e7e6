"""One speaker, one session: what a few turns yield."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from sodamem.build import component
from sodamem.config import compose
from sodamem.types import Extraction, History, Session, Turn

FRIDAY = datetime(2023, 6, 9, 10, 0)


@pytest.fixture(scope="session")
def timeline():
    return component(compose("timeline=calendar"), "timeline")


@pytest.fixture(scope="session")
def extractor():
    return component(compose("extractor=rule"), "extractor")


@pytest.fixture
def hear(timeline, extractor):
    """hear("text", ...) or hear(("Tom", "text"), ..., role=...) -> the extraction of one session."""

    def run(*said: str | tuple[str, str], role: str = "speaker", at: datetime = FRIDAY, **knobs) -> Extraction:
        named = [("Ana", line) if isinstance(line, str) else line for line in said]
        turns = tuple(
            Turn(id=f"t{i}", session_id="s", index=i, role=role, speaker=speaker, text=text, at=at)
            for i, (speaker, text) in enumerate(named)
        )
        session = Session(id="s", at=at, turns=turns)
        history = History(id="h", sessions=(session,), digest="", speakers=tuple(dict.fromkeys(s for s, _ in named)))
        return replace(extractor, **knobs).extract(session, history, timeline)

    return run


@pytest.fixture
def facts(hear):
    """The facts of `hear` as (subject, predicate, value), with "not " before the predicate of a negated one."""

    def run(*said, **options) -> list[tuple[str, str, str]]:
        return [
            (
                fact.subject.removeprefix("person:"),
                ("" if fact.polarity else "not ") + fact.predicate,
                next((role.words for role in fact.roles if role.name == "value"), ""),
            )
            for fact in hear(*said, **options).facts
        ]

    return run
