"""How many of LoCoMo's questions are answered without any model? The extractive reader over our recall.

Accuracy by category under the lexical judge, lenient and strict; temporal questions with a dated gold also by what
became of the date; adversarial questions by how many are declined. LoCoMo: Maharana et al., ACL 2024.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tqdm import tqdm

from experiments.common import Cell, arguments, main, save, show
from sodamem import build
from sodamem.config import compose
from sodamem.dates.gold import parse_gold
from sodamem.evaluate import opened
from sodamem.metric.statistics import wilson
from sodamem.metric.text import locomo_f1
from sodamem.pipeline import blind
from sodamem.protocols import Reader
from sodamem.types import Answer, Question, Verdict

BASE = ("experiment=locomo_recall", "dataset.categories=[1,2,3,4,5]", "tracker=none")
READERS: dict[str, list[str]] = {
    "extractive": [],
    "no day of telling": ["reader.undated=false"],
    "never declines": ["reader.floor=0", "reader.margin=10"],
}
JUDGES = ("lexical", "lexical_strict")
TEMPORAL, ADVERSARIAL = "category_2", "category_5"
COLUMNS = ("setting", "split", "category", "n", "accuracy", "low", "high", "accuracy_strict", "abstained", "token_f1")
DATES = ("setting", "split", "n", "date_right", "date_wrong", "date_abstained")


@dataclass(frozen=True, kw_only=True)
class Graded:
    question: Question
    answer: Answer
    verdicts: Mapping[str, Verdict]


def answered(split: str, settings: Sequence[str]) -> Iterator[tuple[str, Graded]]:
    """Every question recalled once, and read by the reader of each setting."""
    cfg = compose(*BASE, f"dataset.split={split}")
    pipeline, corpus = build.pipeline(cfg), build.component(cfg, "dataset").open()
    judges = {name: build.component(compose(f"judge={name}"), "judge") for name in JUDGES}
    readers: dict[str, Reader] = {name: build.component(compose(*BASE, *READERS[name]), "reader") for name in settings}
    with tqdm(total=len(corpus.history_ids), desc=split, unit="conversation", delay=2, file=sys.stderr) as bar:
        for memory, questions in opened(pipeline, corpus):
            for question in questions:
                evidence = pipeline.recall(memory, question)
                for name, reader in readers.items():
                    answer = reader.read(blind(question), evidence)
                    verdicts = {judge: judges[judge].grade(question, answer) for judge in JUDGES}
                    yield name, Graded(question=question, answer=answer, verdicts=verdicts)
            bar.update()


def accuracy(rows: Sequence[Graded]) -> dict[str, Cell]:
    """Shares over all rows: what is unjudged is not correct."""
    right = {name: sum(row.verdicts[name].label == "correct" for row in rows) for name in JUDGES}
    low, high = wilson(right["lexical"], len(rows))
    scores = [locomo_f1(row.answer.text, row.question.gold, row.question.category) for row in rows]
    return {
        "n": len(rows),
        "accuracy": right["lexical"] / len(rows),
        "low": low,
        "high": high,
        "accuracy_strict": right["lexical_strict"] / len(rows),
        "abstained": sum(row.answer.abstained for row in rows) / len(rows),
        "token_f1": math.fsum(scores) / len(rows),
    }


def dates(rows: Sequence[Graded]) -> dict[str, Cell]:
    """What became of the temporal questions whose gold is a date."""
    fate: Counter[str] = Counter()
    for row in rows:
        if row.question.category == TEMPORAL and parse_gold(row.question.gold):
            right = row.verdicts["lexical"].label == "correct"
            fate["date_abstained" if row.answer.abstained else "date_right" if right else "date_wrong"] += 1
    return {"n": fate.total(), **{name: fate[name] / fate.total() for name in DATES[3:]}}


def run() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=sorted(READERS), default=list(READERS), help="some settings only")
    given = parser.parse_args()
    found: dict[tuple[str, str], list[Graded]] = defaultdict(list)
    for split in given.split:
        for name, row in answered(split, given.only):
            found[name, split].append(row)
    table: list[dict[str, Cell]] = []
    dated: list[dict[str, Cell]] = []
    for (name, split), rows in found.items():
        for category in sorted({row.question.category for row in rows}):
            chosen = [row for row in rows if row.question.category == category]
            table.append({"setting": name, "split": split, "category": category, **accuracy(chosen)})
        answerable = [row for row in rows if row.question.category != ADVERSARIAL]
        table.append({"setting": name, "split": split, "category": "1 to 4", **accuracy(answerable)})
        dated.append({"setting": name, "split": split, **dates(rows)})
    show(table, COLUMNS)
    print(f"\n{TEMPORAL}, golds that are dates")
    show(dated, DATES)
    save([*table, *dated], given.json)


if __name__ == "__main__":
    main(run)
