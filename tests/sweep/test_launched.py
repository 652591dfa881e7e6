"""Launched trials: what is said to another process is what was meant, and no death of one loses the work of others."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from sodamem import config, studies
from sodamem.commands_sweeps import sweep as command
from sodamem.errors import ConfigError, MissingExtra, ServiceError
from sodamem.mlflow_store import open_store, process_tag
from sodamem.replay.measures import TOKENS
from sodamem.sources import source
from sodamem.sweep import launchers
from sodamem.sweep.batches import FOLDER, BatchSearch
from sodamem.sweep.book import DIED, REASON, key
from sodamem.sweep.launchers import Job, Jobs, Launch
from sodamem.sweep.point_overrides import overrides, quoted, settled
from sodamem.sweep.search import Search
from sodamem.sweep.space import Ground, knobs
from sodamem.sweep.storage import quiet, storage
from sodamem.sweep.study import Study
from sodamem.sweep.sweep import Request, sweep
from sodamem.sweep.trial import Trial, TrialFiles, TrialResult, fingerprint
from sodamem.sweep.workers import PROCESS

ALONE = ["unshare", "--net", "--pid", "--fork", "--mount-proc"]  # Ray listens on all interfaces
ACCURACY = "accuracy/strict"
SPACE = {"planner": ["none", "heuristic"], "recall.top_k": [50, 5]}
SMALL = {"recall.top_k": [50, 5]}
FAST = ("tunnel=[bm25]",)  # a trial takes a second


@pytest.fixture
def study(tmp_path, tiny, runs):
    """study(name="s", **changes) -> the path of a YAML file of a small study of answers, its runs aside."""

    def make(name="s", **changes):
        content = {
            "kind": "study",
            "measures": {ACCURACY: "maximize", TOKENS: "minimize"},
            "trials": 4,
            "sampler": "grid",
            "seed": 1,
            "overrides": [*tiny, *FAST],
            "space": SPACE,
        }
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump({**content, **changes}, sort_keys=False))
        return str(path)

    return make


def launch(*overrides, batch=None):
    return Launch(overrides=overrides, batch=batch)


def searched(path, *overrides, batch=None, **fields):
    given = {"changes": {}, "test": False, "launch": launch(*overrides, batch=batch), **fields}
    return sweep(Request(name=path, **given))


def scores(outcome):
    return {key(trial.params): trial.values for trial in outcome.search.trials()}


def run_folders(runs):
    return sorted(path.parent for path in runs.glob("*/metrics.json"))


# --- what is said -------------------------------------------------------------------------------------------

SIGNS = st.text(st.sampled_from("a1,=(){}[]$'\"\n\r\t\\ #:~!@é?*.+-%&|<>"), max_size=12)
WORDS = st.sampled_from(
    ["65240037", "nan", "null", "1e3", "1_000", "true", "", "a=b", "${x}", "\\${x}", "${oc.env:HOME}", "a,b", "x\\"]
)


@settings(deadline=None)
@given(SIGNS | WORDS | st.text(max_size=12) | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False))
def test_every_value_arrives_as_it_was(value):
    if value in (float("inf"), float("-inf"), "???"):  # no range holds the first two; the third is OmegaConf's own
        return
    cfg = OmegaConf.create({"key": "before"})
    OmegaConf.set_struct(cfg, True)
    override = OverridesParser.create().parse_override(f"key={quoted(value)}")
    assert not override.is_sweep_override()
    OmegaConf.update(cfg, "key", override.value(), merge=True)
    arrived = OmegaConf.to_container(cfg, resolve=True)["key"]
    assert arrived == value and type(arrived) is type(value)


def test_a_text_arrives_through_a_whole_composition(runs):
    for value in ("yes, or = no ${x} {'a': \"b\"}\n(second)", "65240037", "nan"):
        assert config.plain(config.compose(f"name={quoted(value)}"))["name"] == value


WIDE = {
    "fusion": ["weighted_sum", "density"],
    "fusion.decay": {"low": 0.0, "high": 1.0, "step": 0.5, "when": {"fusion": "density"}},
    "tunnel.*.heads": [None, 5],
    "tunnel.time": ["in", "out"],
    "tunnel.graph": ["out"],
    "name": ["run", "yes, or = no ${x}"],
    "recall.names_in_query": [False, True],
}


def test_a_point_in_overrides_composes_what_the_point_means(tiny, runs):
    ground = Ground(tiny, knobs(WIDE))
    points = ground.corners()[1::2]
    points.append({"fusion": "density", "fusion.decay": 0.5, "tunnel.*.heads": 5, "tunnel.time": "out"})
    assert {name for point in points for name in point} == set(WIDE)
    for point in points:
        assert config.plain(config.compose(*tiny, *overrides(ground, point))) == ground.at(point)


def test_what_would_mean_something_else_elsewhere_is_settled_here(runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SODAMEM_DATA", "here")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:hunter2@host/v1")
    monkeypatch.setenv("SODAMEM_STORE", "postgresql://me:hunter2@host/runs")
    cfg = config.compose("dataset=locomo", "chat=openai", "tracker.uri=sqlite:///m.db", "name='at ${now:%Y}'")
    found = settled(cfg)
    assert found["dataset.path"] == str(tmp_path / "here/locomo/locomo10.json")
    assert found["tracker.uri"] == f"sqlite:///{tmp_path}/m.db"
    assert found["name"].startswith("at 2") and "hunter2" not in str(found)
    assert "tracker.uri" not in settled(config.compose("tracker.uri='${oc.env:SODAMEM_STORE}'"))
    assert settled(config.compose("tracker=none")) == {}


# --- one after the other, in this process -------------------------------------------------------------------


def test_a_launched_study_scores_what_one_in_this_process_does(study):
    outcome = searched(study(space=SMALL), test=True)
    assert outcome.how == "launched" and len(scores(outcome)) == 2
    assert scores(outcome) == scores(searched(study(space=SMALL), launch=None))
    assert outcome.baseline.number == 0 and outcome.winner.values[1] < outcome.baseline.values[1]
    assert outcome.test is not None and (outcome.folder / "trials.csv").read_text().count("COMPLETE") == 2
    for trial in outcome.search.trials():
        folder = Path(trial.user_attrs[FOLDER])
        assert folder.name.endswith(f"s_trial_{trial.number}") and (folder / "questions.jsonl").exists()


def test_hydra_is_left_as_it_was_found(tmp_path):
    place = f"hydra.sweep.dir={quoted(str(tmp_path))}"
    with launchers.hydra_at_work([place], "basic") as (cfg, _):
        assert GlobalHydra.instance().hydra is not None and cfg.hydra.sweep.dir == str(tmp_path)
    assert GlobalHydra.instance().hydra is None and HydraConfig.instance().cfg is None


def test_resume_launches_only_what_is_missing(study, runs):
    given = study(space=SMALL, sampler="tpe")
    first = searched(given, changes={"trials": 1})
    assert len(run_folders(runs)) == 1
    assert searched(given, changes={"trials": 2}, batch=2).folder == first.folder
    assert len(run_folders(runs)) == 2
    searched(given, changes={"trials": 2})
    assert len(run_folders(runs)) == 2


def test_a_model_is_asked_and_its_cost_said_before(study, tiny, capsys):
    outcome = searched(study(space={"reader": ["extractive", "llm"]}, overrides=[*tiny, *FAST, "chat=scripted"]))
    said = capsys.readouterr().err
    assert "2 trials with hydra/launcher=basic, 1 at a time" in said and "2 times what one asks for" in said
    questions = json.loads((run_folders(Path(outcome.folder).parent.parent)[0] / "data.json").read_text())["questions"]
    assert [line.split()[1] for line in said.splitlines() if line.startswith("read ")] == [str(2 * questions)]
    assert len(outcome.search.complete()) == 2


def test_one_point_that_fails_has_its_reason_and_the_others_their_scores(study):
    outcome = searched(study(space={"tunnel.bm25.b": [0.75, 7.0, 0.5]}), batch=2)
    (failed,) = [trial for trial in outcome.search.trials() if trial.state.name == "FAIL"]
    assert len(outcome.search.complete()) == 2 and "b must be" in failed.user_attrs[REASON]
    assert "b must be" in (outcome.folder / "trials.csv").read_text()


def test_a_measure_that_no_question_has_is_a_failure_and_what_was_run_is_kept(study, runs):
    path = study(measures={"accuracy/nobody/strict": "maximize"})
    with pytest.raises(ConfigError, match="the baseline must have a score, it failed: measures must be defined"):
        searched(path)
    assert len(run_folders(runs)) == 1 and "FAIL" in next(runs.glob("studies/s-*/trials.csv")).read_text()


ANSWERS = "accuracy_tokens"


@pytest.mark.parametrize("name", sorted(studies.packaged("study").keys() - {ANSWERS}))
def test_every_packaged_study_runs_on_synthetic_data(name, tiny, runs):
    given = ("dataset=synthetic", "encoder=lsa", *tiny)
    outcome = searched(name, overrides=given, changes={"trials": 2}, launch=None)
    assert len(outcome.search.complete()) == 2 and outcome.how == "replayed"


@pytest.mark.slow
def test_the_packaged_study_of_answers_runs_on_synthetic_data(tiny, runs):
    given = ("dataset=synthetic", "encoder=lsa", *tiny)
    outcome = searched(ANSWERS, overrides=given, changes={"trials": 3})
    assert len(outcome.search.complete()) == 3 and outcome.how == "launched"


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["-m", "hydra/launcher=nosuch"], ConfigError, "hydra/launcher must be one of basic, .*joblib.*, got 'nosuch'"),
        (["-m", "hydra/launcher=joblib", "hydra.launcher.jobs=2"], ConfigError, "jobs"),
        (["-m", "--batch", "0"], ConfigError, "batch must be >= 1"),
        (["-m", "hydra/sweeper=basic"], ConfigError, "its own sweeper"),
        (["-m", "hydra.sweep.dir=x"], ConfigError, "its own folder"),
        (["-m", "resume=x"], ConfigError, "resume must be null"),
        (["-m", "replay=true"], ConfigError, "replay must be auto or false with -m"),
        (["-m", "pruner=median"], ConfigError, "pruner must be none with -m, got median"),
        (["hydra/launcher=joblib"], ConfigError, "-m must be given"),
        (["--batch", "2"], ConfigError, "-m must be given where trials are launched, got --batch"),
    ],
)
def test_what_cannot_be_launched_is_refused_in_one_line(study, runs, arguments, error, message):
    path = study(measures={TOKENS: "minimize"})
    with pytest.raises(error, match=message) as caught:
        command([f"study={path}", "--no-test", "-q", *arguments])
    assert "\n" not in str(caught.value) and not run_folders(runs)


def test_a_missing_launcher_is_answered_with_its_pip_line(monkeypatch):
    def none_at_all(name):  # without any of them, the package that they share is missing too
        if name != "hydra_plugins":
            raise ModuleNotFoundError(name)

    monkeypatch.setattr(launchers, "find_spec", none_at_all)
    with pytest.raises(MissingExtra, match=r"hydra/launcher=joblib needs .* pip install \"sodamem\[launchers\]\""):
        launch("hydra/launcher=joblib")
    monkeypatch.setattr(launchers, "find_spec", lambda name: name if name == "hydra_plugins" else None)
    with pytest.raises(MissingExtra, match=r"pip install \"sodamem\[ray\]\""):
        launch("hydra/launcher=basic", "hydra/launcher=ray")


def test_a_batch_is_what_a_launcher_runs_at_once_unless_it_is_given():
    assert launch().size({}) == 1 and launch(batch=5).size({}) == 5
    assert launch("hydra/launcher=joblib").size({"n_jobs": 3}) == 3
    assert launch("hydra/launcher=joblib").size({"n_jobs": -1}) == os.cpu_count()
    assert launch("hydra/launcher=submitit_slurm").size({}) == launchers.BATCH


def test_a_process_with_other_code_data_or_configuration_gives_no_score(compose, tmp_path):
    def tried(cfg, **changes):
        known = {"folder": str(tmp_path), "measures": (ACCURACY,), "data": "0" * 64, "code": (("replay",), "")}
        return Trial(**{**known, "code": (("replay",), source("replay")), **changes})(cfg)["reason"]

    cfg = compose("trial={number: 1, parent: null, point: p, config: other}")
    assert "must have the study's configuration" in tried(cfg)
    cfg.trial.config = fingerprint(config.plain(cfg))
    assert "must have the study's code" in tried(cfg, code=(("replay",), "other"))
    assert "must read the study's data" in tried(cfg)


# --- launchers that die -------------------------------------------------------------------------------------


class Fragile:
    """A launcher in a pool: jobs end in order, two at a time; one of `deadly` takes both, and raises for all."""

    def __init__(self, files, deadly):
        self.files, self.deadly, self.batches = files, deadly, []

    def launch(self, calls, initial_job_idx):
        numbers = [int(call[0]) for call in calls]
        self.batches.append(numbers)
        for pair in (numbers[place : place + 2] for place in range(0, len(numbers), 2)):
            for number in pair:
                self.files.begin(number)
            if set(pair) & self.deadly:
                raise RuntimeError("a worker was killed")
            for number in pair:
                self.files.write(result(number))
        return []


def result(number, point="p", **fields):
    return TrialResult(**{"number": number, "point": point, "values": {"m": 1.0}, "reason": "", "folder": "", **fields})


def jobs(*numbers):
    return {number: Job(point="p", overrides=(str(number),)) for number in numbers}


def test_a_pool_that_dies_costs_its_culprit_alone(tmp_path):
    files = TrialFiles(folder=tmp_path)
    fragile = Fragile(files, {3})
    found = Jobs(launcher=fragile, name="joblib", files=files).run(jobs(1, 2, 3, 4, 5, 6))
    assert {number for number, left in found.items() if isinstance(left, str)} == {3}
    assert found[3] == "RuntimeError: a worker was killed" and found[4] == result(4)
    assert fragile.batches == [[1, 2, 3, 4, 5, 6], [3], [4], [5, 6]]


def test_a_launcher_that_cannot_begin_is_not_asked_again_for_each_trial(tmp_path):
    class Refusing:
        asked = 0

        def launch(self, calls, initial_job_idx):
            self.asked += 1
            raise OSError("no such command: sbatch")

    refusing = Refusing()
    found = Jobs(launcher=refusing, name="other", files=TrialFiles(folder=tmp_path)).run(jobs(1, 2, 3))
    assert refusing.asked == 1 and set(found.values()) == {"OSError: no such command: sbatch"}


def test_jobs_of_a_cluster_are_launched_each_by_itself_and_keep_their_own_reasons(tmp_path):
    files = TrialFiles(folder=tmp_path)

    class Cluster:
        def launch(self, calls, initial_job_idx):
            ((number,),) = calls
            if number == "2":
                raise RuntimeError("job 2 was killed")
            value = vars(result(int(number)))
            return [JobReturn(status=JobStatus.COMPLETED, _return_value=value)]

    found = Jobs(launcher=Cluster(), name="submitit_slurm", files=files).run(jobs(1, 2, 3))
    assert found == {1: result(1), 2: "RuntimeError: job 2 was killed", 3: result(3)}


def test_a_result_of_another_point_under_the_same_number_is_none(tmp_path):
    files = TrialFiles(folder=tmp_path)
    files.write(result(7, point="another"))
    assert files.read(7, "p") is None and files.read(7, "another") == result(7, point="another")
    assert not [path for path in tmp_path.iterdir() if "partial" in path.name]


# --- the loop over batches ----------------------------------------------------------------------------------


class Batches:
    """A study in a journal of its own: one knob, four values, the first of them the baseline's."""

    def __init__(self, folder, values=(0.0, 0.1, 0.2, 0.3), **changes):
        content = {"kind": "study", "measures": {"m": "maximize"}, "trials": 4, "sampler": "grid", "seed": 1}
        self.study = Study.read("x", {**content, "overrides": [], "space": {"a": [*values]}, **changes})
        self.folder, self.files = folder, TrialFiles(folder=folder / "trials")

    def open(self):
        given = {"files": self.files, "parent": ""}
        return BatchSearch.open(self.study, "x-1", {}, *storage(None, self.folder), **given)

    def run(self, launch, size=3):
        with quiet():
            search = self.open()
            search.run_batches(launch, {"a": 0.0}, size, lambda _: None)
        return search


