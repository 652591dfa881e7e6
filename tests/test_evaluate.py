"""From results to numbers: names as they are tracked, denominators that hide nothing, phases apart."""

import contextlib
import threading
from contextvars import ContextVar
from datetime import datetime
from types import SimpleNamespace

import pytest

from sodamem.evaluate import Grades, Result, evaluate, recalled, results, retrieve
from sodamem.executor import threads
from sodamem.executor.serial import SerialExecutor
from sodamem.executor.spread import Spread
from sodamem.executor.threads import ThreadsExecutor
from sodamem.metric.statistics import wilson
from sodamem.metric.text import locomo_f1
from sodamem.types import Answer, Award, Evidence, Question, Usage, Verdict

AT = datetime(2024, 1, 1)


def item(rank, turn, text="one two three"):
    return Evidence(
        id=turn,
        kind="turn",
        rank=rank,
        turn_ids=(turn,),
        session_id=turn.partition(":")[0],
        speaker="Ann",
        text=text,
        at=AT,
        confidence=1 / rank,
        awards=(Award(tunnel="bm25", head=rank, direct=True, mass=1 / rank),),
    )


def question(id, category="cat", **fields):
    given = {"history_id": "h", "text": f"{id}?", "asked_at": AT, "category_name": category, "gold": "gold"}
    return Question(id=id, category=category, **{**given, **fields})


class Corpus:
    name, sha256, notes = "c", "0" * 64, {}

    def __init__(self, **histories):
        self.history_ids, self._questions = tuple(histories), histories

    def history(self, id):
        return SimpleNamespace(id=id)

    def questions(self, id):
        return self._questions[id]


class System:
    """Finds the same ten turns for every question: s0:0, s0:1, s1:0, … of a pool of 100 turns in 5 sessions."""

    def __init__(self, answers=None):
        self.answers, self.open_now, self.opened = answers or {}, [], []

    @contextlib.contextmanager
    def open(self, history):
        self.open_now.append(history.id)
        self.opened.append(history.id)
        snapshot = SimpleNamespace(turns=range(100), sessions=range(5), fingerprint=f"print-{history.id}")
        try:
            yield SimpleNamespace(history=history, snapshot=snapshot, counts={"turns": 100, "rejected/x": 1}, usage=())
        finally:
            self.open_now.remove(history.id)

    def recall(self, memory, asked):
        return tuple(item(n + 1, f"s{n // 2}:{n % 2}") for n in range(10))

    def answer(self, memory, asked):
        assert self.open_now == [memory.history.id]  # one memory at a time
        return self.answers.get(asked.id, Answer(text="gold")), self.recall(memory, asked)


class Judge:
    name = "fake"

    def grade(self, question, answer):
        label = answer.text if answer.text in ("incorrect", "unjudged") else "correct"
        usage = (Usage(phase="judge", model="j", prompt=7, completion=2, reasoning=1),)
        return Verdict(label=label, judge=self.name, usage=usage)


def report(questions, answers=None, **more):
    return evaluate(System(answers), Corpus(h=questions), Judge(), **more)


def test_retrieval_has_the_names_of_the_design():
    found = report([question("a", gold_turns=("s0:1", "s9:9"), gold_sessions=("s1",))]).metrics
    assert found["turn/recall_at_1"] == 0 and found["turn/recall_at_10"] == 1 / 2
    assert found["turn/cat/recall_at_10"] == 1 / 2 and found["turn/mrr"] == 1 / 2
    assert found["session/recall_at_3"] == 1 and found["session/mrr"] == 1 / 2
    assert found["turn/random_recall_at_10"] == 10 / 100
    assert found["n"] == found["turn/n"] == found["turn/cat/n"] == found["questions"] == 1


def test_a_question_without_evidence_is_left_out_and_counted_never_scored_zero():
    found = report(
        [
            question("a", gold_turns=("s0:0",), gold_sessions=("s0",)),
            question("b"),
            question("c", gold_turns=("s0:0",), exclude="dead_evidence"),
        ]
    )
    assert found.metrics["turn/recall_at_1"] == 1 and found.metrics["n"] == 1 and found.metrics["questions"] == 3
    assert found.metrics["excluded/dead_evidence"] == 1 and found.metrics["excluded/turn/no_gold"] == 1
    assert found.excluded == {"turn/no_gold": ["b"], "session/no_gold": ["b"], "dead_evidence": ["c"]}


