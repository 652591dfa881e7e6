"""Laws of relative dates, over random anchors; and what a reading must not depend on."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.dates import Policy, read
from sodamem.dates.words import FULL_WEEKDAYS, WEEKDAYS, starting
from sodamem.types import Interval

POLICY = Policy(week_start=0, weekday="nearest", untensed="past", day_month_order="both", country="US", recent_days=30)
ANCHORS = st.datetimes(datetime(1950, 1, 1), datetime(2090, 12, 31))


def reading(text: str, at: datetime) -> Interval:
    (value,) = read(text, at, POLICY)
    assert value.words == text and value.interval is not None
    return value.interval


@given(at=ANCHORS, days=st.integers(-800, 800), text=st.sampled_from(["yesterday", "today", "the day before yesterday", "3 days ago", "in 10 days", "tonight", "last night", "the past two weeks", "the other day", "20 minutes ago"]))  # fmt: skip
def test_shifted_anchor_does_not_shift_the_day(at: datetime, days: int, text: str) -> None:
    step = timedelta(days=days)
    moved, here = reading(text, at + step), reading(text, at)
    assert (moved.start, moved.end) == (here.start + step, here.end + step)


@given(at=ANCHORS, weeks=st.integers(-100, 100), text=st.sampled_from(["last week", "next week", "last Friday", "next Monday", "this Sunday", "two weeks ago", "last weekend", "next weekend", "two Fridays ago", "the week before last", "Tuesday last week"]))  # fmt: skip
def test_shifted_anchor_does_not_shift_the_week(at: datetime, weeks: int, text: str) -> None:
    step = timedelta(weeks=weeks)
    moved, here = reading(text, at + step), reading(text, at)
    assert (moved.start, moved.end) == (here.start + step, here.end + step)


@given(at=ANCHORS, name=st.sampled_from(sorted(FULL_WEEKDAYS)), lead=st.sampled_from(["", "last ", "next ", "this ", "this past ", "this coming "]))  # fmt: skip
def test_weekday_lands_on_another_day_or_far_away(at: datetime, name: str, lead: str) -> None:
    found = reading(lead + name.title(), at)
    assert found.start.weekday() == WEEKDAYS[name]
    assert abs((found.start.date() - at.date()).days) <= 7
    if lead in ("last ", "this past "):
        assert found.end <= at.replace(hour=0, minute=0, second=0, microsecond=0)
    if lead in ("next ", "this coming "):
        assert found.start > at.replace(hour=0, minute=0, second=0, microsecond=0)


@given(at=ANCHORS, months=st.integers(1, 40))
def test_month_steps_lose_a_month(at: datetime, months: int) -> None:
    found = reading(f"{months} months ago", at)
    assert (at.year * 12 + at.month) - (found.start.year * 12 + found.start.month) == months
    assert found.start.day == 1 and found.end.day == 1


@given(at=ANCHORS, text=st.text(max_size=80))
def test_any_text_breaks_the_spans(at: datetime, text: str) -> None:
    values = read(text, at, POLICY)
    assert all(text[value.start : value.end] == value.words for value in values)
    assert all(a.end <= b.start for a, b in pairwise(values))


_WORDS = sorted(starting("the last next two first 3 of in on May Friday week weekend month year ago before after Christmas and to from 5 2023 until since early pm at night summer"))  # fmt: skip


@given(at=st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)), words=st.lists(st.sampled_from(_WORDS), max_size=9))
def test_any_mix_of_time_words_raises(at: datetime, words: list[str]) -> None:
    text = " ".join(words)
    assert all(text[value.start : value.end] == value.words for value in read(text, at, POLICY))


SCRIPT = """
from datetime import datetime
from sodamem.dates import Policy, read
policy = Policy(week_start=0, weekday="nearest", untensed="past", day_month_order="both", country="US", recent_days=30)
text = "Since 2019 I moved twice; last Friday at 1:30am, on Easter, 03/04, yesterday, the week before 10 March 2024."
print(read(text, datetime(2024, 3, 10, 2, 30), policy))
"""


@pytest.mark.parametrize("zone", ["UTC", "America/Chicago", "Pacific/Auckland"])
def test_reading_depends_on_zone_hash_seed_or_locale(zone: str, tmp_path: Path) -> None:
    def run(**changes: str) -> str:
        env = {**os.environ, **changes}
        command = [sys.executable, "-c", SCRIPT]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True, cwd=tmp_path).stdout

    assert run(TZ=zone, PYTHONHASHSEED="1", LC_ALL="C") == run(TZ="UTC", PYTHONHASHSEED="7", LC_ALL="C.UTF-8")


def test_sources_read_the_clock() -> None:
    import sodamem.dates

    folder = Path(sodamem.dates.__file__).parent
    for path in folder.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert not any(call in source for call in (".now(", ".today(", "utcnow", "time.time", "localtime")), path.name
