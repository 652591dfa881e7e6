"""Which turns does recall find on LoCoMo? Our setting beside BM25, MiniLM, their rank fusion, and the paper's values.

Turn level, categories 1 to 4, no model at ingest or query. LoCoMo: Maharana et al., ACL 2024.
"""

from __future__ import annotations

import sys

from tqdm import tqdm

from experiments.common import DRAWS, SEED, arguments, difference, interval, main, save, show
from sodamem import build
from sodamem.config import compose
from sodamem.evaluate import retrieve
from sodamem.metric.retrieval import Row, aggregate
from sodamem.metric.statistics import cluster_bootstrap

MEASURE = "turn/recall_at_10"
BARE = ["recall.names_in_query=true", "tunnel.bm25.documents.context=[]"]
RRF = "reciprocal-rank fusion"
SETTINGS: dict[str, list[str]] = {
    "bm25": ["tunnel=[bm25]", "fusion=rrf", *BARE],
    "minilm": ["tunnel=[dense]", "fusion=rrf", "recall.names_in_query=true"],
    RRF: ["tunnel=[bm25,dense]", "fusion=rrf", *BARE],
    "experiment=paper": ["experiment=paper", "dataset=locomo", "encoder=minilm"],
    "sodamem, encoder=lsa": ["encoder=lsa"],
    "sodamem": [],
}
COLUMNS = [
    *("setting", "split", "n", "turn/recall_at_1", "turn/recall_at_5", MEASURE, "low", "high", "turn/recall_at_20"),
    *(f"turn/category_{number}/recall_at_10" for number in (1, 2, 3, 4)),
    *("turn/ndcg_at_10", "turn/mrr", "turn/random_recall_at_10"),
]


def run() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", nargs="+", choices=sorted(SETTINGS), help="some settings only")
    given = parser.parse_args()
    found: dict[tuple[str, str], list[Row]] = {}
    jobs = [(name, split) for split in given.split for name in SETTINGS if not given.only or name in given.only]
    for name, split in tqdm(jobs, delay=2, file=sys.stderr, unit="setting"):
        base = [] if name.startswith("experiment") else ["experiment=locomo_recall"]
        cfg = compose(*base, *SETTINGS[name], f"dataset.split={split}", "tracker=none")
        found[name, split] = retrieve(build.pipeline(cfg), build.component(cfg, "dataset").open())
    rows = []
    for (name, split), results in found.items():
        scored = [row for row in results if MEASURE in row.values]
        spread = cluster_bootstrap(
            [row.values[MEASURE] for row in scored], [row.history_id for row in scored], draws=DRAWS, seed=SEED
        )
        rows.append({"setting": name, "split": split, **aggregate(results), "low": spread.low, "high": spread.high})
        rows[-1]["n"] = len(scored)
    show(rows, COLUMNS)
    for split in given.split:
        if ("sodamem", split) in found and (RRF, split) in found:
            gain = difference(found["sodamem", split], found[RRF, split], MEASURE)
            print(f"{split}: sodamem - {RRF}, recall@10: {interval(gain)} (95 %, {gain.clusters} conversations)")
    save(rows, given.json)


if __name__ == "__main__":
    main(run)
