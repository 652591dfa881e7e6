"""Which parts of recall earn their keep? Leave-one-out and only-one, around our setting and around the paper's values.

Recall@10 at turn level on LoCoMo (Maharana et al., ACL 2024), paired on the same questions; intervals from whole
conversations drawn again, p-values adjusted over each family (Holm).
"""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

from experiments.common import Cell, arguments, main, save, show
from sodamem.ablate import TABLE, ablate, family, rows

FAMILIES = ("tunnels", "paper")


def _tick(bar: Any) -> None:
    bar.update()


def run() -> None:
    parser = arguments(__doc__, splits=("test",))
    parser.add_argument("--family", nargs="+", default=list(FAMILIES), choices=FAMILIES)
    given = parser.parse_args()
    found: list[dict[str, Cell]] = []
    for name in given.family:
        for split in given.split:
            chosen = family(name)
            with tqdm(total=len(chosen.variants) + 1, unit="setting", delay=2, file=sys.stderr) as bar:
                measured = ablate(chosen, [f"dataset.split={split}", "tracker=none"], lambda _: _tick(bar))
            table: list[dict[str, Cell]] = [dict(row) for row in rows(measured)]
            print(f"\n{name}, {split} split, n = {measured.n}, recall@10")
            show(table, TABLE)
            found += [{"family": name, "split": split, "n": measured.n, **row} for row in table]
    save(found, given.json)


if __name__ == "__main__":
    main(run)