def test_accuracy_is_strict_over_all_and_judged_over_the_judged():
    answers = {"b": Answer(text="incorrect"), "c": Answer(text="unjudged")}
    found = report([question("a"), question("b"), question("c", category="other"), question("d")], answers).metrics
    assert found["accuracy/strict"] == 2 / 4 and found["accuracy/judged"] == 2 / 3
    assert found["accuracy/n"] == 4 and found["accuracy/unjudged"] == 1
    assert found["accuracy/cat/strict"] == 2 / 3 and found["accuracy/cat/judged"] == 2 / 3
    assert found["accuracy/other/strict"] == 0 and "accuracy/other/judged" not in found  # there is no mean of nothing
    assert (found["accuracy/strict_low"], found["accuracy/strict_high"]) == wilson(2, 4)


def test_errata_are_in_the_figures_and_the_figures_without_them_beside():
    asked = [question("a", gold_turns=("s0:0",)), question("b", gold_turns=("s9:9",), erratum="disputed")]
    found = report(asked, {"b": Answer(text="incorrect")}).metrics
    assert found["turn/recall_at_10"] == 1 / 2 and found["without_errata/turn/recall_at_10"] == 1
    assert found["accuracy/strict"] == 1 / 2 and found["accuracy/without_errata/strict"] == 1
    assert found["errata"] == 1


def test_where_every_gold_is_disputed_there_is_no_figure_without_them():
    found = report([question("a", gold_turns=("s0:0",), erratum="disputed")]).metrics
    assert found["accuracy/strict"] == 1 and found["errata"] == 1
    assert "accuracy/without_errata/strict" not in found and "without_errata/turn/recall_at_10" not in found


def test_without_errata_nothing_is_said_twice():
    found = report([question("a")]).metrics
    assert not [name for name in found if "errata" in name]


def test_token_f1_is_of_answerable_questions_only():
    answers = {"a": Answer(text="the gold ring"), "b": Answer(text="")}
    found = report([question("a"), question("b", answerable=False)], answers).metrics
    assert found["f1/token"] == found["f1/cat/token"] == locomo_f1("the gold ring", "gold", "cat")


def test_tokens_are_counted_by_phase_and_the_judges_are_nobody_elses():
    read = Usage(phase="read", model="m", prompt=100, cached=40, completion=10)
    found = report([question("a"), question("b")], {"a": Answer(text="x", usage=(read, read))}).metrics
    assert {name: value for name, value in found.items() if name.startswith("tokens/read/")} == {
        "tokens/read/calls": 2, "tokens/read/prompt": 200, "tokens/read/completion": 20, "tokens/read/cached": 80,
    }  # fmt: skip  # reasoning was not reported: unknown, not 0
    assert found["tokens/judge/prompt"] == 14 and found["tokens/judge/reasoning"] == 2
    assert "tokens/judge/cached" not in found
    assert [found[f"tokens/{phase}/calls"] for phase in ("extract", "adjudicate", "plan")] == [0, 0, 0]


def test_the_evidence_handed_over_is_measured():
    assert report([question("a")]).metrics["evidence_tokens/mean"] == 10 * 3


def test_stores_and_their_sizes_are_reported_per_history():
    found = evaluate(System(), Corpus(h=[question("a")], g=[question("b")]), Judge())
    assert found.stores == {"h": "print-h", "g": "print-g"}
    assert found.metrics["store/turns"] == 200 and found.metrics["store/rejected/x"] == 2


def test_a_history_that_nobody_asks_about_is_not_ingested():
    system = System()
    found = evaluate(system, Corpus(h=[question("a")], idle=[]), Judge())
    assert system.opened == ["h"] and list(found.stores) == ["h"]


def test_a_memory_is_told_of_before_its_questions_come():
    told = []
    evaluate(
        System(),
        Corpus(h=[question("a")], g=[question("b")]),
        Judge(),
        note=lambda ready: told.append((ready.history, ready.fingerprint, ready.counts["turns"])),
        sink=lambda result: told.append(result.question.id),
    )
    assert told == [("h", "print-h", 100), "a", ("g", "print-g", 100), "b"]


def test_each_result_goes_out_as_soon_as_it_exists():
    seen, ready = [], []
    stream = results(System(), Corpus(h=[question("a"), question("b")]), Judge(), note=ready.append)
    assert next(stream).question.id == "a" and len(ready) == 1
    stream.close()
    report([question("a"), question("b")], sink=lambda result: seen.append(result.question.id))
    assert seen == ["a", "b"]


def test_questions_side_by_side_keep_their_order_and_their_numbers():
    asked = [question(str(n), gold_turns=(f"s{n % 5}:1",)) for n in range(20)]
    one, four = (evaluate(System(), Corpus(h=asked), Judge(), workers=workers) for workers in (1, 4))
    assert one == four
    order = [result.question.id for result in results(System(), Corpus(h=asked), Judge(), workers=4)]
    assert order == [str(n) for n in range(20)]


