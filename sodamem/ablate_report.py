"""What an ablation leaves behind: its table as Markdown and CSV, a forest plot, and a tracked run that holds them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from sodamem import build, config, figures
from sodamem.ablate import SEEDED, TABLE, Ablation, Family, rows
from sodamem.errors import MissingExtra
from sodamem.records import report_name
from sodamem.run import fresh


def markdown(family: Family, found: Ablation) -> str:
    """The table of a family, with what its columns mean."""
    names = _columns(found)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for row in rows(found):
        lines.append("| " + " | ".join(_cell(row.get(name)) for name in names) + " |")
    about = (
        f"{family.name}: {report_name(family.measure)}, n = {found.n}. Differences from the baseline on the same "
        "questions, 95 % intervals over conversations, effect in standard deviations, p of "
        f"{'McNemar exactly' if found.test == 'McNemar' else 'the cluster bootstrap'}, adjusted over the family (Holm)."
    )
    if len(found.runs) > 1:
        about += f" {len(found.runs)} runs: {', '.join(family.seeds)}; sd over them."
    return "\n".join([about, "", *lines])


def table(found: Ablation) -> str:
    """The same as CSV, with all digits."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, _columns(found), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(found))
    return stream.getvalue()


def _columns(found: Ablation) -> tuple[str, ...]:
    return SEEDED if len(found.runs) > 1 else TABLE


def track(family: Family, overrides: Sequence[str], found: Ablation) -> Path:
    """Write table and figure to a folder of the runs, and to a tracked run. Returns the folder."""
    cfg = config.compose(*family.baseline, *overrides)
    folder = fresh(Path(cfg.runs), f"ablate-{family.name}")
    (folder / "table.md").write_text(markdown(family, found) + "\n", encoding="utf-8")
    (folder / "table.csv").write_text(table(found), encoding="utf-8")
    try:
        spans = [(one.difference.mean, one.difference.low, one.difference.high) for one in found.compared]
        label = f"difference in {report_name(family.measure)}"
        figures.forest([one.variant for one in found.compared], spans, label).savefig(folder / "forest.svg")
    except MissingExtra:
        pass  # the figure is an extra; the table says the same
    tracker = build.component(cfg, "tracker")
    with tracker.run(folder.name, config.flat(config.plain(cfg)), tags={"family": family.name}) as run:
        run.metrics({report_name(family.measure): found.mean, "n": float(found.n)})
        run.metrics({f"difference/{one.variant}": one.difference.mean for one in found.compared})
        for path in sorted(folder.iterdir()):
            run.artifact(path)
    return folder


def _cell(value: str | float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value).replace("|", "\\|")
