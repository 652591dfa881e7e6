"""What the scripts share: their arguments, their rows as a table and as JSON, errors in one line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sodamem.errors import SodamemError
from sodamem.metric.retrieval import Row
from sodamem.metric.statistics import Estimate, paired_bootstrap
from sodamem.report import columns

DRAWS, SEED = 10_000, 20  # of every bootstrap
Cell = str | float | int | None


def arguments(description: str | None, splits: Sequence[str] = ("dev", "test")) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows of the table to FILE as well")
    parser.add_argument("--split", nargs="+", default=list(splits), choices=["dev", "test", "all"], help="which splits")
    return parser


def show(rows: Sequence[Mapping[str, Cell]], names: Sequence[str]) -> None:
    """Print the named columns of rows, numbers with three decimals; a missing value is a dash."""
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    print(columns([list(names), *cells]))


def save(rows: Sequence[Mapping[str, Cell]], path: Path | None) -> None:
    if path:
        path.write_text(json.dumps(list(rows), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def difference(a: Sequence[Row], b: Sequence[Row], measure: str) -> Estimate:
    """Mean of a - b over the questions both score, with an interval from whole conversations drawn again."""
    left, right = ({row.question_id: row.values[measure] for row in rows if measure in row.values} for rows in (a, b))
    clusters = {row.question_id: row.history_id for row in a}
    return paired_bootstrap(left, right, clusters, draws=DRAWS, seed=SEED)


def interval(estimate: Estimate, digits: int = 3) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.mean:+.{digits}f}"
    return f"{estimate.mean:+.{digits}f} [{estimate.low:+.{digits}f}, {estimate.high:+.{digits}f}]"


def main(script: Callable[[], None]) -> None:
    """Run a script; a fault of the user's is one line and exit code 2."""
    try:
        script()
    except SodamemError as error:
        print(f"{Path(sys.argv[0]).name}: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)


def _cell(value: Cell) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
