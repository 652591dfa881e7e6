import threading
from collections import Counter

import pytest

from sodamem.errors import ConfigError, ModelError, StoreError
from sodamem.ledger import Ledger, progress
from sodamem.types import ChatReply, ChatRequest, Message, Usage

SETTINGS = {"plan": {"top_k": 10}, "read": {"model": "a", "prompt": {"sha": "1"}}}


@pytest.fixture
def open_ledger(tmp_path):
    return lambda settings=SETTINGS: Ledger(tmp_path / "run" / "ledger.sqlite", settings)


def used(**fields):
    return Usage(**{"phase": "read", "model": "a"} | fields)


# --- questions ----------------------------------------------------------------------------------------------


def test_what_is_ok_is_done_and_what_is_not_is_done_again(open_ledger):
    with open_ledger() as ledger:
        ledger.finish("a", 0, "ok", {"x": 1.5})
        ledger.finish("b", 0, "failed", None, "timeout")
        ledger.finish("c", 0, "unjudged", {"x": 2}, "empty")
        ledger.finish("a", 1, "failed", None, "refused")
    with open_ledger() as ledger:
        assert [ledger.done(*key) for key in (("a", 0), ("b", 0), ("c", 0), ("a", 1), ("d", 0))] == [True] + [False] * 4
        ledger.finish("b", 0, "ok", {"x": 3})
        assert ledger.done("b") and ledger.result("b").reason == ""
        assert [(row.question_id, row.repeat, row.status) for row in ledger.results()] == [
            ("a", 0, "ok"),
            ("a", 1, "failed"),
            ("b", 0, "ok"),
            ("c", 0, "unjudged"),
        ]
        assert ledger.result("a").payload == {"x": 1.5} and ledger.result("d") is None


def test_a_question_is_ok_once(open_ledger):
    with open_ledger() as ledger:
        ledger.finish("a", 0, "ok", {"x": 1})
        for status in ("ok", "failed"):
            with pytest.raises(StoreError, match="question a, repeat 0, must be finished once"):
                ledger.finish("a", 0, status, {"x": 2})
        assert ledger.result("a").payload == {"x": 1} and len(ledger.results()) == 1


def test_ids_stay_text(open_ledger):
    with open_ledger() as ledger:
        for name in ("65240037", "nan", "1e3", "007"):
            ledger.finish(name, 0, "ok", name)
        assert {row.question_id: row.payload for row in ledger.results()} == {
            n: n for n in ("65240037", "nan", "1e3", "007")
        }


def test_an_unknown_status_is_refused(open_ledger):
    with (
        open_ledger() as ledger,
        pytest.raises(StoreError, match="status must be one of ok, failed, unjudged, got done"),
    ):
        ledger.finish("a", 0, "done", None)


# --- attempts -----------------------------------------------------------------------------------------------


class Talker:
    digest = "talker"

    def __init__(self, *usage, error=None, truncated=False):
        self.usage, self.error, self.truncated = usage, error, truncated

    def ask(self, request):
        if self.error:
            raise ModelError("no", reason=self.error, usage=self.usage)
        return ChatReply(text="x", data=None, model="a", truncated=self.truncated, usage=self.usage)


def test_every_attempt_is_a_row_of_the_question_it_was_made_for(open_ledger):
    asked = ChatRequest(phase="read", messages=(Message(role="user", content="?"),), max_tokens=9)
    rows = (used(prompt=5, completion=1, seconds=2.0), used(prompt=7, cached=3, completion=2, reasoning=1, seconds=1.0))
    with open_ledger() as ledger:
        with ledger.scope("q1", 2):
            assert ledger.watch(Talker(*rows)).ask(asked).text == "x"
            with ledger.scope("history/h"):
                ledger.watch(Talker(used(cache_hit=True), truncated=True)).ask(asked)
            with pytest.raises(ModelError):
                ledger.watch(Talker(used(), error="timeout")).ask(asked)
        ledger.record_attempt(used(phase="start"))
        found = ledger.attempts()
    assert [(row.owner, row.repeat, row.outcome) for row in found] == [
        ("q1", 2, "retried"),
        ("q1", 2, "ok"),
        ("history/h", 0, "truncated"),
        ("q1", 2, "timeout"),
        ("", 0, "ok"),
    ]
    assert tuple(row.usage for row in found[:2]) == rows and found[2].usage.cache_hit is True
    assert len({row.request for row in found[:4]}) == 1 and found[1].ended - found[0].ended == pytest.approx(1.0)


