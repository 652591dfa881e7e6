import json
import os
from collections import Counter, namedtuple
from dataclasses import replace

import pytest

from experiments import killing
from sodamem import build, config, report, resume, sources
from sodamem import run as runner
from sodamem.chat.cached import CachedChat
from sodamem.chat.scripted import ScriptedChat
from sodamem.errors import ConfigError, DataError
from sodamem.evaluate import results
from sodamem.ledger import Ledger, once
from sodamem.metric.cost import PriceTable
from sodamem.mlflow_store import ERROR, PROCESS, open_store, process_tag
from sodamem.tracking import MlflowRun, MlflowTracker
from sodamem.types import ChatRequest, Message, Usage


@pytest.fixture(scope="module")
def found(tmp_path_factory, tiny):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SODAMEM_RUNS", str(tmp_path_factory.mktemp("runs")))
        cfg = config.compose(*tiny)
        corpus = build.component(cfg, "dataset").open()
        return list(results(build.pipeline(cfg), corpus, build.component(cfg, "judge")))


def test_a_result_from_the_ledger_reports_like_the_one_that_was_put_in(found):
    assert found
    for result in found:
        again = resume.load(json.loads(json.dumps(resume.dump(result))), result.question)
        assert report.row(again, 99) == report.row(result, 99)
        assert report.worked(again) == report.worked(result)
        assert (again.answer, again.verdict, again.measures) == (result.answer, result.verdict, result.measures)
        assert [item.text for item in again.evidence] == [item.text for item in result.evidence]
        assert resume.status(again) == resume.status(result) == ("ok", "")


def test_a_row_that_is_no_result_is_named(found):
    with pytest.raises(DataError, match=f"ledger row of question {found[0].question.id}"):
        resume.load({"answer": {}}, found[0].question)


def test_a_question_is_answered_once_and_a_failed_one_again(found, tmp_path):
    good = found[0]
    bad = replace(good, answer=replace(good.answer, status="failed", trace=({"failed": "timeout"},)))
    lost = replace(good, verdict=replace(good.verdict, label="unjudged", reason="empty"))
    made = []

    def make(result):
        made.append(result)
        return result

    with Ledger(tmp_path / "ledger.sqlite", {}) as ledger:
        keep = resume.once(ledger)
        for result, status in ((bad, ("failed", "timeout")), (lost, ("unjudged", "empty")), (good, ("ok", ""))):
            assert keep(good.question, lambda result=result: make(result)) is result
            row = ledger.result(good.question.id)
            assert (row.status, row.reason) == status
        assert report.row(keep(good.question, lambda: make(bad)), 99) == report.row(good, 99)
        assert made == [bad, lost, good] and len(ledger.results()) == 1


def test_settings_tell_phases_apart_and_leave_patience_out(tiny):
    def settings(*overrides):
        return resume.settings(config.plain(config.compose(*tiny, *overrides)), "sha")

    plain = settings()
    assert plain["extract"]["data"] == "sha" and set(plain) == {"extract", "plan", "read", "judge"}
    for override, phase in (("recall.top_k=7", "plan"), ("reader.depth=4", "read"), ("judge.f1=0.5", "judge")):
        changed = settings(override)
        assert {name for name in plain if changed[name] != plain[name]} == {phase}
    assert settings("encoder=minilm", "encoder.threads=1") == settings("encoder=minilm", "encoder.threads=2")


# --- a run that is taken up again ---------------------------------------------------------------------------

MODELS = ("extractor=llm", "currency=llm", "planner=llm", "reader=llm", "judge=llm", "chat=scripted")


class StoppedError(Exception):
    """Ends a run where a test wants it."""


def stop_before(monkeypatch, place):
    """The run ends before its result of this place, from 0, is written down."""
    kept, made = resume.once, []

    def once_until(ledger):
        keep = kept(ledger)

        def until(question, make):
            made.append(question)
            if len(made) > place:
                raise StoppedError
            return keep(question, make)

        return until

    monkeypatch.setattr(resume, "once", once_until)


@pytest.fixture
def begun(compose, runs, monkeypatch):
    """begun(*overrides) -> the folder of a run that ended before its second question."""

    def make(*overrides):
        with monkeypatch.context() as patch, pytest.raises(StoppedError):
            stop_before(patch, 1)
            runner.run(compose(*MODELS, *overrides), quiet=True)
        (folder,) = runs.glob("*_run")
        return folder

    return make


def attempts(folder):
    """What a finished run's ledger holds, without a sitting of one's own."""
    names = "sitting, request, outcome, phase, cache_hit"
    query = f"SELECT {names} FROM attempts ORDER BY sitting, number"
    return [Attempt(*row) for row in killing.selected(folder / "ledger.sqlite", query)]


Attempt = namedtuple("Attempt", "sitting request outcome phase cache_hit")


