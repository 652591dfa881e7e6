"""Studies: conditional spaces, resume without repeats, refusals before anything is spent, winners that can be run."""

import json
import math
import subprocess
import sys

import optuna
import pytest
import yaml

from sodamem import build, config, studies
from sodamem.commands_sweeps import sweep as command
from sodamem.errors import ConfigError
from sodamem.evaluate import retrieve
from sodamem.metric.retrieval import aggregate
from sodamem.replay.measures import TOKENS
from sodamem.sweep.book import REASON, REPEATS, key
from sodamem.sweep.objective import Live, replayable
from sodamem.sweep.search import Search
from sodamem.sweep.space import Ground, grid, knobs
from sodamem.sweep.storage import quiet, storage
from sodamem.sweep.study import Study
from sodamem.sweep.sweep import Request, sweep

SPACE = {
    "fusion": ["weighted_sum", "density"],
    "fusion.weights.bm25": {"low": 0.0, "high": 1.0, "step": 0.1, "when": {"fusion": "weighted_sum"}},
    "fusion.decay": {"low": 0.0, "high": 1.0, "step": 0.5, "when": {"fusion": "density"}},
}
RECALL = "turn/recall_at_10"


def content(tiny, **changes):
    given = {
        "kind": "study",
        "measures": {RECALL: "maximize"},
        "trials": 6,
        "sampler": "tpe",
        "seed": 1,
        "space": SPACE,
    }
    return {**given, "overrides": [*tiny], **changes}


@pytest.fixture
def study(tmp_path, tiny, runs):
    """study(name="s", **changes) -> the path of a YAML file of a small study, its runs aside."""

    def make(name="s", **changes):
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump(content(tiny, **changes), sort_keys=False))
        return str(path)

    return make


def searched(path, **fields):
    return sweep(Request(name=path, changes=fields.pop("changes", {}), test=fields.pop("test", False), **fields))


def points(outcome):
    return [key(trial.params) for trial in outcome.search.trials()]


# --- space --------------------------------------------------------------------------------------------------


def test_the_grid_respects_conditions():
    found = grid(knobs(SPACE))
    assert len(found) == 11 + 3
    assert all(("fusion.decay" in point) == (point["fusion"] == "density") for point in found)


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({}, "at least one knob"),
        ({"a": 3}, "list of choices, or have low and high"),
        ({"a": {"low": 1}}, "low < high"),
        ({"a": {"low": 2, "high": 1}}, "low < high"),
        ({"a": {"low": 0, "high": 1, "step": 0}}, "step > 0"),
        ({"a": {"low": 0.0, "high": 1.0, "log": True}}, "low > 0 and no step"),
        ({"a": {"low": 1, "high": True}}, "numbers for low"),
        ({"a": {"low": 1, "high": 2, "hihg": 3}}, "low and high"),
        ({"a": []}, "different plain values"),
        ({"a": [1, 1]}, "different plain values"),
        ({"a": {"choice": [1], "when": {"b": 1}}}, "an earlier knob"),
        ({"b": [1], "a": {"choice": [1], "when": {"b": 2}}}, "an earlier knob"),
    ],
)
def test_a_faulty_space_is_one_line(space, message):
    with pytest.raises(ConfigError, match=message) as caught:
        knobs(space)
    assert "\n" not in str(caught.value)


def test_a_point_sets_groups_keys_and_tunnels(tiny, runs):
    space = knobs(
        {"tunnel.*.heads": [None, 5], "tunnel.time": ["in", "out"], **SPACE, "recall.top_k": {"low": 1, "high": 60}}
    )
    ground = Ground(tiny, space)
    base = ground.baseline()
    assert base["fusion"] == "weighted_sum" and base["fusion.weights.bm25"] == 0.6 and base["recall.top_k"] == 50
    assert base["tunnel.*.heads"] is None and base["tunnel.time"] == "in" and "fusion.decay" not in base
    cfg = ground.at({"fusion": "density", "fusion.decay": 0.5, "tunnel.*.heads": 5, "tunnel.time": "out"})
    assert cfg["fusion"]["_target_"].endswith("DensityFusion") and cfg["fusion"]["decay"] == 0.5
    assert "time" not in cfg["tunnel"] and cfg["tunnel"]["bm25"]["heads"] == cfg["tunnel"]["dense"]["heads"] == 5
    assert ground.plain["tunnel"]["bm25"]["heads"] is None and "heads" not in cfg["tunnel"]["speaker"]


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"fusion.weight.bm25": {"low": 0, "high": 1}}, "must be a key of the configuration"),
        ({"fusion.weights.bm25": {"low": 0.0, "high": 0.5}}, "must hold the baseline's own value, 0.6"),
        ({"fusion": ["density", "rrf"]}, "must hold the baseline's own value"),
    ],
)
def test_a_space_that_does_not_fit_the_baseline_is_refused(study, runs, space, message):
    with pytest.raises(ConfigError, match=message):
        searched(study(space=space))
    assert not (runs / "studies").exists() and not (runs / "recordings").exists()


