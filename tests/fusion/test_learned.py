"""Learned fusion: its features by hand, its file, and that learning finds what tells gold from the rest."""

import numpy as np
import pytest
import yaml

from sodamem import learn
from sodamem.commands_sweeps import learn as command
from sodamem.config import compose, plain
from sodamem.errors import ConfigError
from sodamem.fusion.awards import gather
from sodamem.fusion.learned import FEATURES, LearnedFusion, features, load
from sodamem.replay.recorded import Recordings, Setting
from sodamem.replay.recording import Recording
from sodamem.replay.replay import Replay
from sodamem.types import Interval, Window

LEARNING = {"strength": 1.0, "rivals": 10, "rounds": 2}


@pytest.fixture(scope="module")
def snapshot(talk, remember):
    return remember(talk({"a 2024-01-01": ["Ann: one", "Bob: two"], "b 2024-02-01": ["Ann: three", "Bob: four"]}))


@pytest.fixture
def written(tmp_path):
    """written({tunnel: {feature: value}}) -> a LearnedFusion that reads them."""

    def make(coefficients, **fields):
        path = tmp_path / "c.yaml"
        learn.write(coefficients, path, {"data": "made up"})
        return LearnedFusion(**{"coefficients": str(path), "theta": None, "beta": 0.0, "unit": "turn", **fields})

    return make


def found(hits):
    """bm25: heads 0 (score 4) and 1 (score 2), each reaching 2 · dense: head 2 (score 0.5)."""
    return {
        "bm25": hits((0, 1, True, 4.0), (2, 1, False, 0.1), (1, 2, True, 2.0), (2, 2, False, 0.1)),
        "dense": hits((2, 1, True, 0.5)),
    }


def test_the_features_of_an_item_by_hand(snapshot, asking, hits):
    awards = gather(asking(), found(hits), {"bm25": "strong"}, snapshot, unit="turn", theta=None)
    columns = features(awards)
    by_item = {}
    for place, tunnel, row in zip(awards.place.tolist(), awards.tunnel.tolist(), columns, strict=True):
        key = (int(awards.rows[place]), awards.tunnels[tunnel])
        by_item[key] = by_item.get(key, 0) + row[:-1]
    # score, found, direct, derived, nearness
    assert by_item[0, "bm25"].tolist() == [4 / 4, 1, 1, 0, 1 / 1]
    assert by_item[1, "bm25"].tolist() == [2 / 4, 1, 1, 0, 1 / 2]
    assert by_item[2, "bm25"].tolist() == [0, 1, 0, 2, max(1 / 1, 1 / 2)]
    assert by_item[2, "dense"].tolist() == [0.5 / 0.5, 1, 1, 0, 1 / 1]


def test_the_score_of_an_item_is_linear_in_its_features(snapshot, asking, hits, written):
    fusion = written(
        {"bm25": {"score": 2.0, "derived": 0.5, "nearness": -1.0}, "dense": {"found": 3.0}, "any": {"inside": 10.0}}
    )
    february = Window(interval=Interval(start=snapshot.said[2].item(), end=snapshot.end[2].item(), grain="day"))
    ranking = fusion.fuse(asking(window=february), found(hits), {}, snapshot)
    scores = dict(zip(ranking.item.tolist(), ranking.confidence.tolist(), strict=True))
    assert scores == pytest.approx({0: 2 * 1 - 1, 1: 2 * 0.5 - 0.5, 2: 2 * 0.5 - 1 + 3 + 10})


def test_a_tunnel_without_coefficients_is_refused(snapshot, asking, hits, written):
    with pytest.raises(ConfigError, match=r"fusion.coefficients must know every tunnel, .* lacks dense"):
        written({"bm25": {"score": 1.0}}).fuse(asking(), found(hits), {}, snapshot)


@pytest.mark.parametrize("content", ["", "coefficients: 3", "coefficients: {bm25: {score: high}}", "{", None])
def test_a_file_that_cannot_be_used_is_one_line(tmp_path, content):
    path = tmp_path / "c.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match=r"fusion.coefficients must name a file that sodamem.learn wrote"):
        load(str(path))


def test_ranges_are_checked_when_built():
    with pytest.raises(ConfigError, match=r"fusion.unit"):
        LearnedFusion(coefficients="x.yaml", theta=None, beta=0.0, unit="word")
    with pytest.raises(ConfigError, match=r"fusion.theta"):
        LearnedFusion(coefficients="x.yaml", theta=2.0, beta=0.0, unit="turn")


def test_the_packaged_coefficients_know_the_default_tunnels():
    node = plain(compose("fusion=learned"))
    known = load(node["fusion"]["coefficients"])
    assert set(node["tunnel"]) <= set(known) and all(set(row) <= {*FEATURES, "inside"} for row in known.values())


@pytest.fixture(scope="module")
def recording(tmp_path_factory, tiny) -> Recording:
    runs = tmp_path_factory.mktemp("learn")
    overrides = [*tiny, "dataset.histories=8", "dataset.questions_per_history=3", f"runs={runs}"]
    setting = Setting.of(plain(compose(*overrides)))
    return Recordings(runs, [setting]).replay(setting).recording


def test_learning_beats_no_weights_at_all_and_is_repeatable(recording, tmp_path):
    one, two = (learn.fit(recording, **LEARNING) for _ in range(2))
    assert one == two and set(one) == {*recording.awards.tunnels, "any"}
    learn.write(one, tmp_path / "c.yaml", {"data": recording.key})
    text = (tmp_path / "c.yaml").read_text()
    assert text.startswith(f"# data: {recording.key}\n") and yaml.safe_load(text)["coefficients"] == one
    fusion = LearnedFusion(coefficients=str(tmp_path / "c.yaml"), theta=None, beta=0.0, unit="turn")
    flat = {name: dict.fromkeys(FEATURES, 1.0) for name in recording.awards.tunnels}
    learn.write(flat, tmp_path / "flat.yaml", {})
    other = LearnedFusion(coefficients=str(tmp_path / "flat.yaml"), theta=None, beta=0.0, unit="turn")
    ranks = [Replay(recording).gold_ranks(one) for one in (fusion, other)]
    assert (1 / ranks[0]).mean() > (1 / ranks[1]).mean()


def test_the_command_learns_on_dev_only_and_writes_what_the_fusion_reads(tiny, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SODAMEM_RUNS", str(tmp_path / "runs"))
    out = str(tmp_path / "mine.yaml")
    assert command([*tiny, "--out", out]) == 0 and out in capsys.readouterr().out
    assert "# data sha256: " in (tmp_path / "mine.yaml").read_text() and set(load(out)) > {"bm25", "any"}
    with pytest.raises(ConfigError, match=r"dataset.split must be dev to learn from, got test"):
        command([*tiny, "dataset.split=test", "--out", out])


def test_questions_that_are_held_out_teach_nothing(recording):
    gold = np.flatnonzero(recording.gold_count > 0)
    some = gold[: len(gold) // 2].tolist()
    assert learn.fit(recording, questions=some, **LEARNING) != learn.fit(recording, **LEARNING)


def test_what_cannot_be_learned_from_is_refused(recording):
    with pytest.raises(ConfigError, match=r"questions whose gold is found"):
        learn.fit(recording, questions=[], **LEARNING)
    with pytest.raises(ConfigError, match=r"fusion.unit must be turn"):
        learn.fit(Recording(**{**vars(recording), "unit": "item"}), **LEARNING)
