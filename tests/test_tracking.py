import os
import subprocess
import sys
from pathlib import Path

import pytest

import sodamem
from sodamem import mlflow_store
from sodamem.errors import ConfigError, DataError, ServiceError
from sodamem.mlflow_store import PROCESS, open_store, process_tag
from sodamem.tracking import MlflowTracker, NullTracker

CANARY = "canary-4711"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs with 100% spaces")


@pytest.fixture(scope="module")
def tracker(folder):
    artifacts = str(folder / "artifacts")
    return MlflowTracker(uri=f"sqlite:///{folder}/mlflow.db", experiment="e", artifacts=artifacts, traces="none")


@pytest.fixture(scope="module")
def client(tracker):
    return open_store(tracker.uri, tracker.experiment, tracker.artifacts)[0]


def record(tracker, *, name="n", params=None, metrics=None, **options):
    with tracker.run(name, params or {}, **options) as run:
        run.metrics(metrics or {})
    return run.id


def test_a_run_is_recorded_under_its_report_names(tracker, client):
    params = {"tunnel": {"bm25": {"k1": 1.5, "b": 1.0}}, "prompt@v": "p"}
    stored = client.get_run(
        record(tracker, params=params, metrics={"recall@10": 0.5, "c/nDCG@5": 1}, tags={"split": "dev"})
    )
    assert stored.info.status == "FINISHED" and stored.info.run_name == "n"
    assert stored.data.metrics == {"recall_at_10": 0.5, "c/nDCG_at_5": 1.0}
    assert stored.data.params == {"tunnel.bm25.k1": "1.5", "tunnel.bm25.b": "1", "prompt_at_v": "p"}
    assert stored.data.tags["split"] == "dev"
    assert stored.data.tags["sodamem.revision"] == mlflow_store.revision() != ""


