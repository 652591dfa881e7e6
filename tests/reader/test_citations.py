"""Citations are checked against the pool: nothing that was not said can be quoted."""

from __future__ import annotations

from datetime import datetime

import pytest

from sodamem.reader.citations import verified
from sodamem.types import Answer, Citation, Evidence

POOL = (
    Evidence(
        id="D1:1",
        kind="turn",
        rank=1,
        turn_ids=("D1:1",),
        session_id="S1",
        speaker="Ann",
        text="Ann: I live in York.",
        at=datetime(2023, 1, 1),
        confidence=1.0,
        awards=(),
        quotable=("I live in York.",),
    ),
)
GOOD = Citation(evidence_id="D1:1", turn_id="D1:1", quote="live in York")


@pytest.mark.parametrize(
    "bad",
    [
        Citation(evidence_id="D9:9", turn_id="D1:1", quote="live in York"),
        Citation(evidence_id="D1:1", turn_id="D9:9", quote="live in York"),
        Citation(evidence_id="D1:1", turn_id="D1:1", quote="live in Leeds"),
        Citation(evidence_id="D1:1", turn_id="D1:1", quote="  "),
        Citation(evidence_id="D1:1", turn_id="D1:1", quote="Ann: I live"),
    ],
)
def test_a_citation_that_does_not_hold_is_dropped(bad: Citation) -> None:
    assert verified(Answer(text="York", citations=(bad, GOOD)), POOL).citations == (GOOD,)
    assert verified(Answer(text="York", citations=(bad,)), POOL).status == "uncited"


def test_an_abstention_needs_no_citation() -> None:
    assert verified(Answer(text="I do not know.", abstained=True), POOL).status == "ok"
