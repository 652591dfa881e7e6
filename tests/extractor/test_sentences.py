"""Sentences: cut where a reader would cut, with spans that read exactly what stands in the turn."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.extractor.lexicon import load
from sodamem.extractor.sentences import split


def cut(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in split(text, load())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I saw Dr. Smith. He was kind.", ["I saw Dr. Smith.", "He was kind."]),
        ("We ran 3.5 km today. Phew!", ["We ran 3.5 km today.", "Phew!"]),
        ("I like fruit, e.g. figs. You?", ["I like fruit, e.g. figs.", "You?"]),
        ("Well... maybe later. Or not…  Fine.", ["Well... maybe later.", "Or not…", "Fine."]),
        ("See https://a.org/b.html?x=1.5 for more. Bye", ["See https://a.org/b.html?x=1.5 for more.", "Bye"]),
        ("Up at 6 a.m. every day. Ugh.", ["Up at 6 a.m. every day.", "Ugh."]),
        ("I met J. Doe. Nice man.", ["I met J. Doe.", "Nice man."]),
        ("I moved! 🎉 So happy 🙂", ["I moved!", "🎉 So happy 🙂"]),
        ("I moved! 🎉", ["I moved! 🎉"]),
        ("昨日は映画を見た。楽しかった！また行く", ["昨日は映画を見た。", "楽しかった！", "また行く"]),
        ("First line\r\nsecond line\n\n  third", ["First line", "second line", "third"]),
        ("Try these:\n1. Lisbon. Nice.\n2) Porto\n- Faro", ["Try these:", "Lisbon.", "Nice.", "Porto", "Faro"]),
        ('He said "I left." Then he left.', ['He said "I left."', "Then he left."]),
        ("No stop at the end", ["No stop at the end"]),
        ("Really?! Yes.", ["Really?!", "Yes."]),
        (" \n\t ", []),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text, expected):
    assert cut(text) == expected


@given(st.text(alphabet="aB .!?…\n\r-1“”🙂\u0301猫。", max_size=60))
def test_spans_are_in_order_apart_trimmed_and_lose_no_letter(text):
    sentences = split(text, load())
    for before, after in pairwise(sentences):
        assert before.end <= after.start
    for sentence in sentences:
        words = text[sentence.start : sentence.end]
        assert words == words.strip() != ""
    assert [c for s in cut(text) for c in s if c in "aB猫"] == [c for c in text if c in "aB猫"]


def test_a_sentence_without_end_is_cut_at_commas_or_spaces_and_loses_no_word():
    for part in ("and then I bought apples, ", "apples ", "apples", "“a"):
        text = part * (6000 // len(part))
        parts = cut(text)
        assert max(map(len, parts)) <= 1000
        assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "[saved 2026-05-18] User moved to Leeds.",
        "Memory:\n- User lives in Leeds\n- User has a dog",
        "Relevant memories: User lives in Leeds",
        "<memory>\nUser lives in Leeds.\n</memory>",
        "> I live in Leeds.",
        "```\nI live in Leeds.\n```",
    ],
)
def test_recalled_or_quoted_blocks_are_marked(text):
    assert all(sentence.recalled for sentence in split(text, load()))


def test_talk_after_a_recalled_block_is_talk_again():
    sentences = split("Memory:\n- User lives in Leeds\n\nI live in York now.", load())
    assert [sentence.recalled for sentence in sentences] == [True, True, False]
