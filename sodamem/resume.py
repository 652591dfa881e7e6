"""Going on with a run: what of its configuration must not have changed, and results from the ledger and back.

A result is kept whole but for what no report reads (the facts behind an item of evidence), and what ingest asked is
known by history and session, so that a resumed run writes the same rows and the same figures as one that was never
interrupted. Only its costs tell: calls that were under way when it was, and what the cache has given again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any

from sodamem import prompts, sources
from sodamem.errors import DataError
from sodamem.evaluate import Result
from sodamem.ledger import Attempt, Final, Ledger
from sodamem.ledger import once as in_one_sitting
from sodamem.metric.cost import PriceTable, by_phase
from sodamem.metric.retrieval import Row
from sodamem.pipeline import Memory, Pipeline
from sodamem.protocols import Extractor, Timeline
from sodamem.store.codec import interval, time_value
from sodamem.store.sqlite import Store
from sodamem.types import (
    Answer,
    Award,
    Citation,
    Evidence,
    Extraction,
    History,
    Question,
    Session,
    Usage,
    Verdict,
)

# Phase -> the groups of the configuration that decide what comes of it.
PHASES: Mapping[str, tuple[str, ...]] = {
    "extract": ("dataset", "extractor", "timeline", "currency", "linker", "maintenance", "store"),
    "plan": ("encoder", "tunnel", "fusion", "recall", "planner"),
    "read": ("reader",),
    "judge": ("judge",),
}
# Phase -> how the names of its prompts begin.
PROMPTS: Mapping[str, tuple[str, ...]] = {
    "extract": ("extract", "adjudicate"),
    "plan": ("plan",),
    "read": ("read",),
    "judge": ("judge",),
}
PATIENCE = frozenset({"concurrency", "timeout", "deadline", "retries", "pause", "start_timeout", "threads"})
# Of how and where a run is made, not of what comes of it.
CIRCUMSTANCES = frozenset({"name", "runs", "resume", "replies", "executor", "tracker", "trial"})


def settings(cfg: Mapping[str, Any], data: str) -> dict[str, dict[str, object]]:
    """What a plain configuration says of each phase, with the words of its prompts and the hashes of code and data.

    How patient a client is does not count. A chat is part of every phase: the same configuration may send any of
    them to it.
    """
    found: dict[str, dict[str, object]] = {
        phase: {group: _lasting(cfg[group]) for group in (*groups, "chat") if group in cfg}
        for phase, groups in PHASES.items()
    }
    for phase, names in PROMPTS.items():
        found[phase]["code"] = sources.source(*sources.PHASES[phase])
        found[phase]["prompts"] = {name: known for begin in names for name, known in prompts.digests(begin).items()}
    found["extract"]["data"] = data
    return found


def parameters(cfg: Mapping[str, Any]) -> dict[str, object]:
    """What a run is tracked by: a plain configuration without what another sitting may do differently."""
    return {name: _lasting(node) for name, node in cfg.items() if name not in CIRCUMSTANCES}


def once(ledger: Ledger, repeat: int = 0) -> Callable[[Question, Callable[[], Result]], Result]:
    """keep(question, make): the result in the ledger if it is ok, else what `make` gives, kept from then on.

    Calls that `make` leads to are recorded for the question. Safe to use from several threads. A question without an ok
    row is made anew in every sitting: its calls come from the reply cache but for those that failed or were cut off
    (finish_reason length), which no cache keeps. So each of those costs one call more a sitting, and no more than that.
    """

    def keep(question: Question, make: Callable[[], Result]) -> Result:
        known = ledger.result(question.id, repeat)
        if known is not None and known.status == "ok":
            return load(known.payload, question)
        with ledger.scope(question.id, repeat):
            result = make()
        ended, reason = status(result)
        ledger.finish(question.id, repeat, ended, dump(result), reason)
        return result

    return keep


def recorded(pipeline: Pipeline, ledger: Ledger) -> Pipeline:
    """The pipeline over a watched chat, with the calls of its ingest recorded by history and session.

    A memory that it opens has the usage that this run spent on its ingest, in whichever sitting: sessions that an
    earlier one has read are not read again, and cost what they did.
    """
    parts = {part.name: getattr(pipeline, part.name) for part in fields(Pipeline)}
    return _Recorded(**parts | {"extractor": _Reading(extractor=pipeline.extractor, ledger=ledger)}, ledger=ledger)


@dataclass(frozen=True, kw_only=True)
class _Recorded(Pipeline):
    ledger: Ledger

    def ingest(self, history: History, store: Store) -> None:
        with self.ledger.scope(_owner(history.id)):
            super().ingest(history, store)

    @contextmanager
    def open(self, history: History) -> Iterator[Memory]:
        with super().open(history) as memory:
            owners = [_owner(history.id), *(_owner(history.id, session.id) for session in history.sessions)]
            spent = [attempt for owner in owners for attempt in in_one_sitting(self.ledger.attempts(owner))]
            yield replace(memory, usage=tuple(attempt.usage for attempt in spent))


@dataclass(frozen=True, kw_only=True)
class _Reading(Extractor):
    """An extractor whose calls are recorded for the session that they are made for."""

    extractor: Extractor
    ledger: Ledger

    def extract(self, session: Session, history: History, timeline: Timeline) -> Extraction:
        with self.ledger.scope(_owner(history.id, session.id)):
            return self.extractor.extract(session, history, timeline)


def _owner(*ids: str) -> str:
    """Whom the calls of an ingest are made for: a history, or one session of it; never like the id of a question."""
    return json.dumps(["ingest", *ids])


def costs(ledger: Ledger, prices: PriceTable) -> dict[str, float]:
    """Attempts, tokens and dollars (cold, warm) of every phase over all sittings; what is unknown is left out.

    Cold is the cost in one sitting from an empty cache. `cost/lost` counts the calls that were under way when a sitting
    died, whose price nobody knows. `cost/busy_seconds/<model>` times the GPUs of its server is what a model of one's
    own takes.
    """
    attempts = ledger.attempts()
    cold = by_phase(_usages(in_one_sitting(attempts)), prices)
    found: dict[str, float] = {"cost/lost": float(ledger.lost())}
    for phase, spent in by_phase(_usages(attempts), prices).items():
        spent = replace(spent, cold=cold[phase].cold if phase in cold else 0.0)
        names = ("attempts", "hits", "prompt", "cached", "completion", "reasoning", "cold", "warm")
        known = {name: value for name in names if (value := getattr(spent, name)) is not None}
        found |= {f"cost/{phase}/{name}": float(value) for name, value in known.items()}
    return found | {f"cost/busy_seconds/{model}": seconds for model, seconds in ledger.busy().items()}


def _usages(attempts: Sequence[Attempt]) -> list[Usage]:
    return [attempt.usage for attempt in attempts]


def status(result: Result) -> tuple[Final, str]:
    """How a question ended, and why if it did not end well."""
    if result.answer.status == "failed":
        return "failed", next((str(step["failed"]) for step in result.answer.trace if "failed" in step), "no answer")
    if result.verdict.label == "unjudged":
        return "unjudged", result.verdict.reason or "no verdict"
    return "ok", ""


def dump(result: Result) -> dict[str, Any]:
    """A result as plain data; its question is found again by its id."""
    return {
        "evidence": [_evidence(item) for item in result.evidence],
        "answer": _plain(asdict(result.answer)),
        "verdict": asdict(result.verdict),
        "measures": {**asdict(result.measures), "values": dict(result.measures.values)},
    }


def load(payload: Mapping[str, Any], question: Question) -> Result:
    """The result that `dump` made; raises DataError when the row is not one."""
    try:
        answer, verdict, measures = (dict(payload[name]) for name in ("answer", "verdict", "measures"))
        return Result(
            question=question,
            evidence=tuple(_item(row) for row in payload["evidence"]),
            answer=Answer(
                **answer
                | {
                    "citations": tuple(Citation(**row) for row in answer["citations"]),
                    "interval": interval(answer["interval"]),
                    "usage": tuple(Usage(**row) for row in answer["usage"]),
                    "trace": tuple(answer["trace"]),
                }
            ),
            verdict=Verdict(**verdict | {"usage": tuple(Usage(**row) for row in verdict["usage"])}),
            measures=Row(
                **measures | {"excluded": tuple(measures["excluded"]), "saturated": tuple(measures["saturated"])}
            ),
        )
    except (LookupError, TypeError, ValueError) as error:
        raise DataError(f"ledger row of question {question.id} must hold a result, got {error!r}") from error


def _evidence(item: Evidence) -> dict[str, Any]:
    row: dict[str, Any] = _plain(asdict(replace(item, fact=None, facts=())))
    return row


def _item(row: Mapping[str, Any]) -> Evidence:
    return Evidence(
        **dict(row)
        | {
            "at": datetime.fromisoformat(row["at"]),
            "occurred": interval(row["occurred"]),
            "awards": tuple(Award(**award) for award in row["awards"]),
            "times": tuple(time_value(value) for value in row["times"]),
            **{name: tuple(row[name]) for name in ("turn_ids", "members", "quotable", "facts")},
        }
    )


def _plain(value: Any) -> Any:
    """The value with times as ISO text, all the way down."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def _lasting(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {key: _lasting(part) for key, part in node.items() if key not in PATIENCE}
    return [_lasting(part) for part in node] if isinstance(node, list | tuple) else node
