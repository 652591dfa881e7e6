"""What is true now: current values, stale and wrongly closed ones, as-of answers, order of ingest, speed.

Paper section 4.4. Two settings, little dialogues of known faults and the hard synthetic histories; two sources of
facts (the column `split`): right by construction, so that only currency can fail, and the rule extractor.

    python -m experiments.currency --json currency.json
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from experiments.common import Cell, main, save, show
from experiments.currency_facts import SCOPES, Asked, Problem, fixtures, role, synthetic
from sodamem.build import component
from sodamem.config import compose
from sodamem.currency import as_of, asserts, current
from sodamem.currency.values import flat, read
from sodamem.protocols import Currency
from sodamem.text import digest
from sodamem.types import FactEvent, MessagePiece

SETTINGS = {"fixtures": fixtures, "synthetic_hard": synthetic}
ORDERS = 50
PADDING = frozenset({"a", "an", "the", "my", "food", "by", "on", "called"})  # in comparing values with the gold
SYNONYMS = {"dish": "food", "color": "colour", "shade": "colour"}  # of scopes, as the gold names them
RATES = ("current_value_accuracy", "stale_rate", "wrongly_closed_rate", "as_of_accuracy")
ANSWERS = ("setting", "split", "n", *RATES, "distinct_results")
TIMES = ("setting", "n", "us_at_1000", "us_at_100000", "ratio")


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
    told = {name: SYNONYMS.get(words.get(name, usual), words.get(name, usual)) for name in asked.scope}
    return all(_stems(told[name]) == _stems(word) for name, word in asked.scope.items())


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


def row(setting: str, source: str, currency: Currency) -> tuple[dict[str, Cell], list[str]]:
    problems, tally = list(SETTINGS[setting](source)), Tally()
    for problem in problems:
        check(problem, currency, tally)
    figures: dict[str, Cell] = {
        "setting": setting,
        "split": source,
        "n": tally.of["current"],
        "current_value_accuracy": tally.rate("current"),
        "stale_rate": tally.rate("stale"),
        "wrongly_closed_rate": tally.rate("wrongly_closed"),
        "as_of_accuracy": tally.rate("as_of"),
        "distinct_results": max(distinct_results(problem.facts, currency, ORDERS) for problem in problems),
    }
    return figures, tally.faults


def speed(setting: str, currency: Currency, share: int | None) -> dict[str, Cell]:
    """Time per fact at 1,000 and 100,000 facts, with `share` facts to a subject, or all of one subject."""
    small, large = (
        1e6 * seconds_per_fact(currency, count, subjects=count // share if share else 1) for count in (1_000, 100_000)
    )
    return {"setting": setting, "n": 100_000, "us_at_1000": small, "us_at_100000": large, "ratio": large / small}


def script() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows of the tables to FILE as well")
    parser.add_argument("--currency", default="slots", help="the option of conf/currency to measure")
    parser.add_argument("--faults", action="store_true", help="list every answer that is not as it should be")
    given = parser.parse_args()
    currency = component(compose(f"currency={given.currency}"), "currency")
    measured = [row(setting, source, currency) for setting in SETTINGS for source in ("gold", "rule")]
    answers = [figures for figures, _ in measured]
    show(answers, ANSWERS)
    for figures, faults in measured if given.faults else ():
        print(*(f"{figures['setting']} {figures['split']} {fault}" for fault in faults), sep="\n")
    times = [speed("50 facts a subject", currency, 50), speed("one subject", currency, None)]
    show(times, TIMES)
    save([*answers, *times], given.json)


if __name__ == "__main__":
    main(script)
