"""Judging answers again: every judge over every answer, each verdict kept on disk, nothing judged twice.

What evaluate.py does for answers of our own, for anybody's; the rules for verdicts are those of docs/evaluation.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sodamem.dataset.hypotheses import Hypotheses, Hypothesis
from sodamem.errors import ConfigError, ServiceError
from sodamem.judge.identity import FAILED, Repeatable, identity, repeated
from sodamem.judge.panel import PanelJudge
from sodamem.protocols import Judge
from sodamem.rejudge.verdicts import Key, Verdicts
from sodamem.types import Verdict

PATIENCE = 20  # failures of a model in a row
PUBLISHED = "published"  # the name of the verdicts that came with the answers, which are no judge of ours


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """What one judge said of every answer, repeat by repeat; the first repeat is the one that counts.

    digest: of the judge, empty for the published verdicts · verdicts: one tuple for each repeat, in the order of the
    answers.
    """

    name: str
    digest: str
    verdicts: tuple[tuple[Verdict, ...], ...]

    @property
    def counted(self) -> tuple[Verdict, ...]:
        return self.verdicts[0]


@dataclass(frozen=True, kw_only=True)
class Rejudged:
    """Answers with the opinions on them, the published one first where there is one."""

    answers: Hypotheses
    opinions: tuple[Opinion, ...]

    @property
    def disagreements(self) -> list[int]:
        """Places of the answers on which not all opinions are the same."""
        columns = zip(*(opinion.counted for opinion in self.opinions), strict=True)
        return [place for place, verdicts in enumerate(columns) if len({verdict.label for verdict in verdicts}) > 1]


def rejudge(
    answers: Hypotheses,
    judges: Sequence[Judge],
    verdicts: Verdicts,
    *,
    repeats: int = 1,
    workers: int = 1,
    step: Callable[[str], None] = lambda _: None,
) -> Rejudged:
    """Ask every judge about every answer, `workers` answers at a time; `step` is told the judge after each of them.

    Verdicts that `verdicts` holds are not asked for again, unjudged ones are. Repeats beyond the first are made with
    judges that may change their mind. Raises ConfigError for judges that share a name or have no digest, ServiceError
    when a judge's model fails again and again.
    """
    names = [PUBLISHED, *(judge.name for judge in judges)]
    if double := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"judges must have names of their own, got {double!r} twice. Set name=… of one of them")
    for field, value in (("repeats", repeats), ("workers", workers)):
        if value < 1:
            raise ConfigError(f"{field} must be >= 1, got {value}")
    bench = _Bench(verdicts)
    opinions = [_published(answers)] if any(given.published for given in answers.answers) else []
    with ThreadPoolExecutor(max_workers=workers) as pool:
        for judge in judges:
            rounds = []
            for number in range(repeats if isinstance(judge, Repeatable) else 1):

                def each(given: Hypothesis, judge: Judge = judge, number: int = number) -> Verdict:
                    verdict = bench.verdict(judge, given, number)
                    step(judge.name)
                    return verdict

                rounds.append(tuple(pool.map(each, answers.answers) if workers > 1 else map(each, answers.answers)))
            opinions.append(Opinion(name=judge.name, digest=identity(judge), verdicts=tuple(rounds)))
    return Rejudged(answers=answers, opinions=tuple(opinions))


def _published(answers: Hypotheses) -> Opinion:
    verdicts = tuple(
        Verdict(label=given.published or "unjudged", judge=answers.published_by) for given in answers.answers
    )
    return Opinion(name=PUBLISHED, digest="", verdicts=(verdicts,))


class _Bench:
    """Judges with a memory of what they have said."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts
        self._failures = 0  # in a row
        self._known = {key: verdict for key, verdict in verdicts.all().items() if verdict.label != "unjudged"}

    def verdict(self, judge: Judge, given: Hypothesis, number: int) -> Verdict:
        key = Key(judge=identity(judge), question_id=given.question.id, repeat=number)
        if key not in self._known:
            made = self._ask(judge, given, number)
            self._verdicts.put({key: made})
            self._known[key] = made
            self._bear(judge, made)
        return self._known[key]

    def _ask(self, judge: Judge, given: Hypothesis, number: int) -> Verdict:
        if isinstance(judge, PanelJudge):  # its members are heard once, whether they also sit alone or not
            return judge.combine([self.verdict(member, given, number) for member in judge.judges.values()])
        return repeated(judge, number).grade(given.question, given.answer)

    def _bear(self, judge: Judge, verdict: Verdict) -> None:
        """Stop when a model fails again and again; the others are spared the wait."""
        self._failures = self._failures + 1 if verdict.reason.startswith(FAILED) else 0
        if self._failures >= PATIENCE:
            reason = verdict.reason.removeprefix(FAILED)
            raise ServiceError(
                f"judge {judge.name} failed {PATIENCE} times in a row ({reason}). See to its model and go on: "
                "what was judged is kept"
            )
