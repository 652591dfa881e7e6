"""What an ablation leaves behind: its table as Markdown and CSV, a forest plot, and a tracked run that holds them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from sodamem import build, config, figures
from sodamem.ablate import TABLE, Comparison, Family, rows
from sodamem.errors import MissingExtra
from sodamem.records import report_name
from sodamem.run import fresh


def markdown(family: Family, mean: float, n: int, found: Sequence[Comparison]) -> str:
    """The table of a family, with what its columns mean."""
    lines = ["| " + " | ".join(TABLE) + " |", "|" + "---|" * len(TABLE)]
    for row in rows(mean, found):
        lines.append("| " + " | ".join(_cell(row.get(name)) for name in TABLE) + " |")
    about = (
        f"{family.name}: {report_name(family.measure)}, n = {n}. Differences from the baseline on the same questions, "
        "95 % intervals over conversations, effect in standard deviations, p adjusted over the family (Holm)."
    )
    return "\n".join([about, "", *lines])


def table(mean: float, found: Sequence[Comparison]) -> str:
    """The same as CSV, with all digits."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, TABLE, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(mean, found))
    return stream.getvalue()


def track(family: Family, overrides: Sequence[str], mean: float, n: int, found: Sequence[Comparison]) -> Path:
    """Write table and figure to a folder of the runs, and to a tracked run. Returns the folder."""
    cfg = config.compose(*family.baseline, *overrides)
    folder = fresh(Path(cfg.runs), f"ablate-{family.name}")
    (folder / "table.md").write_text(markdown(family, mean, n, found) + "\n", encoding="utf-8")
    (folder / "table.csv").write_text(table(mean, found), encoding="utf-8")
    try:
        estimates = [(one.difference.mean, one.difference.low, one.difference.high) for one in found]
        label = f"difference in {report_name(family.measure)}"
        figures.forest([one.variant for one in found], estimates, label).savefig(folder / "forest.svg")
    except MissingExtra:
        pass  # the figure is an extra; the table says the same
    tracker = build.component(cfg, "tracker")
    with tracker.run(folder.name, config.flat(config.plain(cfg)), tags={"family": family.name}) as run:
        run.metrics({report_name(family.measure): mean, "n": float(n)})
        for one in found:
            run.metrics({f"difference/{one.variant}": one.difference.mean})
        for path in sorted(folder.iterdir()):
            run.artifact(path)
    return folder


def _cell(value: str | float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value).replace("|", "\\|")
