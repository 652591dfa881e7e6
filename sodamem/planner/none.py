"""No planning: the evidence of one recall is what the reader gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sodamem.protocols import Desk, Planner
from sodamem.types import Evidence, Question


@dataclass(frozen=True, kw_only=True)
class NoPlanner(Planner):
    def gather(self, question: Question, recall: Desk) -> Sequence[Evidence]:
        return recall(question)
