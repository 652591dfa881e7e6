"""Several workers on one study, in a journal file and in a real PostgreSQL server: nothing twice, nothing lost."""

import gc
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import optuna
import psycopg
import pytest
import yaml

from experiments import local_postgres
from sodamem.cli import main
from sodamem.errors import ConfigError, DataError, MissingExtra, ServiceError
from sodamem.mlflow_store import open_store, process_tag
from sodamem.sweep import search as searching
from sodamem.sweep import storage as keeping
from sodamem.sweep import workers
from sodamem.sweep.book import DIED, REASON, REPEATS, key
from sodamem.sweep.search import IDENTITY, Search
from sodamem.sweep.storage import quiet, storage
from sodamem.sweep.study import Study, refuse_other
from sodamem.sweep.workers import PROCESS, beating

RECALL = "turn/recall_at_10"
SECRET = "hunter2"
FIRST = {"a": 0.5}
CONTENT = {
    "kind": "study",
    "measures": {RECALL: "maximize"},
    "trials": 9,
    "sampler": "tpe",
    "seed": 1,
    "overrides": [],
    "space": {"a": {"low": 0.0, "high": 1.0, "step": 0.02}},
}
IDENTITIES = {"space.a": "0 to 1", "data.sha256": "d"}
SPACE = {
    "fusion.weights.bm25": {"low": 0.0, "high": 1.0, "step": 0.1},
    "fusion.normalise": ["max", "z"],
}


# --- a server -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def server():
    """The address of a PostgreSQL server of this test run's own."""
    if local_postgres.programs() is None:
        pytest.skip("PostgreSQL is not installed: no initdb on the path or under /usr/lib/postgresql")
    with local_postgres.server(rules="host all locked 127.0.0.1/32 scram-sha-256\n", options="-F") as address:
        with administrator(f"postgres@{address}/postgres") as db:
            db.execute(f"CREATE ROLE locked LOGIN PASSWORD '{SECRET}'")
        yield address


@pytest.fixture
def database(server, request):
    """The URL of a new, empty database."""
    url = f"postgresql+psycopg://postgres@{server}/t{abs(hash(request.node.nodeid))}"
    with administrator(url) as db:
        db.execute(f"CREATE DATABASE {url.rpartition('/')[2]}")
    return url


def administrator(url):
    host, port = url.rpartition("@")[2].partition("/")[0].split(":")
    return psycopg.connect(f"host={host} port={port} user=postgres", autocommit=True)


@pytest.fixture(params=["journal", "postgres", pytest.param("sqlite", marks=pytest.mark.slow)])
def where(request, tmp_path):
    """A storage that several workers share: the path of a journal file, or the URL of a database."""
    if request.param == "postgres":
        return request.getfixturevalue("database")
    return str(tmp_path / "journal.log") if request.param == "journal" else f"sqlite:///{tmp_path}/study.db"


# --- workers ------------------------------------------------------------------------------------------------


@pytest.fixture
def together(tmp_path):
    """together(workers=3, where=…) -> what became of workers that started at the same moment, and what they began."""

    def run(workers, **plan):
        (tmp_path / "out").mkdir(exist_ok=True)
        given = {"study": CONTENT, "identity": IDENTITIES, "log": str(tmp_path / "log"), **plan}
        given |= {"workers": workers, "out": str(tmp_path / "out")}
        driver = [sys.executable, Path(__file__).with_name("workers_driver.py"), json.dumps(given)]
        said = subprocess.run(driver, check=True, capture_output=True, text=True, cwd=tmp_path).stdout
        return json.loads(said)

    return run


def begun(tmp_path):
    """The keys of the points that workers began, in the order in which they did."""
    return [key(json.loads(line)["point"]) for line in (tmp_path / "log").read_text().splitlines()]


@pytest.fixture
def worker(tmp_path):
    """worker(where, …) -> a search in this process, of the same study unless told otherwise; closed at the end."""
    opened = []

    def make(where, *, name="x-1", identity=IDENTITIES, new=False, **changes):
        study = Study.read("x", {**CONTENT, **changes})
        with quiet():
            opened.append(storage(where, tmp_path))
            return Search.open(study, name, identity, *opened[-1], new=new)

    yield make
    for one, _ in opened:
        if hasattr(one, "engine"):
            one.engine.dispose()


