"""Whole runs under every executor: the same bytes, the same refusals, the same that is left after a failure."""

import json
from pathlib import Path

import pytest

from sodamem import build, config
from sodamem import run as runner
from sodamem.errors import ConfigError, MissingExtra, StoreError
from sodamem.evaluate import recalled, retrieve
from sodamem.executor.spread import Spread
from sodamem.ledger import Ledger
from sodamem.text import digest

DATA = ("dataset.histories=4", "dataset.split=all", "dataset.sessions=6", "dataset.turns_per_session=12")
DATA += ("dataset.questions_per_history=2", "dataset.distractors=0", "tracker=none")
MODELS = ("extractor=llm", "reader=llm", "chat=scripted", "dataset.histories=3")
APART = pytest.param("loky", marks=pytest.mark.slow)  # a worker imports everything before its first history


def composed(runs, executor, *more):
    jobs = {"serial": (), "threads": ("executor.jobs=3",), "loky": ("executor.jobs=2",)}[executor]
    return config.compose(*DATA, f"runs={runs}", f"executor={executor}", *jobs, *more)


def written(folder):
    """All that a run says of its questions and its data; only what the clock gave is left out."""
    metrics = json.loads((folder / "metrics.json").read_text())
    return (
        (folder / "questions.jsonl").read_bytes(),
        {name: value for name, value in metrics.items() if "seconds" not in name},
        json.loads((folder / "data.json").read_text()),
    )


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    runs = tmp_path_factory.mktemp("serial")
    return runner.run(composed(runs, "serial"), quiet=True)


@pytest.mark.parametrize("executor", ["threads", APART])
def test_a_run_writes_the_same_whoever_does_the_work(serial, tmp_path, executor):
    found = runner.run(composed(tmp_path, executor), quiet=True)
    assert written(found.folder) == written(serial.folder)
    assert [one.question.id for one in found.examples] == [one.question.id for one in serial.examples]
    again = runner.run(composed(tmp_path, executor), quiet=True)  # over stores that are there
    assert written(again.folder) == written(serial.folder)


@pytest.mark.parametrize("executor", ["threads", APART])
def test_recall_alone_is_the_same_whoever_does_the_work(serial, tmp_path, executor):
    cfg = composed(tmp_path, executor)
    pipeline, corpus, spread = build.pipeline(cfg), build.component(cfg, "dataset").open(), build.spread(cfg)
    expected = retrieve(pipeline, corpus)
    assert retrieve(pipeline, corpus, spread=spread) == expected and len(expected) == 8
    found = list(recalled(pipeline, corpus, spread=spread))
    assert [one.measures for one in found] == expected and all(one.evidence for one in found)


@pytest.mark.parametrize("executor", ["serial", "threads", APART])
def test_a_failure_leaves_what_was_finished_before_it(serial, tmp_path, executor):
    """The store of the third history is damaged: four questions stand in the partial file, under every executor."""
    cfg = composed(tmp_path, executor)
    corpus = build.component(cfg, "dataset").open()
    damaged = store_of(cfg, corpus.history(corpus.history_ids[2]))
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"no SQLite file, but long enough to be looked at" * 100)
    with pytest.raises(StoreError) as caught:
        runner.run(cfg, quiet=True)
    assert str(caught.value).startswith(f"store {damaged} must be a SQLite file") and "\n" not in str(caught.value)
    (folder,) = (entry for entry in tmp_path.iterdir() if entry.name not in ("stores", "cache"))
    expected = (serial.folder / "questions.jsonl").read_bytes().splitlines(keepends=True)[:4]
    assert (folder / "questions.jsonl.partial").read_bytes() == b"".join(expected)


def store_of(cfg, history):
    pipeline = build.pipeline(cfg)
    with pipeline.store.open(history, pipeline.settings, Path(cfg.runs) / "stores") as store:
        path = store.path
    path.unlink()
    path.parent.rmdir()
    return path


# --- with a model -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", ["loky", "ray"])
def test_processes_are_refused_where_a_model_takes_part(tmp_path, executor):
    cfg = config.compose(*DATA, *MODELS, f"runs={tmp_path}", f"executor={executor}")
    with pytest.raises(ConfigError, match=r"executor must stay in one process.*Choose executor=threads") as caught:
        runner.run(cfg, quiet=True)
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())


