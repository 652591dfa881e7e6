"""A question that is traced can be found by its run, with the steps that it took, once, and only where that was asked."""

import hashlib
import json
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import datetime

import pytest

from sodamem import build, resume, traces
from sodamem import run as runner
from sodamem.errors import ConfigError, ServiceError
from sodamem.evaluate import Result
from sodamem.metric.retrieval import Row
from sodamem.mlflow_store import open_store
from sodamem.tracking import MlflowTracker, NullRun
from sodamem.types import Answer, Citation, Question, Usage, Verdict

CANARY = "canary-4711"
CALLS = ({"tool": "search", "query": "Oslo", "since": None, "until": None}, {"tool": "inspect", "id": "e1"})


@pytest.fixture(scope="module")
def tracker(tmp_path_factory):
    """tracker(traces) -> a tracker of one store that all tests here share."""
    folder = tmp_path_factory.mktemp("traces")

    def make(chosen):
        uri = f"sqlite:///{folder}/mlflow.db"
        return MlflowTracker(uri=uri, experiment="e", artifacts=str(folder / "artifacts"), traces=chosen)

    return make


@pytest.fixture(scope="module")
def found(tracker):
    """found(run id) -> its traces by the id of their question."""
    client, experiment = open_store(*(getattr(tracker("none"), name) for name in ("uri", "experiment", "artifacts")))

    def search(run):
        listed = client.search_traces(locations=[experiment], run_id=run)
        known = {trace.info.tags["mlflow.traceName"]: trace for trace in listed}
        assert len(known) == len(listed), "a question has two traces"
        return known

    return search


@pytest.fixture
def result(recalled):
    """result("q1", "correct", plan=2, …) -> a question that was planned over in three replies, read and judged."""

    def make(name="q1", label="correct", *, plan=3, text="Oslo", **fields):
        notes = [{"step": n, "reasoning": "why", "call": call, "said": "x", "new": []} for n, call in enumerate(CALLS)]
        end = ({"step": 3, "reasoning": "enough", "call": {"tool": "stop"}}, {"stop": "said so", "steps": 2, "pool": 9})
        paid = [Usage(phase="plan", model="m", prompt=100, cached=64, completion=9, seconds=0.5) for _ in range(plan)]
        paid += [Usage(phase="read", model="m", prompt=200, completion=20, seconds=second) for second in (1.5, 2.0)]
        asked = Question(
            id=name,
            history_id="h",
            text="Where does Ann live?",
            asked_at=datetime(2024, 2, 1),
            category="c",
            category_name="C",
            gold="Oslo",
            gold_turns=("t:0",),
        )
        given = Answer(
            text=text,
            citations=(Citation(evidence_id="t:0", turn_id="t:0", quote="I live in Oslo."),),
            usage=tuple(paid),
            trace=(*notes, *end, {"read": 1, "left_out": 0, "repaired": "it cites no record"}),
        )
        return Result(
            question=asked,
            evidence=recalled("Ann: I live in Oslo."),
            answer=replace(given, **fields),
            verdict=Verdict(label=label, judge="j", reason="the same words"),
            measures=Row(question_id=name, history_id="h", category="c", values={"turn/mrr": 1.0}),
        )

    return make


def record(tracker, *results, **options):
    with tracker.run("n", {}, **options) as run, traces.recording(run) as trace:
        for result in results:
            trace(result)
    return run.id


def shape(trace):
    """Names of the spans as a tree of nested lists."""
    spans = trace.data.spans
    children = {span.span_id: [other for other in spans if other.parent_id == span.span_id] for span in spans}

    def below(span):
        return [span.name, *map(below, children[span.span_id])]

    return below(next(span for span in spans if span.parent_id is None))


def span(trace, name):
    return next(one for one in trace.data.spans if one.name == name)


# --- what a trace holds -------------------------------------------------------------------------------------


def test_a_question_is_found_by_its_run_with_every_step_of_its_answer(tracker, found, result):
    run = record(tracker("all"), result("q1"), result("q2", "incorrect"))
    known = found(run)
    assert set(known) == {"q1", "q2"} and known["q2"].info.tags["label"] == "incorrect"
    trace = known["q1"]
    attempt = ["plan attempt"]
    assert shape(trace) == [
        "question",
        ["plan", ["search", attempt], ["inspect", attempt], ["stop", attempt]],
        ["read", ["read attempt"], ["read attempt"]],
        ["judge"],
    ]
    root = span(trace, "question")
    assert root.inputs == {"question": "Where does Ann live?", "asked_at": "2024-02-01T00:00:00"}
    assert root.outputs["answer"] == "Oslo" and root.outputs["verdict"] == "correct"
    assert root.outputs["citations"] == [{"evidence_id": "t:0", "turn_id": "t:0", "quote": "I live in Oslo."}]
    assert span(trace, "search").inputs == {"query": "Oslo", "since": None, "until": None}
    assert span(trace, "search").outputs == {"said": "x", "new": []}
    assert span(trace, "plan").outputs == {"stop": "said so", "steps": 2, "pool": 9}
    assert span(trace, "read").inputs["evidence"][0]["id"] == "t:0"
    assert span(trace, "read").attributes["repaired"] == "it cites no record"
    assert span(trace, "judge").outputs == {"label": "correct", "reason": "the same words"}
    assert {kept.name: kept.value for kept in trace.info.assessments} == {"verdict": "correct", "gold": "Oslo"}


