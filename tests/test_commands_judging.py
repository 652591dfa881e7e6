"""The commands about judges from the outside: files in, tables and files out, faults in one line."""

import json

import pytest

from sodamem import commands_judging as commands
from sodamem.errors import ConfigError, DataError

ROWS = [
    {"id": "1", "question": "Which pet?", "gold": "a cat", "category": "a", "answer": "a cat", "ok": True},
    {"id": "2", "question": "Where?", "gold": "in Rome", "category": "a", "answer": "in Oslo", "ok": True},
    {"id": "3", "question": "When?", "gold": "7 May 2023", "category": "b", "answer": "May 7, 2023", "ok": False},
]


@pytest.fixture
def answers(tmp_path, runs):
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(ROWS))
    return ["file", f"hypotheses.path={path}", "+hypotheses.fields.published=ok"]


def test_answers_are_judged_and_everything_is_written(answers, runs, capsys):
    assert commands.rejudge([*answers, "-q"]) == 0
    shown = capsys.readouterr()
    assert "published - lexical" in shown.out and "verdicts in" in shown.err
    (folder,) = (runs / "rejudge").iterdir()
    report = json.loads((folder / "report.json").read_text())
    assert [row["judge"] for row in report["judges"]] == ["published", "lexical", "lexical_strict"]
    assert report["judges"][1]["correct"] == 2 and report["judges"][0]["correct"] == 2
    odd = [json.loads(line)["id"] for line in (folder / "disagreements.jsonl").read_text().splitlines()]
    assert odd == ["2", "3"] and "Which pet?" in (folder / "page.html").read_text()


def test_judging_again_writes_the_same_bytes(answers, runs, capsys):
    commands.rejudge([*answers, "-q"])
    (folder,) = (runs / "rejudge").iterdir()
    names = ("report.json", "page.html", "disagreements.jsonl")
    before = [(folder / name).read_bytes() for name in names]
    capsys.readouterr()
    commands.rejudge([*answers, "-q", "--json"])
    assert [(folder / name).read_bytes() for name in names] == before
    assert json.loads(capsys.readouterr().out) == json.loads(before[0])


def test_judges_take_changes_and_a_model_of_their_own(answers, capsys):
    judges = ["--judge", "lexical", "f1=0.9", "name=narrow", "--judge", "llm", "chat=scripted", "replies=none"]
    assert commands.rejudge([*answers, "-q", *judges]) == 0
    assert "narrow" in capsys.readouterr().out


def test_labels_of_people_come_back_as_a_judge(answers, tmp_path, runs, capsys):
    commands.rejudge([*answers, "-q", "--judge", "lexical"])
    (folder,) = (runs / "rejudge").iterdir()
    page = (folder / "page.html").read_text()
    data = json.loads(page[page.index('id="data">') + 10 : page.index("</script>")])
    labels = [
        {"question_id": row["id"], "answer": row["fingerprint"], "label": "correct", "note": ""} for row in data["rows"]
    ]
    (tmp_path / "labels.json").write_text(json.dumps({"format": data["format"], "labels": labels}))
    capsys.readouterr()
    assert commands.rejudge([*answers, "-q", "--judge", "human", f"path={tmp_path}/labels.json"]) == 0
    assert "3 · 0 · 0 · 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--judge", "lexica"], "judge must be one of .*lexical"),
        (["--judge", "f1=2"], "--judge must begin with a name"),
        (["--judge", "lexical", "f1=2"], r"judge\.f1 must be above 0"),
        (["--judge", "llm"], "phase judge needs a chat, got none"),
        (["--repeats", "0"], "repeats must be >= 1"),
        (["--judge", "lexical", "--judge", "lexical"], "names of their own"),
    ],
)
def test_a_fault_is_one_line(answers, more, said):
    with pytest.raises(ConfigError, match=said):
        commands.rejudge([*answers, "-q", *more])


def test_an_unknown_preset_is_answered_with_those_there_are(runs):
    with pytest.raises(ConfigError, match="hypotheses must be one of file, longmemeval, run, sodamem_release"):
        commands.rejudge(["nothing"])


def test_an_admission_is_kept_and_shown_beside_the_verdicts(answers, runs, capsys):
    small = ["admission.dataset.histories=12", "admission.per_class=8"]
    assert commands.admit([*small, "-q", "--judge", "lexical"]) in (0, 1)
    assert "false accepts" in capsys.readouterr().out and list((runs / "admissions").glob("*.json"))
    commands.rejudge([*answers, "-q"])
    shown = capsys.readouterr().out
    assert "lexical_strict was never tried" in shown and "judge lexical was never tried" not in shown
    assert "corrected for its error rates" in shown


def test_the_exit_code_says_whether_all_judges_were_admitted(runs, capsys):
    loose = [
        f"admission.bounds.{kind}=1"
        for kind in ("negation", "hedge", "other_form", "half", "number", "date", "trap", "sentence", "abstention")
    ]
    small = ["admission.dataset.histories=6", "admission.per_class=3", "admission.unjudged=1"]
    assert commands.admit([*small, *loose, "-q", "--judge", "lexical", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["admitted"] is True
    assert commands.admit([*small, "-q", "--judge", "llm", "chat=scripted", "replies=none"]) == 1  # says correct to all


def test_labelled_answers_can_be_looked_at(runs, capsys):
    commands.admit(["admission.dataset.histories=6", "admission.per_class=2", "--show"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"class", "question", "gold", "answer"} == set(rows[0])


def test_the_frontier_is_mapped_with_points_of_ones_own(answers, runs, capsys):
    commands.rejudge([*answers, "-q"])
    (folder,) = (runs / "rejudge").iterdir()
    capsys.readouterr()
    assert commands.frontier(["--point", "mine", "90", "1.5", "--rejudged", str(folder / "report.json")]) == 0
    shown = capsys.readouterr().out
    assert "dominated by mine: Cersei Full-context" in shown and "by lexical: 66.7% (not met)" in shown
    assert sorted(path.name for path in (runs / "frontier").iterdir()) == [
        "map.html",
        "map.png",
        "map.svg",
        "report.json",
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (["--point", "x", "y", "1"], ConfigError, "must have numbers after its name"),
        (["--point", "x", "101", "1"], ConfigError, "accuracy within 0..100"),
        (["--point", "x", "10", "nan"], ConfigError, "cost above 0"),
        (["--rival", "Nobody"], ConfigError, "rival must be one of"),
        (["--rejudged", "/nowhere/report.json"], DataError, "must name a re-judging's report.json"),
        (["frontier.draws=0"], ConfigError, "draws must be >= 1"),
    ],
)
def test_a_fault_of_the_frontier_is_one_line(runs, arguments, error, said):
    with pytest.raises(error, match=said):
        commands.frontier(arguments)
