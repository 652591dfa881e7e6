"""Pipeline × dataset × judge × measures → a report; knows no framework and writes no file."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial

from sodamem import text
from sodamem.executor.spread import ALONE, Spread
from sodamem.metric import retrieval
from sodamem.metric.statistics import wilson
from sodamem.metric.text import locomo_f1
from sodamem.pipeline import Memory, Pipeline
from sodamem.protocols import Corpus, Judge
from sodamem.types import Answer, Evidence, History, Question, Usage, Verdict

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
class Recalled:
    """One question as far as recall takes it."""

    question: Question
    evidence: Sequence[Evidence]
    measures: retrieval.Row


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A memory that is ready for questions, as far as figures need it.

    fingerprint, counts: of its store · usage: every attempt at a model call that was made to fill it just now.
    """

    history: str
    fingerprint: str
    counts: Mapping[str, int]
    usage: Sequence[Usage]


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything measured: flat metric names to numbers, and why questions were left out (reason -> ids)."""

    metrics: Mapping[str, float]
    excluded: Mapping[str, Sequence[str]]
    stores: Mapping[str, str]  # history -> fingerprint of its store
    counts: Mapping[str, int] = field(default_factory=dict)


Keep = Callable[[Question, Callable[[], Result]], Result]


def anew(_: Question, make: Callable[[], Result]) -> Result:
    """The `keep` of a run that records nothing."""
    return make()


def opened(pipeline: Pipeline, corpus: Corpus) -> Iterator[tuple[Memory, Sequence[Question]]]:
    """Each history's memory with its questions, one at a time; histories that nobody asks about stay closed."""
    for history_id in corpus.history_ids:
        if questions := corpus.questions(history_id):
            with pipeline.open(corpus.history(history_id)) as memory:
                yield memory, questions


# --- recall alone -------------------------------------------------------------------------------------------


def recalled(pipeline: Pipeline, corpus: Corpus, *, spread: Spread = ALONE) -> Generator[Recalled, None, None]:
    """Recall of every question of the corpus in its order, without planner, reader or judge."""
    return spread.over(corpus, _recalled, (pipeline, None))


def retrieve(pipeline: Pipeline, corpus: Corpus, *, spread: Spread = ALONE) -> list[retrieval.Row]:
    """The measures of recall alone: what studies of the fusion compare."""
    return list(spread.over(corpus, _measured, (pipeline, None)))


def _recalled(parts: tuple[Pipeline, object], history: History, questions: Sequence[Question]) -> Iterator[Recalled]:
    pipeline = parts[0]
    with pipeline.open(history) as memory:
        for question in questions:
            evidence = pipeline.recall(memory, question)
            yield Recalled(question=question, evidence=evidence, measures=_score(question, evidence, memory))


def _measured(
    parts: tuple[Pipeline, object], history: History, questions: Sequence[Question]
) -> Iterator[retrieval.Row]:
    return (found.measures for found in _recalled(parts, history, questions))


# --- answers ------------------------------------------------------------------------------------------------


def results(
    pipeline: Pipeline,
    corpus: Corpus,
    judge: Judge,
    *,
    note: Callable[[Ready], None] = lambda _: None,
    keep: Keep = anew,
    workers: int = 1,
    spread: Spread = ALONE,
) -> Generator[Result, None, None]:
    """Every question of the corpus in its order, history by history.

    `note` is told of each memory before its questions come · `keep` may give a result that was recorded instead of
    making it, and is called where the question is worked on · workers: questions of one history worked on at a time,
    which pays where answering waits for a model · spread: the same for histories.
    """
    each = partial(_answered, keep=keep, workers=workers)
    with closing(spread.over(corpus, each, (pipeline, judge))) as found:
        for item in found:
            if isinstance(item, Ready):
                note(item)
            else:
                yield item


def _answered(
    parts: tuple[Pipeline, Judge], history: History, questions: Sequence[Question], *, keep: Keep, workers: int
) -> Iterator[Ready | Result]:
    pipeline, judge = parts
    with pipeline.open(history) as memory:
        yield Ready(
            history=history.id, fingerprint=memory.snapshot.fingerprint, counts=memory.counts, usage=memory.usage
        )

        def answered(question: Question) -> Result:
            return keep(question, lambda: _result(pipeline, memory, judge, question))

        if workers == 1:
            yield from map(answered, questions)
        else:
            with ThreadPoolExecutor(workers) as pool:
                contexts = [copy_context() for _ in questions]  # what the caller meters or scopes holds in each thread
                yield from pool.map(lambda context, question: context.run(answered, question), contexts, questions)


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
    note: Callable[[Ready], None] = lambda _: None,
    keep: Keep = anew,
    workers: int = 1,
    spread: Spread = ALONE,
) -> Report:
    """Run the whole corpus; each result goes to `sink` as soon as it exists, and only its numbers are kept."""
    rows: list[retrieval.Row] = []
    clean: list[retrieval.Row] = []
    grades = Grades()
    excluded: dict[str, list[str]] = defaultdict(list)
    stores: dict[str, str] = {}
    counts: Counter[str] = Counter()

    def ready(memory: Ready) -> None:
        stores[memory.history] = memory.fingerprint
        counts.update(memory.counts)
        grades.pay(memory.usage)
        note(memory)

    made = results(pipeline, corpus, judge, note=ready, keep=keep, workers=workers, spread=spread)
    with closing(made):  # where a sink raises, what is under way ends before its error is seen
        for result in made:
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