def run(search, evaluate=lambda point, _: {RECALL: point["a"]}):
    with quiet():
        search.run(evaluate, FIRST)
    return search


def abandoned(search, tag):
    """A trial that a process of this tag has taken, and that nobody in this process is at."""
    with quiet():
        search._begin(FIRST)
        trial, _ = search.ask()
    trial.set_user_attr(PROCESS, tag)
    return trial


def reasons(search):
    return [trial.user_attrs[REASON] for trial in search.held.trials if REASON in trial.user_attrs]


def test_workers_that_start_together_try_every_point_once_and_agree(where, together, worker, tmp_path):
    found = together(3, where=where)
    assert [one["err"] for one in found] == ["", "", ""] and {one["status"] for one in found} == {0}
    points = begun(tmp_path)
    assert len(points) == len(set(points)) == CONTENT["trials"] and points[0] == key(FIRST)
    said = [json.loads(one["out"]) for one in found]
    assert len({one["best"] for one in said}) == 1 and {one["elsewhere"] for one in said} == {0}
    search = worker(where)
    assert search.held.user_attrs[IDENTITY] == IDENTITIES and search.held.trials[0].params == FIRST
    assert sum(one["own"] for one in said) == len(search.complete()) == CONTENT["trials"]
    assert {trial.state.name for trial in search.held.trials} <= {"COMPLETE", "FAIL"}  # nothing is left running


def test_tables_that_are_created_by_several_workers_at_once_are_created_once(database, tmp_path):
    with quiet(), ThreadPoolExecutor(6) as pool:
        opened = [one for one, _ in pool.map(lambda _: storage(database, tmp_path), range(6))]
        assert {len(optuna.get_all_study_names(one)) for one in opened} == {0}
    for one in opened:
        one.engine.dispose()


def test_a_turn_is_one_workers_at_a_time(where, tmp_path):
    with quiet():
        (one, mine), (other, theirs) = storage(where, tmp_path), storage(where, tmp_path)
    came, left = threading.Event(), []

    def follow():
        with theirs.turn("x"):
            left.append("second")
            came.set()

    with mine.turn("x"):
        second = threading.Thread(target=follow)
        second.start()
        assert not came.wait(0.2)
        left.append("first")
    second.join()
    assert left == ["first", "second"]
    for kept in (one, other):
        if hasattr(kept, "engine"):
            kept.engine.dispose()


def test_the_turn_of_a_worker_that_died_in_it_passes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "BROKEN", 3)  # the least that Optuna takes without a warning
    with quiet():
        _, journal = storage(None, tmp_path)
    (tmp_path / "journal.log.turn").touch()
    (tmp_path / "journal.log.turn.lock").symlink_to(tmp_path / "journal.log.turn")
    with journal.turn("x"):
        assert journal.seconds > 2
    assert not (tmp_path / "journal.log.turn.lock").is_symlink()


def test_a_killed_worker_costs_the_study_nothing_but_its_trial(where, together, worker, tmp_path):
    found = together(3, where=where, killed=3)
    assert sorted(one["status"] for one in found) == [-9, 0, 0]
    assert len(begun(tmp_path)) == CONTENT["trials"] + 1
    search = run(worker(where))
    assert reasons(search).count(DIED) == 1 and len(search.complete()) == CONTENT["trials"]
    assert not [trial for trial in search.held.trials if trial.state.name == "RUNNING"]


def test_what_a_dead_process_of_this_machine_left_is_failed_by_the_next_one(where, worker):
    mine = process_tag(os.getpid())
    left = abandoned(worker(where), mine[:-1])  # the same process id, given to another process since
    search = run(worker(where))
    assert search.held.trials[left.number].user_attrs[REASON] == DIED
    assert len(search.complete()) == CONTENT["trials"] and search.baseline().number > left.number


def test_a_process_that_has_ended_is_dead_before_its_parent_asks():
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as child:
        tag = process_tag(child.pid)
        child.stdout.read()  # ends with the process
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert tag and not process_tag(child.pid)