def scored(batch):
    return {number: result(number, key(point), values={"m": point["a"]}) for number, point in batch.items()}


def test_the_baseline_is_launched_alone_and_before_all_others(tmp_path):
    batches = []
    search = Batches(tmp_path).run(lambda batch: batches.append([p["a"] for p in batch.values()]) or scored(batch))
    assert batches == [[0.0], [0.1, 0.2, 0.3]] and search.best()[0].values == [0.3]


@pytest.mark.parametrize("sampler", ["tpe", "random", "nsga2"])
def test_no_point_is_launched_twice_however_few_there_are(tmp_path, sampler):
    launched = []
    search = Batches(tmp_path, sampler=sampler, trials=9).run(
        lambda batch: launched.extend(p["a"] for p in batch.values()) or scored(batch), size=4
    )
    assert sorted(launched) == [0.0, 0.1, 0.2, 0.3] and len(search.trials()) == 4


def test_three_batches_that_leave_nothing_end_the_study_in_one_line(tmp_path):
    def losing(batch):
        return scored(batch) if 0 in batch else dict.fromkeys(batch, "OSError: the\ncluster is gone")

    space = Batches(tmp_path, values=[place / 10 for place in range(10)], trials=10)
    with pytest.raises(ServiceError, match=r"3 batches in a row left nothing: OSError: the"):
        space.run(losing, size=2)
    found = space.open()
    assert len(found.trials()) == 1 + 6 and len(found.complete()) == 1
    assert {trial.user_attrs[REASON] for trial in found.trials()[1:]} == {"OSError: the cluster is gone"}


