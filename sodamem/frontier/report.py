"""The frontier in words and tables: the dominated sets, what each doubt leaves of them, and the referee's test.

The test asks of a claim of strict dominance over one rival: is the judged accuracy at least the rival's, and the full
cost, ingest included, at most the rival's?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sodamem.frontier.robustness import limits, outcomes
from sodamem.frontier.table import Frontier, Point, Scenario, System, dominated, pareto
from sodamem.report import columns, vars_of

COLUMNS = ("date", "model", "basis", "high", "bound", "note")


def figures(frontier: Frontier, points: Sequence[Point], rival: str) -> dict[str, Any]:
    """Everything as plain data. points: systems of the user's own, for the same map · rival: of the referee's test."""
    found = outcomes(frontier)
    dominable = {name for outcome in found for name in outcome.dominated}
    return {
        "source": frontier.source,
        "subject": frontier.subject,
        "systems": [asdict(system.point) | vars_of(system, *COLUMNS) for system in frontier.table],
        "points": [asdict(point) | {"dominated": dominated(point, frontier.table)} for point in points],
        "pareto": [point.name for point in pareto([system.point for system in frontier.table])],
        "costs": {kind: frontier.cost(kind) for kind in ("mean", "median", "cold")} | {"ingest": frontier.ingest},
        "runs": {"correct": list(frontier.runs), "of": frontier.questions},
        "scenarios": [asdict(outcome) | {"scenario": outcome.scenario.name} for outcome in found],
        "limits": [asdict(limits(frontier, system)) for system in frontier.rivals if system.name in dominable],
        "referee": [referee(frontier, rival), *(_threshold(frontier.rival(rival), point) for point in points)],
    }


def referee(frontier: Frontier, rival: str) -> str:
    """The test of the subject's claim over one rival, as a paragraph with its numbers."""
    system = frontier.rival(rival)
    bar, limit = system.point.accuracy, system.point.cost
    best, mid = (frontier.right(run) / frontier.questions for run in ("best", "median"))
    cost, cold = frontier.cost("mean"), frontier.cost("cold")
    bounds = limits(frontier, system)
    parts = [
        f"{_needs(system)} {frontier.subject}: {best:.1%} at best of {len(frontier.runs)} runs ({_is(best >= bar)}), "
        f"{mid:.1%} at the median run ({_is(mid >= bar)}), by its own judge.",
        f"Answering alone costs ${cost:.2f} ({_is(cost <= limit)}), with a cold cache ${cold:.2f} "
        f"({_is(cold <= limit)}).",
        f"Reading a history once adds at least ${frontier.ingest:.2f} shared by the questions on it: "
        f"${cost + frontier.ingest:.2f} in full with one question each ({_is(cost + frontier.ingest <= limit)})"
        + (f", met from {bounds.per_history} questions a history on." if bounds.per_history else "."),
    ]
    if bounds.accepted_best is not None:
        said = f"The accuracy is met while the judge accepts at most {bounds.accepted_best:.0%} of wrong answers"
        median = "" if bounds.accepted_median is None else f" ({bounds.accepted_median:.0%} at the median run)"
        parts.append(f"{said}{median}.")
    if bounds.factor is not None:
        parts.append(f"The cost of answering is met while prices are at most {bounds.factor:.2f} times those assumed.")
    return " ".join(parts)


def _threshold(system: System, point: Point) -> str:
    met = point.accuracy >= system.point.accuracy, point.cost <= system.point.cost
    return (
        f"{_needs(system)} {point.name}: {point.accuracy:.1%} ({_is(met[0])}) and ${point.cost:.2f} ({_is(met[1])}): "
        f"{'dominates it' if point.dominates(system.point) else 'does not dominate it'}."
    )


def _needs(system: System) -> str:
    return (
        f"Strict dominance over {system.name} needs judged accuracy >= {100 * system.point.accuracy:.1f} % and "
        f"full cost <= ${system.point.cost:.2f} per 1,000 questions."
    )


def _is(met: bool) -> str:
    return "met" if met else "not met"


# --- for people ---------------------------------------------------------------------------------------------


def describe(frontier: Frontier, data: Mapping[str, Any]) -> str:
    """Tables for the terminal, the referee's test last."""
    names = [row["rival"] for row in data["limits"]]
    lines = [f"{data['source']}: dollars for 1,000 questions, accuracy in per cent", "", columns(_table(frontier)), ""]
    lines += [f"not dominated by any other: {', '.join(data['pareto'])}", ""]
    for name in ("mean", "median"):
        point = frontier.place(Scenario(name=name, run="best", cost=name))
        held = dominated(point, frontier.rivals)
        whom = f"dominated by {frontier.subject} at {name} cost ${point.cost:.2f} ({len(held)})"
        lines.append(f"{whom}: {', '.join(held)}")
    for point_row in data["points"]:
        lines.append(f"dominated by {point_row['name']}: {', '.join(point_row['dominated']) or 'none'}")
    lines += ["", "probability that each dominance holds, by scenario"]
    lines += [columns(_probabilities(data["scenarios"], names)), "", "where each dominance ends, one doubt at a time"]
    lines += [columns(_limits(data["limits"])), "", *data["referee"]]
    return "\n".join(lines)


def _table(frontier: Frontier) -> list[list[str]]:
    body = [["system", "date", "accuracy", "cost", "basis", "model"]]
    for system in frontier.table:
        cost = f"{'>= ' if system.bound else ''}{system.point.cost:g}{f'-{system.high:g}' if system.high else ''}"
        body.append(
            [system.name, system.date, f"{100 * system.point.accuracy:.1f}", cost, f"{system.basis}.", system.model]
        )
    return body


def _probabilities(scenarios: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[list[str]]:
    body = [["scenario", "accuracy", "cost", "dominated", *names]]
    for row in scenarios:
        place = [f"{row['accuracy']:.1%}", f"{row['cost']:.2f}", str(len(row["dominated"]))]
        body.append([row["scenario"], *place, *(f"{row['probability'][name]:.2f}" for name in names)])
    return body


def _limits(bounds: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    head = {
        "accepted_best": ("wrong accepted (best)", "<= {:.0%}"),
        "accepted_median": ("(median run)", "<= {:.0%}"),
        "factor": ("price factor", "<= {:.2f}"),
        "per_history": ("questions a history", ">= {}"),
    }
    body = [["rival", *(title for title, _ in head.values())]]
    for row in bounds:
        cells = ("-" if row[key] is None else style.format(row[key]) for key, (_, style) in head.items())
        body.append([str(row["rival"]), *cells])
    return body