def test_tokens_are_those_that_were_paid_for(tracker, found, result):
    trace = found(record(tracker("all"), result()))["q1"]
    assert span(trace, "plan attempt").attributes["cached"] == 64
    assert "cached" not in span(trace, "read attempt").attributes, "what was not reported is unknown, never 0"
    tokens = trace.info.token_usage
    assert tokens["input_tokens"] == 3 * 100 + 2 * 200 and tokens["output_tokens"] == 3 * 9 + 2 * 20


def test_no_time_is_made_up(tracker, found, result):
    """Attempts have their seconds; what has none says so, and spans no more than what it holds."""
    trace = found(record(tracker("all"), result()))["q1"]
    for one in trace.data.spans:
        took = (one.end_time_ns - one.start_time_ns) / 1e9
        said = one.attributes["seconds"]
        assert said == (pytest.approx(took) if one.name.endswith("attempt") else traces.UNMEASURED), one.name
    assert (
        trace.info.execution_duration == 5000 and span(trace, "judge").end_time_ns == span(trace, "judge").start_time_ns
    )
    reads = [one for one in trace.data.spans if one.name == "read attempt"]
    assert reads[1].start_time_ns == reads[0].end_time_ns


def test_a_repaired_step_does_not_put_its_attempts_under_another(tracker, found, result):
    """Four attempts for three steps: whose the fourth was is not known."""
    trace = found(record(tracker("all"), result(plan=4)))["q1"]
    attempts = [["plan attempt"]] * 4
    assert shape(trace)[1] == ["plan", *attempts, ["search"], ["inspect"], ["stop"]]


def test_a_failed_answer_is_an_error_that_says_why(tracker, found, result):
    failed = {
        "text": "",
        "status": "failed",
        "trace": ({"failed": "timeout", "said": "m gave no reply"},),
        "citations": (),
    }
    trace = found(record(tracker("all"), result(label="unjudged", usage=(), **failed)))["q1"]
    assert shape(trace) == ["question", ["judge"]] and trace.info.state == "ERROR"
    assert span(trace, "question").status.description == "timeout: m gave no reply"


def test_secrets_are_masked_and_long_texts_cut_with_their_hash(tracker, found, result):
    said = f"see https://u:{CANARY}@h/?token={CANARY} Bearer {CANARY} "
    long = "é" * (traces.LONGEST + 1)
    notes = ({"step": 1, "call": {"tool": "search", "query": said}}, {"read": 1, "raw": {"deep": [long]}})
    trace = found(record(tracker("all"), result(text=said, trace=notes)))["q1"]
    assert CANARY not in json.dumps(trace.to_dict())
    (kept,) = span(trace, "read").attributes["raw"]["deep"]
    assert len(kept) < traces.LONGEST + 150 and kept.startswith("é" * traces.LONGEST + "…")
    assert hashlib.sha256(long.encode()).hexdigest() in kept


# --- which questions have one -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [("none", ""), (0, ""), ("wrong", "bc"), ("all", "abcd"), (2, "ab")],
)
def test_the_questions_that_were_chosen_are_traced_and_no_other(tracker, found, result, chosen, wanted):
    labels = {"a": "correct", "b": "incorrect", "c": "unjudged", "d": "correct"}
    run = record(tracker(chosen), *(result(name, label) for name, label in labels.items()))
    assert set(found(run)) == set(wanted)


def test_more_questions_than_go_to_the_store_at_once(tracker, found, result):
    names = {f"q{n}" for n in range(traces.BATCH + 1)}
    assert set(found(record(tracker("all"), *map(result, names)))) == names


def test_by_default_there_are_none(compose):
    assert compose("tracker=mlflow").tracker.traces == "none"


@pytest.mark.parametrize(
    ("chosen", "said"), [("-1", "number >= 0, got -1"), ("some", "none, wrong, all"), ("true", "none, wrong")]
)
def test_another_choice_is_refused_in_one_line(compose, chosen, said):
    with pytest.raises(ConfigError, match=said) as caught:
        build.component(compose("tracker=mlflow", f"tracker.traces={chosen}"), "tracker")
    assert "\n" not in str(caught.value)


