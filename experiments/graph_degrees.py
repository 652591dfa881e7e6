"""Do hubs swamp the graph? Degrees of entities and facts on LoCoMo, with and without the limits that keep hubs out.

`subject` files a fact under whoever its words are about, `speaker` under whoever said it (the coarser reading that the
paper's entity-subject variant is set against). Paper section 4.4.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

import numpy as np
from tqdm import tqdm

from experiments.common import Cell, arguments, main, save, show
from sodamem import build
from sodamem.config import compose
from sodamem.evaluate import opened
from sodamem.types import FactEvent

LIMITS = {"hub 0.02 (default)": 0.02, "hub 0.1": 0.1, "no hub limit": 1.0}
COLUMNS = ("setting", "n", "median", "p90", "p99", "max", "top_share", "edges_per_fact")


def spread(setting: str, degrees: Iterable[int], total: int, per_fact: float | None = None) -> dict[str, Cell]:
    """Quantiles of degrees, and the share of all that the largest one has."""
    values = np.array(sorted(degrees))
    return {
        "setting": setting,
        "n": len(values),
        **{name: float(np.quantile(values, q)) for name, q in (("median", 0.5), ("p90", 0.9), ("p99", 0.99))},
        "max": int(values.max()),
        "top_share": float(values.max() / total),
        "edges_per_fact": per_fact,
    }


def entities(facts: Iterable[FactEvent], *, by_speaker: bool) -> Counter[str]:
    found: Counter[str] = Counter()
    for fact in facts:
        subject = f"person:{fact.speaker.casefold()}" if by_speaker else fact.subject
        found.update({subject, *(role.entity for role in fact.roles)})
    return found


def run() -> None:
    given = arguments(__doc__, splits=("dev",)).parse_args()
    rows: list[dict[str, Cell]] = []
    for split in given.split:
        base = ["experiment=locomo_recall", f"dataset.split={split}", "tracker=none"]
        pipeline = build.pipeline(compose(*base))
        corpus = build.component(compose(*base), "dataset").open()
        facts = [memory.snapshot.facts for memory, _ in tqdm(opened(pipeline, corpus), delay=2, file=sys.stderr)]
        for name, by_speaker in (("entities, subject", False), ("entities, speaker", True)):
            degrees = [count for group in facts for count in entities(group, by_speaker=by_speaker).values()]
            rows.append(spread(name, degrees, sum(degrees)))
        for name, hub in LIMITS.items():
            linker = build.component(compose(*base, f"linker.hub={hub}"), "linker")
            count: Counter[str] = Counter()
            edges = 0
            for number, group in enumerate(facts):
                count.update({f"{number}/{fact.id}": 0 for fact in group})
                for edge in linker.link([fact for fact in group if fact.status == "active"]):
                    count.update((f"{number}/{edge.source}", f"{number}/{edge.target}"))
                    edges += 1
            rows.append(spread(f"facts, {name}", count.values(), 2 * edges, edges / len(count)))
        print(f"{split} split")
        show(rows, COLUMNS)
    save([{"split": given.split[0], **row} for row in rows], given.json)


if __name__ == "__main__":
    main(run)
