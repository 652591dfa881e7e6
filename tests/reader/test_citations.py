"""A citation counts when its words stand in the evidence it names."""

from datetime import datetime

import pytest

from sodamem.reader.citations import verified
from sodamem.types import Answer, Citation, Evidence


@pytest.fixture
def pool():
    return [
        Evidence(
            id=f"a:{n}",
            kind="turn",
            rank=n + 1,
            turn_ids=(f"a:{n}",),
            session_id="a",
            speaker="Ann",
            text=f"Ann: {words}",
            at=datetime(2024, 1, 1),
            confidence=1.0,
            awards=(),
            quotable=(words,),
        )
        for n, words in enumerate(["I live in Oslo.", "Rain."])
    ]


def cite(evidence="a:0", turn="a:0", quote="in Oslo"):
    return Citation(evidence_id=evidence, turn_id=turn, quote=quote)


def test_a_quotation_of_the_pool_is_kept(pool):
    answer = Answer(text="Oslo", citations=(cite(),))
    assert verified(answer, pool) == answer


@pytest.mark.parametrize(
    "false",
    [
        cite(evidence="a:9"),  # not in the pool
        cite(turn="a:1"),  # another turn than its evidence
        cite(quote="in Bergen"),  # other words
        cite(quote="IN OSLO"),
        cite(quote=""),
        cite(quote="  "),
        cite(quote="Ann: I live"),  # the index's words, not the turn's
    ],
)
def test_a_false_citation_is_dropped_and_an_answer_left_without_any_is_uncited(pool, false):
    assert verified(Answer(text="Oslo", citations=(false, cite())), pool).citations == (cite(),)
    left = verified(Answer(text="Oslo", citations=(false,)), pool)
    assert left.citations == () and left.status == "uncited"


def test_an_abstention_needs_no_citation(pool):
    assert verified(Answer(text="I do not know.", abstained=True), pool).status == "ok"


def test_a_failure_stays_a_failure(pool):
    assert verified(Answer(text="", status="failed"), pool).status == "failed"