def test_what_an_interrupted_batch_has_left_is_told_and_the_rest_tried_again(tmp_path):
    space = Batches(tmp_path)

    def stopped(batch):
        if 0 in batch:
            return scored(batch)
        space.files.write(scored(batch)[min(batch)])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        space.run(stopped)
    with quiet():
        assert [trial.values for trial in space.open().complete()] == [[0.0], [0.1]]
    launched = []
    search = space.run(lambda batch: launched.extend(p["a"] for p in batch.values()) or scored(batch))
    assert sorted(launched) == [0.2, 0.3] and len(search.complete()) == 4


DRIVER = """
import os, sys
from pathlib import Path
from tests.sweep.test_launched import Batches, scored
space = Batches(Path(sys.argv[1]))
def die(batch):
    if 0 in batch:
        return scored(batch)
    for number, left in scored(batch).items():
        space.files.begin(number)
        if number == min(batch):
            space.files.write(left)
    os._exit(9)
space.run(die)
"""


def test_what_a_dead_driver_has_paid_for_is_told_and_not_launched_again(tmp_path):
    died = subprocess.run([sys.executable, "-c", DRIVER, str(tmp_path)], cwd=Path(__file__).parents[2], check=False)
    assert died.returncode == 9
    launched = []
    search = Batches(tmp_path).run(lambda batch: launched.extend(p["a"] for p in batch.values()) or scored(batch))
    assert sorted(launched) == [0.2, 0.3] and {t.values[0] for t in search.complete()} == {0.0, 0.1, 0.2, 0.3}
    told = [trial for trial in search.complete() if trial.number == 1]
    assert told and told[0].values == [0.1]


