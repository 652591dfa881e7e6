"""What is written and printed: the same bytes every time, and a dash where there is no number."""

import json
from datetime import datetime
from types import SimpleNamespace

import pytest

from sodamem import report
from sodamem.evaluate import Result
from sodamem.types import Answer, Award, Citation, Evidence, Interval, Question, Usage, Verdict

AT = datetime(2024, 1, 2, 3, 4)


def evidence(rank=1, **fields):
    given = {
        "id": f"a:{rank}",
        "kind": "turn",
        "turn_ids": (f"a:{rank}",),
        "session_id": "a",
        "speaker": "Ann",
        "text": "Ann: déjà vu 🙂",
        "at": AT,
        "confidence": 0.1 + 0.2,
        "awards": (
            Award(tunnel="bm25", head=1, direct=True, mass=0.1),
            Award(tunnel="dense", head=2, direct=False, mass=0.15),
            Award(tunnel="bm25", head=3, direct=False, mass=0.05),
        ),
    }
    return Evidence(rank=rank, **{**given, **fields})


@pytest.fixture
def result():
    day = Interval(start=datetime(2024, 1, 1), end=datetime(2024, 1, 2), grain="day")
    return Result(
        question=Question(
            id="q1",
            history_id="h",
            text="Where?\nNow",
            asked_at=AT,
            category="cat",
            category_name="C",
            gold="Oslo",
            gold_turns=("a:1",),
        ),
        evidence=(evidence(1, occurred=day, time_bonus=0.3), evidence(2)),
        answer=Answer(
            text="Oslo",
            citations=(Citation(evidence_id="a:1", turn_id="a:1", quote="déjà"),),
            usage=(Usage(phase="read", model="m", prompt=3, seconds=1.25),),
        ),
        verdict=Verdict(label="correct", judge="lexical", reason="gold contained"),
        measures=SimpleNamespace(values={"turn/mrr": 1 / 3}, excluded=("session/no_gold",)),
    )


def test_a_row_is_one_line_of_json_that_reads_back(result):
    line = report.line(report.row(result, awards_top=1))
    assert "\n" not in line and "déjà" in line
    row = json.loads(line)
    assert (row["question_id"], row["question"], row["gold_turns"]) == ("q1", "Where?\nNow", ["a:1"])
    assert row["answer"]["citations"] == [{"evidence_id": "a:1", "turn_id": "a:1", "quote": "déjà"}]
    assert row["verdict"] == {"label": "correct", "judge": "lexical", "reason": "gold contained"}
    assert row["measures"] == {"turn/mrr": 0.333333333} and row["excluded"] == ["session/no_gold"]


def test_a_row_has_no_clock_in_it(result):
    assert "seconds" not in json.dumps(report.row(result, awards_top=9))


def test_awards_explain_the_first_places_only_and_ids_stand_for_all(result):
    first, second = report.row(result, awards_top=1)["ranking"]
    assert first["awards"] == [["bm25", 1, "direct", 0.1], ["dense", 2, "derived", 0.15], ["bm25", 3, "derived", 0.05]]
    assert first["occurred"] == {"start": "2024-01-01T00:00:00", "end": "2024-01-02T00:00:00", "grain": "day"}
    assert first["time_bonus"] == 0.3
    assert (second["rank"], second["id"], second["turn_ids"], second["confidence"]) == (2, "a:2", ["a:2"], 0.3)
    assert "awards" not in second


def test_the_masses_of_a_tunnel_are_added_and_the_largest_comes_first():
    assert report.masses(evidence()) == pytest.approx({"bm25": 0.1 + 0.05, "dense": 0.15})
    awards = tuple(Award(tunnel=name, head=1, direct=True, mass=mass) for name, mass in (("a", 0.1), ("b", 0.9)))
    assert list(report.masses(evidence(awards=awards))) == ["b", "a"]


METRICS = {
    "accuracy/strict": 0.5, "accuracy/n": 4.0, "accuracy/cat/strict": 1.0, "accuracy/cat/n": 2.0,
    "accuracy/none/strict": 0.0, "accuracy/none/n": 2.0, "turn/n": 2.0, "turn/recall_at_1": 0.25,
    "turn/recall_at_10": 0.75, "turn/mrr": 0.5, "turn/cat/recall_at_10": 0.75, "turn/cat/n": 2.0,
    "turn/random_recall_at_10": 0.1,
}  # fmt: skip


def test_the_table_names_the_judge_and_has_a_dash_for_what_is_not_defined():
    table = report.table(METRICS, "lexical")
    head, turn, random, cat, none = table.splitlines()
    assert head.split() == [
        "n",
        "recall@1",
        "recall@5",
        "recall@10",
        "recall@20",
        "nDCG@10",
        "MRR",
        "accuracy",
        "(lexical)",
    ]
    assert turn.split() == ["turn", "level", "2", "0.250", "-", "0.750", "-", "-", "0.500", "0.500"]
    assert random.split() == ["random", "order", "-", "-", "0.100", "-"]
    assert cat.split() == ["cat", "2", "0.750", "-", "-", "1.000"]
    assert none.split() == ["none", "2", "-", "-", "-", "0.000"]  # nothing to retrieve for it: no 0.0
    assert "without errata" not in table


def test_figures_without_errata_have_a_line_of_their_own_and_are_no_category():
    more = {
        "accuracy/without_errata/strict": 0.6, "accuracy/without_errata/n": 3.0, "without_errata/turn/n": 1.0,
        "without_errata/turn/recall_at_10": 0.8, "accuracy/cat/without_errata/strict": 1.0,
    }  # fmt: skip
    lines = report.table({**METRICS, **more}, "lexical").splitlines()
    assert len(lines) == 6 and lines[-1].split() == [
        "without",
        "errata",
        "1",
        "-",
        "-",
        "0.800",
        "-",
        "-",
        "-",
        "0.600",
    ]


def test_a_table_of_nothing_is_its_head():
    assert len(report.table({"questions": 0.0, "n": 0.0}, "lexical").splitlines()) == 1


def test_columns_line_up():
    assert (
        report.columns([["", "n"], ["long name", "1"], ["x", "100"]])
        == "             n\nlong name    1\nx          100"
    )


def test_a_worked_question_tells_its_story(result):
    told = report.worked(result, items=2)
    assert "[cat, asked 2024-01-02]" in told and "[gold: Oslo; lexical: correct]" in told
    assert "cites a:1: “déjà”" in told
    lines = told.splitlines()
    assert " * 1. 0.300 = bm25 0.150, dense 0.150, time 0.30" in lines
    assert "   2. 0.300 = bm25 0.150, dense 0.150" in lines
