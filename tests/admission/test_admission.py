"""Admission: labels that are known, rates by class against bounds, and a record that holds for this very judge only."""

import json
import os
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pytest

from sodamem import build, config
from sodamem.admission import admit as admission
from sodamem.admission import labelled, perturb
from sodamem.errors import ConfigError, DataError
from sodamem.metric.statistics import wilson
from sodamem.types import Answer, Question, Verdict


def question(name, gold, text="What is it?", answerable=True, **more):
    given = {"history_id": name, "asked_at": datetime(2024, 1, 1), "category": "c", "category_name": "c"}
    return Question(id=name, text=text, gold=gold, answerable=answerable, **given | more)


GOLDS = (
    "a red kite",
    "a blue boat",
    "the old mill",
    "chess and running",
    "skiing and judo",
    "7 May 2023",
    "2 June 2022",
    "82 days",
    "12 pets",
)
QUESTIONS = [question(f"q{i}", gold, trap="a grey mule" if i < 2 else "") for i, gold in enumerate(GOLDS)]
QUESTIONS += [question("n1", "You have not said.", answerable=False, trap="a brown owl")]


@dataclass(frozen=True, kw_only=True)
class Grader:
    """Accepts the classes it is told to, and keeps silent on others."""

    name: str = "grader"
    accepts: tuple[str, ...] = labelled.RIGHT
    silent: tuple[str, ...] = ()

    @property
    def digest(self):
        return f"{self.accepts}{self.silent}"

    def grade(self, question, answer):
        kind = question.id.partition("/")[0]
        label = "unjudged" if kind in self.silent else "correct" if kind in self.accepts else "incorrect"
        return Verdict(label=label, judge=self.name)


@dataclass(frozen=True, kw_only=True)
class Given:
    """A dataset of the questions above."""

    split: str = "dev"

    def open(self):
        return self

    history_ids = ("h",)

    def questions(self, history_id):
        return QUESTIONS


@pytest.fixture
def trial():
    bounds = dict.fromkeys(labelled.CLASSES, 0.0)
    return admission.Admission(dataset=Given(), audit=None, per_class=50, seed=1, bounds=bounds, unjudged=0.0)


# --- the labelled answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "form"),
    [
        ("25 minutes and 50 seconds", "25:50"),
        ("25:05", "25 minutes and 5 seconds"),
        ("7 May 2023", "May 7, 2023"),
        ("May 7, 2023", "7 May 2023"),
        ("417 pounds", "£417"),
        ("82 days", "eighty-two days"),
        ("beekeeping and chess", "chess and beekeeping"),
        ("tea, milk and honey", "honey, milk and tea"),
        ("Pride and Prejudice", None),
        ("a red kite", None),
        ("June 2023", None),
        ("No and yes", None),
    ],
)
def test_other_forms_say_the_same(gold, form):
    assert perturb.other_form(gold) == form


@pytest.mark.parametrize(
    ("change", "gold", "miss"),
    [
        (perturb.other_date, "31 December 2022", "1 January 2023"),
        (perturb.other_date, "May 7, 2023", "8 May 2023"),
        (perturb.other_date, "December 2022", "January 2023"),
        (perturb.other_date, "2022", "2023"),
        (perturb.other_date, "31 April 2022", None),
        (perturb.other_date, "a red kite", None),
        (perturb.other_number, "3", "4"),
        (perturb.other_number, "82 days", "84 days"),  # one day is granted by rubrics
        (perturb.other_number, "25:50", None),
        (perturb.other_number, "7 May 2023", None),
        (perturb.half, "chess and running", "chess"),
        (perturb.half, "tea, milk, salt and honey", "tea and milk"),
        (perturb.half, "Simon and Garfunkel", None),
        (perturb.negation, "a red kite.", "It is definitely not a red kite."),
        (perturb.negation, "No, never", None),
    ],
)
def test_near_misses_are_one_step_off(change, gold, miss):
    assert change(gold) == miss


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (13, "thirteen"),
        (20, "twenty"),
        (42, "forty-two"),
        (100, "one hundred"),
        (342, "three hundred and forty-two"),
    ],
)
def test_numbers_are_spelt(number, words):
    assert perturb.spelt(number) == words


