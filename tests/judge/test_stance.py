"""What a text asserts, denies and leaves open: scopes of cues, and the look-alikes that rule nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.judge.stance import alternatives, asserted, cues, opposite, signed, stretches


def denied(value: str) -> str:
    return " | ".join(stretch.strip(" .,") for stretch, stance in stretches(value) if stance == "denied")


@pytest.mark.parametrize(
    ("said", "scope"),
    [
        ("It is definitely not Paris, Rome or Oslo.", "Paris, Rome or Oslo"),
        ("It was not Paris but Rome.", "Paris"),
        ("Rome, not Paris, was her home.", "Paris"),
        ("Instead of Paris, she chose Rome", "Paris"),
        ("He did not come because he was ill", "come"),
        ("It was not because he was ill", "because he was ill"),
        ("He hasn't been there since 2019", "been there"),
        ("He has no dog and a cat", "dog"),
        ("Neither Paris nor Rome", "Paris |  Rome"),
        ("Paris is wrong; it was Rome.", "Paris"),
        ("Rome, but Paris is not the answer.", "Paris"),
        ("He drinks it, but not any more.", "He drinks it, but"),
        ("She lives there no longer. It is Rome.", "She lives there"),
        ("It is not J. R. Tolkien. or so", "J. R. Tolkien. or so"),
    ],
)
def test_a_denial_reaches_to_the_end_of_its_clause(said: str, scope: str) -> None:
    assert denied(said).replace(" ", "") == scope.replace(" ", "")


@pytest.mark.parametrize(
    "said",
    [
        "Not only Paris but Rome",
        "There is no doubt that it was Paris",
        "Not until 7 May",
        "No, it was Rome.",
        "Nothing but Paris",
        "No later than May",
        "She can't wait to see Paris",
        "He knots a notable tie nowhere",
    ],
)
def test_look_alikes_deny_nothing(said: str) -> None:
    assert denied(said) == ""


def test_a_denial_of_a_denial_asserts() -> None:
    assert "sugar" in asserted("He does not drink it without sugar", {"asserted"})


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("It might be Paris", "It"),
        ("Either Paris or Rome. I like both.", "I like both"),
        ("Paris or Rome. I am not sure.", ""),
        ("Paris, I am not sure which", ""),
        ("Paris, maybe", ""),
        ("It was in Paris, but I'm not sure about the year.", "It was in Paris, but I'm not sure"),
        ("I'm not sure why, but it was Paris", "I'm not sure ; but it was Paris"),
        ("Was it Paris? It was Rome.", "It was Rome"),
    ],
)
def test_what_is_left_open_is_not_asserted(said: str, left: str) -> None:
    assert asserted(said, {"asserted"}) == left


def test_a_guess_is_kept_where_one_is_asked_for() -> None:
    assert signed("maybe a camera", {"asserted"}) == []
    assert "camera" in signed("maybe a camera", {"asserted", "guessed"})


def test_signed_words_are_other_words_than_asserted_ones() -> None:
    assert signed("not coffee", {"asserted"}) == ["not:coffe"]
    assert opposite("not:coffe") == "coffe" and opposite("coffe") == "not:coffe"


@pytest.mark.parametrize(
    ("said", "arms"),
    [
        ("at home, tea or coffee", [("tea", "coffee")]),
        ("Paris, Rome, or Oslo", [("Paris, Rome,", "Oslo")]),
        ("two or so", []),
        ("whether he came or not, it rained", []),
    ],
)
def test_alternatives_have_two_arms(said: str, arms: list[tuple[str, str]]) -> None:
    assert list(alternatives(said)) == arms


def test_no_cue_reaches_through_a_long_answer() -> None:
    assert 300 < len(denied("not " + "word " * 1000)) < 500


@given(st.text(alphabet=st.sampled_from("aA .,;!?'\nnotr1-"), max_size=40) | st.text(max_size=40))
def test_stretches_are_the_whole_text(said: str) -> None:
    assert "".join(stretch for stretch, _ in stretches(said)) == said.replace("’", "'")


def test_the_table_names_every_kind_of_cue() -> None:
    assert list(cues()) == ["guess", "doubt", "lookalike", "before", "listing", "pronoun", "ahead", "without"]