def ledger_of(folder, cfg):
    """What each owner's attempts were, whatever the order in which they ended, and the final rows."""
    from sodamem import resume

    settings = resume.settings(config.plain(cfg), build.component(cfg, "dataset").open().sha256)
    with Ledger(folder / "ledger.sqlite", settings) as ledger:
        attempts = sorted((row.owner, row.request, row.outcome) for row in ledger.attempts())
        return attempts, [(row.question_id, row.status) for row in ledger.results()]


def test_threads_pay_for_what_one_thread_pays_and_each_owner_for_its_own(tmp_path):
    found = {}
    for executor in ("serial", "threads"):
        cfg = composed(tmp_path / executor, executor, *MODELS)
        folder = runner.run(cfg, quiet=True).folder
        found[executor] = (*written(folder), *ledger_of(folder, cfg))
    assert found["threads"] == found["serial"]
    assert len(found["serial"][3]) > 10


def test_a_run_in_threads_that_broke_off_is_resumed_to_the_same_bytes(tmp_path):
    whole = runner.run(composed(tmp_path / "whole", "serial", *MODELS), quiet=True)
    cfg = composed(tmp_path / "broken", "threads", *MODELS)
    corpus = build.component(cfg, "dataset").open()
    damaged = store_of(cfg, corpus.history(corpus.history_ids[2]))
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"no SQLite file, but long enough to be looked at" * 100)
    with pytest.raises(StoreError, match="must be a SQLite file"):
        runner.run(cfg, quiet=True)
    (folder,) = (entry for entry in (tmp_path / "broken").iterdir() if entry.name not in ("stores", "cache"))
    damaged.unlink()
    resumed = composed(tmp_path / "broken", "threads", *MODELS, f"resume={folder}")
    assert runner.run(resumed, quiet=True).folder == folder
    assert written(folder)[0] == written(whole.folder)[0] and written(folder)[2] == written(whole.folder)[2]


# --- the configuration on its way ---------------------------------------------------------------------------


def test_other_code_in_a_worker_is_refused(tmp_path, monkeypatch):
    recipe = build.spread(composed(tmp_path, "loky")).recipe
    monkeypatch.setattr(build, "_code", lambda: "other")
    with pytest.raises(ConfigError, match=r"sodamem must be the same in all processes of a run, got other code on"):
        recipe()


def test_parts_are_built_once_a_process_and_only_the_last_are_kept(tmp_path):
    one, other = (build.spread(composed(tmp_path, "loky", f"recall.top_k={k}")).recipe for k in (3, 4))
    first = one()
    assert one() is first and other()[0].recall_options.top_k == 4 and one() is not first


def test_another_machine_keeps_its_vectors_to_itself(tmp_path, monkeypatch):
    """SQLite's write-ahead log is shared memory: two machines that write one file damage it."""
    recipe = build.spread(composed(tmp_path, "loky")).recipe
    assert recipe()[0].cache == build.pipeline(composed(tmp_path, "serial")).cache
    monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
    build._made.clear()
    assert recipe()[0].cache.path == str(tmp_path / "cache" / "vectors.elsewhere.sqlite")


def test_what_travels_holds_no_resolver_and_no_part(tmp_path):
    recipe = build.spread(composed(tmp_path, "loky")).recipe
    assert type(recipe.cfg) is dict and digest(recipe.cfg)

    def plain(node):
        return (
            all(map(plain, node.values() if isinstance(node, dict) else node))
            if isinstance(node, dict | list)
            else (node is None or type(node) in (str, int, float, bool))
        )

    assert plain(recipe.cfg)


def test_a_run_stays_in_this_process_unless_told_otherwise(tmp_path):
    spread = build.spread(composed(tmp_path, "serial"))
    assert isinstance(spread, Spread) and spread.recipe is None and not spread.executor.apart


def test_ray_that_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)  # import raises ImportError
    with pytest.raises(MissingExtra, match=r'pip install "sodamem\[ray\]"') as caught:
        runner.run(config.compose(*DATA, f"runs={tmp_path}", "executor=ray"), quiet=True)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_function_of_sodamem_cannot_be_named_as_a_part():
    """One of them unpickles what it is given."""
    node = {"_target_": "sodamem.executor.apart.done", "job": b"", "folder": ""}
    with pytest.raises(ConfigError, match=r"_target_ must be something of sodamem"):
        build.build({"_target_": "sodamem.fusion.density.DensityFusion", "beta": node}, "part")
