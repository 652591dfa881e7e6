"""A killed run that is taken up again ends as if nothing had been, whenever it was killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import killing
from experiments.kill_resume import ORDER

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), *sys.path])}


def python(*arguments, **options):
    found = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def hammer(base, *options):
    """The figures of a study, and its two runs' folders."""
    python("-m", "experiments.kill_resume", "--runs", base, "--json", base / "figures.json", *options)
    (figures,) = json.loads((base / "figures.json").read_text())
    return figures, killing.folder_of(base / "whole"), killing.folder_of(base / "killed")


def check(base, figures, whole, killed, threads=1):
    for name in ("questions.jsonl", "data.json"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name
    assert killing.figures(killed) == killing.figures(whole) != {}
    assert not list(killed.glob("*.partial")) and figures["equal"] == "yes"
    results = killing.selected(killed / "ledger.sqlite", "SELECT question_id, status FROM results")
    assert len(results) == len({question for question, _ in results}) == figures["questions"]
    assert {status for _, status in results} == {"ok"}
    # Of what was billed, each call once, but for those that were under way at a kill.
    calls, again = sorted(killing.billed(base / "whole")), killing.billed(base / "killed")
    assert set(again) == set(calls) and len(calls) == figures["calls of an uninterrupted run"]
    assert 0 <= len(again) - len(calls) <= figures["calls lost in flight"] <= figures["kills"] * threads
    assert figures["replies paid for twice"] == 0
    assert {line.split()[0] for line in calls} == {*killing.INGEST, *killing.ANSWERS}


def test_a_killed_run_goes_on_as_if_nothing_had_been(tmp_path):
    found = hammer(tmp_path, "--kills", 6, "--histories", 1, "--questions", 5, "--tracker", "none")
    check(tmp_path, *found)
    assert found[0]["kills"] == 6 and found[0]["questions"] == 5


@pytest.mark.slow
def test_fifty_kills_lose_nothing_and_pay_nothing_twice(tmp_path):
    figures, whole, killed = hammer(tmp_path, "--kills", 50)
    check(tmp_path, figures, whole, killed)
    assert figures["kills"] == 50 and figures["questions"] == 40
    assert all(figures[f"kills at {where}"] for where in ORDER), figures
    for runs in ("whole", "killed"):
        assert killing.tracked(tmp_path / runs) == ["FINISHED"]
    stored = tmp_path / "mlflow.db"
    assert not killing.selected(stored, "SELECT * FROM tags WHERE key = 'sodamem.error'")
    points = "SELECT COUNT(*) FROM metrics WHERE key = 'questions'"
    inputs = "SELECT COUNT(*) FROM inputs WHERE destination_type = 'RUN'"
    assert killing.selected(stored, points) == killing.selected(stored, inputs) == [(2,)]  # one of each run


@pytest.mark.slow
def test_kills_with_questions_side_by_side_cost_a_call_for_each_thread_at_most(tmp_path):
    found = hammer(tmp_path, "--kills", 20, "--concurrency", 4, "--tracker", "none")
    check(tmp_path, *found, threads=4)


# --- the command --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_goes_on_after_each_kill(tmp_path):
    options = {"histories": 1, "seconds": 0.02}
    python("-m", "sodamem.cli", "run", "-q", *killing.overrides(tmp_path / "whole", **options))
    calls = len(killing.billed(tmp_path / "whole"))
    runs = tmp_path / "killed"

    def command():
        folder = killing.folder_of(runs)
        resume = [f"resume='{folder}'"] if folder else []
        words = ["-m", "sodamem.cli", "run", "-q", *killing.overrides(runs, **options), *resume]
        return subprocess.Popen([sys.executable, *words], env=ENVIRONMENT, stdout=-1, stderr=-1, text=True)

    for part in (1, 2, 3):
        with command() as process:
            while len(killing.billed(runs)) < part * calls // 4:
                assert process.poll() is None, process.communicate()
                time.sleep(0.002)
            process.kill()
            process.communicate()
        assert process.returncode == -signal.SIGKILL
    with command() as process:
        said, faults = process.communicate(timeout=200)
    folder = killing.folder_of(runs)
    assert process.returncode == 0 and said.splitlines()[-1] == f"run: {folder}", faults
    assert "Traceback" not in faults
    assert killing.differing(killing.folder_of(tmp_path / "whole"), folder) == []
    assert killing.tracked(runs) == ["FINISHED"] and killing.paid_twice(folder) == 0
    assert len(killing.billed(runs)) - calls <= killing.lost(folder) <= 3


# --- single moments -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    return json.loads(python(HERE / "kill_points.py", tmp_path_factory.mktemp("points")).splitlines()[-1])


@pytest.mark.parametrize(
    ("point", "there", "missing"),
    [
        ("before the ledger", set(), {"ledger.sqlite", "config.yaml"}),
        ("while the ledger is made", {"ledger.sqlite.open"}, {"ledger.sqlite", "config.yaml"}),
        ("after an ingest reply, before its record", {"ledger.sqlite", "config.yaml"}, {"questions.jsonl"}),
        ("after a plan's reply, before its record", {"questions.jsonl.partial"}, {"questions.jsonl"}),
        ("before the results get their name", {"questions.jsonl.partial"}, {"questions.jsonl", "data.json"}),
        ("before metrics.json", {"data.json", "questions.jsonl"}, {"metrics.json"}),
    ],
)
def test_a_run_goes_on_from_wherever_it_died(points, point, there, missing):
    found = points["points"][point]
    assert found["signal"] == signal.SIGKILL and there <= set(found["left"]) and not missing & set(found["left"])
    assert found["resumed"] == 0 and found["differing"] == []
    # Between a reply and its record it is in the cache: it is neither asked for again nor left out of the costs.
    assert found["billed"] == points["calls"] and found["lost"] == 0
