"""Answers whose verdict is known, in named classes: right in several forms, wrong in as many ways, and injections.

Made from the questions of a dataset by the changes of `perturb`, and from the LoCoMo audit's wrong answers
(dial481/locomo-audit), specific and vague ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from sodamem import text
from sodamem.admission import perturb
from sodamem.dataset.common import parse_json, read_bytes
from sodamem.dataset.hypotheses import UNDATED
from sodamem.errors import DataError
from sodamem.types import Answer, Question

RIGHT = ("gold", "sentence", "other_form", "abstention")
WRONG: tuple[str, ...] = ("other", "trap", "date", "number", "half", "negation", "hedge", "listing")
WRONG += ("abstained", "asserted", "specific", "vague")
INJECTION = "injection"
CLASSES = (*RIGHT, *WRONG, INJECTION)
AUDIT = {"specific": "ap_v1_specific_wrong_scored.json", "vague": "ap_v2_vague_wrong_scored.json"}
ERRORS = "errors.json"
_SOUND_GOLD = "WRONG_CITATION"  # the one kind of finding of the audit that leaves the gold right

_RUBRIC = re.compile(r"^(?:the user would prefer|suggest)\b", re.IGNORECASE)  # a preference gold describes an answer
_ORDERED = re.compile(r"\b(?:order|first|last|before|after|sequence)\b", re.IGNORECASE)
_SENTENCES = ("The answer is {}.", "From what you told me: {}.", "It is {}, as you said in an earlier chat.")
_ABSTENTIONS = ("I don't know.", "You have not mentioned that.", "There is no information about this in our chats.")


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """An answer of a class; the class says whether it is right."""

    kind: str
    question: Question
    answer: Answer

    @property
    def right(self) -> bool:
        return self.kind in RIGHT


def build(questions: Sequence[Question], audit: Path | None, *, per_class: int, seed: int) -> list[Labelled]:
    """At most `per_class` answers of each class, chosen by hash; injections: one for each way of it at least.

    Raises DataError when the questions give no class of right or of wrong answers.
    """
    asked = sorted((q for q in questions if not q.erratum), key=lambda q: text.digest(seed, q.id))
    sure = [q for q in asked if q.answerable and not _RUBRIC.match(q.gold)]
    found: list[Labelled] = []
    for kind, candidates in _classes(sure, asked, audit, seed).items():
        limit = max(per_class, len(injections())) if kind == INJECTION else per_class
        for number, (question, words) in zip(range(limit), candidates, strict=False):
            # Every labelled answer is a question of its own, so that ledgers and pages can tell them apart.
            named = replace(question, id=f"{kind}/{number}/{question.id}", history_id=question.id)
            found.append(Labelled(kind=kind, question=named, answer=Answer(text=words)))
    if not {item.right for item in found} == {True, False}:
        raise DataError("the labelled set must hold right and wrong answers, got too few questions. Take more")
    return found


Candidates = Iterator[tuple[Question, str]]


def _classes(
    sure: Sequence[Question], asked: Sequence[Question], audit: Path | None, seed: int
) -> dict[str, Candidates]:
    silent = [q for q in asked if not q.answerable]
    made: dict[str, Candidates] = {
        "gold": ((q, q.gold) for q in sure),
        "sentence": ((q, _turn(_SENTENCES, i).format(q.gold.rstrip("."))) for i, q in enumerate(sure)),
        "other_form": _changed([q for q in sure if not _ORDERED.search(q.text)], perturb.other_form),
        "abstention": ((q, _turn(_ABSTENTIONS, i)) for i, q in enumerate(silent)),
        "other": ((q, other) for q in sure if (other := _other(q, sure))),
        "trap": ((q, q.trap) for q in sure if q.trap and not _akin(q.trap, q.gold)),
        "hedge": ((q, f"Either {q.gold} or {other}, I am not sure which.") for q in sure if (other := _other(q, sure))),
        "listing": ((q, listing) for q in sure if (listing := _listing(q, sure))),
        "abstained": ((q, _turn(_ABSTENTIONS, i)) for i, q in enumerate(sure)),
        "asserted": ((q, q.trap or _turn(sure, i).gold) for i, q in enumerate(silent)),
        INJECTION: _injected(sure),
    }
    made |= {kind: _changed(sure, change) for kind, change in perturb.NEAR_MISSES.items()}
    if audit is not None:
        made |= {kind: _audited(audit, kind, seed) for kind in AUDIT}
    return made


def _changed(questions: Sequence[Question], change: Callable[[str], str | None]) -> Candidates:
    return ((q, words) for q in questions if (words := change(q.gold)) is not None and words != q.gold)


def _injected(sure: Sequence[Question]) -> Candidates:
    """Every way of injecting, each with a question of its own as far as they reach."""
    targets = [(q, other) for q in sure if (other := _other(q, sure))]
    if targets:
        for place, form in enumerate(injections() * (1 + len(targets) // len(injections()))):
            question, wrong = targets[place % len(targets)]
            yield question, form.format(wrong=wrong)


def _other(question: Question, questions: Sequence[Question]) -> str | None:
    """Another question's gold of the same shape that shares no word with this one's: wrong, and of the same kind."""
    start = next(place for place, other in enumerate(questions) if other is question)
    for step in range(1, len(questions)):
        other = questions[(start + step) % len(questions)]
        alike = perturb.shape(other.gold) == perturb.shape(question.gold) and other.category == question.category
        if alike and not _akin(other.gold, question.gold) and not perturb.polar(other.gold):
            return None if perturb.polar(question.gold) else other.gold
    return None


def _listing(question: Question, questions: Sequence[Question]) -> str | None:
    """The gold among two other things of its kind, as one answers who names every value there ever was."""
    single = [q for q in questions if not re.search(r"[,;&]| and ", q.gold) and len(q.gold.split()) <= 6]
    if question not in single or perturb.shape(question.gold) != "words":
        return None
    first = _other(question, single)
    second = _other(question, [q for q in single if q.gold != first])
    return f"{first}, {question.gold.rstrip('.')}, {second}" if first and second else None


def _akin(a: str, b: str) -> bool:
    return bool(set(text.terms(a) or text.words(a)) & set(text.terms(b) or text.words(b)))


def _turn(values: Sequence[Any], place: int) -> Any:
    return values[place % len(values)]


@lru_cache(maxsize=1)
def injections() -> tuple[str, ...]:
    """The ways to inject a verdict, each with a place for the wrong answer."""
    source = (resources.files("sodamem.admission") / "injections.yaml").read_text(encoding="utf-8")
    return tuple(yaml.safe_load(source))


# --- the audit ----------------------------------------------------------------------------------------------


def _audited(folder: Path, kind: str, seed: int) -> Candidates:
    """The audit's wrong answers of one kind, but for questions whose gold it found wrong itself."""
    remedy = "Get it from github.com/dial481/locomo-audit"
    errors = parse_json(read_bytes(folder / ERRORS, "audit", remedy), folder / ERRORS)
    disputed = {
        node.get("question_id").text() for node in errors.items() if node.get("error_type").value != _SOUND_GOLD
    }
    path = folder / AUDIT[kind]
    data = parse_json(read_bytes(path, "audit", remedy), path).get("detailed_results")
    if not isinstance(data.value, Mapping):
        raise data.error("be an object")
    rows = [row for user in data.value for row in data.get(user).items()]
    rows = [row for row in rows if row.get("question_id").text() not in disputed]
    for row in sorted(rows, key=lambda row: text.digest(seed, row.get("question_id").text())):
        name, category = row.get("question_id").text(), f"category_{row.get('category').scalar()}"
        question = Question(
            id=name,
            history_id=name,
            text=row.get("question").text(),
            asked_at=UNDATED,
            category=category,
            category_name=category,
            gold=row.get("golden_answer").scalar(),
        )
        yield question, row.get("generated_answer").scalar()


def digest(items: Sequence[Labelled]) -> str:
    """Identifies a labelled set by its content."""
    return text.digest([(i.kind, i.question.text, i.question.gold, i.question.category, i.answer.text) for i in items])


def as_json(items: Sequence[Labelled]) -> str:
    """The set as JSON lines, for a look at it."""
    rows = (
        {"class": item.kind, "question": item.question.text, "gold": item.question.gold, "answer": item.answer.text}
        for item in items
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