def test_every_class_that_questions_can_give_is_there_with_its_label(trial):
    items = trial.items()
    assert {item.kind for item in items} == set(labelled.CLASSES) - {"specific", "vague"}
    assert len({item.question.id for item in items}) == len(items)
    for item in items:
        assert item.right == (item.kind in labelled.RIGHT)
        if item.kind in ("other", "trap", "date", "number", "half", "asserted"):
            assert item.answer.text != item.question.gold


def test_an_answer_labelled_wrong_never_holds_the_gold_by_chance(trial):
    for item in trial.items():
        if item.kind in ("other", "trap", "injection", "asserted"):
            assert item.question.gold not in item.answer.text


def test_a_listing_holds_the_gold_among_two_others_of_its_kind(trial):
    listings = [item for item in trial.items() if item.kind == "listing"]
    assert {item.answer.text for item in listings} == {
        "the old mill, a red kite, a blue boat",
        "a red kite, a blue boat, the old mill",
        "a blue boat, the old mill, a red kite",
    }
    assert not any(item.right for item in listings)


def test_there_are_at_least_thirty_injections_each_with_a_wrong_answer(trial):
    assert len(labelled.injections()) >= 30
    injected = [item for item in trial.items() if item.kind == labelled.INJECTION]
    assert len(injected) >= len(labelled.injections())
    assert all("{wrong}" not in item.answer.text for item in injected)
    assert len({item.answer.text for item in injected}) >= 30


def test_what_has_an_order_is_not_reordered():
    ordered = [
        question("o", "tea and milk", text="In which order did I buy them?"),
        question("p", "a kite"),
        question("n", "-", answerable=False),
    ]
    assert not [item for item in labelled.build(ordered, None, per_class=9, seed=1) if item.kind == "other_form"]


def test_disputed_golds_and_rubrics_are_left_out():
    odd = [question("e", "a cat", erratum="disputed"), question("r", "The user would prefer jazz."), *QUESTIONS]
    kept = {item.question.history_id for item in labelled.build(odd, None, per_class=99, seed=1)}
    assert "e" not in kept and "r" not in kept and "q0" in kept


def test_the_set_is_the_same_every_time_and_another_for_another_seed(trial):
    first, again, other = (labelled.digest(t.items()) for t in (trial, trial, replace(trial, seed=2)))
    assert first == again != other
    assert len(labelled.as_json(trial.items()).splitlines()) == len(trial.items())


def test_a_class_is_cut_to_the_number_asked_for(trial):
    counts = Counter(item.kind for item in replace(trial, per_class=2).items())
    assert counts.pop("injection") >= 30 and max(counts.values()) == 2


def test_too_few_questions_are_refused():
    with pytest.raises(DataError, match="must hold right and wrong answers"):
        labelled.build([], None, per_class=3, seed=1)


# --- rates and bounds ---------------------------------------------------------------------------------------


def test_a_judge_that_is_always_right_is_admitted(trial, tmp_path):
    record = admission.admit(trial, Grader(), tmp_path)
    assert record.admitted and admission.remark(Grader(), tmp_path) == ""
    assert record.quality.sensitivity == record.quality.specificity == 1


def test_one_accepted_injection_is_enough_to_stay_out(trial, tmp_path):
    judge = Grader(accepts=(*labelled.RIGHT, "injection"))
    record = admission.admit(trial, judge, tmp_path)
    row = record.classes["injection"]
    assert not record.admitted and row["rate"] == 1 and not row["within"] and record.classes["other"]["within"]
    assert admission.remark(judge, tmp_path) == "judge grader is not admitted: injection 100.0% > 0.0%"
    assert record.quality.specificity == 1  # injections are no ordinary errors


def test_rates_are_counts_with_intervals(trial, tmp_path):
    record = admission.admit(trial, Grader(accepts=(*labelled.RIGHT[1:], "half")), tmp_path)
    gold, half = record.classes["gold"], record.classes["half"]
    assert (gold["n"], gold["errors"], gold["rate"]) == (9, 9, 1.0) and (gold["low"], gold["high"]) == wilson(9, 9)
    assert half["errors"] == half["n"] == 2
    wrong = sum(row["n"] for name, row in record.classes.items() if name in labelled.WRONG)
    assert record.quality.wrong == wrong and record.quality.refused == wrong - 2