class Waiting(System):
    """Answers nobody before three questions, each of a history of its own, have been asked."""

    def __init__(self):
        super().__init__()
        self.meeting = threading.Barrier(3, timeout=30)

    def answer(self, memory, asked):
        self.meeting.wait()
        return Answer(text="gold"), self.recall(memory, asked)


def test_histories_of_one_question_each_are_worked_on_side_by_side():
    """Within a history there is nothing to wait for together: one at a time, a model would sit idle."""
    histories = {str(n): [question(f"q{n}", gold_turns=("s0:1",))] for n in range(6)}
    side_by_side = Spread(executor=ThreadsExecutor(jobs=3))
    seen = []
    found = evaluate(
        Waiting(),
        Corpus(**histories),
        Judge(),
        sink=lambda result: seen.append(result.question.id),
        spread=side_by_side,
    )
    assert seen == [f"q{n}" for n in range(6)]
    assert found == evaluate(System(), Corpus(**histories), Judge())


def test_a_sink_that_raises_is_heard_when_nothing_is_under_way_any_more(monkeypatch):
    """Else a run would be cleared away under threads that still write to it."""
    under_way, stopped = threading.Event(), threading.Event()

    class Stop(threading.Event):
        def set(self):
            super().set()
            stopped.set()

    class Held(Closing):
        def answer(self, memory, asked):
            if asked.id == "b":
                under_way.set()
                assert stopped.wait(30)
            return Answer(text="gold"), ()

    def refuse(_):
        assert under_way.wait(30)
        raise OSError("no space")

    monkeypatch.setattr(threads, "Event", Stop)
    system, spread = Held(), Spread(executor=ThreadsExecutor(jobs=2))
    with pytest.raises(OSError, match="no space") as caught:  # while its traceback is held, nothing ends by itself
        evaluate(system, Corpus(h=[question("a")], g=[question("b")]), Judge(), sink=refuse, spread=spread)
    assert system.opened == ["h", "g"] and not system.open_now and caught.tb


class Closing(System):
    def answer(self, memory, asked):
        return Answer(text="gold"), ()


def test_what_the_caller_has_set_holds_for_every_question():
    """A meter or the scope of a ledger lives in a context variable, which threads do not inherit."""
    told, seen = ContextVar("told", default="nothing"), []
    told.set("here")

    def keep(asked, make):
        seen.append(told.get())
        return make()

    corpus = Corpus(h=[question("a"), question("b")], g=[question("c")])
    for executor, workers in ((SerialExecutor(), 2), (ThreadsExecutor(jobs=2), 1), (ThreadsExecutor(jobs=2), 2)):
        system = Closing()
        list(results(system, corpus, Judge(), keep=keep, workers=workers, spread=Spread(executor=executor)))
    assert seen == ["here"] * 9


def test_a_result_that_was_recorded_is_not_made_again():
    made = next(results(System(), Corpus(h=[question("a")]), Judge()))
    fresh = []

    def keep(asked, make):
        return made if asked.id == "a" else fresh.append(asked.id) or make()

    assert len(list(results(System(), Corpus(h=[question("a"), question("b")]), Judge(), keep=keep))) == 2
    assert fresh == ["b"]


def test_recall_alone_scores_as_the_whole_run_does():
    asked = [question("a", gold_turns=("s0:1",)), question("b", gold_turns=("s4:1", "s9:9"))]
    whole = [result.measures for result in results(System(), Corpus(h=asked), Judge())]
    assert retrieve(System(), Corpus(h=asked)) == whole
    assert [one.measures for one in recalled(System(), Corpus(h=asked))] == whole


def test_a_corpus_without_questions_is_a_report_of_none():
    for corpus in (Corpus(), Corpus(h=[])):
        found = evaluate(System(), corpus, Judge())
        assert found.metrics["questions"] == found.metrics["n"] == 0 and "accuracy/strict" not in found.metrics


def test_a_verdict_of_an_unknown_phase_is_not_swallowed():
    grades = Grades()
    usage = (Usage(phase="dream", model="m"),)
    row = SimpleNamespace(excluded=(), values={})
    result = Result(
        question=question("a"),
        evidence=(),
        answer=Answer(text="x", usage=usage),
        verdict=Verdict(label="correct", judge="j"),
        measures=row,
    )
    with pytest.raises(KeyError, match="dream"):
        grades.add(result)
