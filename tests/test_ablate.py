"""Ablations: paired on the same questions, the same by replay and live, with a table that says what it is of."""

import csv
import math

import pytest

from sodamem import build, config, studies
from sodamem.ablate import TABLE, Family, ablate, family
from sodamem.ablate_report import markdown, table
from sodamem.commands_sweeps import ablate as command
from sodamem.errors import ConfigError
from sodamem.metric.statistics import holm
from sodamem.replay import recorded

RECALL = "turn/recall_at_10"
VARIANTS = {
    "bm25 alone": ("tunnel=[bm25]",),
    "another order": ("tunnel=[statement,when,time,speaker,dense_context,dense,bm25_fact,bm25_session,bm25]",),
    "with graph": ("tunnel=[bm25,graph]",),
    "H = 2": ("tunnel.bm25.heads=2", "tunnel.dense.heads=2"),
    "K = 3": ("recall.top_k=3",),
    "rrf": ("fusion=rrf",),
    "density, merged": ("fusion=density", "fusion.theta=0.5"),
    "no facts": ("extractor=turn", "~tunnel.bm25_fact"),
    "k1": ("tunnel.bm25.k1=0.5",),
}


@pytest.fixture
def small(tiny, runs):
    """A family over a small synthetic corpus of two histories."""
    baseline = (*tiny, "dataset.histories=4", "dataset.questions_per_history=3")
    return Family(name="small", measure=RECALL, baseline=baseline, variants=VARIANTS)


def test_replay_and_live_give_the_same_table_to_the_bit(small):
    told = []
    replayed, live = ablate(small, step=told.append), ablate(small, live=True)
    assert replayed == live
    assert sorted(told) == sorted(["baseline", *VARIANTS])
    assert [one.variant for one in replayed.compared] == list(VARIANTS)


def test_only_variants_that_change_what_lies_before_fusion_are_run_live(small, monkeypatch):
    run, recorded_ = [], []
    monkeypatch.setattr("sodamem.ablate._live", lambda cfg, measure: run.append(cfg) or ({"q": 1.0}, {"q": "h"}))
    replayed = lambda setting, recordings, measure: recorded_.append(setting) or ({"q": 1.0}, {"q": "h"})  # noqa: E731
    monkeypatch.setattr("sodamem.ablate._replayed", replayed)
    ablate(small)
    assert len(run) == 2 and len(recorded_) == len(VARIANTS) - 2 + 1


def test_differences_are_paired_and_p_values_adjusted_over_the_family(small):
    found = ablate(small)
    for one in found.compared:
        assert one.mean - found.mean == pytest.approx(one.difference.mean) and one.difference.n == found.n
        assert one.difference.clusters == 2
    p = {one.variant: one.p for one in found.compared}
    assert {one.variant: one.p_holm for one in found.compared} == holm(p)


def test_verdicts_are_compared_by_mcnemar_and_recall_is_not(small, monkeypatch):
    right = {"baseline": "1111000000", "better": "1111111110", "worse": "0011000000"}
    scores = {name: {str(i): float(c) for i, c in enumerate(signs)} for name, signs in right.items()}
    homes = {str(i): f"h{i % 5}" for i in range(10)}
    given = {"": scores["baseline"], **{name: scores[name] for name in ("better", "worse")}}
    monkeypatch.setattr("sodamem.ablate._scored", lambda *_: {name: (one, homes) for name, one in given.items()})
    variants = {"better": (), "worse": ()}
    found = ablate(Family(name="f", measure="accuracy/strict", baseline=small.baseline, variants=variants))
    assert found.test == "McNemar" and [one.p for one in found.compared] == [2 / 2**5, 2 / 2**2]
    assert "p of McNemar exactly" in markdown(family("planner"), found)
    found = ablate(Family(name="f", measure=RECALL, baseline=small.baseline, variants=variants))
    assert found.test == "bootstrap" and found.compared[0].p != 2 / 2**5


