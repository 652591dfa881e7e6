"""How much the rule extractor finds, and how much of that is right: hand-labelled sentences, and the synthetic gold.

Paper sections 3.2 and 4.2. A fact counts as found when predicate, subject and value agree; modality, polarity and
flags are scored on the facts found, so that a wrong reading is not hidden by a right one.

    python -m experiments.extraction --json extraction.json
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from experiments.common import Cell, main, save, show
from sodamem.build import component
from sodamem.config import compose
from sodamem.protocols import Extractor, Timeline
from sodamem.text import words
from sodamem.types import FactEvent, History, Session, Turn

SENTENCES = Path(__file__).parents[1] / "tests" / "data" / "labelled_sentences.yaml"
SAID_AT = datetime(2023, 6, 9, 10, 0)
# Synthetic predicates that the fact model names otherwise.
NAMES = {
    "favourite_food": "favourite",
    "favourite_colour": "favourite",
    "weight": "weighs",
    "plays_instrument": "plays",
}
COLUMNS = ("gold", "facts", "recall", "precision", "modality", "polarity", "flags")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One fact in the form in which gold and found ones are compared."""

    subject: str
    predicate: str
    value: tuple[str, ...]
    modality: str
    polarity: bool
    flags: frozenset[str]

    def same_fact(self, other: Reading) -> bool:
        """Same subject and predicate, and values of which one holds all words of the other."""
        mine, theirs = set(self.value), set(other.value)
        close = (mine <= theirs or theirs <= mine) and bool(mine) == bool(theirs)
        return (self.subject, self.predicate) == (other.subject, other.predicate) and close


class Score:
    """Counts over pairs of gold and found facts."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()

    def add(self, gold: list[Reading], found: list[Reading]) -> None:
        self.count.update(gold=len(gold), facts=len(found))
        rest = list(found)
        for wanted in gold:
            match = next((reading for reading in rest if wanted.same_fact(reading)), None)
            if match is None:
                continue
            rest.remove(match)
            self.count.update(
                found=1,
                modality=match.modality == wanted.modality,
                polarity=match.polarity == wanted.polarity,
                flags=match.flags == wanted.flags,
            )

    def row(self, source: str) -> dict[str, Cell]:
        n, found = self.count, self.count["found"]
        shares = {name: n[name] / found if found else None for name in ("modality", "polarity", "flags")}
        return {
            "source": source,
            "gold": n["gold"],
            "facts": n["facts"],
            "recall": found / n["gold"] if n["gold"] else None,
            "precision": found / n["facts"] if n["facts"] else None,
            **shares,
        }


def labelled(extractor: Extractor, timeline: Timeline, path: Path = SENTENCES) -> Score:
    """The labelled sentences, each said by Ana alone, so that no sentence helps another."""
    score = Score()
    for row in yaml.safe_load(path.read_text(encoding="utf-8")):
        turn = Turn(id="t", session_id="s", index=0, role="speaker", speaker="Ana", text=row["text"], at=SAID_AT)
        session = Session(id="s", at=SAID_AT, turns=(turn,))
        history = History(id="h", sessions=(session,), digest="", speakers=("Ana", "Melanie"))
        facts = extractor.extract(session, history, timeline).facts
        score.add([_label(label) for label in row["facts"]], [_reading(fact, "person:ana") for fact in facts])
    return score


def synthetic(extractor: Extractor, timeline: Timeline, corpus: Any, predicates: frozenset[str]) -> Score:
    """What users say in the synthetic histories, turn by turn; only facts of `predicates` can be right or wrong."""
    score = Score()
    for history_id in corpus.history_ids:
        history = corpus.history(history_id)
        gold: dict[str, list[Reading]] = {}
        for statement in corpus.gold(history_id).statements:
            if statement.modality not in ("advice", "external_info"):
                gold.setdefault(statement.turn_id, []).append(_statement(statement))
        for turn_id, facts in _by_turn(extractor, timeline, history):
            found = [_reading(fact, f"person:{history.user.lower()}") for fact in facts if fact.predicate in predicates]
            score.add(gold.pop(turn_id, []), found)
        for missed in gold.values():
            score.add(missed, [])
    return score


def _by_turn(extractor: Extractor, timeline: Timeline, history: History) -> Iterator[tuple[str, list[FactEvent]]]:
    for session in history.sessions:
        turns: dict[str, list[FactEvent]] = {}
        for fact in extractor.extract(session, history, timeline).facts:
            turns.setdefault(fact.pieces[0].turn_id, []).append(fact)
        yield from turns.items()


def _label(label: dict[str, Any]) -> Reading:
    return Reading(
        subject=label.get("subject", "me"),
        predicate=label["predicate"],
        value=tuple(words(label["value"])),
        modality=label.get("modality", "current_state"),
        polarity=label.get("polarity", True),
        flags=frozenset(label.get("flags", ())),
    )


def _statement(statement: Any) -> Reading:
    renamed = {"change": "state_change"}
    kept = {"change", "correction", "temporary", "hypothetical"}
    return Reading(
        subject="me" if statement.subject == "user" else statement.subject.lower(),
        predicate=NAMES.get(statement.predicate, statement.predicate),
        value=tuple(words(statement.value)),
        modality=statement.modality,
        polarity=statement.polarity,
        flags=frozenset(renamed.get(flag, flag) for flag in kept.intersection(statement.flags)),
    )


def _reading(fact: FactEvent, speaker: str) -> Reading:
    value = next((role.words for role in fact.roles if role.name == "value"), "")
    return Reading(
        subject=fact.subject.replace(speaker, "me").removeprefix("person:"),
        predicate=fact.predicate,
        value=tuple(words(value)),
        modality=fact.modality,
        polarity=fact.polarity,
        flags=frozenset(fact.flags) - {"third_party"},
    )


def speed(extractor: Extractor, timeline: Timeline, corpus: Any) -> float:
    """Turns per second of this machine, reading times included."""
    histories = [corpus.history(history_id) for history_id in corpus.history_ids]
    sessions = [(session, history) for history in histories for session in history.sessions]
    start = time.process_time()
    for session, history in sessions:
        extractor.extract(session, history, timeline)
    return sum(len(session.turns) for session, _ in sessions) / (time.process_time() - start)


def script() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows of the table to FILE as well")
    arguments = parser.parse_args()
    cfg = compose("dataset=synthetic_hard", "extractor=rule", "timeline=calendar")
    extractor, timeline, corpus = (component(cfg, group) for group in ("extractor", "timeline", "dataset"))
    opened = corpus.open()
    gold = (s.predicate for name in opened.history_ids for s in opened.gold(name).statements)
    declared = frozenset(NAMES.get(predicate, predicate) for predicate in gold)
    rows = [
        labelled(extractor, timeline).row("labelled sentences"),
        synthetic(extractor, timeline, opened, declared).row("synthetic_hard"),
    ]
    show(rows, ("source", *COLUMNS))
    print(f"{speed(extractor, timeline, opened):.0f} turns a second")
    save(rows, arguments.json)


if __name__ == "__main__":
    main(script)
