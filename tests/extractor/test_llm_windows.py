"""Windows: every word may be cited in exactly one, and what is shown beside it may not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.extractor.llm_windows import halves, windows
from sodamem.text import estimate_tokens


def turns(talk, *lines):
    return talk({"a 2024-01-01": [f"Ann: {line}" for line in lines]}).sessions[0].turns


@given(
    lines=st.lists(st.text(alphabet="ab .\n?", max_size=200), max_size=6),
    tokens=st.integers(50, 90),
    context=st.integers(0, 60),
)
def test_every_word_is_in_one_window_and_context_comes_before_it(talk, lines, tokens, context):
    source = turns(talk, *lines)
    found = windows(source, tokens, context)
    own = [part for window in found for part in window.own]
    for turn in source:
        spans = [(part.start, part.end) for part in own if part.turn is turn]
        covered = "".join(turn.text[start:end] for start, end in spans)
        assert covered.split() == turn.text.split() and spans == sorted(spans)
    for number, window in enumerate(found):
        before = [part for earlier in found[:number] for part in earlier.own]
        assert list(window.context) == before[len(before) - len(window.context) :]
        assert sum(part.tokens for part in window.context) <= context
        assert len(window.own) == 1 or sum(part.tokens for part in window.own) <= tokens


def test_blank_turns_are_not_read(talk):
    assert windows(turns(talk, "  ", "\n"), 50, 0) == []


def test_a_long_turn_is_cut_where_a_sentence_ends(talk):
    line = "One two three four. " * 40
    parts = [part for window in windows(turns(talk, line), 60, 0) for part in window.own]
    assert len(parts) > 2 and all(part.text.endswith(". ") and estimate_tokens(part.text) <= 60 for part in parts)


def test_a_text_without_blanks_is_cut_all_the_same(talk):
    parts = [part for window in windows(turns(talk, "日本語、" * 100), 50, 0) for part in window.own]
    assert "".join(part.text for part in parts) == "日本語、" * 100


@pytest.mark.parametrize(("lines", "count"), [(["a b c"] * 4, 2), (["word " * 100], 2), (["a b c"], 0)])
def test_halves_hold_the_same_words_once(talk, lines, count):
    (window,) = windows(turns(talk, *lines), 10_000, 0)
    found = halves(window)
    assert len(found) == count
    if found:
        joined = " ".join(part.text for half in found for part in half.own)
        assert joined.split() == " ".join(lines).split()
        assert found[1].context == found[0].own
