"""The map as a picture: cost on a log axis, the subject as a star, what it dominates shaded (Figure 2 of the paper).

Needs matplotlib, the `plot` extra. The same bytes for the same data: no date, no random ids.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from math import log10
from typing import Any

from sodamem.errors import MissingExtra
from sodamem.frontier.table import Frontier, Point, pareto

FORMATS = ("png", "svg")
_SIZE, _DPI = (10.5, 6.6), 150
_BOTTOM, _TOP = 15, 101  # per cent
_NUDGES = ((7, 0, "left"), (-7, 0, "right"), (7, 9, "left"), (7, -9, "left"), (-7, 9, "right"), (-7, -9, "right"),
           (0, 12, "center"), (0, -13, "center"), (7, 18, "left"), (7, -18, "left"))  # fmt: skip


def draw(frontier: Frontier, points: Sequence[Point] = ()) -> dict[str, bytes]:
    """The map in each of FORMATS; MissingExtra without matplotlib. points: systems of the user's own."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure  # without pyplot, so that no display is asked for
    except ImportError as error:
        raise MissingExtra('the map as a picture needs matplotlib. pip install "sodamem[plot]"') from error
    found = {}
    with mpl.rc_context({"svg.hashsalt": "sodamem", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=_SIZE, dpi=_DPI, layout="constrained")
        _axes(figure.add_subplot(), frontier, points)
        for kind in FORMATS:
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
            found[kind] = stream.getvalue()
    return found


def _axes(axes: Any, frontier: Frontier, points: Sequence[Point]) -> None:
    best = frontier.right("best") / frontier.questions
    mean, median = frontier.cost("mean"), frontier.cost("median")
    costs = [system.high or system.point.cost for system in frontier.table] + [point.cost for point in points]
    low, high = 0.7 * min(*costs, *(system.point.cost for system in frontier.table)), 3 * max(costs)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(_BOTTOM, _TOP)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("dollars for 1,000 questions (log scale; ▸ at least)")
    axes.set_ylabel("accuracy on LongMemEval-S, per cent")
    axes.grid(visible=True, which="major", alpha=0.25)
    for cost, alpha in ((mean, 0.10), (median, 0.05)):
        axes.fill_between([cost, high], _BOTTOM, 100 * best, color="#1a7f4b", alpha=alpha, linewidth=0)
    front = pareto([system.point for system in frontier.table])
    steps = [point.cost for point in front], [100 * point.accuracy for point in front]
    axes.step(*steps, where="post", color="0.7", lw=0.8, ls=":", zorder=0)
    spots: list[tuple[Point, str]] = []
    for system in frontier.rivals:
        point, fill = system.point, "#34495e" if system.basis == "meas" else "white"
        axes.plot(point.cost, 100 * point.accuracy, ">" if system.bound else "o", ms=5, color="#34495e", mfc=fill)
        if system.high:
            axes.plot([point.cost, system.high], [100 * point.accuracy] * 2, color="#34495e", lw=1)
        spots.append((point, system.name))
    axes.plot(mean, 100 * best, "*", ms=17, color="#c0392b", zorder=5)
    axes.plot(median, 100 * best, "*", ms=12, mfc="white", mec="#c0392b", zorder=4)
    axes.plot([mean, mean], [100 * frontier.right("median") / frontier.questions, 100 * best], color="#c0392b", lw=1)
    said = f"{frontier.subject} (white star: median cost, line: to the median run)"
    axes.annotate(said, (mean, 100 * best), xytext=(9, 8), textcoords="offset points", fontsize=8)
    for point in points:
        axes.plot(point.cost, 100 * point.accuracy, "D", ms=7, color="#8e44ad", zorder=5)
        spots.append((point, point.name))
    ranges = [(system.point, system.high) for system in frontier.rivals if system.high]
    _label(axes, spots, ranges, low, high)


def _label(
    axes: Any, spots: Sequence[tuple[Point, str]], ranges: Sequence[tuple[Point, float]], low: float, high: float
) -> None:
    """Names beside their points, moved to where they do not cover what is already drawn."""
    width, height = 72 * _SIZE[0] * 0.93, 72 * _SIZE[1] * 0.92  # of the axes, in points; near enough to part labels

    def place(accuracy: float, cost: float) -> tuple[float, float]:
        return width * log10(cost / low) / log10(high / low), height * (100 * accuracy - _BOTTOM) / (_TOP - _BOTTOM)

    taken = [(x - 4, x + 4, y - 4, y + 4) for x, y in (place(point.accuracy, point.cost) for point, _ in spots)]
    for point, end in ranges:
        (left, y), (right, _) = place(point.accuracy, point.cost), place(point.accuracy, end)
        taken.append((left, right, y - 2, y + 2))
    for point, name in sorted(spots, key=lambda spot: (-spot[0].accuracy, spot[1])):
        x, y = place(point.accuracy, point.cost)
        boxes = [(_box(x + dx, y + dy, 4.7 * len(name), side), (dx, dy, side)) for dx, dy, side in _NUDGES]
        box, (dx, dy, side) = min(boxes, key=lambda choice: sum(_meet(choice[0], other) for other in taken))
        taken.append(box)
        where = {"xytext": (dx, dy), "textcoords": "offset points", "ha": side, "va": "center"}
        axes.annotate(name, (point.cost, 100 * point.accuracy), fontsize=8, **where)


Box = tuple[float, float, float, float]


def _box(x: float, y: float, length: float, side: str) -> Box:
    left = {"left": x, "right": x - length, "center": x - length / 2}[side]
    return (left, left + length, y - 5, y + 5)


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]
