"""What is true now: current values, stale and wrongly closed ones, as-of answers, order of ingest, speed.

Memory spec section 5. Two settings, little dialogues of known faults and the hard synthetic histories, and two
sources of facts: right by construction (only currency can fail) and the rule extractor (both can).

    python experiments/currency.py --json currency.json
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sodamem.build import component
from sodamem.config import compose
from sodamem.currency import as_of, asserts, current
from sodamem.currency.values import flat, read
from sodamem.protocols import Currency
from sodamem.text import digest
from sodamem.types import FactEvent, History, Interval, MessagePiece, Quantity, Role, Session, Turn

CASES = Path(__file__).parents[1] / "tests" / "data" / "currency_fixtures.yaml"
SOURCES = ("gold", "rule")
ORDERS = 50
PADDING = frozenset({"a", "an", "the", "my", "food", "by", "on", "called"})  # in comparing values with the gold
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


# --- measuring ----------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Tally:
    """How often each thing was so, of how many; and where it was not as it should be."""

    yes: Counter[str] = field(default_factory=Counter)
    of: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def note(self, measure: str, so: bool, *, wanted: bool, what: str) -> None:
        self.of[measure] += 1
        self.yes[measure] += so
        if so is not wanted:
            self.faults.append(f"{measure}: {what}")

    def rate(self, measure: str) -> float:
        return self.yes[measure] / self.of[measure]


def check(problem: Problem, currency: Currency, tally: Tally) -> None:
    """Ask a problem's slots and count right, stale, wrongly closed and as-of answers."""
    resolved, _ = currency.resolve(problem.facts)
    slots: dict[tuple[str, str], list[FactEvent]] = {}
    for fact in resolved:
        slots.setdefault((fact.subject, fact.predicate), []).append(fact)
    last = max(fact.mentioned_at for fact in resolved) if resolved else datetime.max
    for asked in problem.asked:
        facts = [fact for fact in slots.get((asked.subject, asked.predicate), ()) if _in_scope(fact, asked)]
        now = _values(current(facts, asked.subject, asked.predicate), asked)
        what = f"{problem.name} {asked.subject} {asked.predicate} {dict(asked.scope)}"
        tally.note("current", now == asked.now, wanted=True, what=f"{what} got {set(now)}, not {set(asked.now)}")
        stale = now & (asked.ever - asked.now)
        tally.note("stale", bool(stale), wanted=False, what=f"{what} serves {set(stale)}")
        closed = _values([fact for fact in facts if fact.status != "active" and fact.polarity], asked)
        for value in asked.now:
            lost = value in closed and value not in now
            tally.note("wrongly_closed", lost, wanted=False, what=f"{what} lost {value}")
        for when, values in asked.at.items():
            then = _values(_standing(as_of(facts, when, known_by=last), asked), asked)
            tally.note(
                "as_of", then == values, wanted=True, what=f"{what} on {when} got {set(then)}, not {set(values)}"
            )


def _standing(facts: Iterable[FactEvent], asked: Asked) -> list[FactEvent]:
    return [f for f in facts if f.polarity and asserts(f) and (asked.brief or "temporary" not in f.flags)]


def _in_scope(fact: FactEvent, asked: Asked) -> bool:
    """True when the fact is about the object asked for; the usual one needs no naming."""
    words = {role.name: role.words for role in fact.roles}
    _, usual = SCOPES.get(asked.predicate, ("", ""))
    return all(_stems(words.get(name, usual)) == _stems(word) for name, word in asked.scope.items())


def _values(facts: Iterable[FactEvent], asked: Asked) -> frozenset[str]:
    """The gold values that the facts name; `?` for one that is not among them, where that matters."""
    found = {_value(fact, asked.ever) for fact in facts}
    return frozenset(found if asked.one else found - {"?"})


def _value(fact: FactEvent, values: Iterable[str]) -> str:
    said = {stem for role in fact.roles if role.name != "from" for stem in _stems(role.words)}
    said |= set(_stems(fact.quantity.words)) if fact.quantity else set()
    fitting = [value for value in values if set(_stems(value)) <= said]
    return max(fitting, key=lambda value: (len(_stems(value)), value), default="?")


