"""Words of answers in one spelling, amounts as values, and where a long answer states its result."""

from __future__ import annotations

import pytest

from sodamem.judge.forms import conclusion, readings
from sodamem.judge.quantities import amounts, sole
from sodamem.judge.words import canonical, declines, polarity, spelt


def test_numbers_have_one_spelling() -> None:
    assert spelt("Twenty-five, 1,000 and the 7th") == ["25", "1000", "and", "the", "7"]
    assert spelt("two hundred") == ["200"]
    assert spelt("15April 2022") == ["15", "april", "2022"]


@pytest.mark.parametrize(
    ("said", "digits"),
    [
        ("one hundred and thirty-four", "134"),
        ("a hundred", "100"),
        ("two thousand three hundred", "2300"),
        ("two hundred thousand", "200000"),
        ("1.5 million", "1500000"),
        ("half a dozen", "6"),
        ("two and a half", "2.5"),
        ("twenty-first", "21"),
        ("five six", "5 6"),
        ("two and three", "2 and 3"),
        ("two hundred and a dog", "200 and a dog"),
        ("$5k", "5000"),
        ("10GB", "10 gb"),
        ("the 1990s", "the 1990s"),
        ("no one", "nobody"),
        ("half an hour", "0.5 hour"),
    ],
)
def test_number_words_that_belong_together_are_one_number(said: str, digits: str) -> None:
    assert " ".join(spelt(said)) == digits


@pytest.mark.parametrize("said", ["7 pm", "7pm", "7:00 PM", "7 p.m.", "7 o'clock in the evening"])
def test_a_time_of_day_has_one_value(said: str) -> None:
    assert [(amount.value, amount.base) for amount in amounts(said)] == [(19 * 60, "time")]


@pytest.mark.parametrize(
    ("said", "minutes"),
    [("25 minutes and 50 seconds", 25 + 50 / 60), ("1:30:00", 90), ("an hour and a half", 90), ("2 hours 5 min", 125)],
)
def test_units_that_follow_each_other_are_one_length(said: str, minutes: float) -> None:
    assert [(amount.value, amount.base) for amount in amounts(said)] == [(pytest.approx(minutes), "minute")]


def test_order_words_stay_words() -> None:
    assert spelt("the bake sale first") == ["the", "bake", "sale", "first"]


def test_articles_and_case_do_not_count() -> None:
    assert canonical("The Cats!") == canonical("a cat")


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Yes, of course", True),
        ("Likely no", False),
        ("Unlikely", False),
        ("Paris", None),
        ("It was no; she left", False),
    ],
)
def test_polarity_is_read_where_it_is_said(said: str, value: bool | None) -> None:
    assert polarity(said) is value


def test_declining_is_told_from_denying() -> None:
    assert declines("There is no information about that")
    assert declines("I don't know")
    assert not declines("She does not like Rome")


def test_lengths_are_compared_in_days_and_months() -> None:
    assert [(amount.value, amount.base) for amount in amounts("two weeks, 3 years")] == [(14, "day"), (36, "month")]


def test_a_gold_that_says_more_than_an_amount_is_no_amount() -> None:
    assert sole("two cats and a dog", "What pets does she have?") is None
    assert sole("the Four Robbers", "Which trick was it?") is None
    assert sole("FIFA 23", "Which game was it?") is None
    assert sole("I own 4 guitars. One is red.", "How many guitars do I own?") is not None


def test_a_short_answer_is_its_own_conclusion() -> None:
    assert conclusion("In Rome.\n\nIt was warm.") == "In Rome.\n\nIt was warm."
    assert conclusion(f"{'Some words. ' * 40}\n\nSo it was **Rome**.") == "So it was Rome."
    assert conclusion("1 + 1 = 2. Answer: 2 cats") == "2 cats"


def test_both_acceptable_readings_of_a_gold_are_kept() -> None:
    assert readings("7 days. 8 days (including the last day) is also acceptable.") == ("7 days", "8 days")
    assert readings("7 days") == ("7 days",)
