"""How much faster is replay than recalling anew? Settings a second for Recall@10 over LoCoMo dev, beside live recall.

Random weights of our fusion, on two threads; then the cost of a setting over a quarter, half and all of the hits.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from omegaconf import OmegaConf

from experiments.common import main
from sodamem import build
from sodamem.config import compose, plain
from sodamem.evaluate import retrieve
from sodamem.fusion.weighted_sum import WeightedSumFusion
from sodamem.replay.recorded import Recordings, Setting, fusion_of
from sodamem.replay.recording import part
from sodamem.replay.replay import Replay, mean

SETTINGS, THREADS, REPEATS = 200, 2, 50


def clocked(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds of all threads."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def each(replay: Replay, fusions: list[WeightedSumFusion]) -> None:
    for fusion in fusions:
        replay.recall(fusion, [10])


def run() -> None:
    cfg = plain(compose("experiment=locomo_recall", "tracker=none"))
    setting = Setting.of(cfg)
    replay = Recordings(Path(cfg["runs"]), [setting]).replay(setting)
    hand = fusion_of(setting)
    assert isinstance(hand, WeightedSumFusion)
    rng = np.random.default_rng(20)
    names = list(hand.weights)
    fusions = [replace(hand, weights=dict(zip(names, rng.random(len(names)), strict=True))) for _ in range(SETTINGS)]
    first, _ = clocked(lambda: replay.recall(hand, [10], setting.cut))

    built = OmegaConf.create(dict(cfg))
    pipeline, corpus = build.pipeline(built), build.component(built, "dataset").open()
    retrieve(pipeline, corpus)  # stores and caches are warm on both sides
    live, live_cpu = clocked(lambda: retrieve(pipeline, corpus))
    with ThreadPoolExecutor(THREADS) as pool:
        wall, cpu = clocked(lambda: list(pool.map(lambda one: mean(replay.recall(one, [10], setting.cut)[0]), fusions)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    awards, questions = len(replay.recording.awards.place), len(replay.recording.ids)
    print(f"{questions} questions, {awards:,} hits; the first setting takes {first:.2f} s, it lays out the tables")
    print(f"live    {live:.2f} s a setting, {live_cpu:.2f} s of CPU")
    rate, ratio, by_cpu = SETTINGS / wall, live * SETTINGS / wall, live_cpu * SETTINGS / cpu
    print(f"replay  {1000 / rate:.1f} ms a setting on {THREADS} threads, {1000 * cpu / SETTINGS:.1f} ms of CPU")
    print(f"        {rate:.0f} settings/s; {ratio:.0f} times as fast as live, by CPU {by_cpu:.0f} times")
    print(f"memory  {peak:.0f} MB at most, live recall in the same process included")
    for share in (4, 2, 1):
        some = Replay(part(replay.recording, range(0, questions, share)))
        some.recall(hand, [10], setting.cut)
        spent = clocked(partial(each, some, fusions[:REPEATS]))[1] / REPEATS
        count = len(some.recording.awards.place)
        cost = f"{1e3 * spent:.2f} ms of CPU a setting, {1e9 * spent / count:.2f} ns a hit"
        print(f"1/{share} of the questions: {count:9,} hits, {cost}")


if __name__ == "__main__":
    main(run)
