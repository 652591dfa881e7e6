"""Going on with a run: what of its configuration must not have changed, and results from the ledger and back.

A result is kept whole but for what no report reads (the facts behind an item of evidence), so that a resumed run writes
the same rows and the same figures as one that was never interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sodamem import prompts, sources
from sodamem.errors import DataError
from sodamem.evaluate import Result
from sodamem.ledger import Final, Ledger
from sodamem.metric.retrieval import Row
from sodamem.store.codec import interval, time_value
from sodamem.types import Answer, Award, Citation, Evidence, Question, Usage, Verdict

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


def once(ledger: Ledger, repeat: int = 0) -> Callable[[Question, Callable[[], Result]], Result]:
    """keep(question, make): the result in the ledger if it is ok, else what `make` gives, kept from then on.

    Calls that `make` leads to are recorded for the question. Safe to use from several threads.
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
