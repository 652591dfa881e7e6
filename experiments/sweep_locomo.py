"""Does tuning help? Published values, hand-set weights, weights tuned by a study, and a learned fusion, on LoCoMo.

Recall@10 at turn level; everything is chosen on dev, test is looked at once for each. The learned fusion's dev figure
leaves each conversation out in turn. LongMemEval is a check of transfer where its file is given.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from experiments.common import DRAWS, SEED, Cell, arguments, interval, main, save, show
from sodamem import build, learn
from sodamem.config import compose, plain
from sodamem.fusion.awards import Floats
from sodamem.fusion.base import AwardFusion
from sodamem.fusion.learned import LearnedFusion
from sodamem.metric.statistics import cluster_bootstrap
from sodamem.replay.measures import by_question
from sodamem.replay.recorded import Recordings, Setting, fusion_of
from sodamem.replay.replay import Replay
from sodamem.sweep.book import point
from sodamem.sweep.sweep import Request, sweep

MEASURE = "turn/recall_at_10"
OURS, PAPER = ("experiment=locomo_recall",), ("experiment=paper", "dataset=locomo", "encoder=minilm")
LEARNING: dict[str, Any] = {"strength": 0.001, "rivals": 200, "rounds": 1}  # best left-one-out mean on dev of ten tried
COLUMNS = ("setting", "data", "n", "recall@10", "low", "high", "against hand-set")
SENSITIVITY: dict[str, Sequence[float | int | None]] = {
    "fusion.beta": (0.0, 0.1, 0.2, 0.3, 0.5, 1.0),
    "fusion.theta": (None, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95),
    "fusion.strong_direct": (0.1, 0.2, 0.3, 0.4, 0.6, 0.8),
    "fusion.weak_direct": (0.05, 0.1, 0.2, 0.3, 0.4, 0.6),
    "fusion.strong_derived": (0.0, 0.05, 0.1, 0.2, 0.3),
    "fusion.weak_derived": (0.0, 0.025, 0.05, 0.1, 0.2),
    "fusion.decay": (0.0, 0.1, 0.3, 1.0),
    "heads": (3, 5, 10, 20, 30, 50),
    "keep": (1, 2, 3, 5, 8, 12),
    "top_k": (10, 20, 50),
}


def opened(overrides: Sequence[str]) -> tuple[Setting, Replay]:
    setting = Setting.of(plain(compose(*overrides, "tracker=none")))
    return setting, Recordings(Path(setting.whole["runs"]), [setting]).replay(setting)


def line(name: str, data: str, replay: Replay, values: Floats, hand: Floats) -> dict[str, Cell]:
    """One row of the table, with the interval of its mean and of its difference from the hand-set weights."""
    scored = ~np.isnan(values)
    groups = [history for history, ok in zip(replay.recording.histories, scored.tolist(), strict=True) if ok]
    spread = cluster_bootstrap(values[scored].tolist(), groups, draws=DRAWS, seed=SEED)
    gain = cluster_bootstrap((values - hand)[scored].tolist(), groups, draws=DRAWS, seed=SEED)
    found: dict[str, Cell] = {"setting": name, "data": data, "n": spread.n, "recall@10": spread.mean}
    return {**found, "low": spread.low, "high": spread.high, "against hand-set": interval(gain)}


def learned(replay: Replay, folder: Path, name: str, questions: Sequence[int] | None = None) -> LearnedFusion:
    path = folder / f"{name}.yaml"
    found = learn.fit(replay.recording, questions=questions, **LEARNING)
    learn.write(
        found, path, {"learned by": "experiments/sweep_locomo.py", "recording": replay.recording.key, **LEARNING}
    )
    return LearnedFusion(coefficients=str(path), theta=None, beta=0.0, unit="turn")


def left_out(replay: Replay, folder: Path) -> Floats:
    """Recall@10 of each question under coefficients learned from the other conversations: float64 [q]."""
    histories = np.array(replay.recording.histories)
    values = np.full(len(histories), np.nan)
    for number, held in enumerate(tqdm(sorted(set(histories)), desc="leave one out", delay=2, file=sys.stderr)):
        fusion = learned(replay, folder, f"without-{number}", np.flatnonzero(histories != held).tolist())
        own = histories == held
        values[own] = replay.recall(fusion, [10])[0][own]
    return values


def sensitivity(split: str) -> list[dict[str, Cell]]:
    """Recall@10 of the published setting with one knob moved at a time, all by replay."""
    base = plain(compose(*PAPER, f"dataset.split={split}", "tracker=none"))
    moved = {
        (knob, value): Setting.of(_moved(base, knob, value)) for knob, values in SENSITIVITY.items() for value in values
    }
    recordings = Recordings(Path(base["runs"]), [Setting.of(base), *moved.values()])
    rows: list[dict[str, Cell]] = []
    for (knob, value), setting in moved.items():
        found = by_question(recordings.replay(setting), fusion_of(setting), setting.cut, [MEASURE])[MEASURE]
        rows.append({"knob": knob, "value": "null" if value is None else str(value), split: float(np.nanmean(found))})
    return rows


def _moved(cfg: Mapping[str, Any], knob: str, value: float | int | None) -> dict[str, Any]:
    if knob.startswith("fusion."):
        return {**cfg, "fusion": {**cfg["fusion"], knob.removeprefix("fusion."): value}}
    if knob == "top_k":
        return {**cfg, "recall": {**cfg["recall"], "top_k": value}}
    tunnels = {
        name: {**node, "heads": value}
        if knob == "heads"
        else {**node, "expansion": {**node["expansion"], "keep": value}}
        for name, node in cfg["tunnel"].items()
    }
    return {**cfg, "tunnel": tunnels}


def run() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=1000, help="of the study (default 1000)")
    parser.add_argument("--longmemeval", metavar="FILE", help="a longmemeval_*.json, complete or in part")
    parser.add_argument("--coefficients", metavar="FILE", type=Path, help="keep what was learned on dev there")
    given = parser.parse_args()
    outcome = sweep(
        Request(
            name="fusion_recall", changes={"trials": given.trials}, overrides=("tracker=none",), test=False, new=True
        )
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, dev = opened(OURS)
        trained = learned(dev, folder, "all")
        if given.coefficients:
            given.coefficients.parent.mkdir(parents=True, exist_ok=True)
            given.coefficients.write_text((folder / "all.yaml").read_text(encoding="utf-8"), encoding="utf-8")
        more: tuple[str, ...] = ()
        sets: dict[str, tuple[str, ...]] = {split: (*OURS, f"dataset.split={split}") for split in given.split}
        if given.longmemeval:
            more = (f"dataset.path={given.longmemeval}", "dataset.split=all")
            sets["longmemeval"] = ("experiment=longmemeval_recall", *more)
        rows: list[dict[str, Cell]] = []
        for data, overrides in sets.items():
            setting, replay = opened(overrides)
            hand = replay.recall(fusion_of(setting), [10], setting.cut)[0]
            tuned: AwardFusion = build.build(_tuned(setting, point(outcome.winner)), "fusion")
            theirs = (
                ("experiment=paper", "dataset=longmemeval", "encoder=minilm", *more) if data == "longmemeval" else ()
            )
            paper, published = opened(theirs or (*PAPER, f"dataset.split={data}"))
            rows.append(line("paper", data, published, published.recall(fusion_of(paper), [10], paper.cut)[0], hand))
            rows.append(line("hand-set weights", data, replay, hand, hand))
            rows.append(line("tuned by study", data, replay, replay.recall(tuned, [10], setting.cut)[0], hand))
            values = left_out(replay, folder) if data == "dev" else replay.recall(trained, [10], setting.cut)[0]
            rows.append(line("learned", data, replay, values, hand))
    show(rows, COLUMNS)
    print(f"tuned: trial {outcome.winner.number} of {len(outcome.search.trials())}: {point(outcome.winner)}")
    moved = {split: sensitivity(split) for split in given.split if split != "all"}
    table = [
        {**row, **{s: other[place][s] for s, other in moved.items()}}
        for place, row in enumerate(next(iter(moved.values())))
    ]
    print("\nthe published setting with one knob moved, recall@10")
    show(table, ("knob", "value", *moved))
    save([*rows, *table], given.json)


def _tuned(setting: Setting, params: Mapping[str, Any]) -> dict[str, Any]:
    node: dict[str, Any] = plain(compose(f"fusion={params.get('fusion', 'weighted_sum')}").fusion)
    for key, value in params.items():
        group, _, name = key.partition(".")
        if group == "fusion" and name.startswith("weights."):
            node["weights"][name.removeprefix("weights.")] = value
        elif group == "fusion" and name:
            node[name] = value
    return node


if __name__ == "__main__":
    main(run)