@pytest.mark.parametrize("sampler", ["tpe", "grid"])
def test_a_worker_elsewhere_that_gives_no_sign_of_life_is_given_up(where, worker, sampler, monkeypatch):
    monkeypatch.setattr(workers, "GRACE", 0.3)
    monkeypatch.setattr(searching, "MOURN", 0.05)
    changes = {"sampler": sampler, "trials": 3, "space": {"a": [0.5, 0.6, 0.7]}}
    left = abandoned(worker(where, **changes), "elsewhere/7/boot-1")
    search = run(worker(where, **changes))
    assert search.held.trials[left.number].user_attrs[REASON] == DIED and search.elsewhere == 0
    assert sorted(trial.params["a"] for trial in search.complete()) == [0.5, 0.6, 0.7]


def test_a_baseline_that_a_worker_elsewhere_died_of_taking_still_has_its_place(where, worker, monkeypatch):
    monkeypatch.setattr(workers, "GRACE", 0.3)
    monkeypatch.setattr(searching, "MOURN", 0.05)
    other = worker(where)
    with quiet():
        other._begin(FIRST)
        assert other.held.ask().number == 0
    search = run(worker(where, trials=3))
    assert len(search.complete()) == 3 and search.baseline() is not None and reasons(search) == [DIED]


def test_a_worker_elsewhere_that_is_alive_is_left_its_trial(where, worker, monkeypatch):
    monkeypatch.setattr(workers, "GRACE", 1.0)
    monkeypatch.setattr(workers, "EVERY", 0.2)
    monkeypatch.setattr(searching, "MOURN", 0.1)
    monkeypatch.setattr(searching, "PATIENCE", 0.5)
    other = worker(where, trials=2)
    left = abandoned(other, "elsewhere/7/boot-1")

    def evaluate(point, _):
        time.sleep(1.3)  # a trial of ours that takes longer than another worker may be silent
        return {RECALL: point["a"]}

    with beating(left, other.where):
        search = run(worker(where, trials=2), evaluate)
    assert search.elsewhere == 1 and len(search.complete()) == 1 and search.baseline() is None
    assert search.held.trials[left.number].state.name == "RUNNING"


def test_a_result_that_comes_after_its_trial_was_given_up_is_dropped(where, worker, caplog):
    search, other = worker(where, trials=3), worker(where, trials=3)

    def evaluate(point, _):
        if point != FIRST and not reasons(other):
            other._look()
            other._bury(other.book.running[0])
        return {RECALL: point["a"]}

    run(search, evaluate)
    assert len(search.complete()) == 3 and reasons(search) == [DIED] and "its result is dropped" in caplog.text


def test_a_point_at_which_worker_after_worker_dies_has_failed(where, worker):
    dead = process_tag(os.getpid())[:-1]
    for _ in range(searching.DEATHS):
        abandoned(worker(where), dead)
    with pytest.raises(ConfigError, match="the baseline must have a score, it failed: 3 workers died at it"):
        run(worker(where))
    assert len(run(worker(where)).complete()) == CONTENT["trials"] - 1  # in a new sitting it is tried again


def test_a_worker_that_the_scheduler_ends_gives_its_trial_back(where, worker):
    def evaluate(point, _):
        if point != FIRST:
            os.kill(os.getpid(), signal.SIGTERM)
        return {RECALL: 1.0}

    search = worker(where)
    with pytest.raises(KeyboardInterrupt):
        run(search, evaluate)
    assert reasons(search) == [f"interrupted: {DIED}"] and len(run(worker(where)).complete()) == CONTENT["trials"]


def test_a_worker_that_finds_the_baseline_failed_stops_too(where, worker):
    search, other = worker(where), worker(where)
    abandoned(other, process_tag(os.getpid()))
    baseline = other.book.taken[key(FIRST)]

    def evaluate(point, _):
        other._look()
        other.where.set_trial_user_attr(other.book.running[0]._trial_id, REASON, "out of data")
        other.held.tell(baseline, state=optuna.trial.TrialState.FAIL)
        return {RECALL: 1.0}

    with pytest.raises(ConfigError, match="the baseline must have a score, it failed: out of data"):
        run(search, evaluate)


def test_resume_adds_up_to_the_new_total_and_begins_with_other_proposals(where, worker):
    changes = {"sampler": "random", "space": {"a": {"low": 0.0, "high": 1.0}}}
    first = [key(trial.params) for trial in run(worker(where, trials=4, **changes)).complete()]
    second = run(worker(where, trials=9, **changes))
    points = [key(trial.params) for trial in second.complete()]
    assert len(set(points)) == len(points) == 9 and points[:4] == first
    assert not [trial for trial in second.held.trials if REPEATS in trial.user_attrs]
    assert run(worker(where, trials=9, **changes)).spent["scoring"] == 0


