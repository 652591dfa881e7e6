"""Answers that somebody gave and that are to be judged again, joined to the questions they answer.

One reader for all formats: a mapping says where a file keeps what. Presets: LongMemEval's hypothesis files (Wu et al.
2025), the release of arXiv 2608.08055, and the questions.jsonl of our own runs.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sodamem.dataset.common import Node, choice, parse_json, read_bytes, sha256, sound
from sodamem.dataset.longmemeval import read_errata
from sodamem.errors import ConfigError, DataError
from sodamem.types import Answer, Label, Question

NEEDED = ("id", "answer")
ASKED = ("text", "gold", "category")  # of the reference where there is one, else of the row itself
KNOWN = (*NEEDED, *ASKED, "history", "published", "judge", "status", "abstained", "answerable", "erratum")
UNDATED = datetime(1, 1, 1)  # these files give no date of asking, and no judge looks at one
# What published files write for a verdict. Anything else is no verdict: bool("false") would be True.
_VERDICTS: Mapping[str, Label] = {
    "true": "correct", "yes": "correct", "correct": "correct", "1": "correct",
    "false": "incorrect", "no": "incorrect", "incorrect": "incorrect", "0": "incorrect", "unjudged": "unjudged",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """One answer with the question it was given to; `published` is the verdict that came with it, None without one."""

    question: Question
    answer: Answer
    published: Label | None


@dataclass(frozen=True, kw_only=True)
class Hypotheses:
    """All answers of a file, and the questions that nobody answered, which count as not correct.

    sha256: of the answers and of the questions they were joined to · published_by: the judge that came with them, as it
    is named there · notes: what was joined, repaired or left out: reason -> ids.
    """

    name: str
    sha256: str
    answers: tuple[Hypothesis, ...]
    missing: tuple[Question, ...]
    published_by: str
    notes: Mapping[str, Sequence[str]]

    @property
    def questions(self) -> list[Question]:
        """The whole reference set: the denominator of strict accuracy."""
        return [*(given.question for given in self.answers), *self.missing]


@dataclass(frozen=True, kw_only=True)
class HypothesesFile:
    """Reads answers from a JSON list or from JSON lines.

    fields: what we need -> where a row keeps it, dots for nesting; id and answer must be there, text, gold and category
    too where there is no reference · reference: file of the questions, null when the rows hold them · reference_fields:
    likewise for id, text, gold, category · join: rows belong to the question of the same `id` or of the same `text` ·
    abstention: end of an id that marks a question as not answerable · errata: name of the list of disputed golds.
    """

    name: str
    path: str
    fields: Mapping[str, str]
    reference: str | None
    reference_fields: Mapping[str, str]
    join: str
    abstention: str | None
    errata: str | None

    def __post_init__(self) -> None:
        choice("hypotheses.join", self.join, ("id", "text"))
        for name, fields in (("fields", self.fields), ("reference_fields", self.reference_fields)):
            if strange := sorted(set(fields) - set(KNOWN)):
                raise ConfigError(f"hypotheses.{name} must be some of {', '.join(KNOWN)}, got {strange[0]}")
        for name, fields, needed in (
            ("fields", self.fields, NEEDED if self.reference else (*NEEDED, *ASKED)),
            ("reference_fields", self.reference_fields, ("id", *ASKED) if self.reference else ()),
        ):
            if lacking := next((field for field in needed if field not in fields), None):
                raise ConfigError(f"hypotheses.{name} must say where {lacking} is. Set hypotheses.{name}.{lacking}")

    def open(self) -> Hypotheses:
        """Read and join; raises DataError for a file that is not as `fields` says, or answers a question twice."""
        remedy = "Set hypotheses.path to the file of answers"
        rows, digest = _rows(Path(self.path), "hypotheses.path", remedy)
        disputed = read_errata(self.errata) if self.errata else {}
        notes: dict[str, list[str]] = defaultdict(list)
        asked: dict[str, Question] = {}
        if self.reference:
            remedy = "Set hypotheses.reference to the file of questions"
            nodes, other = _rows(Path(self.reference), "hypotheses.reference", remedy)
            digest = sha256(f"{digest} {other}".encode())
            for node in nodes:
                question = self._question(node, self.reference_fields, disputed)
                if asked.setdefault(self._key(question), question) is not question:
                    raise node.error(f"have a {self.join} of its own to be joined by, got that of another question")
        found: dict[str, Hypothesis] = {}
        judges: set[str] = set()
        for node in rows:
            key = self._text(node, "text" if self.reference and self.join == "text" else "id")
            if self.reference and key not in asked:
                notes["not_in_reference"].append(self._text(node, "id"))
                continue
            question = asked[key] if self.reference else self._question(node, self.fields, disputed)
            if question.id in found:
                raise node.error(f"answer a question once, got a second answer to {question.id}. Remove one of them")
            found[question.id] = self._hypothesis(node, question, notes)
            if (judge := self._find(node, self.fields, "judge")) is not None:
                judges.add(judge.scalar())
        missing = tuple(question for question in asked.values() if question.id not in found)
        if missing:
            notes["not_answered"] = [question.id for question in missing]
        if not found:
            raise DataError(f"{self.path} must hold an answer to a question of the reference, it has none")
        return Hypotheses(
            name=self.name,
            sha256=digest,
            answers=tuple(found.values()),
            missing=missing,
            published_by=", ".join(sorted(judges)) or "published",
            notes=dict(notes),
        )

    def _hypothesis(self, node: Node, question: Question, notes: dict[str, list[str]]) -> Hypothesis:
        gold = self._find(node, self.fields, "gold")
        if gold is not None and self.reference:
            if not isinstance(gold.value, str):
                notes["gold_not_text"].append(question.id)
            if gold.scalar() != question.gold:
                notes["gold_differs"].append(question.id)
        category = self._find(node, self.fields, "category")
        if category is not None and category.scalar() != question.category:
            notes["category_differs"].append(question.id)
        published: Label | None = None
        if (node_of := self._find(node, self.fields, "published")) is not None:
            published = _VERDICTS.get(str(node_of.value).strip().casefold())
            if published is None:
                notes["published_unreadable"].append(question.id)
        given = self._find(node, self.fields, "answer")
        status = self._find(node, self.fields, "status")
        failed = given is None or (status is not None and status.value == "failed")
        if given is None:
            notes["no_answer"].append(question.id)
        abstained = self._find(node, self.fields, "abstained")
        answer = Answer(
            text=_words(given) if given is not None else "",
            abstained=abstained is not None and abstained.value is True,
            status="failed" if failed else "ok",
        )
        return Hypothesis(question=question, answer=answer, published=published)

    def _question(self, node: Node, fields: Mapping[str, str], disputed: Mapping[str, str]) -> Question:
        name = self._text(node, "id", fields)
        history = self._find(node, fields, "history")
        answerable, erratum = self._find(node, fields, "answerable"), self._find(node, fields, "erratum")
        category = self._text(node, "category", fields)
        return Question(
            id=name,
            history_id=name if history is None else history.scalar(),
            text=self._text(node, "text", fields),
            asked_at=UNDATED,
            category=category,
            category_name=category.replace("-", " ").replace("_", " "),
            gold=self._text(node, "gold", fields),
            answerable=not (self.abstention and name.endswith(self.abstention))
            and not (answerable is not None and answerable.value is False),
            erratum=disputed.get(name, "") or ("" if erratum is None else erratum.scalar()),
        )

    def _key(self, question: Question) -> str:
        return question.text if self.join == "text" else question.id

    def _text(self, node: Node, name: str, fields: Mapping[str, str] | None = None) -> str:
        chosen = self.fields if fields is None else fields
        if (found := self._find(node, chosen, name)) is None:
            raise DataError(f"{node.file}: {node.path} must have {name} under {chosen.get(name)!r}, it has none")
        return found.scalar()

    @staticmethod
    def _find(node: Node, fields: Mapping[str, str], name: str) -> Node | None:
        if name not in fields:
            return None
        found: Node | None = node
        for part in fields[name].split("."):
            found = found.find(part) if found is not None else None
        return found


def _words(node: Node) -> str:
    """What was said, also where a model said half a surrogate pair."""
    return sound(node.value) if isinstance(node.value, str) else node.scalar()


def _rows(path: Path, field: str, remedy: str) -> tuple[list[Node], str]:
    """The rows of a JSON list or of JSON lines, and the sha256 of the file."""
    data = read_bytes(path, field, remedy)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return list(parse_json(data, path).items()), sha256(data)
    return list(_lines(data, path)), sha256(data)


def _lines(data: bytes, path: Path) -> Iterator[Node]:
    for number, line in enumerate(data.splitlines(), start=1):
        if line.strip():
            try:
                value: Any = json.loads(line)
            except ValueError as error:
                raise DataError(f"{path} must hold one JSON object a line, line {number} is none ({error})") from None
            yield Node(value, path.name, f"line {number}")