def test_replay_is_chosen_where_little_varies_before_fusion():
    few, endless = knobs({"tunnel.bm25.k1": [0.9, 1.2]}), knobs({"tunnel.bm25.k1": {"low": 0.5, "high": 2.0}})
    assert replayable(few, [RECALL, TOKENS], "auto") and not replayable(endless, [RECALL], "auto")
    assert not replayable(few, ["accuracy/strict"], "auto") and not replayable(few, [RECALL], "false")
    with pytest.raises(ConfigError, match=r"replay must be auto or false here: tunnel.bm25.k1"):
        replayable(endless, [RECALL], "true")


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["test", "all"])
def test_the_test_split_cannot_be_tuned_on(study, runs, split):
    for overrides in ([f"dataset.split={split}"], [f"++dataset.split={split}"]):
        with pytest.raises(ConfigError, match=f"dataset.split must be dev in a study, got {split}"):
            searched(study(), overrides=tuple(overrides))
    with pytest.raises(ConfigError, match=r"dataset.split must be dev"):
        searched(study(overrides=["dataset.split=dev", f"dataset.split={split}"]))
    with pytest.raises(ConfigError, match="must be a part of the system"):
        searched(study(space={"dataset.split": ["dev", split]}))
    assert not runs.exists()


def test_an_experiment_with_another_split_is_refused(study):
    with pytest.raises(ConfigError, match=r"dataset.split must be dev in a study, got all"):
        searched(study(overrides=["experiment=longmemeval_recall"]))


def test_unknown_names_are_answered_with_the_known():
    with pytest.raises(ConfigError, match="study must be one of accuracy_tokens, fusion_recall, fusions, paper"):
        command(["study=fusion"])
    with pytest.raises(ConfigError, match="study must be named"):
        command([])
    with pytest.raises(ConfigError, match="See sodamem sweep --help"):
        command(["study=fusion_recall", "--trails", "3"])


@pytest.mark.parametrize(
    "change",
    [{"sampler": "tpee"}, {"trials": 0}, {"measures": {}}, {"measures": {RECALL: "up"}}, {"seed": "x"}, {"colour": 1}],
)
def test_a_faulty_study_is_one_line(study, change):
    with pytest.raises(ConfigError) as caught:
        searched(study(**change))
    assert "\n" not in str(caught.value)


def test_a_pruner_needs_one_measure(study):
    with pytest.raises(ConfigError, match="pruner must be none"):
        searched(study(pruner="median", measures={RECALL: "maximize", TOKENS: "minimize"}))


def test_a_changed_space_or_data_is_refused_with_a_diff_and_new_begins_anew(study, runs):
    first = searched(study(), changes={"trials": 2})
    wider = {**SPACE, "fusion.weights.bm25": {**SPACE["fusion.weights.bm25"], "high": 2.0}}
    with pytest.raises(ConfigError, match=r"space\.fusion\.weights\.bm25 was .*1\.0.*, is .*2\.0.*--new"):
        searched(study(space=wider), changes={"trials": 2})
    with pytest.raises(ConfigError, match=r"baseline\.dataset\.seed was 7, is 8"):
        searched(study(), overrides=("dataset.seed=8",))
    assert len(list((runs / "studies").glob("s-*"))) == 1
    other = searched(study(space=wider), changes={"trials": 2}, new=True)
    assert other.folder != first.folder and first.folder.exists()
    again = searched(study(), changes={"trials": 3})  # the first one is still there to be resumed
    assert again.folder == first.folder and len(again.search.trials()) == 3


# --- the search ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random"])
def test_the_baseline_is_the_first_trial_and_scores_what_a_run_reports(study, sampler, compose):
    outcome = searched(study(sampler=sampler))
    assert len(set(points(outcome))) == len(outcome.search.trials()) == 6 and outcome.replayed
    cfg = compose()
    rows = retrieve(build.pipeline(cfg), build.component(cfg, "dataset").open())
    assert outcome.baseline.number == 0 and outcome.baseline.values == [aggregate(rows)[RECALL]]
    assert outcome.winner.values[0] >= outcome.baseline.values[0]