def test_changed_source_of_an_ingest_part_is_refused_with_its_phase_and_both_hashes(compose, begun, monkeypatch):
    folder, known = begun(), sources.source
    groups = [group for group in resume.PHASES["extract"] if group in sources.PHASES["extract"]]
    assert {"extractor", "currency", "linker", "dataset"} <= set(groups)
    for group in groups:
        with monkeypatch.context() as patch:
            patch.setattr(sources, "source", lambda *parts, group=group: group if group in parts else known(*parts))
            with pytest.raises(
                ConfigError, match=rf'changed: extract\.code: "[0-9a-f]{{16}}" -> "{group}"\. Put'
            ) as caught:
                runner.run(compose(*MODELS, f"resume={folder}"), quiet=True)
        assert "\n" not in str(caught.value) and not (folder / "questions.jsonl").exists()
    runner.run(compose(*MODELS, f"resume={folder}"), quiet=True)
    assert (folder / "questions.jsonl").exists()


def test_what_may_change_between_sittings_is_not_refused(compose, begun):
    folder = begun()
    runner.run(compose(*MODELS, f"resume={folder}", "name=other", "encoder=lsa", "output.awards_top=3"), quiet=True)
    with pytest.raises(ConfigError, match=r"changed: plan\.recall\.top_k: \d+ -> 3"):
        runner.run(compose(*MODELS, f"resume={folder}", "recall.top_k=3"), quiet=True)


def test_parameters_of_a_run_are_what_decides_its_results(compose):
    plain = config.plain(compose("chat=vllm_small", "encoder=minilm"))
    patient = config.plain(
        compose("chat=vllm_small", "encoder=minilm", "chat.timeout=1.0", "chat.retries=9", "name=x", "resume=/x")
    )
    assert resume.parameters(plain) == resume.parameters(patient)
    other = config.plain(compose("chat=vllm_small", "encoder=minilm", "chat.model=other"))
    assert resume.parameters(plain) != resume.parameters(other) and "reader" in resume.parameters(plain)


@pytest.mark.parametrize("left", [(), ("ledger.sqlite.open", "ledger.sqlite.lock", "ledger.sqlite.new")])
def test_a_folder_in_which_nothing_had_begun_is_begun(compose, runs, left):
    folder = runs / "killed"
    folder.mkdir(parents=True)
    for name in left:
        (folder / name).touch()
    assert runner.run(compose(*MODELS, f"resume={folder}"), quiet=True).folder == folder


@pytest.mark.parametrize("there", ["nothing", "a file", "other things"])
def test_what_was_never_a_run_is_refused_in_one_line(compose, runs, there):
    folder = runs / "mine"
    folder.mkdir(parents=True)
    if there == "nothing":
        folder.rmdir()
    elif there == "a file":
        folder = folder / "file"
        folder.touch()
    else:
        (folder / "thesis.tex").touch()
    with pytest.raises(
        ConfigError, match=r"resume must name the folder of a run with a ledger\.sqlite, got /"
    ) as caught:
        runner.run(compose(*MODELS, f"resume={folder}"), quiet=True)
    assert "\n" not in str(caught.value) and "run without resume" in str(caught.value)


# --- costs of several sittings ------------------------------------------------------------------------------


def test_what_ingest_has_cost_does_not_depend_on_the_sitting_that_paid_for_it(compose, runs, begun, tmp_path):
    folder = begun()
    again = runner.run(compose(*MODELS, f"resume={folder}"), quiet=True)
    whole = runner.run(compose(*MODELS, f"runs={tmp_path / 'whole'}"), quiet=True)
    assert whole.metrics["tokens/extract/calls"] > 0 and whole.metrics["tokens/extract/prompt"] > 0
    tokens = {name: value for name, value in whole.metrics.items() if name.startswith("tokens/")}
    assert tokens == {name: value for name, value in again.metrics.items() if name.startswith("tokens/")}
    fresh = runner.run(compose(*MODELS), quiet=True)  # another run over the same stores has ingested nothing
    assert fresh.metrics["tokens/extract/calls"] == 0


def test_replies_that_were_cut_off_are_asked_for_once_more_in_each_sitting_and_no_more(compose, runs):
    """No cache keeps them, and a failed question is done again: one call a sitting is what that costs."""
    short = (*MODELS, "reader.max_tokens=1")
    folder = runner.run(compose(*short), quiet=True).folder
    for sitting in (1, 2, 3):
        rows = attempts(folder)
        cut = Counter(row.request for row in rows if row.phase == "read")
        assert len(cut) == 2 and set(cut.values()) == {sitting}
        assert {row.outcome for row in rows if row.phase == "read"} == {"truncated"}
        assert not [row for row in rows if row.sitting > 1 and row.phase == "plan" and not row.cache_hit]
        rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
        assert [row["answer"]["status"] for row in rows] == ["failed"] * 2
        runner.run(compose(*short, f"resume={folder}"), quiet=True)


PRICES = PriceTable(
    name="p", as_of="2024-01-01", models={"scripted": {"input": 1e6, "cached": None, "output": 0.0}}
)  # a dollar a token


