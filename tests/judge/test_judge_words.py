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
    assert sole("I own 4 guitars. One is red.", "How many guitars do I own?") is not None


def test_a_short_answer_is_its_own_conclusion() -> None:
    assert conclusion("In Rome.\n\nIt was warm.") == "In Rome.\n\nIt was warm."
    assert conclusion(f"{'Some words. ' * 40}\n\nSo it was **Rome**.") == "So it was Rome."
    assert conclusion("1 + 1 = 2. Answer: 2 cats") == "2 cats"


def test_both_acceptable_readings_of_a_gold_are_kept() -> None:
    assert readings("7 days. 8 days (including the last day) is also acceptable.") == ("7 days", "8 days")
    assert readings("7 days") == ("7 days",)
