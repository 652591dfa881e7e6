"""Judging again: nothing twice, nothing lost, no verdict of another judge taken for this one's; figures by hand."""

import json
import threading
from dataclasses import dataclass, field, replace
from datetime import datetime

import pytest

from sodamem.dataset.hypotheses import Hypotheses, Hypothesis
from sodamem.errors import ConfigError, ServiceError, StoreError
from sodamem.judge.identity import FAILED
from sodamem.judge.panel import PanelJudge
from sodamem.metric.agreement import Quality
from sodamem.rejudge.page import page
from sodamem.rejudge.rejudge import rejudge
from sodamem.rejudge.report import describe, figures
from sodamem.rejudge.verdicts import Key, Verdicts
from sodamem.types import Answer, Question, Usage, Verdict


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """Says of each question what it is told to; `flips` name those on which it changes its mind every time."""

    name: str
    wrong: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    version: int = 1
    asked: list = field(default_factory=list)
    fails_at: int | None = None

    @property
    def digest(self):
        return f"{self.name}/{self.version}/{self.wrong}"

    def grade(self, question, answer):
        if len(self.asked) == self.fails_at:
            raise KeyboardInterrupt
        self.asked.append(question.id)
        label = "unjudged" if question.id in self.silent else "incorrect" if question.id in self.wrong else "correct"
        usage = (Usage(phase="judge", model="m", prompt=3, cached=None, completion=1),)
        return Verdict(label=label, judge=self.name, reason="so", raw=f"said {label}", usage=usage)


@dataclass(frozen=True, kw_only=True)
class Fickle(Oracle):
    number: int = 0

    def repeated(self, number):
        return replace(self, number=number)

    def grade(self, question, answer):
        verdict = super().grade(question, answer)
        return replace(verdict, label="incorrect") if self.number and question.id == "q1" else verdict


def question(name, kind="a", **more):
    given = {
        "history_id": name,
        "text": f"{name}?",
        "asked_at": datetime(2024, 1, 1),
        "category_name": kind,
        "gold": "x",
    }
    return Question(id=name, category=kind, **given | more)


@pytest.fixture
def answers():
    def make(n=4, published=(), missing=(), **more):
        kinds = ("a", "b")
        rows = [
            Hypothesis(
                question=question(f"q{i}", kinds[i % 2], **more),
                answer=Answer(text=f"answer {i} </script><b>"),
                published=None if not published else "incorrect" if f"q{i}" in published else "correct",
            )
            for i in range(n)
        ]
        left = tuple(question(name) for name in missing)
        return Hypotheses(name="set", sha256="f" * 64, answers=tuple(rows), missing=left, published_by="them", notes={})

    return make


@pytest.fixture
def verdicts(tmp_path):
    with Verdicts(tmp_path / "v" / "verdicts.sqlite", "f" * 64) as opened:
        yield opened


# --- nothing twice ------------------------------------------------------------------------------------------


def test_an_interrupted_judging_goes_on_where_it_stopped(answers, verdicts):
    first = Oracle(name="j", wrong=("q1",), fails_at=3)
    with pytest.raises(KeyboardInterrupt):
        rejudge(answers(5), [first], verdicts)
    second = Oracle(name="j", wrong=("q1",))
    found = rejudge(answers(5), [second], verdicts)
    assert first.asked == ["q0", "q1", "q2"] and second.asked == ["q3", "q4"]
    assert [verdict.label for verdict in found.opinions[0].counted] == ["correct", "incorrect", *["correct"] * 3]


def test_what_came_back_from_disk_is_what_was_written(answers, verdicts):
    judged = [rejudge(answers(), [Oracle(name="j", wrong=("q2",))], verdicts).opinions for _ in range(2)]
    assert judged[0] == judged[1]
    assert judged[1][0].counted[0].usage[0].cached is None


def test_unjudged_answers_are_asked_about_again_and_the_others_are_not(answers, verdicts):
    rejudge(answers(), [Oracle(name="j", silent=("q2",))], verdicts)
    again = Oracle(name="j")
    found = rejudge(answers(), [again], verdicts)
    assert again.asked == ["q2"] and all(verdict.label == "correct" for verdict in found.opinions[0].counted)


def test_a_changed_judge_is_a_new_judge(answers, verdicts):
    rejudge(answers(), [Oracle(name="j")], verdicts)
    changed = Oracle(name="j", version=2)
    rejudge(answers(), [changed], verdicts)
    assert len(changed.asked) == 4 and len(verdicts.all()) == 8


def test_verdicts_on_other_answers_are_refused(tmp_path, verdicts):
    with pytest.raises(ConfigError, match=r"must be on the same answers.*Name another folder"):
        Verdicts(verdicts.path, "e" * 64)


