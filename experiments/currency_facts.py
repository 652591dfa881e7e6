"""Where the facts of the currency experiment come from: fixtures, synthetic gold, or the rule extractor.

Fixtures are this repository's (tests/data); the synthetic gold is a side channel that no pipeline reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sodamem.build import component
from sodamem.config import compose
from sodamem.text import digest
from sodamem.types import FactEvent, History, Interval, MessagePiece, Quantity, Role, Session, Turn

CASES = Path(__file__).parents[1] / "tests" / "data" / "currency_fixtures.yaml"
# Synthetic predicates that the fact model names otherwise: predicate, and the scope role that `scope` fills.
NAMES = {
    "favourite_food": ("favourite", {"category": "food"}),
    "favourite_colour": ("favourite", {"category": "colour"}),
    "weight": ("weighs", {}),
    "plays_instrument": ("plays", {}),
}
# predicate -> the role that tells like objects apart, and the object meant when none is named
SCOPES = {"best_time": ("event", "5K"), "phone_plan": ("phone", "own"), "internet_speed": ("place", "home")}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One slot with what must be read from it. `ever`: every value it was said to hold, true or not."""

    subject: str
    predicate: str
    scope: Mapping[str, str]
    now: frozenset[str]
    ever: frozenset[str]
    at: Mapping[datetime, frozenset[str]]
    one: bool  # the slot holds one value at a time, so that a value nobody knows of is an error too
    brief: bool  # whether temporary states are among the values


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The facts of one history, and what is asked of them."""

    name: str
    facts: Sequence[FactEvent]
    asked: Sequence[Asked]


# --- the fixtures -------------------------------------------------------------------------------------------------


def moment(value: object) -> datetime:
    return datetime.fromisoformat(str(value))


def case_history(case: Mapping[str, Any]) -> History:
    """The dialogue of a case; one session for every moment at which something is said."""
    turns: dict[str, list[Turn]] = {}
    first = str(case["say"][0]["by"])
    for said in case["say"]:
        at, speaker = str(said["at"]), str(said.get("by", first))
        role = speaker if speaker == "assistant" else "user"
        place = len(turns.setdefault(at, []))
        turn = Turn(
            id=f"{at}:{place}", session_id=at, index=place, role=role, speaker=speaker, text=said["text"], at=moment(at)
        )
        turns[at].append(turn)
    sessions = tuple(Session(id=at, at=moment(at), turns=tuple(turns[at])) for at in sorted(turns))
    return History(id=case["id"], sessions=sessions, digest=digest(case["id"]), user=first, speakers=(first,))


def case_facts(case: Mapping[str, Any]) -> list[FactEvent]:
    """The facts that a perfect extractor finds in the dialogue of a case."""
    history = case_history(case)
    turns = {at: iter(session.turns) for session in history.sessions for at in [session.id]}
    return [
        _fact(row, next_turn, place, history.user)
        for said in case["say"]
        for next_turn in [next(turns[str(said["at"])])]
        for place, row in enumerate(said.get("facts", ()))
    ]


def _fact(row: Mapping[str, Any], turn: Turn, place: int, user: str) -> FactEvent:
    named = {"value": row.get("value"), "from": row.get("old"), **row.get("scope", {})}
    span = [moment(value) for value in row.get("during", ())]
    return FactEvent(
        id=f"{turn.id}/{place}",
        kind="fact",
        predicate=row["is"],
        modality=row.get("modality", "current_state"),
        subject=row.get("of", f"person:{user.lower()}"),
        text=turn.text,
        pieces=(MessagePiece(turn_id=turn.id, start=0, end=len(turn.text), text=turn.text),),
        mentioned_at=turn.at,
        order=(turn.at.isoformat(), turn.index, place),
        speaker=turn.speaker,
        polarity=not row.get("not", False),
        roles=tuple(role(name, str(words)) for name, words in named.items() if words),
        quantity=Quantity(value=row["amount"][0], unit=row["amount"][1], words=row["amount"][2])
        if "amount" in row
        else None,
        occurred=Interval(start=span[0], end=span[1], grain="span") if span else None,
        valid_from=moment(row["since"]) if "since" in row else None,
        valid_until=moment(row["until"]) if "until" in row else None,
        flags=tuple(row.get("flags", ())),
    )


def role(name: str, words: str) -> Role:
    return Role(name=name, entity=f"thing:{words.lower().replace(' ', '_')}", words=words)


def case_asked(case: Mapping[str, Any]) -> Iterator[Asked]:
    subject = f"person:{case['say'][0]['by'].lower()}"
    for row in case["expect"]:
        at = {moment(when): frozenset(values) for when, values in row.get("at", {}).items()}
        ever = frozenset(row["now"]).union(row.get("closed", ()), row.get("invalid", ()), *at.values())
        yield Asked(
            subject=row.get("of", subject),
            predicate=row["is"],
            scope=row.get("scope", {}),
            now=frozenset(row["now"]),
            ever=ever,
            at=at,
            one=False,
            brief=True,
        )


def cases() -> list[dict[str, Any]]:
    return list(yaml.safe_load(CASES.read_text(encoding="utf-8")))


def fixtures(source: str) -> Iterator[Problem]:
    for case in cases():
        if source != "gold" and "gold_only" in case:
            continue
        facts = case_facts(case) if source == "gold" else extracted(case_history(case))
        yield Problem(name=case["id"], facts=facts, asked=tuple(case_asked(case)))


# --- the synthetic histories --------------------------------------------------------------------------------------


def synthetic(source: str) -> Iterator[Problem]:
    corpus = component(compose("dataset=synthetic_hard"), "dataset").open()
    for history_id in corpus.history_ids:
        history, gold = corpus.history(history_id), corpus.gold(history_id)
        turns = {turn.id: turn for session in history.sessions for turn in session.turns}
        facts = [gold_fact(row, turns[row.turn_id], place, history.user) for place, row in enumerate(gold.statements)]
        said: dict[tuple[str, str, str], set[str]] = {}
        for row in gold.statements:
            said.setdefault((row.subject, row.predicate, row.scope), set()).add(row.value)
        asked = [_asked(slot, said, history) for slot in gold.slots]
        yield Problem(name=history_id, facts=facts if source == "gold" else extracted(history), asked=asked)


def gold_fact(row: Any, turn: Turn, place: int, user: str) -> FactEvent:
    """A gold statement as the fact that a perfect extractor would make of it."""
    predicate, scope = named(row.predicate, row.scope)
    flags = {
        "change": "state_change",
        "correction": "correction",
        "temporary": "temporary",
        "hypothetical": "hypothetical",
    }
    state = row.kind != "event" and row.occurred is not None
    return FactEvent(
        id=f"{row.turn_id}/{place}",
        kind=row.kind,
        predicate=predicate,
        modality=row.modality,
        subject=person(row.subject, user),
        text=turn.text[row.start : row.end],
        pieces=(MessagePiece(turn_id=turn.id, start=row.start, end=row.end, text=turn.text[row.start : row.end]),),
        mentioned_at=turn.at,
        order=(turn.at.isoformat(), turn.index, row.start),
        speaker=turn.speaker,
        polarity=row.polarity,
        roles=(role("value", row.value), *(role(name, words) for name, words in scope.items())),
        occurred=row.occurred,
        valid_from=row.occurred.start if state else None,
        flags=tuple(flags[flag] for flag in row.flags if flag in flags),
    )


def named(predicate: str, scope: str) -> tuple[str, dict[str, str]]:
    """The predicate and scope roles of the fact model for a predicate and scope of the synthetic gold."""
    if predicate in NAMES:
        return NAMES[predicate][0], dict(NAMES[predicate][1])
    if predicate not in SCOPES:
        return predicate, {}
    name, usual = SCOPES[predicate]
    return predicate, {name: scope or usual}


def person(name: str, user: str) -> str:
    return f"person:{(user if name == 'user' else name).lower()}"


def _asked(slot: Any, said: Mapping[tuple[str, str, str], set[str]], history: History) -> Asked:
    predicate, scope = named(slot.predicate, slot.scope)
    ends = [spell.valid_until or max(session.at for session in history.sessions) for spell in slot.timeline]
    middles = [spell.valid_from + (end - spell.valid_from) / 2 for spell, end in zip(slot.timeline, ends, strict=True)]
    return Asked(
        subject=person(slot.subject, history.user),
        predicate=predicate,
        scope=scope,
        now=frozenset(spell.value for spell in slot.timeline if spell.valid_until is None),
        ever=frozenset(said[slot.subject, slot.predicate, slot.scope]),
        at={when: frozenset(slot.as_of(when)) for when in middles},
        one=slot.cardinality == "single",
        brief=False,
    )


@cache
def _reading() -> tuple[Any, Any]:
    cfg = compose("extractor=rule")
    return component(cfg, "extractor"), component(cfg, "timeline")


def extracted(history: History) -> list[FactEvent]:
    extractor, timeline = _reading()
    return [fact for session in history.sessions for fact in extractor.extract(session, history, timeline).facts]
