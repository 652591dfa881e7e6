"""Words as dialogue writes them, and hashes that do not depend on the machine."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem import text


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I'm at Ann's, it's 9:30!", ["i'm", "at", "ann", "it", "9:30"]),
        ("She paid $1,250.50 on 3/4.", ["she", "paid", "1,250.50", "on", "3/4"]),
        ("from 2023-05-07 on", ["from", "2023-05-07", "on"]),
        ("don’t — “quote” it’s", ["don't", "quote", "it"]),
        ("ZÜRICH Straße ﬁne", ["zürich", "strasse", "fine"]),
        ("我喜欢 ramen ラーメン", ["我", "喜", "欢", "ramen", "ラ", "ー", "メ", "ン"]),
        ("iPhone4s A+ C# 5pm", ["iphone4s", "a", "c", "5pm"]),
        ("한국어", ["한", "국", "어"]),
        ("snake_case", ["snake", "case"]),
        ("🙂 … !?", []),
        ("", []),
    ],
)
def test_words(said, expected):
    assert text.words(said) == expected


def test_terms_are_stemmed_content_words_with_repetition():
    assert text.terms("The puppies were running, running to a puppy!") == ["puppi", "run", "run", "puppi"]
    assert text.terms("What is the of and?") == []


@pytest.mark.parametrize("word", ["not", "no", "may", "never", "two", "now"])
def test_words_that_change_a_meaning_stay_searchable(word):
    assert text.terms(word)


@given(st.text())
def test_normalising_twice_is_normalising_once(said):
    assert text.normalise(text.normalise(said)) == text.normalise(said)


@given(st.text())
def test_any_text_can_be_cut_into_words(said):
    assert all(word and word == word.casefold() for word in text.words(said))
    assert len(text.terms(said)) <= len(text.words(said)) and text.estimate_tokens(said) >= 0


@pytest.mark.parametrize(("said", "count"), [("Hello, world!", 4), ("", 0), ("it's 9:30", 6)])
def test_tokens_are_counted_without_a_model(said, count):
    assert text.estimate_tokens(said) == count


def test_a_digest_does_not_depend_on_the_order_of_keys_but_on_that_of_lists():
    assert text.digest({"a": 1, "b": [1, 2]}) == text.digest({"b": [1, 2], "a": 1})
    assert len({text.digest([1, 2]), text.digest([2, 1]), text.digest(1, 2), text.digest("1", 2)}) == 4


def test_a_digest_is_the_same_under_another_hash_seed():
    script = "from sodamem.text import digest; print(digest('é', {'b': 1, 'a': [None, 1.5]}))"
    env = {
        **os.environ,
        "PYTHONHASHSEED": "4711",
        "TZ": "Pacific/Chatham",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    other = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == text.digest("é", {"b": 1, "a": [None, 1.5]})
