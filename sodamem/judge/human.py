"""People as a judge: labels that were set on the page of a re-judging, and exported there as JSON.

A label holds for one answer to one question; another answer to the same question is not judged by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast, get_args

from sodamem import text
from sodamem.errors import ConfigError, DataError
from sodamem.protocols import Judge
from sodamem.types import Answer, Label, Question, Verdict

FORMAT = "sodamem labels 1"
KEYS = ("question_id", "answer", "label")
LABELS: tuple[str, ...] = get_args(Label)


def fingerprint(answer: Answer) -> str:
    """What ties a label to the words that it was set on."""
    return text.digest(answer.text)[:16]


@dataclass(frozen=True, kw_only=True)
class HumanJudge(Judge):
    """Verdicts from a file of labels.

    path: the exported JSON, an object of `format` and `labels`, a list of {question_id, answer, label, note?}, where
    `answer` is the fingerprint of the answer. It is read once, at the first question; DataError tells what is wrong.
    """

    name: str
    path: str | None

    @cached_property
    def digest(self) -> str:
        return text.digest("human/1", sorted((*key, *value) for key, value in self._labels.items()))

    def grade(self, question: Question, answer: Answer) -> Verdict:
        if (found := self._labels.get((question.id, fingerprint(answer)))) is None:
            return Verdict(label="unjudged", judge=self.name, reason="human: no label for this answer")
        label, note = found
        return Verdict(label=label, judge=self.name, reason=f"human: {note}" if note else "human", raw=note)

    @cached_property
    def _labels(self) -> Mapping[tuple[str, str], tuple[Label, str]]:
        if self.path is None:
            raise ConfigError("judge.path must name a file of labels, got null. Export one from a re-judging's page")
        try:
            data = json.loads(Path(self.path).read_text(encoding="utf-8-sig"))
        except OSError as error:
            reason = (error.strerror or "").lower()
            raise DataError(f"judge.path must name a readable file, got {self.path} ({reason})") from error
        except ValueError as error:
            raise DataError(f"{self.path} must be valid JSON, but {error}. Export the labels again") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("labels"), list):
            raise DataError(f"{self.path} must hold labels in the format {FORMAT!r}. Export them from a page")
        found: dict[tuple[str, str], tuple[Label, str]] = {}
        for place, row in enumerate(data["labels"]):
            key, value = self._label(row, f"{self.path}: labels[{place}]")
            if found.setdefault(key, value) != value:
                raise DataError(f"{self.path} must label an answer once, got two labels for question {key[0]}")
        return found

    @staticmethod
    def _label(row: Any, where: str) -> tuple[tuple[str, str], tuple[Label, str]]:
        if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in KEYS):
            raise DataError(f"{where} must have {', '.join(KEYS)} as texts, got {str(row)[:80]}")
        if row["label"] not in LABELS:
            raise DataError(f"{where}.label must be one of {', '.join(LABELS)}, got {row['label']!r}")
        return (row["question_id"], row["answer"]), (cast("Label", row["label"]), str(row.get("note") or ""))