def test_a_result_that_comes_after_its_trial_was_given_up_is_told_all_the_same(tmp_path):
    died = subprocess.run([sys.executable, "-c", DRIVER, str(tmp_path)], cwd=Path(__file__).parents[2], check=False)
    assert died.returncode == 9
    space = Batches(tmp_path, sampler="tpe", trials=3)
    with quiet():
        search = Search.open(space.study, "x-1", {}, *storage(None, space.folder))  # a worker that launches nothing
        search._begin({"a": 0.0})
    given_up = [trial for trial in search.held.trials if trial.user_attrs.get(REASON) == DIED]
    assert len(given_up) == 3
    space.files.write(scored({given_up[1].number: given_up[1].params})[given_up[1].number])
    search = space.run(lambda batch: pytest.fail("launched again"))
    assert len(search.complete()) == 3


def test_a_trial_that_outlives_its_driver_is_waited_for(tmp_path):
    space = Batches(tmp_path, trials=2)
    gone = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    tag = process_tag(gone.pid)
    gone.communicate(b"\n")
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with quiet():
        search = space.open()
        search._begin({"a": 0.0})
        trial, point = search.ask()
        trial.set_user_attr(PROCESS, tag)
        space.files.begin(trial.number)
        (space.files.folder / f"{trial.number}.begun").write_text(process_tag(child.pid))
        other = space.open()
        other._begin({"a": 0.0})
        assert [t.state.name for t in other.held.trials if t.number == trial.number] == ["RUNNING"]
        space.files.write(result(trial.number, key(point), values={"m": 5.0}))
        child.communicate(b"\n")
        other._mourned = -1e9
        other._mourn()
    assert other.held.trials[trial.number].values == [5.0]


