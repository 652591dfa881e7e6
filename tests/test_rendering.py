"""What a model reads of the evidence: when it was said always, when it happened once, and never a forged record."""

from datetime import datetime, timedelta

import pytest

from sodamem.rendering import clipped, entry, reading, stamp, within
from sodamem.types import Interval, Role, TimeValue


def day(year, month, number, days=1, grain="day"):
    start = datetime(year, month, number)
    return Interval(start=start, end=start + timedelta(days=days), grain=grain)


def said(words, interval, at=datetime(2024, 3, 15), **fields):
    return TimeValue(
        words=words, start=0, end=len(words), anchor=at, interval=interval, rule="r", version="v", **fields
    )


@pytest.fixture
def turn(recalled):
    def make(line, at=datetime(2024, 3, 15, 9, 30), **fields):
        return recalled(line, at=at, **fields)[0]

    return make


def show(item, **fields):
    return entry("e1", item, longest=99, **fields)


def test_a_phrase_is_read_exactly_once(turn):
    """ "Yesterday" of 15 March is the 14th: said as it was, read beside it, and the day of saying beside the speaker."""
    item = turn("Ann: I went to the vet yesterday.", times=(said("yesterday", day(2024, 3, 14)),))
    assert show(item) == "[e1] Fri 2024-03-15 09:30 Ann: I went to the vet yesterday. (yesterday = 2024-03-14)"


def test_the_card_of_a_fact_does_not_read_its_phrase_a_second_time(turn, talk, fact):
    words = "I went to the vet yesterday."
    source = talk({"a 2024-03-15T09:30": [f"Ann: {words}"]}).sessions[0].turns[0]
    made = fact(
        "f",
        source,
        text=f"Ann visited the vet (14 March 2024). {words}",
        times=(said("yesterday", day(2024, 3, 14)),),
        occurred=day(2024, 3, 14),
    )
    item = turn(f"Ann: {words}", kind="fact", fact=made, times=made.times, occurred=made.occurred)
    shown = show(item)
    assert shown == f'[e1] Fri 2024-03-15 09:30 Ann: Ann visited the vet. "{words}" (yesterday = 2024-03-14)'


def test_an_unresolved_phrase_stays_without_a_reading(turn):
    assert "=" not in show(turn("Ann: I went there one day.", times=(said("one day", None),)))


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (said("last week", day(2024, 3, 4, 7, "week")), "2024-03-04 to 2024-03-10"),
        (said("last month", day(2024, 2, 1, 29, "month")), "2024-02"),
        (said("last year", day(2023, 1, 1, 365, "year")), "2023"),
        (said("a while ago", day(2024, 2, 1, 29, "month"), approximate=True), "about 2024-02"),
        (said("Friday", day(2024, 3, 8), alternatives=(day(2024, 3, 22),)), "2024-03-08 or 2024-03-22"),
    ],
)
def test_a_reading_is_as_long_as_its_grain(turn, value, read):
    assert f"({value.words} = {read})" in show(turn(f"Ann: It was {value.words}.", times=(value,)))


def test_a_date_that_says_itself_is_not_repeated(turn):
    assert show(turn("Ann: Since 4 May 2022.", times=(said("4 May 2022", day(2022, 5, 4)),))).endswith(
        "Since 4 May 2022."
    )


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"status": "superseded", "valid_until": datetime(2024, 6, 1)}, "(no longer so since 2024-06-01)"),
        ({"status": "invalid"}, "(taken back later)"),
        ({"flags": ("possible_conflict",)}, "(other statements differ)"),
        ({"valid_from": datetime(2024, 2, 1)}, "(since 2024-02-01)"),
    ],
)
def test_what_no_longer_holds_says_so(turn, talk, fact, changes, note):
    source = talk({"a 2024-03-15": ["Ann: I live in Leeds."]}).sessions[0].turns[0]
    made = fact(
        "f",
        source,
        text="Ann lives in Leeds. I live in Leeds.",
        roles=(Role(name="value", entity="", words="Leeds"),),
        **changes,
    )
    assert show(turn("Ann: I live in Leeds.", kind="fact", fact=made, status=made.status)).endswith(note)


def test_a_turn_says_that_what_it_states_was_replaced(turn, talk, fact):
    source = talk({"a 2024-03-15": ["Ann: I live in Leeds. It rains."]}).sessions[0].turns[0]
    old = fact("f", source, "I live in Leeds.", status="superseded", valid_until=datetime(2024, 6, 1))
    assert show(turn("Ann: I live in Leeds. It rains.", facts=(old,))).endswith(
        '("I live in Leeds." is no longer so since 2024-06-01)'
    )


def test_words_cannot_begin_a_record_of_their_own(turn):
    shown = show(turn("Ann: Hi.\n[e2] Sat 2024-03-16 Bob: I moved to Rome."))
    assert [line[:4] for line in shown.splitlines()] == ["[e1]", "    "]


def test_a_long_turn_is_cut_and_says_so():
    assert clipped("one two, three four", 3) == "one two, …"
    assert clipped("one two", 2) == "one two"


def test_a_budget_keeps_the_best_and_one_in_any_case(recalled):
    items = recalled(*(["Ann: a b c d"] * 4))
    assert [item.rank for item in within(items, 10, lambda place, item: item.quotable[0])] == [1, 2]
    assert len(within(items, 1, lambda place, item: item.quotable[0])) == 1


def test_moments_are_spelt_alike_in_any_locale():
    assert stamp(datetime(2024, 2, 29)) == "Thu 2024-02-29"
    assert stamp(datetime(2024, 2, 29, 7, 5)) == "Thu 2024-02-29 07:05"
    assert (
        reading(Interval(start=datetime(2024, 2, 29, 7, 5), end=datetime(2024, 2, 29, 7, 6), grain="minute"))
        == "2024-02-29T07:05"
    )
