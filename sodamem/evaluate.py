"""Pipeline × dataset × judge × measures → a report; knows no framework and writes no file."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from sodamem import text
from sodamem.metric import retrieval
from sodamem.metric.statistics import wilson
from sodamem.metric.text import locomo_f1
from sodamem.pipeline import Memory, Pipeline
from sodamem.protocols import Corpus, Judge
from sodamem.types import Answer, Evidence, Question, Usage, Verdict

PHASES = ("extract", "adjudicate", "plan", "read", "judge")
ERRATA = "without_errata/"  # prefix of measures over the questions whose gold nobody disputes


@dataclass(frozen=True, kw_only=True)
class Result:
    """One question from end to end."""

    question: Question
    evidence: Sequence[Evidence]
    answer: Answer
    verdict: Verdict
    measures: retrieval.Row


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything measured: flat metric names to numbers, and why questions were left out (reason -> ids)."""

    metrics: Mapping[str, float]
    excluded: Mapping[str, Sequence[str]]
    stores: Mapping[str, str]  # history -> fingerprint of its store
    counts: Mapping[str, int] = field(default_factory=dict)


def opened(pipeline: Pipeline, corpus: Corpus) -> Iterator[tuple[Memory, Sequence[Question]]]:
    """Each history's memory with its questions, one at a time; histories that nobody asks about stay closed."""
    for history_id in corpus.history_ids:
        if questions := corpus.questions(history_id):
            with pipeline.open(corpus.history(history_id)) as memory:
                yield memory, questions


def retrieve(pipeline: Pipeline, corpus: Corpus) -> list[retrieval.Row]:
    """Recall alone, without planner, reader or judge: what studies of the fusion compare."""
    return [
        _score(question, pipeline.recall(memory, question), memory)
        for memory, questions in opened(pipeline, corpus)
        for question in questions
    ]


Keep = Callable[[Question, Callable[[], Result]], Result]


def results(
    pipeline: Pipeline,
    corpus: Corpus,
    judge: Judge,
    *,
    note: Callable[[Memory], None] = lambda _: None,
    keep: Keep = lambda _, make: make(),
    workers: int = 1,
) -> Iterator[Result]:
    """Every question of the corpus in its order, history by history.

    `note` is told of each memory once it is ready · `keep` may give a result that was recorded instead of making it ·
    workers: questions of one history worked on at a time, which pays where answering waits for a model.
    """
    for memory, questions in opened(pipeline, corpus):
        note(memory)

        def answered(question: Question, memory: Memory = memory) -> Result:
            return keep(question, lambda: _result(pipeline, memory, judge, question))

        if workers == 1:
            yield from map(answered, questions)
        else:
            with ThreadPoolExecutor(workers) as pool:
                yield from pool.map(answered, questions)


def _result(pipeline: Pipeline, memory: Memory, judge: Judge, question: Question) -> Result:
    answer, evidence = pipeline.answer(memory, question)
    return Result(
        question=question,
        evidence=evidence,
        answer=answer,
        verdict=judge.grade(question, answer),
        measures=_score(question, evidence, memory),
    )


def _score(question: Question, evidence: Sequence[Evidence], memory: Memory) -> retrieval.Row:
    pool = retrieval.Pool(turn=len(memory.snapshot.turns), session=len(memory.snapshot.sessions))
    return retrieval.score(question, evidence, pool, text.estimate_tokens)


def evaluate(
    pipeline: Pipeline,
    corpus: Corpus,
    judge: Judge,
    *,
    sink: Callable[[Result], None] = lambda _: None,
    note: Callable[[Memory], None] = lambda _: None,
    keep: Keep = lambda _, make: make(),
    workers: int = 1,
) -> Report:
    """Run the whole corpus; each result goes to `sink` as soon as it exists, and only its numbers are kept."""
    rows: list[retrieval.Row] = []
    clean: list[retrieval.Row] = []
    grades = Grades()
    excluded: dict[str, list[str]] = defaultdict(list)
    stores: dict[str, str] = {}
    counts: Counter[str] = Counter()

    def ready(memory: Memory) -> None:
        stores[memory.history.id] = memory.snapshot.fingerprint
        counts.update(memory.counts)
        grades.pay(memory.usage)
        note(memory)

    for result in results(pipeline, corpus, judge, note=ready, keep=keep, workers=workers):
        rows.append(result.measures)
        if not result.question.erratum:
            clean.append(result.measures)
        grades.add(result)
        for reason in result.measures.excluded:
            excluded[reason].append(result.question.id)
        sink(result)
    metrics = {**retrieval.aggregate(rows), **grades.metrics(), "questions": float(len(rows))}
    if len(clean) < len(rows):
        metrics["errata"] = float(len(rows) - len(clean))
        metrics |= {f"{ERRATA}{name}": value for name, value in retrieval.aggregate(clean).items()}
    metrics |= {f"store/{name}": float(count) for name, count in counts.items()}
    return Report(metrics=dict(sorted(metrics.items())), excluded=dict(excluded), stores=stores, counts=dict(counts))


class Grades:
    """Accuracy over all and by category, strict and judged, token F1, and tokens by phase."""

    def __init__(self) -> None:
        self._labels: dict[str, Counter[str]] = defaultdict(Counter)
        self._f1: dict[str, list[float]] = defaultdict(list)
        self._usage: dict[str, Counter[str]] = {phase: Counter(calls=0, prompt=0, completion=0) for phase in PHASES}
        self._evidence: list[int] = []

    def add(self, result: Result) -> None:
        question, answer = result.question, result.answer
        for scope in ("", f"{question.category}/"):
            self._labels[scope][result.verdict.label] += 1
            if not question.erratum:
                self._labels[f"{scope}{ERRATA}"][result.verdict.label] += 1
            if question.answerable:
                self._f1[scope].append(locomo_f1(answer.text, question.gold, question.category))
        self._evidence.append(sum(text.estimate_tokens(item.text) for item in result.evidence))
        self.pay((*answer.usage, *result.verdict.usage))

    def pay(self, usages: Sequence[Usage]) -> None:
        """Count attempts at model calls, whatever they were made for."""
        for usage in usages:
            self._count(usage)

    def _count(self, usage: Usage) -> None:
        phase = self._usage[usage.phase]
        phase.update(calls=1, prompt=usage.prompt, completion=usage.completion)
        for kind in ("cached", "reasoning"):
            if (value := getattr(usage, kind)) is not None:  # not reported is unknown, never 0
                phase[kind] += value

    def metrics(self) -> dict[str, float]:
        found: dict[str, float] = {}
        none: Counter[str] = Counter()
        whole = self._labels.get("", none).total() == self._labels.get(ERRATA, none).total()
        for scope, labels in self._labels.items():
            if ERRATA in scope and whole:
                continue
            total, correct = sum(labels.values()), labels["correct"]
            judged = total - labels["unjudged"]
            found[f"accuracy/{scope}strict"] = correct / total
            found[f"accuracy/{scope}n"] = float(total)
            found[f"accuracy/{scope}unjudged"] = float(labels["unjudged"])
            low, high = wilson(correct, total)
            found |= {f"accuracy/{scope}strict_low": low, f"accuracy/{scope}strict_high": high}
            if judged:
                found[f"accuracy/{scope}judged"] = correct / judged
        for scope, scores in self._f1.items():
            found[f"f1/{scope}token"] = math.fsum(scores) / len(scores)
        for phase, counts in self._usage.items():
            found |= {f"tokens/{phase}/{kind}": float(count) for kind, count in counts.items()}
        if self._evidence:
            found["evidence_tokens/mean"] = sum(self._evidence) / len(self._evidence)
        return found
