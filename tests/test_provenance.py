"""Provenance: a quotation is found once and exactly, or rejected with a reason; spans are code points."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.errors import ProvenanceError
from sodamem.provenance import REASONS, locate, piece, verify
from sodamem.types import MessagePiece, Turn


def turn(text: str) -> Turn:
    return Turn(
        id="t1", session_id="s", index=0, role="speaker", speaker="Ana", text=text, at=datetime(2023, 6, 9, 10, 0)
    )


def span(text: str, quote: str) -> str | tuple[int, int, str]:
    found = locate(turn(text), quote)
    return (found.start, found.end, found.text) if isinstance(found, MessagePiece) else found


@pytest.mark.parametrize(
    ("text", "quote", "expected"),
    [
        ("🙂 I bought 猫 food", "猫 food", (11, 17, "猫 food")),  # an emoji is one code point, not two
        ("I ❤️ tea", "tea", (5, 8, "tea")),  # a heart with its selector is two
        ("cafe\u0301 au lait", "au lait", (6, 13, "au lait")),
        ("line one\r\nline two", "line two", (10, 18, "line two")),
    ],
)
def test_spans_do_not_shift_after_characters_that_other_units_count_twice(text, quote, expected):
    assert span(text, quote) == expected


@pytest.mark.parametrize(
    ("text", "quote", "original"),
    [
        ("at the cafe\u0301 again", "the café", "the cafe\u0301"),  # decomposed text, composed quote
        ("at the café again", "the cafe\u0301", "the café"),
        ("I moved  to\r\n Leeds today", "moved to Leeds", "moved  to\r\n Leeds"),
        ("\u1112\u1161\u11ab글 책", "한글", "\u1112\u1161\u11ab글"),  # Hangul letters compose without combining class
        ("q\u0323\u0307 end", "q\u0307\u0323", "q\u0323\u0307"),  # marks in another order
        ("so  I left ", "  I left  ", "I left"),
    ],
)
def test_a_normalised_match_stores_the_words_of_the_turn_and_not_of_the_quote(text, quote, original):
    found = locate(turn(text), quote)
    assert isinstance(found, MessagePiece)
    assert found.text == original


@pytest.mark.parametrize(
    ("text", "quote", "reason"),
    [
        ("I like tea. She said: I like tea.", "I like tea", "ambiguous"),
        ("aaa", "aa", "ambiguous"),  # overlapping occurrences are two
        ("a  b and a \n b", "a b", "ambiguous"),  # ... and so are two that only differ in white space
        ("I like tea", "I like coffee", "not_found"),
        ("I like tea", "i like tea", "not_found"),  # another case is another quotation
        ("cafe\u0301", "cafe", "cafe"),
        ("I like tea", "", "empty"),
        ("I like tea", " \n", "empty"),
        ("", "tea", "not_found"),
    ],
)
def test_what_cannot_be_placed_is_rejected_with_its_reason(text, quote, reason):
    found = span(text, quote)
    assert (found[2] if isinstance(found, tuple) else found) == reason


def test_half_a_composed_character_is_no_match():
    assert span("na\u0131\u0308ve\u0301", "\u0301x") == "not_found"
    assert span("e\u0301 ", "e ") == "not_found"


def test_the_reasons_are_those_the_report_lists():
    assert REASONS == ("empty", "not_found", "ambiguous")


@given(st.text(alphabet="ab \n\u0301é猫🙂", min_size=1, max_size=20), st.data())
def test_every_piece_reads_what_stands_in_the_turn(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    found = locate(turn(text), text[start:end])
    if isinstance(found, MessagePiece):
        assert text[found.start : found.end] == found.text
    else:
        assert found == "ambiguous" if text[start:end].strip() else found == "empty"


def test_a_piece_of_another_turn_or_of_other_words_does_not_verify():
    source = turn("I like tea")
    verify(source, piece(source, 2, 6))
    with pytest.raises(ProvenanceError, match="must cite turn t1"):
        verify(source, MessagePiece(turn_id="t2", start=0, end=1, text="I"))
    with pytest.raises(ProvenanceError, match="must read what its turn says"):
        verify(source, MessagePiece(turn_id="t1", start=0, end=1, text="J"))
    with pytest.raises(ProvenanceError, match="must span its text"):
        piece(source, 5, 99)