def test_a_verdict_that_stands_is_not_overwritten(verdicts):
    key = Key(judge="d", question_id="q")
    verdicts.put({key: Verdict(label="correct", judge="j")})
    verdicts.put({key: Verdict(label="incorrect", judge="j")})
    assert verdicts.all()[key].label == "correct"


def test_a_damaged_file_is_one_line(tmp_path):
    (tmp_path / "verdicts.sqlite").write_bytes(b"no database at all, and long enough to be read as one" * 20)
    with pytest.raises(StoreError, match="is damaged"):
        Verdicts(tmp_path / "verdicts.sqlite", "f" * 64)


def test_members_of_a_panel_are_heard_once_even_when_they_also_sit_alone(answers, verdicts):
    a, b = Oracle(name="a", wrong=("q1",)), Oracle(name="b")
    panel = PanelJudge(name="p", vote="unanimous", judges={"a": a, "b": b})
    found = rejudge(answers(), [panel, a], verdicts)
    assert len(a.asked) == len(b.asked) == 4
    assert [verdict.label for verdict in found.opinions[0].counted] == ["correct", "incorrect", "correct", "correct"]


def test_workers_judge_each_answer_once_and_keep_the_order(answers, verdicts):
    lock, judge = threading.Lock(), Oracle(name="j", wrong=("q3", "q30"))
    steps = []
    found = rejudge(
        answers(60),
        [judge],
        verdicts,
        workers=8,
        step=lambda name: lock.acquire() and (steps.append(name), lock.release()),
    )
    assert sorted(judge.asked) == sorted(f"q{i}" for i in range(60)) and len(steps) == 60
    assert [place for place, verdict in enumerate(found.opinions[0].counted) if verdict.label == "incorrect"] == [3, 30]


def test_a_model_that_fails_again_and_again_stops_the_judging_and_keeps_what_there_is(answers, verdicts):
    class Broken(Oracle):
        def grade(self, question, answer):
            self.asked.append(question.id)
            return Verdict(label="unjudged", judge=self.name, reason=f"{FAILED}timeout")

    broken = Broken(name="j")
    with pytest.raises(ServiceError, match=r"judge j failed 20 times in a row \(timeout\)"):
        rejudge(answers(60), [broken], verdicts)
    assert len(broken.asked) == len(verdicts.all()) == 20


@pytest.mark.parametrize(
    ("judges", "more", "said"),
    [
        ([Oracle(name="j"), Oracle(name="j")], {}, "names of their own, got 'j' twice"),
        ([Oracle(name="published")], {}, "got 'published' twice"),
        ([Oracle(name="j")], {"repeats": 0}, "repeats must be >= 1"),
        ([Oracle(name="j")], {"workers": 0}, "workers must be >= 1"),
        ([type("Bare", (), {"name": "bare"})()], {}, "judge bare must have a digest"),
    ],
)
def test_what_would_mix_judges_up_is_refused(answers, verdicts, judges, more, said):
    with pytest.raises(ConfigError, match=said):
        rejudge(answers(), judges, verdicts, **more)


# --- figures ------------------------------------------------------------------------------------------------


def test_strict_accuracy_counts_what_is_missing_and_unjudged_as_not_correct(answers, verdicts):
    found = figures(rejudge(answers(4, missing=("q8",)), [Oracle(name="j", wrong=("q0",), silent=("q1",))], verdicts))
    (row,) = found["judges"]
    assert (row["n"], row["correct"], row["incorrect"], row["unjudged"], row["missing"]) == (5, 2, 1, 1, 1)
    assert row["strict"] == 2 / 5 and row["judged"] == 2 / 3
    assert row["by_type"]["a"]["strict"] == 1 / 3 and row["by_type"]["b"]["judged"] == 1


def test_pairs_are_compared_over_what_both_judged(answers, verdicts):
    judges = [Oracle(name="a", wrong=("q0", "q1"), silent=("q5",)), Oracle(name="b", wrong=("q1", "q2"))]
    found = figures(rejudge(answers(6, published=("q1",)), judges, verdicts))
    row = next(row for row in found["pairs"] if (row["a"], row["b"]) == ("a", "b"))
    assert (row["n"], row["only_a"], row["only_b"], row["p"]) == (5, 1, 1, 1.0)
    assert row["agreement"] == 3 / 5
    assert row["kappa"] == pytest.approx((3 / 5 - (9 + 4) / 25) / (1 - (9 + 4) / 25))
    assert found["fleiss"]["n"] == 5 and found["judges"][0]["judge"] == "published"
    assert found["disagreements"] == 3  # q0, q2 and q5, which one of them did not judge