def test_every_setting_is_run_under_every_seed_and_all_runs_are_shown(small):
    seeds = ("dataset.seed=7", "dataset.seed=8", "dataset.seed=9")
    told = []
    chosen = Family(
        name="s", measure=RECALL, baseline=small.baseline, variants={"K = 1": ("recall.top_k=1",)}, seeds=seeds
    )
    found = ablate(chosen, step=told.append)
    alone = [
        ablate(Family(name="a", measure=RECALL, baseline=(*small.baseline, seed), variants=chosen.variants))
        for seed in seeds
    ]
    assert len(told) == 6 and found.runs == tuple(one.mean for one in alone) and found.n == sum(one.n for one in alone)
    assert found.compared[0].runs == tuple(one.compared[0].mean for one in alone)
    assert found.compared[0].difference.clusters == 6  # other dialogues under each seed
    said = markdown(chosen, found)
    assert "3 runs: dataset.seed=7" in said and "| sd |" in said
    assert all(f"{run:.3f}" in said for run in found.runs)
    assert table(found).splitlines()[0].startswith("setting,mean,sd,runs,")


def test_the_same_questions_under_several_seeds_are_not_more_conversations(small, monkeypatch):
    given = {"": ({"q": 1.0, "r": 0.0}, {"q": "h", "r": "g"}), "v": ({"q": 1.0, "r": 1.0}, {"q": "h", "r": "g"})}
    monkeypatch.setattr("sodamem.ablate._scored", lambda *_: given)
    seeds = ("recall.top_k=5", "recall.top_k=6")
    one = {"name": "f", "measure": "accuracy/strict", "baseline": small.baseline, "variants": {"v": ()}}
    found = ablate(Family(**one, seeds=seeds))
    assert found.compared[0].difference.clusters == 2 and found.n == 4 and found.test == "bootstrap"


def test_a_family_varies_one_seed(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text("kind: ablation\nmeasure: turn/mrr\nbaseline: []\nvariants: {a: []}\nseeds: {a.b: [1], c.d: [2]}\n")
    with pytest.raises(ConfigError, match=r"must vary one seed, got a\.b, c\.d"):
        family(str(path))


def test_accuracy_counts_what_is_unjudged_as_not_correct(tiny, runs):
    chosen = Family(name="a", measure="accuracy/strict", baseline=tiny, variants={"same": ()})
    found = ablate(chosen)
    assert 0 <= found.mean <= 1 and found.n == 2 and found.compared[0].difference.mean == 0


def test_a_measure_that_no_question_has_is_refused(tiny, runs):
    with pytest.raises(ConfigError, match="measure must be one that is defined for some question, got turn/nonsense"):
        ablate(Family(name="a", measure="turn/nonsense", baseline=tiny, variants={"same": ()}))


def test_an_unknown_family_is_answered_with_the_known(tmp_path):
    with pytest.raises(ConfigError, match=r"family must be one of .*paper, .*tunnels"):
        family("tunel")
    path = tmp_path / "mine.yaml"
    path.write_text("kind: ablation\nmeasure: turn/mrr\n")
    with pytest.raises(ConfigError, match="family mine must have measure, baseline and variants"):
        family(str(path))
    with pytest.raises(ConfigError, match="family must be named"):
        command([])


def test_the_command_writes_table_and_figure(small, tmp_path, capsys, runs):
    path = tmp_path / "mine.yaml"
    variants = "\n".join(f"  {name}: {[*changes]}" for name, changes in list(VARIANTS.items())[:2])
    path.write_text(f"kind: ablation\nmeasure: {RECALL}\nbaseline: {[*small.baseline]}\nvariants:\n{variants}\n")
    out = tmp_path / "out"
    assert command([f"family={path}", "--out", str(out), "-q", "recall.top_k=20"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("mine: turn/recall@10, n = ") and "| bm25 alone |" in said
    assert {file.name for file in out.iterdir()} == {"table.md", "table.csv", "forest.svg"}
    rows = list(csv.DictReader((out / "table.csv").read_text().splitlines()))
    assert [row["setting"] for row in rows] == ["baseline", "bm25 alone", "another order"] and set(rows[0]) == set(
        TABLE
    )


def test_a_table_says_when_something_is_unknown(small):
    found = ablate(Family(name="x", measure=RECALL, baseline=small.baseline, variants={"a | b": ()}))
    said = markdown(small, found)
    assert "a \\| b" in said and "| – |" in said and "None" not in said and "nan" not in said
    assert table(found).splitlines()[1].startswith("baseline,")


@pytest.mark.parametrize("name", sorted(studies.packaged("ablation")))
def test_every_setting_of_every_packaged_family_builds(name):
    chosen = family(name)
    for changes in ((), *chosen.variants.values(), *([seed] for seed in chosen.seeds)):
        cfg = config.compose(*chosen.baseline, *changes, "tracker=none")
        assert build.pipeline(cfg), changes
        assert math.isfinite(len(recorded.Setting.of(config.plain(cfg)).tunnels))
