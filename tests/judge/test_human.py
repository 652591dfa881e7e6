"""Labels set by people: they hold for the very answer they were set on, and for no other."""

import json

import pytest

from sodamem.errors import ConfigError, DataError
from sodamem.judge.human import FORMAT, HumanJudge, fingerprint
from sodamem.types import Answer

ANSWER = Answer(text="a cat")


@pytest.fixture
def labelled(tmp_path):
    def make(*rows, **more):
        path = tmp_path / "labels.json"
        path.write_text(json.dumps({"format": FORMAT, "labels": list(rows)} | more))
        return HumanJudge(name="human", path=str(path))

    return make


class Asked:
    id = "q1"


def row(label="correct", **more):
    return {"question_id": "q1", "answer": fingerprint(ANSWER), "label": label} | more


def test_a_label_is_the_verdict_with_its_note(labelled):
    verdict = labelled(row("incorrect", note="wrong pet")).grade(Asked, ANSWER)
    assert (verdict.label, verdict.judge, verdict.reason) == ("incorrect", "human", "human: wrong pet")


def test_another_answer_to_the_same_question_is_unjudged(labelled):
    assert labelled(row()).grade(Asked, Answer(text="a dog")).label == "unjudged"


def test_the_digest_follows_the_labels(labelled):
    one, two = labelled(row("correct")).digest, labelled(row("incorrect")).digest
    assert one != two and one == labelled(row("correct")).digest


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        ([row("right")], {}, r"labels\[0\]\.label must be one of correct, incorrect, unjudged, got 'right'"),
        ([row(), row("incorrect")], {}, "must label an answer once, got two labels for question q1"),
        ([{"label": "correct"}], {}, r"labels\[0\] must have question_id, answer, label"),
        ([row()], {"format": "other"}, "must hold labels in the format"),
    ],
)
def test_a_file_that_is_not_of_labels_is_refused_in_one_line(labelled, rows, more, said):
    with pytest.raises(DataError, match=said):
        labelled(*rows, **more).grade(Asked, ANSWER)


def test_a_file_that_is_missing_or_not_named_is_said_so(tmp_path):
    with pytest.raises(ConfigError, match=r"judge\.path must name a file of labels, got null"):
        HumanJudge(name="h", path=None).grade(Asked, ANSWER)
    with pytest.raises(DataError, match="must name a readable file"):
        HumanJudge(name="h", path=str(tmp_path / "none.json")).grade(Asked, ANSWER)
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(DataError, match="must be valid JSON"):
        HumanJudge(name="h", path=str(tmp_path / "bad.json")).grade(Asked, ANSWER)
