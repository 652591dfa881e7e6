"""Verb forms: from what is said to the lemma, regular, irregular and unlisted."""

from __future__ import annotations

import pytest

from sodamem.extractor.lexicon import load
from sodamem.extractor.morphology import guess


@pytest.mark.parametrize(
    ("word", "form", "lemma"),
    [
        ("moved", "past", "move"),
        ("planned", "past", "plan"),
        ("preferred", "participle", "prefer"),
        ("visited", "past", "visit"),
        ("studied", "past", "study"),
        ("stayed", "past", "stay"),
        ("went", "past", "go"),
        ("taken", "participle", "take"),
        ("quitting", "ing", "quit"),
        ("lying", "ing", "lie"),
        ("dyeing", "ing", None),
        ("agreeing", "ing", "agree"),
        ("teaches", "s", "teach"),
        ("carries", "s", "carry"),
        ("goes", "s", "go"),
        ("baking", "ing", "bake"),
    ],
)
def test_forms_of_listed_verbs(word, form, lemma):
    assert load().verbs.get(word, {}).get(form) == lemma


@pytest.mark.parametrize(
    ("word", "form", "lemma"),
    [
        ("jogged", "past", "jog"),
        ("juggled", "past", "juggle"),
        ("crocheted", "past", "crochet"),
        ("dazed", "past", "daze"),
        ("hurried", "past", "hurry"),
        ("googling", "ing", "google"),
        ("zooms", "s", "zoom"),
        ("paddle", "base", "paddle"),
    ],
)
def test_forms_of_unlisted_verbs_are_guessed_by_their_ending(word, form, lemma):
    assert guess(word).get(form) == lemma


@pytest.mark.parametrize("word", ["42", "x", "a-b", "", "🙂"])
def test_what_is_no_word_is_no_verb(word):
    assert guess(word) == {}
