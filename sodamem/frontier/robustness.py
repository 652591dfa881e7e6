"""How much of a dominance survives: as a probability under doubt, and as the doubt at which it ends.

Accuracies are drawn from Jeffreys' posterior (a Beta distribution) of their counts, a judge's share of wrongly accepted
answers likewise; Rogan and Gladen 1978 takes that share out. Rivals' figures are drawn, but taken at their word.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from sodamem.frontier.table import Frontier, Scenario, System, dominated, without_accepted

Draws = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """One scenario: where the subject stands, whom it dominates there, and how likely it does once all is drawn."""

    scenario: Scenario
    accuracy: float
    cost: float
    dominated: tuple[str, ...]
    probability: dict[str, float]  # of dominating each rival


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Where the dominance over one rival ends, everything else as published; None where it does not hold at all.

    accepted_best, accepted_median: share of wrong answers that the subject's judge may accept, at its best and median
    run · factor: on the subject's prices · per_history: least questions that must share reading a history once.
    """

    rival: str
    accepted_best: float | None
    accepted_median: float | None
    factor: float | None
    per_history: int | None


def outcomes(frontier: Frontier) -> list[Outcome]:
    """Every declared scenario. The same draws of rivals are used in all, so that columns can be compared."""
    draw = np.random.default_rng(frontier.seed)
    rivals = {s.name: _share(draw, frontier, s.point.accuracy * frontier.questions) for s in frontier.rivals}
    return [_outcome(frontier, scenario, rivals) for scenario in frontier.imagined]


def _outcome(frontier: Frontier, scenario: Scenario, rivals: dict[str, Draws]) -> Outcome:
    point = frontier.place(scenario)
    draw = np.random.default_rng([frontier.seed, 1])  # the same doubt in every scenario, for the same reason
    subject = _share(draw, frontier, frontier.right(scenario.run))
    if scenario.judge is not None:
        shown, accepted = frontier.judges[scenario.judge]
        wrongly = draw.beta(accepted + 0.5, shown - accepted + 0.5, frontier.draws)
        subject = np.maximum(0, (subject - wrongly) / (1 - wrongly))
    reach = np.log(scenario.spread)
    ours, theirs = (np.exp(draw.uniform(-reach, reach, frontier.draws)) for _ in range(2))
    probability = {}
    for system in frontier.rivals:
        better = subject >= rivals[system.name]
        cheaper = point.cost * ours <= system.point.cost * theirs
        probability[system.name] = float((better & cheaper).mean())
    return Outcome(
        scenario=scenario,
        accuracy=point.accuracy,
        cost=point.cost,
        dominated=tuple(dominated(point, frontier.rivals)),
        probability=probability,
    )


def _share(draw: np.random.Generator, frontier: Frontier, right: float) -> Draws:
    return draw.beta(right + 0.5, frontier.questions - right + 0.5, frontier.draws)


def limits(frontier: Frontier, rival: System) -> Limits:
    """The doubt that the dominance over a rival bears, one kind at a time."""
    cost, ahead = frontier.cost("mean"), rival.point.cost - frontier.cost("mean")
    best, mid = (frontier.right(run) / frontier.questions for run in ("best", "median"))
    cheaper = ahead >= 0
    return Limits(
        rival=rival.name,
        accepted_best=_bearable(best, rival.point.accuracy) if cheaper else None,
        accepted_median=_bearable(mid, rival.point.accuracy) if cheaper else None,
        factor=rival.point.cost / cost if best >= rival.point.accuracy else None,
        per_history=ceil(frontier.ingest / ahead) if ahead > 0 and best >= rival.point.accuracy else None,
    )


def _bearable(accuracy: float, rival: float) -> float | None:
    """The share f with (accuracy - f) / (1 - f) = rival."""
    if accuracy < rival or rival >= 1:
        return None
    share = (accuracy - rival) / (1 - rival)
    assert abs(without_accepted(accuracy, share) - rival) < 1e-9
    return share
