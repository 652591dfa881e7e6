"""A run leaves everything behind or nothing, under fixed names, and the same bytes every time."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from sodamem import build, config
from sodamem import run as runner
from sodamem.errors import ConfigError, DataError, ServiceError, SodamemError, StoreError
from sodamem.mlflow_store import open_store
from sodamem.types import Answer


@pytest.fixture(scope="module")
def once(tmp_path_factory, tiny):
    """One finished run on synthetic data: (its outcome, what it prints)."""
    runs = tmp_path_factory.mktemp("once")
    outcome = runner.run(config.compose(*tiny, f"runs={runs}", "name=first"), quiet=True)
    return outcome, runner.describe(outcome, "nowhere")


def read(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_the_folder_holds_everything_and_nothing_half_written(once):
    folder = once[0].folder
    names = {"config.yaml", "data.json", "metrics.json", "questions.jsonl"}
    assert {file.name for file in folder.iterdir()} == names
    assert folder.is_absolute() and folder.name.endswith("_first")


def test_the_last_line_names_the_folder(once):
    outcome, said = once
    assert said.splitlines()[-1] == f"run: {outcome.folder}"
    assert "recall@10" in said and "accuracy (lexical)" in said and "Q  " in said


def test_every_question_has_its_line(once):
    lines = (once[0].folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == once[0].report.metrics["questions"] >= 2
    assert len({row["question_id"] for row in rows}) == len(rows)
    for row in rows:
        assert row["verdict"]["label"] in ("correct", "incorrect", "unjudged") and row["ranking"]
        assert [item["rank"] for item in row["ranking"]] == list(range(1, len(row["ranking"]) + 1))


def test_metrics_have_the_names_of_the_design(once):
    metrics = read(once[0].folder, "metrics.json")
    wanted = {
        "n",
        "questions",
        "accuracy/strict",
        "accuracy/judged",
        "turn/recall_at_10",
        "turn/ndcg_at_10",
        "turn/mrr",
    }
    wanted |= {"session/recall_at_5", "turn/random_recall_at_10", "turn/recall_at_1000_tokens", "seconds/total"}
    wanted |= {
        f"tokens/{phase}/{kind}" for phase in ("extract", "plan", "read", "judge") for kind in ("prompt", "completion")
    }
    category = once[0].examples[0].question.category
    wanted |= {f"turn/{category}/recall_at_10", f"accuracy/{category}/strict", f"turn/{category}/n"}
    assert wanted <= set(metrics)
    assert all(isinstance(value, float | int) for value in metrics.values())
    assert metrics["n"] + sum(v for k, v in metrics.items() if k == "excluded/turn/no_gold") == metrics["questions"]


def test_the_data_of_the_figures_is_named(once):
    data = read(once[0].folder, "data.json")
    assert len(data["sha256"]) == 64 and data["n"] == read(once[0].folder, "metrics.json")["n"]
    assert set(data) == {"name", "sha256", "histories", "questions", "n", "excluded", "notes", "stores"}
    assert all(len(fingerprint) == 64 for fingerprint in data["stores"].values()) and data["stores"]


def test_the_same_bytes_twice_and_under_another_seed_and_zone(once, tiny, tmp_path):
    """Once over the stores of the first run, once in another process that ingests anew."""
    expected = (once[0].folder / "questions.jsonl").read_bytes()
    again = runner.run(config.compose(*tiny, f"runs={once[0].folder.parent}"), quiet=True)
    assert (again.folder / "questions.jsonl").read_bytes() == expected
    path = os.pathsep.join(filter(None, sys.path))
    env = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Pacific/Chatham", "LC_ALL": "C", "PYTHONPATH": path}
    argv = [sys.executable, "-m", "sodamem.cli", "run", "-q", *tiny, f"runs={tmp_path / 'runs'}"]
    other = subprocess.run(argv, env=env, capture_output=True, text=True, encoding="utf-8", check=False)
    assert other.returncode == 0, other.stderr
    folder = Path(other.stdout.strip().splitlines()[-1].removeprefix("run: "))
    assert (folder / "questions.jsonl").read_bytes() == expected
    assert read(folder, "data.json") == read(once[0].folder, "data.json")


def test_what_was_saved_as_configuration_runs_again(once):
    cfg = OmegaConf.load(once[0].folder / "config.yaml")
    assert build.pipeline(cfg).settings == build.pipeline(cfg).settings and cfg.name == "first"


# --- refusals -----------------------------------------------------------------------------------------------


def left(runs):
    return (
        sorted(entry.name for entry in runs.iterdir() if entry.name not in ("stores", "cache")) if runs.exists() else []
    )


@pytest.mark.parametrize(
    ("overrides", "fault", "said"),
    [
        (("tracker=mlflow", "tracker.uri=sqlite:////dev/null/x.db"), ServiceError, "tracking store"),
        (("dataset.histories=0",), ConfigError, "histories must be between"),
        (("~fusion.weights.bm25",), ConfigError, r"fusion\.weights must name every tunnel, got none for bm25"),
        (("name=a/b",), ConfigError, r"name must be part of a folder's name, got 'a/b'"),
        (("name=",), ConfigError, r"name must be part of a folder's name, got ''"),
        (("output.awards_top=many",), ConfigError, r"output\.awards_top must be a whole number >= 0, got 'many'"),
        (("store.frozen=true",), StoreError, r"store\.frozen must open an existing store"),
    ],
)
def test_a_refused_run_leaves_nothing_behind(compose, runs, overrides, fault, said):
    with pytest.raises(fault, match=said) as caught:
        runner.run(compose(*overrides), quiet=True)
    assert "\n" not in str(caught.value)
    assert left(runs) == []


def test_data_that_is_not_there_is_refused_before_anything_is_made(runs):
    with pytest.raises(DataError, match=r"/nowhere/locomo10\.json") as caught:
        runner.run(config.compose("tracker=none", "dataset=locomo", "dataset.path=/nowhere/locomo10.json"), quiet=True)
    assert "\n" not in str(caught.value) and not runs.exists()


def test_runs_that_cannot_be_written_are_refused_in_one_line(compose, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"runs must be a directory that can be written, got .*Set runs=") as caught:
        runner.run(compose(f"runs={tmp_path / 'file' / 'runs'}"), quiet=True)
    assert "\n" not in str(caught.value)


def test_two_runs_of_one_second_have_two_folders(tmp_path):
    assert len({runner.fresh(tmp_path, "same") for _ in range(5)}) == 5


class Broken:
    """A reader that fails at its second question."""

    def __init__(self, error):
        self.error, self.asked = error, 0

    def read(self, question, evidence):
        self.asked += 1
        if self.asked > 1:
            raise self.error
        return Answer(text="x", abstained=True)


def break_at_the_second(monkeypatch, error):
    whole = build.pipeline
    monkeypatch.setattr(build, "pipeline", lambda cfg: dataclasses.replace(whole(cfg), reader=Broken(error)))


@pytest.mark.parametrize("error", [SodamemError("refused"), RuntimeError("broken")], ids=["refused", "broken"])
def test_results_that_were_there_are_kept_under_another_name(compose, runs, monkeypatch, error):
    break_at_the_second(monkeypatch, error)
    with pytest.raises(type(error)):
        runner.run(compose(), quiet=True)
    (folder,) = (runs / name for name in left(runs))
    assert {file.name for file in folder.iterdir()} == {"config.yaml", "questions.jsonl.partial"}
    assert len((folder / "questions.jsonl.partial").read_text().splitlines()) == 1


def test_mlflow_holds_the_measures_and_a_run_that_raised_is_failed(compose, runs, monkeypatch):
    tracked = compose("tracker=mlflow")
    outcome = runner.run(tracked, quiet=True)
    client, experiment = open_store(tracked.tracker.uri, tracked.tracker.experiment, tracked.tracker.artifacts)
    (stored,) = client.search_runs([experiment])
    assert stored.info.status == "FINISHED" and stored.info.run_name == outcome.folder.name
    assert stored.data.metrics["turn/recall_at_10"] == outcome.report.metrics["turn/recall_at_10"]
    assert stored.data.metrics["accuracy/strict"] == outcome.report.metrics["accuracy/strict"]
    assert stored.data.params["fusion.beta"] == "0" and stored.data.tags["folder"] == str(outcome.folder)
    kept = {entry.path for entry in client.list_artifacts(stored.info.run_id)}
    assert {"config.yaml", "questions.jsonl", "data.json", "metrics.json"} <= kept
    break_at_the_second(monkeypatch, RuntimeError("broken"))
    with pytest.raises(RuntimeError, match="broken"):
        runner.run(tracked, quiet=True)
    assert sorted(run.info.status for run in client.search_runs([experiment])) == ["FAILED", "FINISHED"]