def test_attempts_of_a_later_sitting_are_added(open_ledger):
    for _ in range(2):
        with open_ledger() as ledger:
            ledger.record_attempt(used(prompt=1))
    with open_ledger() as ledger:
        assert [row.sitting for row in ledger.attempts()] == [1, 2] and ledger.counts()["attempts"] == 2


def test_a_model_is_busy_once_however_many_requests_it_has(open_ledger):
    with open_ledger() as ledger:
        for _ in range(3):
            ledger.record_attempt(used(seconds=10.0))
        ledger.record_attempt(used(seconds=50.0, cache_hit=True))
    with open_ledger() as ledger:
        ledger.record_attempt(used(seconds=10.0))
        ledger.record_attempt(used(seconds=1.0, model="b"))
        assert ledger.busy() == {"a": pytest.approx(20.0, abs=1.0), "b": pytest.approx(1.0)}


def test_threads_write_without_losing_or_mixing_rows(open_ledger):
    with open_ledger() as ledger:

        def work(name):
            with ledger.scope(name):
                for _ in range(10):
                    ledger.record_attempt(used())
            ledger.finish(name, 0, "ok", name)

        threads = [threading.Thread(target=work, args=(f"q{number}",)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert Counter(row.owner for row in ledger.attempts()) == {f"q{number}": 10 for number in range(8)}
        assert ledger.counts() == {"ok": 8, "failed": 0, "unjudged": 0, "attempts": 80}


# --- the file -----------------------------------------------------------------------------------------------


def test_a_changed_setting_is_refused_with_both_values(open_ledger):
    open_ledger().close()
    changed = {"plan": {"top_k": 20}, "read": {"model": "a", "prompt": {}}, "judge": {"name": "j"}}
    with pytest.raises(ConfigError) as caught:
        open_ledger(changed)
    for part in ("plan.top_k: 10 -> 20", 'read.prompt.sha: "1" -> "(absent)"', 'judge: "(absent)" -> {"name": "j"}'):
        assert part in str(caught.value)
    reordered = {"read": {"prompt": {"sha": "1"}, "model": "a"}, "plan": {"top_k": 10}}
    open_ledger(reordered).close()


def test_two_runs_at_once_are_refused(open_ledger):
    with open_ledger(), pytest.raises(StoreError, match="used by one run at a time"):
        open_ledger()
    open_ledger().close()


def test_progress_can_be_read_while_a_run_goes_on(open_ledger):
    with open_ledger() as ledger:
        ledger.finish("a", 0, "ok", None)
        assert progress(ledger.path) == {"ok": 1, "failed": 0, "unjudged": 0, "attempts": 0}
    with pytest.raises(StoreError, match="cannot be used"):
        progress(ledger.path.with_name("other.sqlite"))


def test_a_half_written_tail_costs_no_earlier_row(open_ledger, tmp_path):
    ledger = open_ledger()
    ledger.finish("a", 0, "ok", {"x": 1})
    log = ledger.path.with_name("ledger.sqlite-wal")
    kept = log.read_bytes()
    ledger.finish("b", 0, "ok", {"x": 2})
    torn = kept + log.read_bytes()[len(kept) : len(kept) + 700]
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "ledger.sqlite").write_bytes(ledger.path.read_bytes())
    (copy / "ledger.sqlite-wal").write_bytes(torn)
    ledger.close()
    with Ledger(copy / "ledger.sqlite", SETTINGS) as found:
        assert [row.question_id for row in found.results()] == ["a"]
        found.finish("b", 0, "ok", {"x": 2})


def test_a_damaged_ledger_is_one_line(open_ledger, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "ledger.sqlite").write_bytes(b"x" * 5000)
    with pytest.raises(StoreError, match=r"ledger .* is damaged"):
        open_ledger()


def test_a_run_keeps_its_name_in_every_sitting_and_another_has_another(open_ledger, tmp_path):
    with open_ledger() as ledger:
        key = ledger.key
    with open_ledger() as ledger:
        assert ledger.key == key and len(key) == 32
    with Ledger(tmp_path / "other.sqlite", SETTINGS) as other:
        assert other.key != key
