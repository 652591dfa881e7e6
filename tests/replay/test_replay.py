"""Replay: every setting ranks as live recall does, to the bit, and what was not recorded is refused."""

import contextlib
import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from sodamem import build, config, text
from sodamem.errors import ConfigError, DataError
from sodamem.evaluate import retrieve
from sodamem.metric import retrieval
from sodamem.replay.measures import TOKENS, by_question, mean
from sodamem.replay.recorded import Recordings, Setting
from sodamem.replay.recording import Recording, part
from sodamem.replay.replay import Cut, Replay

NAMES = ("bm25", "bm25_session", "bm25_fact", "dense", "dense_context", "speaker", "time", "when", "statement", "graph")
WIDE = [f"tunnel=[{','.join(NAMES)}]", "maintenance=dream", "dataset.questions_per_history=3", "dataset.histories=4"]
WIDE += [
    f"tunnel.{n}.expansion={{neighbours:2,hops:1,degree:4,keep:4,soft_time:0.3}}"
    for n in ("bm25", "dense", "bm25_fact")
]
NODES = {
    "density": {"strong_direct": 0.4, "strong_derived": 0.1, "weak_direct": 0.2, "weak_derived": 0.05},
    "noisy_or": {"strong_direct": 0.4, "strong_derived": 0.1, "weak_direct": 0.2, "weak_derived": 0.05},
    "rrf": {},
    "weighted_sum": {},
}
MEASURES = [
    "turn/recall_at_1",
    "turn/recall_at_10",
    "turn/recall_all_at_5",
    "turn/hit_at_3",
    "turn/ndcg_at_10",
    "turn/mrr",
    TOKENS,
]


@st.composite
def changes(draw):
    """Dotted changes of a plain configuration: a fusion with its knobs, a subset of tunnels, H, keep and top-k."""
    fusion = draw(st.sampled_from(sorted(NODES)))
    knobs = {name: draw(st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.8])) for name in NODES[fusion]}
    knobs |= {"unit": draw(st.sampled_from(["item", "turn"])), "beta": draw(st.sampled_from([0.0, 0.3, 2.0]))}
    knobs["theta"] = draw(st.sampled_from([None, 0.3, 0.6, 0.95]))
    if fusion == "density":
        knobs["decay"] = draw(st.sampled_from([0.0, 0.3]))
    if fusion == "rrf":
        knobs["k"] = draw(st.sampled_from([1, 60]))
    if fusion == "weighted_sum":
        knobs["normalise"] = draw(st.sampled_from(["max", "minmax", "z"]))
        knobs["derived"] = draw(st.sampled_from([0.0, 0.5]))
        knobs["weights"] = {name: draw(st.sampled_from([0.0, 0.1, 0.3, 0.7])) for name in NAMES}
    return {
        "fusion": fusion,
        "knobs": knobs,
        "tunnels": draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True)),  # in any order
        "heads": {name: draw(st.sampled_from([1, 3, 10, None])) for name in ("bm25", "dense", "graph")},
        "keep": {name: draw(st.integers(1, 4)) for name in ("bm25", "dense", "bm25_fact")},
        "top_k": draw(st.sampled_from([1, 4, 50])),
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory, tiny):
    """Open memories of a small corpus, and a function from drawn changes to (setting, live pipeline)."""
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setenv("SODAMEM_RUNS", str(tmp_path_factory.mktemp("replay")))
        plain = config.plain(config.compose(*tiny, *WIDE))
        nodes = {name: config.plain(config.compose(*tiny, f"fusion={name}").fusion) for name in NODES}
        pipeline, corpus = build.pipeline(OmegaConf.create(plain)), build.build(plain["dataset"], "dataset").open()
        memories = [
            (stack.enter_context(pipeline.open(corpus.history(h))), corpus.questions(h)) for h in corpus.history_ids
        ]

        def at(drawn):
            tunnels = {name: {**plain["tunnel"][name]} for name in drawn["tunnels"]}
            for name, node in tunnels.items():
                if name in drawn["heads"]:
                    node["heads"] = drawn["heads"][name]
                if name in drawn["keep"]:
                    node["expansion"] = {**node["expansion"], "keep": drawn["keep"][name]}
            fusion = {**nodes[drawn["fusion"]], **drawn["knobs"]}
            return {
                **plain,
                "fusion": fusion,
                "tunnel": tunnels,
                "recall": {**plain["recall"], "top_k": drawn["top_k"]},
            }

        widest = {
            "fusion": "density", "tunnels": NAMES, "heads": dict.fromkeys(("bm25", "dense", "graph")),
            "keep": dict.fromkeys(("bm25", "dense", "bm25_fact"), 4), "top_k": 50,
        }  # fmt: skip
        shared = {**NODES["density"], "decay": 0.0, "beta": 0.3, "theta": 0.3}
        covered = [Setting.of(at({**widest, "knobs": {**shared, "unit": unit}})) for unit in ("item", "turn")]
        yield at, memories, Recordings(tmp_path_factory.mktemp("kept"), covered)


