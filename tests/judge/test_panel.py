"""Panels: the vote is the declared one, and a member without a verdict never decides."""

from dataclasses import dataclass

import pytest

from sodamem.errors import ConfigError
from sodamem.judge.panel import PanelJudge
from sodamem.types import Verdict


@dataclass(frozen=True, kw_only=True)
class Member:
    name: str
    number: int = 0

    @property
    def digest(self):
        return self.name

    def repeated(self, number):
        return Member(name=self.name, number=number)

    def grade(self, question, answer):
        return Verdict(label="correct", judge=self.name, reason=str(self.number))


def panel(vote, size=3):
    return PanelJudge(name="panel", vote=vote, judges={f"m{i}": Member(name=f"m{i}") for i in range(size)})


C, I, U = "correct", "incorrect", "unjudged"  # noqa: E741


@pytest.mark.parametrize(
    ("labels", "majority", "unanimous", "any_"),
    [
        ((C, C, C), C, C, C),
        ((C, C, I), C, I, C),
        ((C, I, I), I, I, C),
        ((I, I, I), I, I, I),
        ((C, C, U), C, U, C),
        ((C, I, U), U, I, C),
        ((I, I, U), I, I, U),
        ((C, U, U), U, U, C),
        ((U, U, U), U, U, U),
    ],
)
def test_the_verdict_follows_from_the_vote(labels, majority, unanimous, any_):
    verdicts = [Verdict(label=label, judge="m") for label in labels]
    for vote, label in (("majority", majority), ("unanimous", unanimous), ("any", any_)):
        assert panel(vote).combine(verdicts).label == label


def test_an_even_panel_that_is_split_does_not_decide():
    assert panel("majority", 2).combine([Verdict(label=C, judge="a"), Verdict(label=I, judge="b")]).label == U


def test_the_digest_is_that_of_the_members_and_the_vote_not_of_their_order():
    a, b = Member(name="a"), Member(name="b")
    one = PanelJudge(name="p", vote="any", judges={"x": a, "y": b})
    two = PanelJudge(name="q", vote="any", judges={"y": b, "z": a})
    assert one.digest == two.digest != panel("any").digest and panel("any").digest != panel("majority").digest


def test_a_repeat_of_a_panel_is_a_repeat_of_its_members():
    verdict = panel("any", 2).repeated(2)
    assert {member.grade(None, None).reason for member in verdict.judges.values()} == {"2"}


@pytest.mark.parametrize(
    ("change", "said"),
    [({"vote": "most"}, r"judge\.vote must be one of"), ({"judges": {"a": Member(name="a")}}, "at least two")],
)
def test_a_panel_that_cannot_vote_is_refused(change, said):
    with pytest.raises(ConfigError, match=said):
        PanelJudge(**{"name": "p", "vote": "any", "judges": {"a": Member(name="a"), "b": Member(name="b")}} | change)