# --- several processes --------------------------------------------------------------------------------------

DEADLY = '''
"""A planner that kills its process: always, or where nobody has been killed by it yet."""
import os, signal
from dataclasses import dataclass
from pathlib import Path
from sodamem.planner.none import NoPlanner

@dataclass(frozen=True, kw_only=True)
class Deadly(NoPlanner):
    kill: str

    def gather(self, *args, **kwargs):
        fuse = Path(os.environ["FUSE"])
        if self.kill == "always" or (self.kill == "once" and not fuse.exists()):
            fuse.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().gather(*args, **kwargs)
'''


@pytest.fixture
def deadly(tmp_path, monkeypatch, study):
    """deadly("always") -> the path of a study one of whose planners kills its process."""
    (tmp_path / "deadly.py").write_text(DEADLY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("FUSE", str(tmp_path / "fuse"))

    def make(kind, tiny):
        own = ["trusted_targets=[deadly]", "planner._target_=deadly.Deadly", "+planner.kill=never"]
        space = {"planner.kill": ["never", kind], "recall.top_k": [50, 5]}
        return study("deadly", overrides=[*tiny, *FAST, *own], space=space)

    return make


def driven(path, *arguments):
    argv = [sys.executable, "-m", "sodamem.cli", "sweep", f"study={path}", "-q", "--no-test", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)


def table(runs):
    rows = next(runs.glob("studies/*-*/trials.csv")).read_text().splitlines()[1:]
    return sorted(row.split(",", 1)[1] for row in rows)


@pytest.mark.slow
def test_a_driver_that_is_killed_goes_on_and_pays_for_nothing_twice(deadly, tiny, runs):
    path = deadly("once", tiny)
    first = driven(path, "-m", "--batch", "3")
    assert first.returncode == -signal.SIGKILL
    paid = run_folders(runs)
    assert len(paid) == 2  # the baseline, and of the batch what came before
    second = driven(path, "-m", "--batch", "3")
    assert second.returncode == 0, second.stderr
    assert len(run_folders(runs)) == 4 and set(paid) < set(run_folders(runs))
    assert [row.split(",")[0] for row in table(runs)] == ["COMPLETE"] * 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "launcher",
    [["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"], ["hydra/launcher=submitit_local"]],
    ids=["joblib", "submitit"],
)
def test_a_child_that_is_killed_does_not_lose_its_siblings(deadly, tiny, runs, launcher):
    ended = driven(deadly("always", tiny), "-m", *launcher, "--batch", "3")
    assert ended.returncode == 0, ended.stderr
    states = [row.split(",")[0] for row in table(runs)]
    assert states == ["COMPLETE"] * 2 + ["FAIL"] * 2
    assert all("SIGKILL" in row or "has not produced any output" in row for row in table(runs)[2:])