def test_a_grid_tries_every_point_once_whatever_trials_says(study):
    outcome = searched(study(sampler="grid"), changes={"trials": 100})
    assert sorted(points(outcome)) == sorted({key(point) for point in grid(knobs(SPACE))})


def test_resume_goes_on_to_the_total_with_no_point_twice(study, runs):
    first = searched(study())
    known = points(first)
    second = searched(study(), changes={"trials": 10})
    assert second.folder == first.folder and points(second)[:6] == known
    assert len(set(points(second))) == 10
    third = searched(study(), changes={"trials": 10})
    assert points(third) == points(second)
    assert len(list((runs / "studies").glob("s-*"))) == 1


def test_a_small_space_ends_when_it_is_used_up(study):
    outcome = searched(study(space={"fusion.normalise": ["max", "z"]}), changes={"trials": 50})
    assert len(outcome.search.trials()) == 2
    repeats = [t for t in outcome.search.held.trials if REPEATS in t.user_attrs]
    assert repeats and all(t.values == outcome.search.held.trials[t.user_attrs[REPEATS]].values for t in repeats)


def test_live_and_replayed_trials_score_the_same(study):
    one = searched(study("one"), changes={"sampler": "grid", "replay": "true"})
    two = searched(study("two"), changes={"sampler": "grid", "replay": "false"})
    scores = [{key(t.params): t.values for t in outcome.search.trials()} for outcome in (one, two)]
    assert scores[0] == scores[1] and one.replayed and not two.replayed


def test_knobs_before_fusion_are_recorded_for_each_value(study, runs):
    space = {"tunnel.bm25.k1": [0.9, 1.2], "fusion.normalise": ["max", "z"]}
    outcome = searched(study(space=space), changes={"sampler": "grid"})
    assert outcome.replayed and len(points(outcome)) == 4
    assert len(list((runs / "recordings").glob("*.npz"))) == 2


def test_several_measures_give_a_front_and_a_winner_that_gives_nothing_up(study):
    space = {"recall.top_k": {"low": 2, "high": 50}, "fusion.normalise": ["max", "z"]}
    measures = {RECALL: "maximize", TOKENS: "minimize"}
    outcome = searched(study(space=space, measures=measures, sampler="nsga2", trials=20))
    front = [trial.values for trial in outcome.search.best()]
    everything = [trial.values for trial in outcome.search.complete()]
    for recall, tokens in front:
        assert not any(r >= recall and t <= tokens and (r, t) != (recall, tokens) for r, t in everything)
    assert (
        outcome.winner.values[0] >= outcome.baseline.values[0]
        and outcome.winner.values[1] <= outcome.baseline.values[1]
    )


def test_a_failing_trial_is_failed_with_its_reason_and_has_no_score(study):
    space = {"tunnel.bm25.b": [0.75, 7.0], "fusion.theta": [None, 3.0]}  # b must be at most 1, theta at most 1
    outcome = searched(study(space=space), changes={"sampler": "grid"})
    failed = [trial for trial in outcome.search.trials() if trial.state == optuna.trial.TrialState.FAIL]
    assert len(failed) >= 2 and all(trial.values is None for trial in failed)
    assert any("fusion.theta must be above 0 and at most 1" in trial.user_attrs[REASON] for trial in failed)
    assert "fusion.theta must be" in (outcome.folder / "trials.csv").read_text()


class Space:
    """A search in memory's stead: a journal in a folder, one float knob around 0.5."""

    def __init__(self, folder, trials=6):
        self.study = Study.read(
            "x", {**content(()), "trials": trials, "space": {"a": {"low": 0.0, "high": 1.0, "step": 0.1}}}
        )
        self.folder = folder

    def run(self, evaluate):
        with quiet():
            search = Search.open(self.study, "x-1", {}, *storage(None, self.folder))
            search.run(evaluate, {"a": 0.5})
        return search


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_what_is_not_a_number_is_a_failure_never_a_score(tmp_path, odd):
    search = Space(tmp_path).run(lambda point, _: {RECALL: odd if point["a"] < 0.5 else point["a"]})
    for trial in search.trials():
        assert (trial.state.name == "COMPLETE") == (trial.params["a"] >= 0.5)
        assert trial.state.name == "COMPLETE" or RECALL in trial.user_attrs[REASON]