def test_without_a_tracker_nothing_is_traced_and_mlflow_not_imported():
    script = (
        "import sys; from sodamem import traces; from sodamem.tracking import NullRun\n"
        "with traces.recording(NullRun()) as trace: trace(None)\n"
        "assert 'mlflow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    with traces.recording(NullRun()) as trace:
        trace(None)


# --- once -----------------------------------------------------------------------------------------------------


def test_a_resumed_run_has_one_trace_for_each_question_as_it_ended(tracker, found, result):
    """The second sitting sees what was kept again, and what had failed as it is now: with fewer steps than before."""
    kept, bad = result("a"), result("b", "unjudged", plan=9)
    first = record(tracker("all"), kept, bad)
    before = found(first)
    loaded = resume.load(json.loads(json.dumps(resume.dump(kept))), kept.question)
    assert record(tracker("all"), loaded, result("b"), result("c"), resume=first) == first
    after = found(first)
    assert set(after) == {"a", "b", "c"}
    assert after["a"].info.request_time == before["a"].info.request_time, "written anew though nothing had changed"
    assert len(before["b"].data.spans) == 18 and len(after["b"].data.spans) == 12
    assert after["b"].info.tags["label"] == "correct"
    assert [one.value for one in after["b"].info.assessments if one.name == "verdict"] == ["correct"]


def test_a_question_that_is_right_at_last_is_no_longer_among_the_wrong(tracker, found, result):
    first = record(tracker("wrong"), result("a", "unjudged"), result("b", "incorrect"))
    record(tracker("wrong"), result("a"), result("b", "incorrect"), resume=first)
    assert set(found(first)) == {"b"}


def test_a_trace_that_was_cut_short_is_written_whole_by_the_next_sitting(tracker, found, result, monkeypatch):
    from mlflow.tracing.client import TracingClient

    with monkeypatch.context() as patch, pytest.raises(ServiceError, match=r"tracking store .* failed"):
        patch.setattr(TracingClient, "log_spans", cut)
        with tracker("all").run("n", {}) as run, traces.recording(run) as trace:
            trace(result())
    record(tracker("all"), result(), resume=run.id)
    assert len(found(run.id)["q1"].data.spans) == 12


def cut(*_):
    raise OSError("the line is dead")


def test_a_server_that_takes_no_spans_is_named_in_one_line(tracker, result, monkeypatch):
    from mlflow.tracing.client import TracingClient

    def old(*_):
        raise NotImplementedError("MLflow server version 3.1 is less than 3.4")

    monkeypatch.setattr(TracingClient, "log_spans", old)
    with pytest.raises(ConfigError, match=r"tracker\.traces must be none for this tracking server: .* less than 3\.4"):
        record(tracker("all"), result())


def test_what_was_answered_before_a_run_failed_is_traced(tracker, found, result):
    with pytest.raises(ZeroDivisionError), tracker("all").run("n", {}) as run, traces.recording(run) as trace:
        trace(result())
        print(1 // 0)
    assert set(found(run.id)) == {"q1"}


def test_nothing_of_the_process_is_changed_and_no_thread_stays(tracker, result):
    import mlflow

    def state():
        return threading.enumerate(), mlflow.get_tracking_uri(), mlflow.active_run(), mlflow.get_last_active_trace_id()

    before = state()
    record(tracker("all"), result())
    assert state() == before


# --- a whole run ----------------------------------------------------------------------------------------------


def test_a_run_traces_the_questions_that_it_asked_and_no_second_time_when_it_is_resumed(tracker, found, compose):
    shared = tracker("all")
    places = (f"tracker.uri='{shared.uri}'", "tracker.experiment=e", f"tracker.artifacts='{shared.artifacts}'")
    parts = ("tracker=mlflow", *places, "planner=llm", "reader=llm", "chat=scripted", "name=traced")
    outcome = runner.run(compose(*parts, "tracker.traces=1"), quiet=True)
    client, experiment = open_store(shared.uri, shared.experiment, shared.artifacts)
    (run,) = client.search_runs([experiment], "attributes.run_name LIKE '%_traced'")
    asked = [json.loads(line)["question_id"] for line in (outcome.folder / "questions.jsonl").read_text().splitlines()]
    first = found(run.info.run_id)
    assert list(first) == asked[:1] and len(asked) > 1
    assert shape(first[asked[0]])[1:3] == [["plan", ["stop", ["plan attempt"]]], ["read", *[["read attempt"]] * 2]]
    runner.run(compose(*parts, "tracker.traces=all", f"resume={outcome.folder}"), quiet=True)
    again = found(run.info.run_id)
    assert set(again) == set(asked)
    assert again[asked[0]].info.request_time == first[asked[0]].info.request_time