def test_why_answers_are_unjudged_and_what_the_judge_cost_is_said(answers, verdicts):
    data = figures(rejudge(answers(), [Oracle(name="j", silent=("q0", "q3"))], verdicts))
    (row,) = data["judges"]
    assert row["unjudged_reasons"] == {"so": 2}
    assert row["tokens"] == {"attempts": 4, "cache_hits": 0, "prompt": 12, "completion": 4}
    shown = describe(data)
    assert "j: unjudged because so 2" in shown and "j: 4 model calls, 12 prompt and 4 completion tokens" in shown


def test_flips_are_counted_for_judges_that_may_change_their_mind(answers, verdicts):
    fickle, firm = Fickle(name="f"), Oracle(name="o")
    found = figures(rejudge(answers(), [fickle, firm], verdicts, repeats=3))
    rows = {row["judge"]: row["flips"] for row in found["judges"]}
    assert rows["f"]["changed"] == 1 and rows["f"]["rate"] == 1 / 4 and rows["o"] is None
    assert len(firm.asked) == 4 and rows["f"]["correct_by_repeat"] == [1.0, 0.75, 0.75]


def test_accuracy_is_corrected_by_what_admission_showed(answers, verdicts):
    judges = [Oracle(name="a", wrong=("q0",)), Oracle(name="b")]
    quality = {judges[0].digest: Quality(right=100, accepted=90, wrong=100, refused=80)}
    data = figures(rejudge(answers(), judges, verdicts), quality, {judges[1].digest: "judge b is not admitted"})
    one, two = data["judges"]
    assert one["corrected"]["share"] == pytest.approx((0.75 + 0.8 - 1) / 0.7) and "corrected" not in two
    assert "corrected for its error rates" in describe(data) and "judge b is not admitted" in describe(data)


def test_histories_with_several_questions_are_drawn_as_a_whole(answers, verdicts):
    given = answers(8)
    rows = tuple(
        replace(row, question=replace(row.question, history_id=f"h{i % 2}")) for i, row in enumerate(given.answers)
    )
    found = figures(rejudge(replace(given, answers=rows), [Oracle(name="j", wrong=("q1", "q3", "q5"))], verdicts))
    assert found["judges"][0]["clustered"] == {"low": 0.25, "high": 1.0, "clusters": 2}


def test_errata_have_a_line_of_their_own(answers, verdicts):
    given = answers()
    first = replace(given.answers[0], question=replace(given.answers[0].question, erratum="disputed"))
    found = figures(
        rejudge(replace(given, answers=(first, *given.answers[1:])), [Oracle(name="j", wrong=("q0",))], verdicts)
    )
    assert found["judges"][0]["without_errata"]["strict"] == 1 and found["judges"][0]["strict"] == 3 / 4
    assert "without errata" in describe(found)


def test_every_pair_of_twenty_judges_is_compared_over_ten_thousand_verdicts(answers, verdicts):
    judges = [Oracle(name=f"j{i}", wrong=tuple(f"q{k}" for k in range(i, 500, 7))) for i in range(20)]
    given = answers(500, published=("q1",))
    found = rejudge(given, judges, verdicts)
    data = figures(found)
    describe(data)
    assert len(data["pairs"]) == 21 * 20 / 2


def test_the_report_reads_as_text_and_survives_json(answers, verdicts):
    data = figures(rejudge(answers(4, published=("q1",)), [Fickle(name="f", silent=("q0",))], verdicts, repeats=2))
    shown = describe(json.loads(json.dumps(data)))
    assert "published - f" in shown and "1 of 4 verdicts changed over 2 repeats" in shown
    assert describe(data) == shown


def test_the_page_cannot_be_ended_by_what_an_answer_says(answers, verdicts):
    shown = page(rejudge(answers(), [Oracle(name="j")], verdicts))
    assert shown.count("</script>") == 2 and "\\u003c/script>" in shown and "/*DATA*/" not in shown
    start = shown.index('type="application/json" id="data">') + len('type="application/json" id="data">')
    data = json.loads(shown[start : shown.index("</script>")])
    assert (
        data["rows"][0]["answer"] == "answer 0 </script><b>" and data["rows"][0]["verdicts"][0]["raw"] == "said correct"
    )
    assert "http" not in shown.replace("http-equiv", "")


def test_presets_and_judges_may_be_said_as_groups_are_everywhere_else():
    from sodamem.commands_judging import spelled

    assert spelled(["hypotheses=run", "judge=[lexical,scripted]", "-q"]) == [
        *("run", "-q", "--judge", "lexical", "--judge", "llm", "chat=scripted")
    ]
