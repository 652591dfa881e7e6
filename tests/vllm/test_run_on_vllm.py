"""A whole run over the real server, which dies in the middle of it; the run is taken up again, and nothing paid twice."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from sodamem.ledger import Ledger, progress

PARTS = ("extractor=llm", "planner=llm", "reader=llm", "judge=llm", "judge.structured=false", "tracker=none")
TALK = ("dataset.split=all", "dataset.histories=1", "dataset.sessions=5", "dataset.turns_per_session=38")
TALK += ("dataset.questions_per_history=10", "dataset.distractors=0", "recall.top_k=6")
SMALL = ("extractor.window_tokens=1500", "extractor.context_tokens=50", "extractor.max_tokens=100")
SMALL += ("planner.max_steps=2", "planner.max_tokens=120", "planner.shown_tokens=400", "reader.reasoning=false")
SMALL += ("reader.evidence_tokens=400", "reader.max_tokens=300")
QUESTIONS = 10


class Run:
    """One `sodamem run` that is looked at while it is under way."""

    def __init__(self, server, runs, *overrides):
        words = [*server.overrides, *PARTS, *TALK, *SMALL, *overrides]
        self.runs = runs
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("sodamem"), "run", "--quiet", *words],
            env={**os.environ, "SODAMEM_RUNS": str(runs)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def folder(self):
        return next(self.runs.glob("*_run"), None)

    def reaches(self, count):
        """Wait until so many questions are answered and judged."""
        while (self.folder is None or not (self.folder / "ledger.sqlite").exists()) or (
            progress(self.folder / "ledger.sqlite")["ok"] < count
        ):
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.2)

    def ends(self):
        said, faults = self.process.communicate(timeout=500)
        assert self.process.returncode == 0, faults
        return said


def rows(folder):
    return [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]


def ledger(folder):
    """(final rows by question, all attempts); to open it is to sit down at the run once more, without an attempt."""
    with sqlite3.connect(folder / "ledger.sqlite") as db:
        settings = {phase: json.loads(value) for phase, value in db.execute("SELECT phase, settings FROM phases")}
    with Ledger(folder / "ledger.sqlite", settings) as book:
        return {row.question_id: row for row in book.results()}, book.attempts()


def counted(server):
    """Tokens by the server's own count, which it brings up to date a moment after the reply."""
    time.sleep(1)
    return {name: server.counter(f"vllm:{name}_tokens_total") for name in ("prompt", "generation")}


@pytest.fixture(scope="module")
def story(server, tmp_path_factory):
    """The run, killed server and all: (folder, what stood in the ledger then, what the second server counted)."""
    runs = tmp_path_factory.mktemp("runs")
    first = Run(server, runs)
    first.reaches(3)
    said, code = server.kill()
    assert code != 0 and "vllm serve must run until it is stopped, and ended with code -9" in said
    first.ends()
    before = ledger(first.folder)
    server.start()
    begun = counted(server)
    Run(server, runs, f"resume={first.folder}").ends()
    return first.folder, before, {name: value - begun[name] for name, value in counted(server).items()}


def test_what_the_death_of_the_server_cost_is_said(story):
    """Whatever was under way is failed or unjudged, by its reason; nothing passes for an answer.

    An answer may be cut off besides: this model sometimes goes on until its tokens end.
    """
    _, (results, attempts), _ = story
    states = Counter(row.status for row in results.values())
    assert states["ok"] >= 3 and sum(states.values()) == QUESTIONS and states["ok"] < QUESTIONS
    lost = [row.reason for row in results.values() if row.status != "ok"]
    assert any("unreachable" in reason for reason in lost)
    assert all("unreachable" in reason or "truncated" in reason for reason in lost), lost
    assert any(attempt.outcome == "unreachable" for attempt in attempts)


def test_the_run_is_whole_once_it_is_taken_up_again(story):
    folder, (before, _), _ = story
    results, _ = ledger(folder)
    states = Counter((row.status, row.reason) for row in results.values())
    assert set(states) <= {("ok", ""), ("failed", "truncated")} and states["ok", ""] >= QUESTIONS - 3
    for question, row in before.items():
        if row.status == "ok":
            assert results[question] == row
    answered = rows(folder)
    assert [len(answered), len({row["question_id"] for row in answered})] == [QUESTIONS, QUESTIONS]
    assert not list(folder.glob("*.partial"))


def test_every_stage_asked_the_model_and_got_its_shape_at_once(story):
    folder, _, _ = story
    _, attempts = ledger(folder)
    second = [attempt for attempt in attempts if attempt.sitting > 1]
    assert {attempt.usage.phase for attempt in attempts} == {"self_test", "extract", "plan", "read", "judge"}
    assert {attempt.outcome for attempt in second} <= {"ok", "truncated"}, "a shape was repaired, or a call failed"
    assert all(attempt.usage.prompt and attempt.usage.completion for attempt in second)


def test_nothing_is_paid_for_twice(story):
    folder, (before, _), _ = story
    _, attempts = ledger(folder)
    second = [attempt for attempt in attempts if attempt.sitting == max(a.sitting for a in attempts)]
    assert not [attempt for attempt in second if attempt.usage.phase == "extract"], "the store was there already"
    asked = [attempt for attempt in second if attempt.usage.phase != "self_test"]
    assert not [attempt for attempt in asked if before[attempt.owner].status == "ok"]
    paid = {attempt.request for attempt in attempts if attempt.outcome == "ok" and attempt.sitting == 1}
    assert all(attempt.usage.cache_hit for attempt in asked if attempt.request in paid)


def test_the_ledger_has_the_tokens_that_the_server_counted(story):
    """And no others: the probe before the run is among them."""
    folder, _, told = story
    _, attempts = ledger(folder)
    last = max(attempt.sitting for attempt in attempts)
    paid = [attempt.usage for attempt in attempts if attempt.sitting == last and not attempt.usage.cache_hit]
    assert paid and told == {
        "prompt": sum(usage.prompt for usage in paid),
        "generation": sum(usage.completion for usage in paid),
    }


def test_the_figures_are_there(story):
    folder, _, _ = story
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["questions"] == QUESTIONS and metrics["accuracy/unjudged"] <= 3
    for phase in ("extract", "plan", "read", "judge"):
        assert any(name.startswith(f"cost/{phase}/") for name in metrics), sorted(metrics)
    assert metrics["cost/busy_seconds/gemma-3-270m"] > 0
