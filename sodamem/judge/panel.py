"""A panel of judges, which is a judge: several opinions to one verdict, by a declared vote.

Panels of different models err less alike than one model (Verga et al. 2024, arXiv 2404.18796).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sodamem import text
from sodamem.errors import ConfigError
from sodamem.judge.identity import identity, repeated
from sodamem.protocols import Judge
from sodamem.types import Answer, Label, Question, Verdict

VOTES = ("majority", "unanimous", "any")


@dataclass(frozen=True, kw_only=True)
class PanelJudge(Judge):
    """Correct by vote: `majority` of all members, `unanimous` (one incorrect decides), or `any` (one correct decides).

    A member that did not judge has no vote and lowers no bar: where the vote hangs on it, the panel is unjudged.
    """

    name: str
    vote: str
    judges: Mapping[str, Judge]

    def __post_init__(self) -> None:
        if self.vote not in VOTES:
            raise ConfigError(f"judge.vote must be one of {', '.join(VOTES)}, got {self.vote!r}")
        if len(self.judges) < 2:
            raise ConfigError(f"judge.judges must name at least two members, got {len(self.judges)}")

    @property
    def digest(self) -> str:
        return text.digest("panel/1", self.vote, sorted(identity(judge) for judge in self.judges.values()))

    def repeated(self, number: int) -> PanelJudge:
        return replace(self, judges={name: repeated(judge, number) for name, judge in self.judges.items()})

    def grade(self, question: Question, answer: Answer) -> Verdict:
        return self.combine([judge.grade(question, answer) for judge in self.judges.values()])

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """The verdict that follows from those of the members, in their order."""
        said = ", ".join(f"{name} {verdict.label}" for name, verdict in zip(self.judges, verdicts, strict=True))
        usage = tuple(usage for verdict in verdicts for usage in verdict.usage)
        label = self._label([verdict.label for verdict in verdicts])
        return Verdict(label=label, judge=self.name, reason=f"{self.vote}: {said}", usage=usage)

    def _label(self, labels: Sequence[Label]) -> Label:
        right, wrong, bar = labels.count("correct"), labels.count("incorrect"), len(labels) / 2
        if self.vote == "majority":
            return "correct" if right > bar else "incorrect" if wrong > bar else "unjudged"
        if self.vote == "unanimous":
            return "incorrect" if wrong else "correct" if right == len(labels) else "unjudged"
        return "correct" if right else "incorrect" if wrong == len(labels) else "unjudged"