def test_a_judge_that_keeps_silent_is_not_admitted_for_making_no_error(trial, tmp_path):
    judge = Grader(silent=("other",))
    record = admission.admit(trial, judge, tmp_path)
    assert not record.admitted and record.classes["other"]["errors"] == 0
    assert f"other unjudged {record.classes['other']['n']} of" in admission.remark(judge, tmp_path)


def test_bounds_of_the_config_decide(trial, tmp_path):
    loose = replace(trial, bounds=trial.bounds | {"half": 1.0})
    assert admission.admit(loose, Grader(accepts=(*labelled.RIGHT, "half")), tmp_path).admitted


def test_the_record_is_that_of_this_very_judge(trial, tmp_path):
    admission.admit(trial, Grader(), tmp_path)
    changed = Grader(accepts=("gold",))
    assert admission.standing(Grader(), tmp_path).admitted and admission.standing(changed, tmp_path) is None
    assert "was never tried" in admission.remark(changed, tmp_path)


def test_a_damaged_record_is_one_line(trial, tmp_path):
    admission.admit(trial, Grader(), tmp_path)
    for path in tmp_path.glob("*.json"):
        path.write_text('{"judge": "x"}')
    with pytest.raises(DataError, match="must be an admission's record"):
        admission.standing(Grader(), tmp_path)


def test_the_record_reads_as_a_table(trial, tmp_path):
    shown = admission.describe(admission.admit(trial, Grader(accepts=(*labelled.RIGHT, "half")), tmp_path))
    assert "NOT admitted" in shown and "outside" in shown and "false rejects 0.000" in shown


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"per_class": 0}, "per_class must be >= 1"),
        ({"bounds": {"gold": 0.1}}, "one bound for each of gold"),
        ({"bounds": dict.fromkeys(labelled.CLASSES, 2.0)}, "bound of gold must be within 0..1"),
        ({"unjudged": -1}, "bound of unjudged"),
    ],
)
def test_bounds_that_cannot_be_are_refused(trial, change, said):
    with pytest.raises(ConfigError, match=said):
        replace(trial, **change)


# --- the packaged set and the audit -------------------------------------------------------------------------


def test_the_packaged_trial_has_every_class_but_the_audits():
    trial = build.component(config.compose("+admission=default"), "admission")
    counts = Counter(item.kind for item in trial.items())
    assert set(counts) == set(labelled.CLASSES) - {"specific", "vague"} and counts["injection"] >= 30
    assert all(counts[kind] >= 30 for kind in ("gold", "other", "trap", "number", "abstention", "abstained"))


def audit_row(name, answer):
    return {
        "question_id": name,
        "question": "Which?",
        "golden_answer": 2022,
        "generated_answer": answer,
        "category": "2",
    }


def test_the_audits_wrong_answers_are_read_without_the_golds_it_found_wrong(tmp_path):
    rows = [audit_row("locomo_0_qa0", "2021"), audit_row("locomo_0_qa1", "2020"), audit_row("locomo_0_qa2", "2019")]
    for name in labelled.AUDIT.values():
        (tmp_path / name).write_text(json.dumps({"detailed_results": {"u": rows}}))
    errors = [
        {"question_id": "locomo_0_qa0", "error_type": "TEMPORAL_ERROR"},
        {"question_id": "locomo_0_qa1", "error_type": "WRONG_CITATION"},
    ]
    (tmp_path / "errors.json").write_text(json.dumps(errors))
    found = [item for item in labelled.build(QUESTIONS, tmp_path, per_class=9, seed=1) if item.kind == "vague"]
    assert sorted(item.answer.text for item in found) == ["2019", "2020"]
    assert found[0].question.gold == "2022" and found[0].question.category == "category_2"


def test_an_audit_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(DataError, match="audit must name a readable file"):
        labelled.build(QUESTIONS, tmp_path / "none", per_class=9, seed=1)


@pytest.mark.data
@pytest.mark.skipif("SODAMEM_DATA" not in os.environ, reason="needs locomo_audit/ under SODAMEM_DATA")
def test_the_whole_audit_is_read():
    folder = Path(os.environ["SODAMEM_DATA"]) / "locomo_audit"
    counts = Counter(item.kind for item in labelled.build(QUESTIONS, folder, per_class=2000, seed=1))
    assert 1400 < counts["specific"] == counts["vague"] < 1540


def test_an_answer_stays_what_it_was():
    assert labelled.Labelled(kind="gold", question=QUESTIONS[0], answer=Answer(text="x")).right
