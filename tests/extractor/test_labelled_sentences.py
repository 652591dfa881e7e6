"""The rule extractor against sentences labelled by hand: floors a change may not fall below."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml

from experiments.extraction import SENTENCES, labelled
from sodamem.extractor.lexicon import load
from sodamem.types import MODALITIES


@pytest.fixture(scope="module")
def score(timeline, extractor):
    return labelled(extractor, timeline).row("")


def test_precision_and_recall_do_not_fall(score):
    assert score["facts"] >= 260
    assert score["precision"] >= 0.95
    assert score["recall"] >= 0.95


@pytest.mark.parametrize("part", ["modality", "polarity", "flags"])
def test_facts_found_are_read_right(score, part):
    assert score[part] >= 0.97


def test_the_labels_use_declared_words_and_cover_what_matters():
    rows = yaml.safe_load(SENTENCES.read_text(encoding="utf-8"))
    labels = [label for row in rows for label in row["facts"]]
    assert len(rows) == len({row["text"] for row in rows}) == 339
    assert sum(not row["facts"] for row in rows) >= 75
    assert {label.get("modality", "current_state") for label in labels} <= set(MODALITIES)
    used = Counter(label["predicate"] for label in labels)
    assert len(used.keys() & load().predicates.keys()) >= 30