def test_opening_prints_no_migration_log_and_writes_nothing_in_the_working_folder(folder, tmp_path):
    script = (
        "import sys; from sodamem.tracking import MlflowTracker\n"
        "t = MlflowTracker(uri=sys.argv[1], experiment='other', artifacts=sys.argv[2], traces='none')\n"
        "with t.run('n', {}) as run: run.metrics({'x': 1.0})\n"
    )
    argv = [sys.executable, "-W", "always", "-c", script, f"sqlite:///{folder}/mlflow.db", str(folder / "artifacts")]
    run = subprocess.run(argv, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert "mlflow" not in run.stderr and "alembic" not in run.stderr and "SADeprecation" not in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_values_that_are_not_finite_become_tags_and_never_rank(tracker, client):
    values = {"a": float("nan"), "recall@5": float("inf"), "c": None, "d": 0.25}
    stored = client.get_run(record(tracker, metrics=values))
    assert stored.data.metrics == {"d": 0.25}
    assert {k: v for k, v in stored.data.tags.items() if k.startswith("nonfinite")} == {
        "nonfinite:a": "nan", "nonfinite:recall_at_5": "inf", "nonfinite:c": "None",
    }  # fmt: skip


def test_a_long_parameter_is_kept_whole_as_an_artifact(tracker, client, tmp_path):
    prompt = "word " * 2000
    one, two = (record(tracker, params={"p": {"prompt": text}}) for text in (prompt, prompt + "!"))
    first, second = (client.get_run(run).data.params["p.prompt"] for run in (one, two))
    assert first.startswith("sha256:") and first != second
    copy = client.download_artifacts(one, "params/p.prompt.txt", str(tmp_path))
    assert Path(copy).read_text() == prompt


def test_more_parameters_than_one_call_takes(tracker, client):
    run = record(tracker, params={f"k{n}": n for n in range(250)})
    assert len(client.get_run(run).data.params) == 250


def test_a_body_that_raises_ends_failed_with_its_trace(tracker, client, tmp_path):
    with pytest.raises(ZeroDivisionError), tracker.run("n", {}) as run:
        print(1 // 0)
    stored = client.get_run(run.id)
    assert stored.info.status == "FAILED"
    assert stored.data.tags["sodamem.error"].startswith("ZeroDivisionError")
    assert "1 // 0" in Path(client.download_artifacts(run.id, "error.txt", str(tmp_path))).read_text()


def test_an_interrupt_ends_killed(tracker, client):
    with pytest.raises(KeyboardInterrupt), tracker.run("n", {}) as run:
        raise KeyboardInterrupt
    assert client.get_run(run.id).info.status == "KILLED"


def test_children_nest_by_id_while_their_parent_runs(tracker, client):
    with tracker.run("parent", {}) as parent, tracker.run("child", {}, parent=parent.id) as child:
        assert client.get_run(parent.id).info.status == "RUNNING"
    assert client.get_run(child.id).data.tags["mlflow.parentRunId"] == parent.id


def test_a_resumed_run_writes_no_parameter_and_no_metric_twice(tracker, client):
    params = {"k": 1, "long": "x" * 600}
    first = record(tracker, params=params, metrics={"recall@10": 0.5, "changed": 0.1})
    again = record(
        tracker, params={"k": 1.0, "long": "x" * 600}, metrics={"recall@10": 0.5, "changed": 0.2}, resume=first
    )
    assert again == first
    assert [point.value for point in client.get_metric_history(first, "recall_at_10")] == [0.5]
    stored = client.get_run(first)
    assert stored.data.metrics["changed"] == 0.2 and stored.info.status == "FINISHED"


def test_a_run_that_failed_loses_the_mark_when_it_is_finished_later(tracker, client):
    with pytest.raises(ValueError), tracker.run("n", {}) as run:
        raise ValueError
    record(tracker, resume=run.id)
    stored = client.get_run(run.id)
    assert stored.info.status == "FINISHED" and "sodamem.error" not in stored.data.tags


def test_resuming_with_other_parameters_is_refused_and_leaves_the_run_alone(tracker, client):
    first = record(tracker, params={"model": {"name": "a"}, "k": 1})
    with pytest.raises(ConfigError, match=r"got others for model.name. Start a new run"):
        record(tracker, params={"model": {"name": "b"}, "k": 1}, resume=first)
    assert client.get_run(first).info.status == "FINISHED"


def test_resuming_a_run_that_is_not_there_gives_one_line(tracker):
    with pytest.raises(ServiceError, match=r"tracking store .* failed \(.*0123.*\)"):
        record(tracker, resume="0123")


def test_runs_of_dead_processes_are_failed_and_living_ones_left_alone(tracker, client):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        host = process_tag(os.getpid()).partition("/")[0]
    tags = {
        "gone": f"{host}/{gone.pid}/boot-1",
        "reused": f"{host}/{os.getpid()}/another-birth",
        "elsewhere": f"not-{host}/1/boot-1",
        "mine": process_tag(os.getpid()),
        "untagged": None,
    }
    experiment = client.get_experiment_by_name("e").experiment_id
    runs = {
        name: client.create_run(experiment, tags={PROCESS: tag} if tag else {}).info.run_id
        for name, tag in tags.items()
    }
    open_store.cache_clear()
    record(tracker)
    assert {name: client.get_run(run).info.status for name, run in runs.items()} == {
        "gone": "FAILED", "reused": "FAILED", "elsewhere": "RUNNING", "mine": "RUNNING", "untagged": "RUNNING",
    }  # fmt: skip


def test_the_data_that_was_read_is_named_with_its_hash(tracker, client):
    sha256 = "79fa87e9" * 8
    with tracker.run("n", {}) as run:
        run.dataset("locomo", sha256, "data/locomo10.json")
        run.dataset("locomo", sha256, "data/locomo10.json")
    (entry,) = client.get_run(run.id).inputs.dataset_inputs
    assert entry.dataset.name == "locomo" and sha256.startswith(entry.dataset.digest)
    assert sha256 in entry.dataset.profile


def test_files_texts_and_figures_are_kept(tracker, client, tmp_path):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    (tmp_path / "report.md").write_text("r")
    with tracker.run("n", {}) as run:
        run.artifact(tmp_path / "report.md", "reports")
        run.text("t", "notes/a.txt")
        run.figure(figure, "frontier.png")
        with pytest.raises(DataError, match=r"artifact must be .* exists, got .*nowhere"):
            run.artifact(tmp_path / "nowhere")
    assert {entry.path for entry in client.list_artifacts(run.id)} == {"reports", "notes", "frontier.png"}


def test_no_secret_reaches_the_store_or_its_files(tracker, folder):
    params = {"api_key": CANARY, "url": f"https://u:{CANARY}@h/v1?token={CANARY}", "long": f"http://{CANARY}@h " * 50}
    with pytest.raises(ValueError), tracker.run("n", params, tags={"from": f"https://{CANARY}@h"}) as run:
        run.dataset("d", "0" * 64, f"https://{CANARY}@h/data.json")
        raise ValueError(f"cannot reach https://u:{CANARY}@h with Bearer {CANARY}")
    written = [file for file in folder.rglob("*") if file.is_file()]
    # The trace quotes the failing source line of this test, where the canary is a name and not its value.
    assert written and not [file for file in written if CANARY.encode() in file.read_bytes()]


def test_the_url_says_where_to_look_without_credentials(tracker):
    with tracker.run("n", {}) as run:
        assert run.url.endswith(f"/runs/{run.id}") and run.url.startswith("sqlite:///")


@pytest.mark.slow
def test_processes_that_open_a_new_store_together_all_get_their_runs(tmp_path):
    script = (
        "import sys; from sodamem.tracking import MlflowTracker\n"
        "uri = f'sqlite:///{sys.argv[1]}/new/mlflow.db'\n"
        "t = MlflowTracker(uri=uri, experiment='e', artifacts=sys.argv[1], traces='none')\n"
        "with t.run('n', {'k': 1}) as run: print(run.id)\n"
    )
    argv = [sys.executable, "-c", script, str(tmp_path)]
    workers = [subprocess.Popen(argv, env=ENVIRONMENT, stdout=-1, stderr=-1, text=True) for _ in range(3)]
    outputs = [worker.communicate() for worker in workers]
    assert [error for _, error in outputs] == [""] * 3
    assert len({run for run, _ in outputs}) == 3


@pytest.mark.parametrize("content", ["not a database", None], ids=["damaged", "no folder"])
def test_a_store_that_cannot_be_used_gives_one_line_at_once(tmp_path, content):
    blocked = tmp_path / "file"
    blocked.write_text(content or "")
    path = blocked if content else blocked / "mlflow.db"
    with pytest.raises(ServiceError, match=r"tracking store sqlite:.* failed \(.*Check it") as caught:
        record(MlflowTracker(uri=f"sqlite:///{path}", experiment="e", artifacts=None, traces="none"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("uri", ["mlruns", "file:///tmp/mlruns", "file:mlruns"])
def test_file_stores_are_refused_with_the_form_to_use(uri):
    with pytest.raises(ConfigError, match=r"uri must be a database or a server.*sqlite:////"):
        MlflowTracker(uri=uri, experiment="e", artifacts=None, traces="none")


def test_a_nameless_experiment_is_refused():
    with pytest.raises(ConfigError, match=r"experiment must be a name, got ' '"):
        MlflowTracker(uri="sqlite:///a.db", experiment=" ", artifacts=None, traces="none")


def test_a_relative_store_does_not_follow_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert mlflow_store.absolute("sqlite:///runs/mlflow.db") == f"sqlite:///{tmp_path}/runs/mlflow.db"
    assert mlflow_store.absolute("http://host:5000") == "http://host:5000"


def test_nothing_is_recorded_and_mlflow_not_imported_by_the_null_tracker():
    script = (
        "import sys; from sodamem.tracking import NullTracker\n"
        "with NullTracker().run('n', {'a': 1}, tags={}, parent='p') as run:\n"
        "    run.metrics({'recall@10': None}); run.artifact('nowhere'); run.dataset('d', '', ''); run.text('', '')\n"
        "assert run.id == run.url == '' and 'mlflow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], env=ENVIRONMENT, check=True)
    assert NullTracker() == NullTracker()


def test_an_installed_package_names_its_version(tmp_path, monkeypatch):
    monkeypatch.setattr(sodamem, "__file__", str(tmp_path / "sodamem" / "__init__.py"))
    mlflow_store.revision.cache_clear()
    assert mlflow_store.revision() == sodamem.__version__
    mlflow_store.revision.cache_clear()
