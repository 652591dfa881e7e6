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
    assert sorted(told) == sorted(["baseline", *VARIANTS]) and [one.variant for one in replayed[2]] == list(VARIANTS)


def test_only_variants_that_change_what_lies_before_fusion_are_run_live(small, monkeypatch):
    run, recorded_ = [], []
    monkeypatch.setattr("sodamem.ablate._live", lambda cfg, measure: run.append(cfg) or ({"q": 1.0}, {"q": "h"}))
    replayed = lambda setting, recordings, measure: recorded_.append(setting) or ({"q": 1.0}, {"q": "h"})  # noqa: E731
    monkeypatch.setattr("sodamem.ablate._replayed", replayed)
    ablate(small)
    assert len(run) == 2 and len(recorded_) == len(VARIANTS) - 2 + 1


def test_differences_are_paired_and_p_values_adjusted_over_the_family(small):
    mean, n, found = ablate(small)
    for one in found:
        assert one.mean - mean == pytest.approx(one.difference.mean) and one.difference.n == n
        assert one.difference.clusters == 2
    p = {one.variant: one.p for one in found}
    assert {one.variant: one.p_holm for one in found} == holm(p)


def test_accuracy_counts_what_is_unjudged_as_not_correct(tiny, runs):
    chosen = Family(name="a", measure="accuracy/strict", baseline=tiny, variants={"same": ()})
    mean, n, found = ablate(chosen)
    assert 0 <= mean <= 1 and n == 2 and found[0].difference.mean == 0


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
    mean, n, found = ablate(Family(name="x", measure=RECALL, baseline=small.baseline, variants={"a | b": ()}))
    said = markdown(small, mean, n, found)
    assert "a \\| b" in said and "| – |" in said and "None" not in said and "nan" not in said
    assert table(mean, found).splitlines()[1].startswith("baseline,")


@pytest.mark.parametrize("name", sorted(studies.packaged("ablation")))
def test_every_setting_of_every_packaged_family_builds(name):
    chosen = family(name)
    for changes in ((), *chosen.variants.values()):
        cfg = config.compose(*chosen.baseline, *changes, "tracker=none")
        assert build.pipeline(cfg), changes
        assert math.isfinite(len(recorded.Setting.of(config.plain(cfg)).tunnels))
