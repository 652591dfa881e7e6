"""Figures of studies and ablations, drawn with matplotlib when it is there; nothing else needs it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sodamem.errors import MissingExtra

Points = Sequence[Mapping[str, Any]]  # parameters of a trial by name

_LABEL = 12  # characters of a choice under a small plot


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra('figures need matplotlib: pip install "sodamem[plot]"') from error
    return Figure(figsize=(width, height), layout="constrained")


def history(values: Sequence[float], measure: str, maximize: bool) -> Any:
    """Every trial's value in order, and the best so far."""
    figure = _figure(7, 3.5)
    axes = figure.subplots()
    best: list[float] = []
    for value in values:
        best.append(value if not best else max(best[-1], value) if maximize else min(best[-1], value))
    axes.plot(values, ".", markersize=3, alpha=0.5, label="trial")
    axes.plot(best, label="best so far")
    axes.set(xlabel="trial", ylabel=measure)
    axes.legend(loc="lower right")
    return figure


def importances(shares: Mapping[str, float]) -> Any:
    """Which knobs the measure depends on, as shares of one."""
    figure = _figure(7, 1 + 0.3 * len(shares))
    axes = figure.subplots()
    names = sorted(shares, key=lambda name: shares[name])
    axes.barh(names, [shares[name] for name in names])
    axes.set(xlabel="importance")
    return figure


def slices(points: Points, values: Sequence[float], measure: str) -> Any:
    """The measure over each knob, one small plot a knob."""
    names = sorted({name for point in points for name in point})
    columns = min(4, len(names))
    rows = math.ceil(len(names) / columns)
    figure = _figure(3 * columns, 2.4 * rows)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axes, name in zip(grid.flat, names, strict=False):
        shown = [(point[name], value) for point, value in zip(points, values, strict=True) if name in point]
        plain = all(isinstance(x, int | float) and not isinstance(x, bool) for x, _ in shown)
        kinds = {} if plain else {text: place for place, text in enumerate(dict.fromkeys(str(x) for x, _ in shown))}
        axes.plot(
            [x if plain else kinds[str(x)] for x, _ in shown], [y for _, y in shown], ".", markersize=3, alpha=0.5
        )
        if kinds:  # whole lists may be choices: a long label would leave no room for the plot
            short = [text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…" for text in kinds]
            axes.set_xticks(list(kinds.values()), short, rotation=0 if len("".join(short)) <= 3 * _LABEL else 60)
        axes.set_xlabel(name, fontsize=7)
        axes.tick_params(labelsize=7)
    for axes in list(grid.flat)[len(names) :]:
        axes.set_visible(False)
    grid[0][0].set_ylabel(measure, fontsize=7)
    return figure


def pareto(values: Sequence[Sequence[float]], front: Sequence[Sequence[float]], measures: Sequence[str]) -> Any:
    """All trials under the first two measures, the front joined."""
    figure = _figure(6, 4)
    axes = figure.subplots()
    axes.plot([v[1] for v in values], [v[0] for v in values], ".", markersize=3, alpha=0.4, label="trial")
    line = sorted(front, key=lambda v: v[1])
    axes.plot([v[1] for v in line], [v[0] for v in line], "o-", markersize=4, label="Pareto front")
    axes.set(xlabel=measures[1], ylabel=measures[0])
    axes.legend(loc="lower right")
    return figure


def forest(names: Sequence[str], rows: Sequence[tuple[float, float | None, float | None]], label: str) -> Any:
    """Differences from a baseline with their intervals, one line a variant, in the order given."""
    figure = _figure(8, 1 + 0.28 * len(names))
    axes = figure.subplots()
    places = list(range(len(names), 0, -1))
    for place, (mean, low, high) in zip(places, rows, strict=True):
        if low is not None and high is not None:
            axes.plot([low, high], [place, place], color="tab:blue", linewidth=1.5)
        axes.plot([mean], [place], "o", color="tab:blue", markersize=4)
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_yticks(places, names, fontsize=8)
    axes.set(xlabel=label)
    return figure