def live(cfg, memories):
    """(rows, confidence, measures, tokens) of every question, recalled anew."""
    pipeline = build.pipeline(OmegaConf.create(cfg))
    for memory, questions in memories:
        fresh = dataclasses.replace(
            memory, searchers={name: t.open(memory.snapshot) for name, t in pipeline.tunnels.items()}
        )
        pool = retrieval.Pool(turn=len(memory.snapshot.turns), session=len(memory.snapshot.sessions))
        for question in questions:
            ranking = pipeline.rank(fresh, pipeline.query(fresh, question))
            evidence = pipeline.evidence(fresh, ranking, pipeline.recall_options.top_k)
            tokens = sum(text.estimate_tokens(item.text) for item in evidence)
            yield (
                ranking.item,
                ranking.confidence,
                retrieval.score(question, evidence, pool, text.estimate_tokens).values,
                tokens,
            )


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(drawn=changes())
def test_replay_ranks_and_scores_as_live_recall_does_to_the_bit(world, drawn):
    at, memories, recordings = world
    cfg = at(drawn)
    setting = Setting.of(cfg)
    replay, fusion = recordings.replay(setting), build.build(cfg["fusion"], "fusion")
    found = by_question(replay, fusion, setting.cut, MEASURES)
    for number, (rows, confidence, values, tokens) in enumerate(live(cfg, memories)):
        replayed, conf = replay.ranking(fusion, number, setting.cut)
        assert replayed.tolist() == rows.tolist() and conf.tolist() == confidence.tolist()
        assert found[TOKENS][number] == tokens
        for name in MEASURES[:-1]:
            assert (
                found[name][number] == pytest.approx(values[name], abs=1e-12)
                if name in values
                else math.isnan(found[name][number])
            )
        if "turn/recall_at_10" in values:
            assert found["turn/recall_at_10"][number] == values["turn/recall_at_10"]
    assert len(recordings._open) <= 2  # one recording a unit served every setting


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, tiny):
    """(plain configuration, runs folder, its replay)"""
    runs = tmp_path_factory.mktemp("recorded")
    plain = config.plain(config.compose(*tiny, "dataset.histories=4", f"runs={runs}"))
    return plain, runs, Recordings(runs, [Setting.of(plain)]).replay(Setting.of(plain))


def test_the_mean_over_questions_is_the_mean_that_a_run_reports(recorded):
    plain, _, replay = recorded
    cfg = OmegaConf.create(plain)
    rows = retrieve(build.pipeline(cfg), build.component(cfg, "dataset").open())
    found = by_question(replay, build.component(cfg, "fusion"), Setting.of(plain).cut, ["turn/recall_at_10"])
    assert mean(found["turn/recall_at_10"]) == retrieval.aggregate(rows)["turn/recall_at_10"]


def test_a_recording_is_made_once_and_read_by_the_next_process(recorded, monkeypatch):
    plain, runs, replay = recorded
    monkeypatch.setattr("sodamem.replay.recorded.record", lambda *a, **k: pytest.fail("recorded again"))
    again = Recordings(runs, [Setting.of(plain)]).replay(Setting.of(plain)).recording
    assert again.key == replay.recording.key and again.ids == replay.recording.ids
    assert np.array_equal(again.awards.score, replay.recording.awards.score)