@cache
def _stems(words: str) -> tuple[str, ...]:
    return flat(read(words, PADDING))


def distinct_results(facts: Sequence[FactEvent], currency: Currency, orders: int) -> int:
    """Number of different results over random orders of ingest; 1 means that order does not matter."""
    shuffled, rng = list(facts), random.Random(0)
    results = set()
    for _ in range(orders):
        rng.shuffle(shuffled)
        results.add(digest(*[[asdict(row) for row in part] for part in currency.resolve(shuffled)]))
    return len(results)


def crowd(count: int, *, subjects: int) -> list[FactEvent]:
    """`count` facts of mixed predicates, with changes, ends and corrections among them."""
    start, kinds = datetime(2024, 1, 1), ("lives_in", "owns", "likes", "visited", "locker")
    facts = []
    for number in range(count):
        at = start + timedelta(hours=number)
        text = f"statement {number}"
        facts.append(
            FactEvent(
                id=f"f{number}",
                kind="fact",
                predicate=kinds[number % len(kinds)],
                modality="current_state",
                subject=f"person:{number // len(kinds) % subjects}",
                text=text,
                pieces=(MessagePiece(turn_id=f"t{number}", start=0, end=len(text), text=text),),
                mentioned_at=at,
                order=(at.isoformat(), 0, 0),
                polarity=number % 7 != 6,
                roles=(role("value", f"value {number * 5 % 11}"),),
                flags=("correction",) if number % 11 == 10 else (),
            )
        )
    return facts


def seconds_per_fact(currency: Currency, count: int, subjects: int) -> float:
    """Processor time; the best of several runs, so that a busy machine does not decide."""
    facts, best = crowd(count, subjects=subjects), float("inf")
    for _ in range(max(5, 50_000 // count)):
        began = time.process_time()
        currency.resolve(facts)
        best = min(best, time.process_time() - began)
    return best / count


def row(setting: str, source: str, problems: Sequence[Problem], currency: Currency) -> tuple[dict[str, Any], list[str]]:
    tally = Tally()
    for problem in problems:
        check(problem, currency, tally)
    return {
        "setting": setting,
        "split": source,
        "n": tally.of["current"],
        "current_value_accuracy": tally.rate("current"),
        "stale_rate": tally.rate("stale"),
        "wrongly_closed_rate": tally.rate("wrongly_closed"),
        "as_of_accuracy": tally.rate("as_of"),
        "distinct_results": max(distinct_results(problem.facts, currency, ORDERS) for problem in problems[:60]),
    }, tally.faults


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", type=Path, help="write the rows to this file")
    options.add_argument("--currency", default="slots", help="the option of conf/currency to measure")
    options.add_argument(
        "--setting", nargs="+", choices=("fixtures", "synthetic_hard"), default=("fixtures", "synthetic_hard")
    )
    options.add_argument("--source", nargs="+", choices=SOURCES, default=SOURCES)
    options.add_argument("--faults", action="store_true", help="list every answer that is not as it should be")
    given = options.parse_args()
    currency = component(compose(f"currency={given.currency}"), "currency")
    rows = []
    for setting in given.setting:
        for source in given.source:
            problems = list({"fixtures": fixtures, "synthetic_hard": synthetic}[setting](source))
            figures, faults = row(setting, source, problems, currency)
            rows.append(figures)
            print(
                "  ".join(
                    f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
                    for name, value in figures.items()
                )
            )
            for fault in faults if given.faults else ():
                print("   ", fault)
    for name, share in (("one subject", 0), ("50 facts a subject", 50)):
        small, large = (
            seconds_per_fact(currency, count, subjects=count // share if share else 1) for count in (1_000, 100_000)
        )
        rows.append({"setting": f"speed, {name}", "split": "-", "n": 100_000, "ratio_to_1000_facts": large / small})
        print(f"{name}: {large * 1e6:.1f} us a fact at 100,000, {large / small:.2f} times that at 1,000")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
