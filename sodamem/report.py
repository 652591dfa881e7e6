"""What a run leaves behind and prints: result rows, a table of measures, worked questions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sodamem.evaluate import ERRATA, Result
from sodamem.types import Answer, Evidence, Interval

_CUTOFFS = (1, 5, 10, 20)


def row(result: Result, awards_top: int) -> dict[str, Any]:
    """One line of questions.jsonl: the same bytes for the same data and settings, so no clock and no path.

    Awards are written for the first `awards_top` items of the ranking, ids and confidence for all of it.
    """
    question, verdict = result.question, result.verdict
    return {
        "question_id": question.id,
        "history_id": question.history_id,
        "category": question.category,
        "question": question.text,
        "asked_at": question.asked_at.isoformat(),
        "gold": question.gold,
        "gold_turns": list(question.gold_turns),
        "gold_sessions": list(question.gold_sessions),
        "answerable": question.answerable,
        "erratum": question.erratum,
        "answer": answer(result.answer),
        "verdict": {"label": verdict.label, "judge": verdict.judge, "reason": verdict.reason},
        "usage": [
            vars_of(usage, "phase", "model", "prompt", "cached", "completion", "reasoning", "cache_hit")
            for usage in (*result.answer.usage, *verdict.usage)
        ],
        "measures": {name: round(value, 9) for name, value in result.measures.values.items()},
        "excluded": list(result.measures.excluded),
        "ranking": [evidence(item, with_awards=item.rank <= awards_top) for item in result.evidence],
    }


def answer(given: Answer) -> dict[str, Any]:
    return {
        "text": given.text,
        "abstained": given.abstained,
        "status": given.status,
        "interval": interval(given.interval),
        "citations": [vars_of(citation, "evidence_id", "turn_id", "quote") for citation in given.citations],
    }


def evidence(item: Evidence, *, with_awards: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rank": item.rank,
        "id": item.id,
        "kind": item.kind,
        "turn_ids": list(item.turn_ids),
        "confidence": round(item.confidence, 6),
    }
    if with_awards:
        found |= {
            "text": item.text,
            "at": item.at.isoformat(),
            "occurred": interval(item.occurred),
            "time_bonus": round(item.time_bonus, 6),
            "awards": [[a.tunnel, a.head, "direct" if a.direct else "derived", round(a.mass, 6)] for a in item.awards],
        }
    return found


def interval(value: Interval | None) -> dict[str, str] | None:
    return {"start": value.start.isoformat(), "end": value.end.isoformat(), "grain": value.grain} if value else None


def vars_of(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def masses(item: Evidence) -> dict[str, float]:
    """The mass each tunnel gave an item, largest first."""
    found: dict[str, float] = {}
    for award in item.awards:
        found[award.tunnel] = found.get(award.tunnel, 0.0) + award.mass
    return dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))


# --- for people ---------------------------------------------------------------------------------------------


def table(metrics: Mapping[str, float], judge: str) -> str:
    """Recall@k and accuracy by category, with n; a measure that is not defined shows as a dash."""
    categories = sorted(
        {name.split("/")[1] for name in metrics if name.startswith("accuracy/") and name.count("/") == 2}
    )
    categories = [name for name in categories if name != ERRATA.rstrip("/")]
    head = ["", "n", *(f"recall@{k}" for k in _CUTOFFS), "nDCG@10", "MRR", f"accuracy ({judge})"]
    body = [head]
    for unit in ("turn", "session"):
        if f"{unit}/n" in metrics:
            body.append(
                [
                    f"{unit} level",
                    _count(metrics.get(f"{unit}/n")),
                    *(_share(metrics.get(f"{unit}/recall_at_{k}")) for k in _CUTOFFS),
                    _share(metrics.get(f"{unit}/ndcg_at_10")),
                    _share(metrics.get(f"{unit}/mrr")),
                    _share(metrics.get("accuracy/strict")) if unit == "turn" else "",
                ]
            )
    if "turn/random_recall_at_10" in metrics:
        body.append(
            ["random order", "", *(_share(metrics.get(f"turn/random_recall_at_{k}")) for k in _CUTOFFS), "", "", ""]
        )
    for name in categories:
        scored = metrics.get(f"turn/{name}/n")
        body.append(
            [
                f"  {name}",
                _count(scored if scored is not None else metrics[f"accuracy/{name}/n"]),
                "",
                "",
                _share(metrics.get(f"turn/{name}/recall_at_10")),
                "",
                _share(metrics.get(f"turn/{name}/ndcg_at_10")),
                _share(metrics.get(f"turn/{name}/mrr")),
                _share(metrics.get(f"accuracy/{name}/strict")),
            ]
        )
    if f"{ERRATA}turn/recall_at_10" in metrics:
        body.append(
            [
                "without errata",
                _count(metrics.get(f"{ERRATA}turn/n")),
                *(_share(metrics.get(f"{ERRATA}turn/recall_at_{k}")) for k in _CUTOFFS),
                _share(metrics.get(f"{ERRATA}turn/ndcg_at_10")),
                _share(metrics.get(f"{ERRATA}turn/mrr")),
                _share(metrics.get(f"accuracy/{ERRATA}strict")),
            ]
        )
    return columns(body)


def columns(rows: list[list[str]]) -> str:
    """Rows of cells as aligned text, the first column to the left and the others to the right."""
    widths = [max(len(cells[place]) for cells in rows) for place in range(len(rows[0]))]
    lines = []
    for cells in rows:
        first, *others = (
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        lines.append("  ".join([first, *others]).rstrip())
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def worked(result: Result, items: int = 3) -> str:
    """One question as a story: asked, answered, cited, and which evidence carried how much of whose mass."""
    question, given = result.question, result.answer
    lines = [
        f"Q  {question.text}   [{question.category}, asked {question.asked_at:%Y-%m-%d}]",
        f"A  {given.text}   [gold: {question.gold}; {result.verdict.judge}: {result.verdict.label}]",
    ]
    lines += [f"   cites {citation.turn_id}: “{citation.quote}”" for citation in given.citations]
    for item in result.evidence[:items]:
        mark = "*" if set(item.turn_ids) & set(question.gold_turns) else " "
        shares = ", ".join(f"{tunnel} {mass:.3f}" for tunnel, mass in masses(item).items())
        bonus = f", time {item.time_bonus:.2f}" if item.time_bonus else ""
        lines.append(f" {mark} {item.rank}. {item.confidence:.3f} = {shares}{bonus}")
        lines.append(f"      {item.at:%Y-%m-%d}  {item.text[:110]}")
    return "\n".join(lines)