def test_other_data_an_other_store_or_other_tunnels_are_another_recording(recorded):
    plain, runs, replay = recorded
    keys = {replay.recording.key}
    for group, changed in (
        ("dataset", {**plain["dataset"], "seed": 8}),
        ("extractor", {"_target_": "sodamem.extractor.turn.TurnExtractor"}),
        ("tunnel", {**plain["tunnel"], "bm25": {**plain["tunnel"]["bm25"], "k1": 0.9}}),
        ("recall", {**plain["recall"], "speaker_in_text": False}),
    ):
        other = Setting.of({**plain, group: changed})
        keys.add(Recordings(runs, [other]).replay(other).recording.key)
    assert len(keys) == 5


def test_a_change_of_fusion_h_or_top_k_is_no_other_recording(recorded):
    plain, runs, _ = recorded
    recordings = Recordings(runs, [Setting.of(plain)])
    first = recordings.replay(Setting.of(plain))
    bm25 = {**plain["tunnel"]["bm25"], "heads": 3}
    other = {
        **plain,
        "fusion": {**plain["fusion"], "beta": 0.5},
        "tunnel": {"bm25": bm25},
        "recall": {**plain["recall"], "top_k": 2},
    }
    assert recordings.replay(Setting.of(other)) is first


@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"x" * 100])
def test_a_damaged_recording_is_made_again_and_said_so(recorded, caplog, damage):
    plain, runs, replay = recorded
    path = runs / "recordings" / f"{replay.recording.key}.npz"
    path.write_bytes(damage(path.read_bytes()))
    again = Recordings(runs, [Setting.of(plain)]).replay(Setting.of(plain)).recording
    assert "recording again" in caplog.text and again.key == replay.recording.key
    assert Recording.load(path).ids == replay.recording.ids


def test_a_recording_of_another_format_is_refused_in_one_line(recorded, tmp_path):
    path = tmp_path / "old.npz"
    np.savez(path, format=np.array(1))
    with pytest.raises(DataError, match="Delete it to record again"):
        Recording.load(path)


def test_what_was_not_recorded_is_refused(recorded):
    plain, _, replay = recorded
    fusion = build.build(plain["fusion"], "fusion")
    for change, message in (
        ({"unit": "item"}, "fusion.unit must be the recorded turn"),
        ({"theta": 0.5}, "fusion.theta must be >="),
    ):
        with pytest.raises(ConfigError, match=message):
            replay.recall(dataclasses.replace(fusion, **change), [10])
    with pytest.raises(ConfigError, match="tunnel must be one that was recorded"):
        replay.recall(fusion, [10], Cut(tunnels=("nobody",)))


def test_a_part_of_a_recording_scores_its_questions_as_the_whole_does(recorded):
    plain, _, replay = recorded
    fusion = build.build(plain["fusion"], "fusion")
    whole = replay.recall(fusion, [1, 10])
    some = [1, 3]
    assert np.array_equal(Replay(part(replay.recording, some)).recall(fusion, [1, 10]), whole[:, some], equal_nan=True)


def test_threads_may_share_a_replay(recorded):
    plain, _, replay = recorded
    fusion = build.build(plain["fusion"], "fusion")
    cuts = [Cut(heads=heads) for heads in (1, 2, 3, 5, None)] * 4
    alone = [Replay(replay.recording).recall(fusion, [5], cut) for cut in cuts]
    with ThreadPoolExecutor(2) as pool:
        shared = list(pool.map(lambda cut: Replay(replay.recording).recall(fusion, [5], cut), cuts))
        same = list(pool.map(lambda cut: replay.recall(fusion, [5], cut), cuts))
    for one, two, three in zip(alone, shared, same, strict=True):
        assert np.array_equal(one, two, equal_nan=True) and np.array_equal(one, three, equal_nan=True)