def test_a_failing_baseline_ends_the_study_at_once(tmp_path):
    with pytest.raises(ConfigError, match="the baseline must have a score, it failed: ZeroDivisionError"):
        Space(tmp_path).run(lambda point, _: 1 / 0)


def test_secrets_do_not_get_into_a_reason(tmp_path):
    def evaluate(point, _):
        if point["a"] != 0.5:
            raise RuntimeError("no route to http://me:hunter2@host")
        return {RECALL: 1.0}

    reasons = [t.user_attrs[REASON] for t in Space(tmp_path).run(evaluate).trials() if REASON in t.user_attrs]
    assert reasons and not any("hunter2" in reason for reason in reasons)


def test_an_interrupted_trial_is_tried_again(tmp_path):
    def stop(point, _):
        if point["a"] != 0.5:
            raise KeyboardInterrupt
        return {RECALL: 1.0}

    space = Space(tmp_path, trials=4)
    with pytest.raises(KeyboardInterrupt):
        space.run(stop)
    search = space.run(lambda point, _: {RECALL: point["a"]})
    assert len(search.trials()) == 4 and all(trial.state.name == "COMPLETE" for trial in search.trials())


def test_what_a_dead_process_left_running_is_failed(tmp_path):
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from sodamem.mlflow_store import process_tag\n"
        "from sodamem.sweep.search import PROCESS, Search\n"
        "from sodamem.sweep.storage import quiet, storage\n"
        "from sodamem.sweep.study import Study\n"
        "import json\n"
        "study = Study.read('x', json.loads(sys.argv[1]))\n"
        "with quiet():\n"
        "    search = Search.open(study, 'x-1', {}, *storage(None, Path(sys.argv[2])))\n"
        "    trial = search.held.ask()\n"
        "    trial.set_user_attr(PROCESS, process_tag(os.getpid()))\n"
        "    os._exit(0)\n"
    )
    space = Space(tmp_path)
    given = {**content(()), "space": {"a": {"low": 0.0, "high": 1.0, "step": 0.1}}}
    subprocess.run([sys.executable, "-c", script, json.dumps(given), str(tmp_path)], check=True)
    search = space.run(lambda point, _: {RECALL: point["a"]})
    assert not [trial for trial in search.held.trials if trial.state.name == "RUNNING"]
    assert search.held.trials[0].user_attrs[REASON] == "its process died" and len(search.trials()) == 6


@pytest.mark.parametrize("measure", [RECALL, "accuracy/strict"])
def test_a_live_trial_is_looked_at_after_every_block_and_can_be_given_up(measure, tiny, runs):
    given = content(tiny, overrides=[*tiny, "dataset.histories=4", "dataset.questions_per_history=3"])
    ground = Ground(given["overrides"], knobs(SPACE))
    live = Live(ground, [measure], block=4)
    told = []
    assert live(ground.baseline(), lambda block, value: told.append((block, value)) and False).keys() == {measure}
    assert [block for block, _ in told] == [0]  # of six questions, over two histories of the dev split
    with pytest.raises(optuna.TrialPruned):
        live(ground.baseline(), lambda block, value: True)


def test_a_study_gives_up_poor_trials_and_finds_the_same_winner(study, tiny):
    """The grid runs from good to bad: what is below the median of those before it after two blocks ends there."""
    every = [
        "bm25",
        "bm25_session",
        "bm25_fact",
        "dense",
        "dense_context",
        "speaker",
        "time",
        "when",
        "statement",
        "state",
    ]
    given = {
        "overrides": [*tiny, "dataset.histories=4", "dataset.questions_per_history=3"],
        "space": {"tunnel": [every, ["bm25"], ["bm25_fact"], ["bm25", "dense"], ["dense"], ["speaker"], ["time"]]},
        "measures": {RECALL: "maximize"},
        "replay": "false",
        "sampler": "grid",
        "trials": 9,
    }
    whole = searched(study("whole", **given))
    pruned = searched(study("pruned", **given, pruner="median", block=1))
    given_up = [trial for trial in pruned.search.trials() if trial.state.name == "PRUNED"]
    assert [trial.params["tunnel"] for trial in given_up] == ["[speaker]", "[time]"]
    assert all(len(trial.intermediate_values) == 2 for trial in given_up)
    rows = (pruned.folder / "trials.csv").read_text().splitlines()
    assert [row for row in rows if ",PRUNED,," in row] and not [row for row in rows if ",PRUNED,0" in row]
    assert pruned.winner.params == whole.winner.params and pruned.winner.values == whole.winner.values


