"""The turn extractor extracts nothing."""

from __future__ import annotations

from datetime import datetime

from sodamem.extractor.turn import TurnExtractor
from sodamem.types import Extraction, History, Session, Turn


def test_the_baseline_gives_no_fact_and_no_piece(timeline):
    at = datetime(2023, 6, 9, 10, 0)
    turn = Turn(id="t", session_id="s", index=0, role="user", speaker="Ana", text="I live in Leeds.", at=at)
    session = Session(id="s", at=at, turns=(turn,))
    assert TurnExtractor().extract(session, History(id="h", sessions=(session,), digest=""), timeline) == Extraction()
