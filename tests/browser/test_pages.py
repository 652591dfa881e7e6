"""The two pages as a person uses them: labels go out and come back as a judge, and the map answers to its knobs."""

import json

import pytest

from sodamem import build, config
from sodamem import commands_judging as commands
from sodamem.types import Answer, Question

HOSTILE = (
    "</script><script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\"> \"quoted\" 'so' "
    "<!-- ${1+1} \u2028 &lt;b&gt; ]]>"
)
ROWS = [
    {"id": "1", "question": "Which pet?", "gold": "a cat", "category": "a", "answer": "a cat", "ok": True},
    {"id": "2", "question": "Where?", "gold": "in Rome", "category": "a", "answer": HOSTILE, "ok": True},
    {
        "id": '3"]<i>',
        "question": "When?",
        "gold": "7 May 2023",
        "category": '"><b>b',
        "answer": "8 May 2023",
        "ok": False,
    },
    {"id": "4", "question": "Who <b>?", "gold": "Ann", "category": "a", "answer": "It is not Ann.", "ok": True},
]


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(ROWS), encoding="utf-8")
    return ["file", f"hypotheses.path={path}", "+hypotheses.fields.published=ok", "-q"]


@pytest.fixture
def judged(browser, answers, tmp_path, capsys):
    """The browser, on the page of a re-judging."""
    folder = tmp_path / "rejudged"
    commands.rejudge([*answers, "--folder", str(folder), "--judge", "lexical"])
    capsys.readouterr()
    browser.open(folder / "page.html")
    return browser


def test_the_page_of_verdicts_needs_nothing_else_and_complains_of_nothing(judged):
    assert judged.js("document.title") == "Verdicts on file"
    assert judged.texts(".question") == [row["question"] for row in ROWS]
    assert judged.faults() == []


def test_what_an_answer_says_stays_text(judged):
    assert judged.texts(".answer") == [row["answer"] for row in ROWS]
    assert judged.js("document.querySelectorAll('main img, main script, main b:not([class])').length") == 0
    assert judged.js("document.querySelectorAll('script').length") == 2
    assert '"><b>b' in judged.texts("#category option")


def test_answers_are_found_by_disagreement_type_and_words(judged):
    judged.click("#disagreements")
    assert judged.texts(".question") == ["Where?", "Who <b>?"]
    judged.click("#disagreements")
    judged.type("#words", "ROME")
    assert judged.texts(".question") == ["Where?"]
    assert judged.texts("#count") == ["1 of 4 answers, 1 shown · 0 labelled by me"]
    judged.js("void (document.getElementById('words').value = '')")
    judged.click("#category option:nth-child(2)")
    assert judged.texts(".question") == ["When?"]
    assert len(judged.texts("details")) == 2
    judged.click("#blind")
    assert judged.texts("details") == []


def test_labels_set_on_the_page_come_back_as_a_judge(judged, answers, capsys):
    judged.click("article:nth-of-type(1) label.correct")
    judged.click("article:nth-of-type(3) label.incorrect")
    judged.type("article:nth-of-type(3) .mine input[type=text]", "one day 'late' </script>")
    assert judged.texts("#count") == ["4 of 4 answers, 4 shown · 2 labelled by me"]
    judged.click("#unlabelled")
    assert judged.texts(".question") == ["Where?", "Who <b>?"]
    judged.click("#export")
    path = judged.downloaded("file_labels.json")

    judge = build.component(config.compose("judge=human", f"judge.path={path}"), "judge")
    asked = Question(id='3"]<i>', history_id="h", text="", asked_at=None, category="", category_name="", gold="")
    verdict = judge.grade(asked, Answer(text="8 May 2023"))
    assert (verdict.label, verdict.raw) == ("incorrect", "one day 'late' </script>")
    assert judge.grade(asked, Answer(text="9 May 2023")).label == "unjudged"

    commands.rejudge([*answers, "--json", "--judge", "human", f"path={path}"])
    (row,) = [row for row in json.loads(capsys.readouterr().out)["judges"] if row["judge"] == "human"]
    assert (row["correct"], row["incorrect"], row["unjudged"]) == (1, 1, 2)


def test_a_label_that_was_not_exported_is_not_lost_without_a_question(judged):
    judged.click("article:nth-of-type(2) label.unjudged")
    assert judged.js("window.onbeforeunload !== null")
    judged.click("#export")
    judged.downloaded("file_labels.json")
    assert judged.js("window.onbeforeunload === null")


# --- the map ------------------------------------------------------------------------------------------------


@pytest.fixture
def mapped(browser, runs, tmp_path, capsys):
    """The browser, on the map of cost and accuracy with a point of one's own."""
    commands.frontier(["--folder", str(tmp_path / "map"), "--point", "<b>mine", "84", "1.7"])
    capsys.readouterr()
    browser.open(tmp_path / "map" / "map.html")
    return browser


def move(browser, knob, value):
    browser.js(f"(one => {{ one.value = {json.dumps(value)}; one.dispatchEvent(new Event('input', {{bubbles: true}})) }})"
               f"(document.getElementById('{knob}'))")  # fmt: skip


def test_the_map_and_its_table_hold_every_system(mapped):
    systems = mapped.js("data.systems.map(one => one.name)")
    assert sorted(mapped.js("[...document.querySelectorAll('#rows tr')].map(row => row.dataset.name)")) == sorted(
        systems
    )
    assert sorted(mapped.texts("#map g text")) == sorted([*systems, "<b>mine"])
    assert mapped.faults() == []


def test_names_on_the_map_do_not_cover_each_other(mapped):
    overlaps = mapped.js(
        "(boxes => boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b => a.left < b.right && b.left < a.right && "
        "a.top + 2 < b.bottom && b.top + 2 < a.bottom)).length)"
        "([...document.querySelectorAll('#map g text')].map(one => one.getBoundingClientRect()))"
    )
    assert overlaps == 0


def test_a_knob_moves_the_star_and_what_it_dominates(mapped):
    before = len(mapped.texts("tr.held"))
    assert f"dominates {before}:" in mapped.texts("#said")[0] and before > 0
    move(mapped, "accepted", "60")
    assert len(mapped.texts("tr.held")) < before
    move(mapped, "accepted", "0")
    mapped.click("#cost option[value=cold]")
    assert 0 < len(mapped.texts("tr.held")) < before
    move(mapped, "share", "0")
    assert "not counted" not in mapped.js("document.querySelector('#share + output').value")


def test_a_dot_and_its_row_light_up_together(mapped):
    mapped.hover("#map g.held .dot")
    (name,) = mapped.texts("g.lit text")
    assert mapped.js("document.querySelector('tr.lit').dataset.name") == name
    assert mapped.texts("#hint")[0].startswith(f"{name}: ")
    mapped.hover("#rows tr:last-child")
    assert mapped.texts("g.lit text") == [mapped.js("document.querySelector('#rows tr:last-child').dataset.name")]


def test_a_click_on_a_head_sorts_by_it(mapped):
    mapped.click("#head th:nth-child(4)")
    costs = mapped.js(
        "[...document.querySelectorAll('#rows tr')].map(row => data.systems.find(one => one.name === row.dataset.name).cost)"
    )
    assert costs == sorted(costs, reverse=True)
    mapped.click("#head th:nth-child(4)")
    assert mapped.js("document.querySelector('#rows tr').dataset.name") == mapped.js(
        "data.systems.reduce((a, b) => b.cost < a.cost ? b : a).name"
    )