# --- what is left behind ------------------------------------------------------------------------------------


def test_the_winner_is_an_experiment_that_scores_what_the_study_says(study, compose):
    outcome = searched(study(), changes={"sampler": "grid"})
    text = outcome.file.read_text()
    assert text.startswith("# @package _global_\n# sodamem run experiment=s_winner dataset.split=test\n")
    assert f"# study: {outcome.folder.name}" in text and "# data sha256: " in text and "baseline" in text
    path = f"hydra.searchpath=[file://{outcome.folder}]"
    cfg = config.compose(path, "experiment=s_winner", "tracker=none")
    rows = retrieve(build.pipeline(cfg), build.component(cfg, "dataset").open())
    assert aggregate(rows)[RECALL] == outcome.winner.values[0]


def test_tunnels_that_the_winner_leaves_out_are_out_of_its_experiment(study):
    space = {"tunnel.*.heads": [None, 1], "tunnel.speaker": ["in", "out"]}
    outcome = searched(study(space=space), changes={"sampler": "grid"})
    cfg = config.compose(f"hydra.searchpath=[file://{outcome.folder}]", "experiment=s_winner", "tracker=none")
    assert ("speaker" in cfg.tunnel) == (outcome.winner.params["tunnel.speaker"] == "in")
    assert cfg.tunnel.bm25.heads == outcome.winner.params["tunnel.*.heads"]


def test_the_test_figure_is_computed_once(study, runs, monkeypatch):
    outcome = searched(study(), test=True)
    assert 0 <= outcome.test.mean <= 1 and (outcome.folder / "test.json").exists()
    monkeypatch.setattr("sodamem.sweep.sweep.run_experiment", lambda *a, **k: pytest.fail("ran on test again"))
    assert searched(study(), test=True).test == outcome.test


def test_the_command_prints_the_winner_and_exports_it(study, tmp_path, capsys):
    target = tmp_path / "conf" / "tuned.yaml"
    assert command([f"study={study()}", "sampler=grid", "--no-test", "-q", "--export", str(target)]) == 0
    said = capsys.readouterr().out
    assert "baseline  turn/recall@10" in said and "winner    turn/recall@10" in said and "time: " in said
    assert "experiment=tuned" in target.read_text() and yaml.safe_load(target.read_text())["name"] == "tuned"


def test_a_study_is_one_run_with_a_point_a_trial_and_the_best_as_children(study, runs, tiny):
    overrides = [value for value in tiny if value != "tracker=none"]
    given = study(overrides=overrides)
    outcome = searched(given)
    from sodamem.mlflow_store import open_store

    client, experiment = open_store(f"sqlite:///{runs}/mlflow.db", "sodamem", str(runs / "artifacts"))
    found = client.search_runs([experiment])
    parents = [run for run in found if "mlflow.parentRunId" not in run.data.tags]
    assert len(parents) == 1 and parents[0].info.run_name == outcome.folder.name
    assert len(client.get_metric_history(parents[0].info.run_id, "turn/recall_at_10")) == 6
    assert len(found) == 1 + len(outcome.search.best()[:10])
    names = {file.path for file in client.list_artifacts(parents[0].info.run_id)}
    assert {"trials.csv", "s_winner.yaml", "history.svg", "slices.svg"} <= names
    searched(given, changes={"trials": 8})
    assert len(client.get_metric_history(parents[0].info.run_id, "turn/recall_at_10")) == 8


def test_two_workers_share_a_study(study, runs):
    path = study(trials=8)
    script = f"from sodamem.commands_sweeps import sweep; sweep(['study={path}', '--no-test', '-q'])"
    workers = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    outcome = searched(path)
    assert 8 <= len(outcome.search.trials()) <= 9
    numbers = [t.params for t in outcome.search.trials() if t.params == outcome.baseline.params]
    assert len(numbers) == 1


@pytest.mark.parametrize("name", sorted(studies.packaged("study")))
def test_every_packaged_study_reads_and_fits_its_baseline(name):
    study = Study.read(*studies.find(name, "study", "study"))
    ground = Ground((*study.overrides, "tracker=none"), study.space)
    assert ground.plain["dataset"]["split"] == "dev"
    for point in ground.corners():
        build.build(ground.at(point)["fusion"], "fusion")
    assert study.replay == "false" or replayable(study.space, list(study.measures), study.replay)
