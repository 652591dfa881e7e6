"""How single questions went, as MLflow traces of a run: steps of the plan, model calls, the answer, the verdict.

Made of results once they are there, so that no stage knows of it. Spans go to the run's own store one batch at a time;
MLflow's fluent interface would follow the process's store instead, write from threads, and log a failure rather than
raise it.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from sodamem import report
from sodamem.errors import ConfigError
from sodamem.evaluate import Result
from sodamem.mlflow_store import service
from sodamem.records import redacted
from sodamem.text import digest
from sodamem.tracking import MlflowRun, TrackedRun
from sodamem.types import Answer, Usage

LONGEST = 2000  # characters of one text; a longer one is cut and its hash given
BATCH = 20  # traces that go to the store together: about half the time that single ones take
PAGE = 500  # traces that MLflow lists in one call
UNMEASURED = "not measured"
CLOCK = (
    "Only model calls are timed. They are laid end to end, up to the moment at which the trace was written; a span "
    f"whose `seconds` are {UNMEASURED!r} spans what it holds."
)
DIGEST = "sodamem.digest"  # tag: tells a trace that is as it should be from one of an earlier attempt at the question


@dataclass(frozen=True, kw_only=True)
class Step:
    """One span. kind: MLflow's span type · seconds: None where nobody measured it · fault: what went wrong, if anything
    did · usage: tokens as MLflow counts them, where the step is a model call."""

    name: str
    kind: str
    inputs: Any = None
    outputs: Any = None
    attributes: Mapping[str, object]
    seconds: float | None = None
    fault: str = ""
    usage: Mapping[str, int] | None = None
    parts: tuple[Step, ...] = ()

    @property
    def length(self) -> float:
        """Seconds of all that is known of it."""
        return sum(part.length for part in self.parts) if self.seconds is None else self.seconds


@contextmanager
def recording(run: TrackedRun) -> Iterator[Callable[[Result], None]]:
    """trace(result) keeps a result as a trace of the run, if its tracker's `traces` says so; once, however often.

    What was given is written when the body ends, also by an error. Raises ServiceError when the store does not take it.
    """
    if not isinstance(run, MlflowRun) or run.traces in ("none", 0):
        yield lambda _: None
        return
    book = _Book(run)
    try:
        yield book.add
    finally:
        book.flush()


# --- a result as steps --------------------------------------------------------------------------------------


def steps(result: Result) -> Step:
    """The question as a tree: plan (its calls), read, judge; each model call stands where it was made."""
    question, given, verdict = result.question, result.answer, result.verdict
    said = report.answer(given)
    failed = next((f"{note['failed']}: {note.get('said', '')}" for note in given.trace if "failed" in note), "")
    return Step(
        name="question",
        kind="CHAIN",
        inputs={"question": question.text, "asked_at": question.asked_at.isoformat()},
        outputs={
            "answer": said["text"],
            "citations": said["citations"],
            "abstained": said["abstained"],
            "interval": said["interval"],
            "verdict": verdict.label,
        },
        attributes={
            "question_id": question.id,
            "history_id": question.history_id,
            "category": question.category,
            "gold": question.gold,
            "gold_turns": list(question.gold_turns),
            "status": given.status,
            "measures": {name: round(value, 9) for name, value in result.measures.values.items()},
            "clock": CLOCK,
        },
        fault=failed if given.status == "failed" else "",
        parts=(*_plan(given), *_read(result), _judge(result)),
    )


def _plan(given: Answer) -> tuple[Step, ...]:
    notes = [note for note in given.trace if "call" in note]
    attempts = [_attempt(usage) for usage in given.usage if usage.phase == "plan"]
    if not notes and not attempts:
        return ()
    # Every step takes an attempt at least: as many attempts as steps are one each. Of more, no one has noted whose.
    paired = len(attempts) == len(notes)
    parts = [_step(note, (attempt,)) for note, attempt in zip(notes, attempts, strict=True)] if paired else attempts
    if not paired:
        parts = [*attempts, *(_step(note, ()) for note in notes)]
    end = next((note for note in given.trace if "stop" in note and "call" not in note), {})
    return (Step(name="plan", kind="AGENT", outputs=dict(end) or None, attributes={}, parts=tuple(parts)),)


def _step(note: Mapping[str, Any], parts: tuple[Step, ...]) -> Step:
    call = dict(note["call"]) if isinstance(note["call"], Mapping) else {"call": note["call"]}
    rest = {name: value for name, value in note.items() if name not in ("call", "said", "new")}
    brought = {name: note[name] for name in ("said", "new") if name in note}
    name = str(call.pop("tool", "call"))
    return Step(name=name, kind="TOOL", inputs=call, outputs=brought or None, attributes=rest, parts=parts)


def _read(result: Result) -> tuple[Step, ...]:
    """What was read and said of it; nothing where a failure came before."""
    given = result.answer
    attempts = tuple(_attempt(usage) for usage in given.usage if usage.phase != "plan")
    if given.status == "failed" and not attempts:
        return ()
    notes = [dict(note) for note in given.trace if not {"call", "stop", "failed"} & set(note)]
    shown = [{"id": item.id, "at": item.at.isoformat(), "text": item.text} for item in result.evidence]
    read = Step(
        name="read",
        kind="CHAIN",
        inputs={"evidence": shown},
        outputs=report.answer(given),
        attributes={"notes": notes} if len(notes) > 1 else next(iter(notes), {}),
        fault=given.status if given.status == "failed" else "",
        parts=attempts,
    )
    return (read,)


def _judge(result: Result) -> Step:
    verdict = result.verdict
    return Step(
        name="judge",
        kind="EVALUATOR",
        inputs={"answer": result.answer.text, "gold": result.question.gold},
        outputs={"label": verdict.label, "reason": verdict.reason},
        attributes={"judge": verdict.judge, "raw": verdict.raw},
        fault=verdict.reason or "no verdict" if verdict.label == "unjudged" else "",
        parts=tuple(_attempt(usage) for usage in verdict.usage),
    )


def _attempt(usage: Usage) -> Step:
    """One attempt at a model call; what a server did not report is left out."""
    known = {name: getattr(usage, name) for name in ("prompt", "cached", "completion", "reasoning", "cache_hit")}
    tokens = {"input_tokens": usage.prompt, "output_tokens": usage.completion}
    cached = {} if usage.cached is None else {"cache_read_input_tokens": usage.cached}
    return Step(
        name=f"{usage.phase} attempt",
        kind="CHAT_MODEL",
        attributes={name: value for name, value in known.items() if value is not None}
        | {"mlflow.llm.model": usage.model},
        seconds=usage.seconds,
        usage={**tokens, "total_tokens": sum(tokens.values()), **cached},
    )


# --- steps as spans -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """A trace to be written; `mark` is the digest of what it holds."""

    id: str
    mark: str
    result: Result
    tree: Step


class _Book:
    """Traces of one run: those that wait to be written, and those that an earlier sitting at the run has left."""

    def __init__(self, run: MlflowRun) -> None:
        self._run, self._seen = run, 0
        with service(run.uri):
            self._known = dict(_listed(run))
        self._waiting: list[_Entry] = []

    def add(self, result: Result) -> None:
        self._seen += 1
        name, mark, tree = trace_id(self._run.id, result.question.id), "", None
        if self._wanted(result):
            tree = steps(result)
            mark = digest(asdict(tree))
            if self._known.get(name) == mark:
                return
        if name in self._known:
            del self._known[name]
            with service(self._run.uri):
                self._run.client.delete_traces(self._run.experiment, trace_ids=[name])
        if tree is not None:
            self._waiting.append(_Entry(id=name, mark=mark, result=result, tree=tree))
        if len(self._waiting) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what waits. A trace without its spans is never taken for a whole one, should this be cut short."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        from mlflow.tracing.client import TracingClient

        with service(self._run.uri):
            client, spans = TracingClient(self._run.uri), []
            for entry in waiting:
                begins = time.time_ns() - round(entry.tree.length * 1e9)
                client.start_trace(_info(self._run, entry, begins))
                spans += _spans(entry, begins)
            try:
                client.log_spans(self._run.experiment, spans)
            except NotImplementedError as error:
                raise ConfigError(f"tracker.traces must be none for this tracking server: {error}") from error

    def _wanted(self, result: Result) -> bool:
        chosen = self._run.traces
        if isinstance(chosen, int):
            return self._seen <= chosen
        return chosen == "all" or result.verdict.label != "correct"


def trace_id(run: str, question: str) -> str:
    """The trace of a question in a run: one, so that a second writing finds the first."""
    return f"tr-{digest(run, question)[:32]}"


def _listed(run: MlflowRun) -> Iterator[tuple[str, str]]:
    """Traces that the run has, with the digest of what each holds; empty for one whose spans are missing."""
    from mlflow.tracing.constant import TraceTagKey

    token: str | None = None
    while True:
        page = run.client.search_traces(
            locations=[run.experiment], run_id=run.id, include_spans=False, max_results=PAGE, page_token=token
        )
        for trace in page:
            tags = trace.info.tags
            yield trace.info.trace_id, tags.get(DIGEST, "") if TraceTagKey.SPANS_LOCATION in tags else ""
        if not (token := page.token):
            return


def _info(run: MlflowRun, entry: _Entry, begins: int) -> Any:
    """The trace as MLflow lists it: question and answer, the verdict as feedback, the gold as what was expected."""
    from mlflow.entities import AssessmentSource, Expectation, Feedback, TraceInfo, TraceLocation, TraceState

    question, answer, verdict = entry.result.question, entry.result.answer, entry.result.verdict
    source = AssessmentSource(source_type="LLM_JUDGE" if verdict.usage else "CODE", source_id=verdict.judge)
    reason = _fit(verdict.reason) or None
    told: list[Any] = [Feedback(name="verdict", value=verdict.label, source=source, rationale=reason)]
    if question.gold:
        data = AssessmentSource(source_type="HUMAN", source_id="dataset")
        told.append(Expectation(name="gold", value=_fit(question.gold), source=data))
    return TraceInfo(
        trace_id=entry.id,
        trace_location=TraceLocation.from_experiment_id(run.experiment),
        request_time=begins // 10**6,
        execution_duration=round(entry.tree.length * 1e3),
        state=TraceState.ERROR if entry.tree.fault else TraceState.OK,
        request_preview=_fit(question.text)[:1000],
        response_preview=_fit(answer.text)[:1000],
        client_request_id=question.id,
        trace_metadata={"mlflow.sourceRun": run.id},
        tags={
            "mlflow.traceName": question.id,
            "category": question.category,
            "label": verdict.label,
            "status": answer.status,
            DIGEST: entry.mark,
        },
        assessments=told,
    )


def _spans(entry: _Entry, begins: int) -> list[Any]:
    """Parents before their parts, from `begins` (nanoseconds) on."""
    from mlflow.entities import Span

    numbers, trace = itertools.count(1), _encoded(bytes.fromhex(entry.id.removeprefix("tr-")))
    found: list[Any] = []

    def visit(step: Step, parent: str, at: int) -> None:
        own = _encoded(next(numbers).to_bytes(8))
        found.append(
            Span.from_dict(
                {
                    "trace_id": trace,
                    "span_id": own,
                    "parent_span_id": parent,
                    "name": step.name,
                    "start_time_unix_nano": at,
                    "end_time_unix_nano": at + round(step.length * 1e9),
                    "status": {"code": f"STATUS_CODE_{'ERROR' if step.fault else 'OK'}", "message": _fit(step.fault)},
                    "attributes": _attributes(entry.id, step),
                }
            )
        )
        for part in step.parts:
            visit(part, own, at)
            at += round(part.length * 1e9)

    visit(entry.tree, "", begins)
    return found


def _attributes(trace: str, step: Step) -> dict[str, str]:
    values: dict[str, Any] = {"mlflow.traceRequestId": trace, "mlflow.spanType": step.kind}
    values |= {"mlflow.spanInputs": step.inputs} if step.inputs is not None else {}
    values |= {"mlflow.spanOutputs": step.outputs} if step.outputs is not None else {}
    values |= {"mlflow.chat.tokenUsage": step.usage} if step.usage else {}
    values |= {"seconds": UNMEASURED if step.seconds is None else step.seconds, **step.attributes}
    return {name: json.dumps(_fit(value), ensure_ascii=False, default=str) for name, value in values.items()}


def _fit(value: Any) -> Any:
    """The value without secrets, its long texts cut: what an experiment's store can hold for thousands of questions."""
    if isinstance(value, str):
        told = redacted(value)
        if len(told) <= LONGEST:
            return told
        return f"{told[:LONGEST]}… ({len(told)} characters, sha256 {hashlib.sha256(told.encode()).hexdigest()})"
    if isinstance(value, Mapping):
        return {str(key): _fit(part) for key, part in value.items()}
    return [_fit(part) for part in value] if isinstance(value, Sequence) else value


def _encoded(number: bytes) -> str:
    return base64.b64encode(number).decode()
