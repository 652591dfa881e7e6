"""Whole runs over a model server of faults: no question is lost, requests are bounded, and a recovered server ends it."""

import importlib.util
import itertools
import json
import threading
from pathlib import Path

import pytest

from experiments import killing
from sodamem import cli
from sodamem.chat.instance import instance
from sodamem.chat.scripted import ScriptedChat
from sodamem.types import ChatRequest, Message

PATH = Path(__file__).parent / "chat" / "fault_server.py"
CONTEXT, RETRIES = 65536, 2
QUESTIONS, STEPS = 6, 3
PROBES = 10  # two shapes, and one request eight times
KINDS = {"facts": "extract", "call": "plan", "citations": "read"}  # what only the reply of this phase has
REASONS = {"rate_limited", "server_error", "timeout", "unreachable", "malformed", "wrong_model", "invalid", "empty"}


@pytest.fixture(scope="session")
def act():
    spec = importlib.util.spec_from_file_location("faults_of_a_server", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Brain:
    """What the server says: the replies of the scripted model, unless `fault` gives an act for a request.

    fault: (number of the request, its phase) -> an act or None; probes are never faulted.
    """

    def __init__(self, act):
        self.act, self.fault, self.numbers, self.phases = act, lambda number, phase: None, itertools.count(), []
        self.scripted = ScriptedChat(model="m", rules=killing.RULES)

    def __call__(self, body):
        phase, schema = self.phase(body), body.get("response_format", {}).get("json_schema", {}).get("schema")
        self.phases.append(phase)
        if phase == "probe":
            choices = body.get("structured_outputs", {}).get("choice")
            return self.act.says(json.dumps(instance(schema)) if schema else choices[0] if choices else "river")(body)
        if fault := self.fault(next(self.numbers), phase):
            return fault(body)
        messages = tuple(Message(**message) for message in body["messages"])
        asked = ChatRequest(phase=phase, messages=messages, max_tokens=10**6, schema=schema)
        return self.act.says(self.scripted.ask(asked).text)(body)

    @staticmethod
    def phase(body):
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        names = set(schema.get("properties", ()))
        if "verdict" in names:
            return "judge" if "correct" in schema["properties"]["verdict"]["enum"] else "adjudicate"
        return next((KINDS[name] for name in KINDS if name in names), "probe")


@pytest.fixture
def server(act):
    with act.FaultServer(context=CONTEXT) as fake:
        threading.Thread(target=fake.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        fake.brain = Brain(act)
        fake.acts = [fake.brain]
        yield fake
        fake.stopped.set()
        fake.shutdown()


@pytest.fixture
def command(server, tmp_path, capsys):
    """command(name, *overrides) -> (exit code, lines of errors, the run's folder) of `sodamem run` in a place of its own.

    What it printed is in command.said.
    """

    def run(name, *overrides):
        runs = tmp_path / name
        told = [f"dataset.histories=1 dataset.questions_per_history={QUESTIONS} dataset.turns_per_session=26"]
        told += [f"planner.max_steps={STEPS} chat=openai chat.base_url={server.url} chat.model=m chat.dialect=vllm"]
        told += [
            f"chat.api_key_env=null chat.context={CONTEXT} chat.concurrency=4 chat.timeout=60.0 chat.deadline=90.0"
        ]
        told += [f"chat.retries={RETRIES} chat.pause=0.0 chat.budget=max_tokens tracker=none runs={runs} name=run"]
        code = cli.main(["run", "-q", *killing.RUN, *" ".join(told).split(), *overrides])
        run.said, faults = capsys.readouterr()
        return code, faults.splitlines(), killing.folder_of(runs)

    return run


def rows(folder):
    return [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]


def results(folder):
    """The rows of a run without what its calls cost."""
    return [{name: value for name, value in row.items() if name != "usage"} for row in rows(folder)]


def ends(folder):
    """How each question ended, by the ledger: its id -> (status, reason)."""
    query = "SELECT question_id, status, reason FROM results"
    return {
        question: (status, reason) for question, status, reason in killing.selected(folder / "ledger.sqlite", query)
    }


def sent(folder):
    """Attempts that reached the server, by the ledger, those of the probe apart."""
    query = "SELECT COUNT(*) FROM attempts WHERE NOT cache_hit AND phase != 'self_test'"
    return killing.selected(folder / "ledger.sqlite", query)[0][0]


def storm(act):
    """Two of three requests of the answering phases fail, each in another way."""
    http = [act.refuses(429, retry_after="0"), act.refuses(500), act.cuts(), act.raw(b"{"), act.says("x", model="n")]
    http += [act.refuses(503), act.hangs()]
    shapes = [act.says("[]"), act.says("", reasoning_content="r")]  # in a plan these are steps that end it: no failure

    def fault(number, phase):
        if phase in ("extract", "adjudicate") or number % 3 == 0:
            return None
        known = http if phase == "plan" else [*http, *shapes]
        return known[number % len(known)]

    return fault


def test_every_question_ends_and_says_how_under_all_faults_and_a_recovered_server_ends_the_run(server, command, act):
    code, faults, healthy = command("healthy")
    assert code == 0 and faults == [] and set(ends(healthy).values()) == {("ok", "")}
    server.bodies.clear()
    server.brain.fault = storm(act)
    code, faults, folder = command("stormy", "chat.timeout=1.0")  # of those that hang
    found = ends(folder)
    assert code == 0 and faults == [] and len(found) == len(rows(folder)) == QUESTIONS
    assert {status for status, _ in found.values()} <= {"ok", "failed", "unjudged"} and set(found.values()) != {
        ("ok", "")
    }
    for status, reason in found.values():
        assert (status == "ok") == (reason == "") and (not reason or any(known in reason for known in REASONS)), reason
    for row in rows(folder):
        status = found[row["question_id"]][0]
        assert (row["answer"]["status"] == "failed") == (status == "failed")
        assert (row["verdict"]["label"] == "unjudged") == (status != "ok")
    # A question has a plan of so many steps, a reading repaired once and a judgement; each may be sent 1 + retries
    # times, and once more for another shape. Nothing is sent that the ledger does not know, but for the probes.
    asked = [phase for phase in server.brain.phases[-len(server.bodies) :] if phase in ("plan", "read", "judge")]
    assert 3 * QUESTIONS < len(asked) <= QUESTIONS * (STEPS + 3) * (1 + RETRIES + 1)
    assert len(server.bodies) <= sent(folder) + PROBES * (1 + RETRIES)
    server.brain.fault = lambda number, phase: None
    code, faults, again = command("stormy", f"resume={folder}")
    assert code == 0 and faults == [] and again == folder
    assert results(folder) == results(healthy) and set(ends(folder).values()) == {("ok", "")}


def test_an_outage_in_ingest_leaves_a_run_that_goes_on(server, command, act):
    _, _, healthy = command("healthy")
    whole = sum(phase in ("extract", "adjudicate") for phase in server.brain.phases)
    server.brain.numbers, server.brain.phases = itertools.count(), []
    server.brain.fault = lambda number, phase: act.refuses(503) if number >= whole // 2 else None
    code, faults, folder = command("down")
    assert code == 2 and len(faults) == 1 and faults[0].startswith("sodamem: model m at http://127.0.0.1:")
    assert "answered 503" in faults[0] and faults[0].endswith(f"What was paid for is kept: go on with resume={folder}")
    assert not (folder / "questions.jsonl").exists() and sent(folder) == whole // 2 + 1 + RETRIES
    # Still down, now for the probes too: one line, and nothing changes.
    server.acts = [act.refuses(503)]
    code, faults, _ = command("down", f"resume={folder}")
    assert code == 2 and len(faults) == 1 and "after 3 failed attempts. Is the server up?" in faults[0]
    server.acts, server.brain.fault = [server.brain], lambda number, phase: None
    before = len(server.brain.phases)
    code, faults, again = command("down", f"resume={folder}")
    assert code == 0 and faults == [] and again == folder
    for name in ("questions.jsonl", "data.json"):
        assert (folder / name).read_bytes() == (healthy / name).read_bytes(), name
    once, twice = (
        {name: value for name, value in killing.figures(run).items() if not name.startswith("cost/")}
        for run in (healthy, folder)
    )
    assert once == twice  # tokens of ingest as well, half of which were spent before the outage
    ingest = [phase for phase in server.brain.phases[before:] if phase in ("extract", "adjudicate")]
    assert len(ingest) == whole - whole // 2  # only what had no reply


def test_a_server_that_dies_while_it_answers_loses_no_question(server, command, act):
    _, _, healthy = command("healthy")
    ingest = sum(phase in ("extract", "adjudicate") for phase in server.brain.phases)
    server.brain.numbers = itertools.count()
    server.brain.fault = lambda number, phase: act.cuts() if number >= ingest + 8 else None
    code, faults, folder = command("dying", "chat.concurrency=1")
    assert code == 0 and faults == [] and len(rows(folder)) == QUESTIONS
    states = [ends(folder)[row["question_id"]] for row in rows(folder)]
    assert states == [("ok", "")] * 2 + [("failed", "unreachable")] * (QUESTIONS - 2)
    assert f"without a verdict: {QUESTIONS - 2}; resume={folder} asks for them again" in command.said.splitlines()
    server.brain.fault = lambda number, phase: None
    command("dying", "chat.concurrency=1", f"resume={folder}")
    assert results(folder) == results(healthy) and "without a verdict" not in command.said