def test_a_changed_space_is_refused_with_the_diff_before_a_trial_is_run(where, worker):
    run(worker(where, trials=2))
    changed = {**IDENTITIES, "space.a": "0 to 2"}
    with pytest.raises(ConfigError, match=r"study x-1 must keep .*space\.a was 0 to 1, is 0 to 2\. Restore .*--new"):
        worker(where, name="x-2", identity=changed)
    with pytest.raises(ConfigError, match=r"space\.a was 0 to 1, is 0 to 2"):
        refuse_other("x-1", changed, worker(where).held.user_attrs[IDENTITY])
    assert optuna.get_all_study_names(worker(where).where) == ["x-1"]
    assert len(run(worker(where, name="x-2", identity=changed, new=True, trials=3)).complete()) == 3
    assert len(run(worker(where, trials=3)).complete()) == 3  # and the first one goes on


# --- what can be amiss with a storage -----------------------------------------------------------------------


def refused(where, tmp_path, error):
    with pytest.raises(error) as caught, quiet():
        storage(where, tmp_path)
    said = str(caught.value)
    del caught
    gc.collect()  # a connection that Optuna had when it failed is closed now, not in another test
    assert "\n" not in said and SECRET not in said and "unt" not in said.replace("must", ""), said
    return said


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of a connection that was refused
@pytest.mark.parametrize(
    ("address", "message"),
    [
        (f"locked:{SECRET}x@SERVER/postgres", "password authentication failed"),
        (f"locked:{SECRET}@SERVER/postgres", "permission denied for schema public"),
        (f"locked:{SECRET}@SERVER/nowhere", 'database "nowhere" does not exist'),
        (f"me:{SECRET}@127.0.0.1:1/postgres", "refused"),
        (f"me:{SECRET[:2]}@{SECRET[2:]}@127.0.0.1/postgres", "host"),
    ],
)
def test_a_database_that_cannot_be_used_is_one_line_without_secrets(server, tmp_path, address, message):
    said = refused(f"postgresql+psycopg://{address.replace('SERVER', server)}", tmp_path, ServiceError)
    assert message in said and "storage postgresql://127.0.0.1:" in said.replace("127.0.0.1/", "127.0.0.1:")


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        (f"mysql+pymysql://me:{SECRET}@host/name", ConfigError, "got one of mysql"),
        (f"postgresql+psycopg://me:{SECRET}@host:port/name", ConfigError, "cannot be read"),
        (f"postgresql+nothing://me:{SECRET}@host/name", MissingExtra, r"pip install 'sodamem\[postgres\]'"),
    ],
)
def test_a_url_that_cannot_be_used_is_one_line_without_secrets(tmp_path, url, error, message):
    assert re.search(message, refused(url, tmp_path, error))


def test_the_command_says_in_one_line_that_the_database_is_not_there(tmp_path, runs, tiny, capsys):
    (tmp_path / "x.yaml").write_text(yaml.safe_dump({**CONTENT, "overrides": [*tiny], "space": SPACE}))
    assert (
        main(["sweep", f"study={tmp_path / 'x.yaml'}", f"storage=postgresql+psycopg://me:{SECRET}@127.0.0.1:1/x"]) == 2
    )
    said = capsys.readouterr().err
    assert said.startswith("sodamem: storage postgresql://127.0.0.1:1/x must be there") and said.count("\n") == 1
    assert SECRET not in said and not runs.exists()


def test_a_database_that_goes_away_during_a_study_is_one_line_and_loses_no_told_trial(database, worker):
    name, search = database.rpartition("/")[2], worker(database)
    vars(search)["_me"] = process_tag(os.getpid())[:-1]  # of a worker that has ended when the next one begins

    def evaluate(point, _):
        if point != FIRST:
            with administrator(database) as db:
                db.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
                db.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        return {RECALL: point["a"]}

    with pytest.raises(ServiceError, match=r"not currently accepting connections.*the same command goes on"):
        run(search, evaluate)
    with administrator(database) as db:
        db.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert len(run(worker(database)).complete()) == CONTENT["trials"]


def test_a_server_that_hangs_up_between_two_trials_is_called_again(database, worker):
    def evaluate(point, _):
        with administrator(database) as db:
            name = database.rpartition("/")[2]
            db.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        return {RECALL: point["a"]}

    assert len(run(worker(database, trials=3), evaluate).complete()) == 3


