"""Ordinary sentences hold no time expression, however much their words look like one."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from sodamem.dates import Policy, read

SENTENCES = (Path(__file__).parents[1] / "data" / "ordinary_sentences.txt").read_text(encoding="utf-8").splitlines()
POLICY = Policy(week_start=0, weekday="nearest", untensed="past", day_month_order="both", country="US", recent_days=30)


def test_ordinary_sentence_is_read_as_a_time() -> None:
    assert len(SENTENCES) >= 200 and len(set(SENTENCES)) == len(SENTENCES)
    wrong = {line: found for line in SENTENCES if (found := read(line, datetime(2023, 6, 14, 15), POLICY))}
    assert not wrong