def test_a_call_under_way_at_the_end_of_a_sitting_is_lost_and_a_kept_reply_is_paid_for_once(tmp_path, asked):
    """Sitting 1 dies: the reply to `kept` is in the cache and not in the ledger, `gone` has none. 2 asks again."""

    def sit(*requests):
        with Ledger(tmp_path / "ledger.sqlite", {}) as ledger:
            chat = ledger.watch(CachedChat(chat=asked.chat, path=tmp_path / "replies.sqlite", mode="use"))
            with ledger.scope("q"):
                replies = [chat.ask(asked.request(name)) for name in requests]
            return replies, resume.costs(ledger, PRICES), ledger.lost()

    sit("first")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "record", asked.stop)
        with pytest.raises(StoppedError):
            sit("kept")
        patch.setattr(type(asked.chat), "ask", asked.stop)
        with pytest.raises(StoppedError):
            sit("gone")
    replies, costs, lost = sit("first", "kept", "gone", "gone")
    assert [reply.usage[0].cache_hit for reply in replies] == [False, False, False, True]
    assert lost == costs["cost/lost"] == 1
    size = replies[0].usage[0].prompt
    assert costs["cost/read/prompt"] == costs["cost/read/warm"] == 3 * size  # first, kept, gone
    assert costs["cost/read/attempts"] == 3 and costs["cost/read/hits"] == 2  # first and gone, read again
    assert costs["cost/read/cold"] == 4 * size  # what the last sitting would cost without a cache


class Asked:
    def __init__(self):
        self.chat = ScriptedChat(model="scripted", rules=[])

    def request(self, name):
        return ChatRequest(phase="read", messages=(Message(role="user", content=f"say {name}"),), max_tokens=50)

    def stop(self, *_):
        raise StoppedError


@pytest.fixture
def asked():
    return Asked()


def test_attempts_count_once_for_whom_they_were_made(tmp_path):
    for sitting in ((("a", 1), ("b", 2)), (("b", 3), ("b", 4)), (("c", 5),)):
        with Ledger(tmp_path / "ledger.sqlite", {}) as ledger:
            for owner, prompt in sitting:
                with ledger.scope(owner):
                    ledger.record_attempt(Usage(phase="read", model="m", prompt=prompt))
            found = [(row.owner, row.usage.prompt) for row in once(ledger.attempts())]
    assert found == [("a", 1), ("b", 3), ("b", 4), ("c", 5)]


# --- the tracked run ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Overrides of a tracking store, and its tracker."""
    folder = tmp_path_factory.mktemp("tracked")
    uri, artifacts = f"sqlite:///{folder}/mlflow.db", str(folder / "artifacts")
    tracker = MlflowTracker(uri=uri, experiment="e", artifacts=artifacts, traces="none")
    with tracker.run("first", {}):
        pass
    return lambda name: (
        "tracker=mlflow",
        f"tracker.uri={uri}",
        f"tracker.artifacts={artifacts}",
        f"tracker.experiment={name}",
    )


def tracked(compose, overrides):
    cfg = compose(*overrides)
    client, experiment = open_store(cfg.tracker.uri, cfg.tracker.experiment, cfg.tracker.artifacts)
    return client, client.search_runs([experiment])


def test_all_sittings_are_one_tracked_run(compose, begun, store):
    overrides = store("sittings")
    folder = begun(*overrides)
    client, (run,) = tracked(compose, overrides)
    assert run.info.status == "FAILED" and ERROR in run.data.tags
    # As a kill would leave it: RUNNING, of a process that is there no more.
    client.update_run(run.info.run_id, status="RUNNING")
    client.set_tag(run.info.run_id, PROCESS, process_tag(os.getpid()) + "-another-birth")
    outcome = runner.run(compose(*MODELS, *overrides, f"resume={folder}", "name=other"), quiet=True)
    client, (again,) = tracked(compose, overrides)
    assert again.info.run_id == run.info.run_id and again.info.status == "FINISHED" and ERROR not in again.data.tags
    assert again.data.metrics["questions"] == outcome.metrics["questions"]
    assert "resume" not in again.data.params and again.data.params["reader.max_tokens"] == "700"
    runner.run(compose(*MODELS, *overrides), quiet=True)  # a run of its own
    assert len(tracked(compose, overrides)[1]) == 2


def test_a_run_that_died_while_it_was_being_entered_is_found_again(compose, runs, store, monkeypatch):
    overrides = store("entered")

    def stop(*_):
        raise StoppedError

    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        patch.setattr(MlflowRun, "tags", stop)  # the first thing that follows its creation
        runner.run(compose(*MODELS, *overrides), quiet=True)
    (folder,) = runs.glob("*_run")
    runner.run(compose(*MODELS, *overrides, f"resume={folder}"), quiet=True)
    _, (run,) = tracked(compose, overrides)
    assert run.info.status == "FINISHED" and run.data.params["reader.max_tokens"] == "700"