def test_half_a_line_of_a_writer_that_was_killed_does_not_spoil_the_journal(worker, tmp_path):
    path = tmp_path / "journal.log"
    run(worker(str(path), trials=2))
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[-1][:20])
    assert len(run(worker(str(path), trials=4)).complete()) == 4
    assert path.read_bytes().startswith(whole) and all(json.loads(line) for line in path.read_text().splitlines())


@pytest.mark.parametrize("content", ["my notes", "my notes\n"])
def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=r"notes\.txt must be a journal file"), quiet():
        Search.open(Study.read("x", CONTENT), "x-1", {}, *storage(str(path), tmp_path))
    assert path.read_text() == content


# --- the command --------------------------------------------------------------------------------------------


@pytest.fixture
def named(tmp_path, tiny):
    """The argument that names a small study over synthetic histories."""
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump({**CONTENT, "overrides": [*tiny], "space": SPACE, "trials": 8}))
    return f"study={path}"


def winners(found):
    """What workers said of their winner and its figure on test, where they all ended well."""
    assert [one["status"] for one in found] == [0] * len(found), [one["err"] for one in found]
    return {tuple(line for line in one["out"].splitlines() if line.startswith(("winner  ", "test  "))) for one in found}


def test_a_command_that_leaves_the_end_to_others_says_so_and_exports_nothing(named, runs, monkeypatch, capsys):
    monkeypatch.setattr(Search, "run", lambda self, *_: vars(self).update(elsewhere=2))
    assert main(["sweep", named, "replay=false", "-q"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("study tiny has its trials, 2 of them still with other workers.") and not said.err
    assert [*runs.glob("studies/*/trials.csv")] and not [*runs.glob("studies/*/experiment")]


@pytest.mark.slow
def test_commands_that_start_together_agree_on_a_winner_and_run_it_on_test_once(where, together, named, runs):
    found = together(2, command=["sweep", named, f"storage={where}", "-q"])
    (said,) = winners(found)
    assert len(said) == 2 and "computed once" in said[1]
    assert len([*runs.glob("*_tiny_winner_test*")]) == len([*runs.glob("recordings/*.npz")]) == 1
    (folder,) = runs.glob("studies/tiny-*")
    assert len((folder / "trials.csv").read_text().splitlines()) == 1 + 8
    assert yaml.safe_load((folder / "experiment" / "tiny_winner.yaml").read_text())["name"] == "tiny_winner"


@pytest.mark.slow
def test_workers_with_runs_folders_and_tracking_of_their_own_agree_too(where, together, named, tmp_path):
    folders = [str(tmp_path / f"runs{number}") for number in range(3)]
    found = together(3, command=["sweep", named, f"storage={where}", "-q", "tracker=mlflow"], runs=folders)
    assert len(winners(found)) == 1
    for folder in map(Path, folders):
        assert len([*folder.glob("*_tiny_winner_test*")]) == 1
        client, experiment = open_store(f"sqlite:///{folder}/mlflow.db", "sodamem", str(folder / "artifacts"))
        (parent,) = [run for run in client.search_runs([experiment]) if run.info.run_name.startswith("tiny-")]
        assert len(client.get_metric_history(parent.info.run_id, "turn/recall_at_10")) == 8
        assert parent.info.status == "FINISHED"


@pytest.mark.slow
def test_workers_with_one_tracking_store_leave_one_run_with_every_trial_once(where, together, named, runs):
    found = together(3, command=["sweep", named, f"storage={where}", "-q", "tracker=mlflow"])
    assert len(winners(found)) == 1
    client, experiment = open_store(f"sqlite:///{runs}/mlflow.db", "sodamem", str(runs / "artifacts"))
    (parent,) = [run for run in client.search_runs([experiment]) if run.info.run_name.startswith("tiny-")]
    for name in ("turn/recall_at_10", "best/turn/recall_at_10", "test/turn/recall_at_10"):
        history = client.get_metric_history(parent.info.run_id, name)
        assert len({point.step for point in history}) == len(history) > 0
    children = client.search_runs([experiment], f"tags.mlflow.parentRunId = '{parent.info.run_id}'")
    assert len(children) == len({run.info.run_name for run in children}) == 8
