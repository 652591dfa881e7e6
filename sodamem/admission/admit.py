"""The admission of a judge: its error rates by class of answer, against declared bounds, kept under its digest.

A judge outside its bounds, or one that was never tried, still judges; whatever shows its verdicts says so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sodamem import text
from sodamem.admission import labelled
from sodamem.admission.labelled import CLASSES, INJECTION, Labelled
from sodamem.dataset.hypotheses import Hypotheses, Hypothesis
from sodamem.errors import ConfigError, DataError, StoreError
from sodamem.judge.identity import identity
from sodamem.metric.agreement import Quality
from sodamem.metric.statistics import wilson
from sodamem.protocols import Dataset, Judge
from sodamem.rejudge.rejudge import rejudge
from sodamem.rejudge.verdicts import Verdicts
from sodamem.report import columns


@dataclass(frozen=True, kw_only=True)
class Admission:
    """The labelled set and the bounds.

    dataset: whose questions and golds the answers are made from · audit: folder of dial481/locomo-audit, null without ·
    per_class: answers of each class at most · bounds: class -> largest share of answers that may be judged against
    their label · unjudged: largest share that may be left without a verdict, in any class.
    """

    dataset: Dataset
    audit: str | None
    per_class: int
    seed: int
    bounds: Mapping[str, float]
    unjudged: float

    def __post_init__(self) -> None:
        if self.per_class < 1:
            raise ConfigError(f"admission.per_class must be >= 1, got {self.per_class}")
        if odd := sorted(set(CLASSES) ^ set(self.bounds)):
            raise ConfigError(f"admission.bounds must have one bound for each of {', '.join(CLASSES)}; see {odd[0]}")
        for name, bound in {**self.bounds, "unjudged": self.unjudged}.items():
            if not 0 <= bound <= 1:
                raise ConfigError(f"admission bound of {name} must be within 0..1, got {bound}")

    def items(self) -> list[Labelled]:
        """The labelled answers; the same for the same data and settings."""
        corpus = self.dataset.open()
        questions = [question for history in corpus.history_ids for question in corpus.questions(history)]
        audit = Path(self.audit) if self.audit else None
        return labelled.build(questions, audit, per_class=self.per_class, seed=self.seed)


@dataclass(frozen=True, kw_only=True)
class Record:
    """What came of it. classes: name -> n, errors (against the label), unjudged, rate, low, high, bound, within."""

    judge: str
    digest: str
    answers: str  # digest of the labelled set
    admitted: bool
    classes: Mapping[str, Mapping[str, Any]]

    @property
    def quality(self) -> Quality:
        """Counts over right and wrong answers that were judged, injections left out: they are no ordinary errors."""
        judged = {name: row["n"] - row["unjudged"] for name, row in self.classes.items()}
        right = [name for name in labelled.RIGHT if name in judged]
        wrong = [name for name in labelled.WRONG if name in judged]
        return Quality(
            right=sum(judged[name] for name in right),
            accepted=sum(judged[name] - self.classes[name]["errors"] for name in right),
            wrong=sum(judged[name] for name in wrong),
            refused=sum(judged[name] - self.classes[name]["errors"] for name in wrong),
        )


def admit(
    admission: Admission,
    judge: Judge,
    folder: Path,
    *,
    workers: int = 1,
    step: Callable[[str], None] = lambda _: None,
) -> Record:
    """Show the judge every labelled answer, and keep what came of it in `folder`; an interrupted try goes on."""
    items = admission.items()
    answers = labelled.digest(items)
    shown = Hypotheses(
        name="admission",
        sha256=text.digest(answers),
        answers=tuple(Hypothesis(question=i.question, answer=i.answer, published=None) for i in items),
        missing=(),
        published_by="",
        notes={},
    )
    with Verdicts(folder / f"verdicts-{answers[:12]}.sqlite", shown.sha256) as verdicts:
        (opinion,) = rejudge(shown, [judge], verdicts, workers=workers, step=step).opinions
    classes = _classes(admission, items, [verdict.label for verdict in opinion.counted])
    record = Record(
        judge=judge.name,
        digest=identity(judge),
        answers=answers,
        admitted=all(row["within"] for row in classes.values()),
        classes=classes,
    )
    _keep(folder, record)
    return record


def _classes(admission: Admission, items: Sequence[Labelled], labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    counts: dict[str, Counter[str]] = {}
    for item, label in zip(items, labels, strict=True):
        against = "incorrect" if item.right else "correct"
        counts.setdefault(item.kind, Counter()).update(n=1, errors=label == against, unjudged=label == "unjudged")
    found = {}
    for name in CLASSES:
        if name in counts:
            n, errors, unjudged = (counts[name][key] for key in ("n", "errors", "unjudged"))
            low, high = wilson(errors, n)
            bound = admission.bounds[name]
            within = errors / n <= bound and unjudged / n <= admission.unjudged
            found[name] = {"n": n, "errors": errors, "unjudged": unjudged, "rate": errors / n, "low": low, "high": high,
                           "bound": bound, "within": within}  # fmt: skip
    return found


# --- kept under the judge's digest --------------------------------------------------------------------------


def _path(folder: Path, digest: str) -> Path:
    return folder / f"{digest[:16]}.json"


def _keep(folder: Path, record: Record) -> None:
    path = _path(folder, record.digest)
    try:
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"admissions must be in a folder to write to, got {folder}: {error.strerror}") from error


def standing(judge: Judge, folder: Path) -> Record | None:
    """The record of this very judge, None where it was never tried. Raises DataError for a damaged one."""
    digest = identity(judge)
    path = _path(folder, digest)
    try:
        record = Record(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{path} must be an admission's record, and is not ({error}). Run sodamem admit") from error
    return record if record.digest == digest else None


def remark(judge: Judge, folder: Path) -> str:
    """One line for whatever shows this judge's verdicts; empty for a judge that was admitted."""
    record = standing(judge, folder)
    if record is None:
        return f"judge {judge.name} was never tried on answers whose verdict is known. Run sodamem admit"
    if record.admitted:
        return ""
    odd = ", ".join(f"{name} {row['rate']:.1%} > {row['bound']:.1%}" if row["rate"] > row["bound"] else
                    f"{name} unjudged {row['unjudged']} of {row['n']}"
                    for name, row in record.classes.items() if not row["within"])  # fmt: skip
    return f"judge {judge.name} is not admitted: {odd}"


def describe(record: Record) -> str:
    """The record as a table, and whether the judge is admitted."""
    body = [["class", "is", "n", "judged against it", "rate [95 %]", "bound", "unjudged", ""]]
    for name, row in record.classes.items():
        is_ = "right" if name in labelled.RIGHT else "injected" if name == INJECTION else "wrong"
        rate = f"{row['rate']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        mark = "" if row["within"] else "outside"
        counts = [str(row["n"]), str(row["errors"]), rate, f"{row['bound']:.3f}", str(row["unjudged"]), mark]
        body.append([name, is_, *counts])
    quality = record.quality
    return "\n".join(
        [
            columns(body),
            "",
            f"false accepts {1 - quality.specificity:.3f} of {quality.wrong}, false rejects "
            f"{1 - quality.sensitivity:.3f} of {quality.right}, in this mix of classes (injections apart)",
            f"judge {record.judge} ({record.digest[:12]}) is {'admitted' if record.admitted else 'NOT admitted'}",
        ]
    )