@pytest.mark.slow
def test_all_launchers_find_the_same_and_nest_their_runs(study, tiny, tmp_path, monkeypatch):
    tracked = [value for value in tiny if value != "tracker=none"]
    space = {**SPACE, "reader.depth": {"low": 5, "high": 20, "step": 5}}
    path = study(sampler="tpe", trials=3, space=space, overrides=[*tracked, *FAST])
    found = {}
    for launcher in ("basic", "joblib", "submitit_local"):
        runs = tmp_path / launcher
        monkeypatch.setenv("SODAMEM_RUNS", str(runs))
        ended = driven(path, "-m", f"hydra/launcher={launcher}", "--batch", "2")
        assert ended.returncode == 0, ended.stderr
        found[launcher] = table(runs)
        client, experiment = open_store(f"sqlite:///{runs}/mlflow.db", "sodamem", str(runs / "artifacts"))
        every = {run.info.run_name: run for run in client.search_runs([experiment])}
        (folder,) = runs.glob("studies/s-*")
        mine = [
            run for run in every.values() if run.data.tags.get("mlflow.parentRunId") == every[folder.name].info.run_id
        ]
        assert sorted(run.data.tags["trial"] for run in mine) == ["0", "1", "2"] and len(every) == 1 + 3
        assert len(client.get_metric_history(every[folder.name].info.run_id, ACCURACY)) == 3
        for run in mine:
            left = json.loads((folder / "trials" / f"{run.data.tags['trial']}.json").read_text())
            assert left["folder"] == run.data.tags["folder"]
            assert left["values"][ACCURACY] == run.data.metrics[ACCURACY]
    assert found["basic"] == found["joblib"] == found["submitit_local"] and len(found["basic"]) == 3


@pytest.mark.ray
def test_trials_run_on_a_ray_cluster_and_survive_one_that_kills_its_process(deadly, tiny):
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed: make test-ray makes its environment")
    if not shutil.which("unshare") or subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a network namespace is not permitted here: run as root on Linux")
    path = os.pathsep.join(filter(None, [os.environ["PYTHONPATH"], *sys.path]))
    env = {**os.environ, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1", "RAY_AUTH_MODE": "disabled", "PYTHONPATH": path}
    driver = Path(__file__).with_name("launched_on_ray.py")
    with tempfile.TemporaryDirectory(prefix="sodamem-") as runs:  # short: sockets lie below it
        script = f'ip link set lo up && exec "{sys.executable}" "{driver}" "{deadly("always", tiny)}" "{runs}"'
        done = subprocess.run([*ALONE, "sh", "-c", script], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        rows = table(Path(runs))
    found = json.loads(done.stdout.splitlines()[-1])
    assert [row.split(",")[0] for row in rows] == ["COMPLETE"] * 2 + ["FAIL"] * 2
    assert all("WorkerCrashedError" in row for row in rows[2:])
    assert len(found["trials"]) == 4 and found["driver"] not in found["trials"]
