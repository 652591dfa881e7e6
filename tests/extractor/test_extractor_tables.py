"""The tables of the rule extractor: every name in them means something, so that no cue is silently dead."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sodamem.extractor import lexicon as lexicon_module
from sodamem.extractor.lexicon import load
from sodamem.types import KINDS, MODALITIES

TABLES = sorted((Path(lexicon_module.__file__).parent / "tables").glob("*.yaml"))
PLACES = {"object", "complement", "quantity", "none"}
SWITCHES = {
    "many", "quantity", "name", "or_name", "modified", "passive", "negated", "change", "ends", "near", "receiver",
    "could", "alone", "still", "doing", "nearby",
}  # fmt: skip


def leaves(node, path=()):
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, (*path, key))
    elif isinstance(node, list):
        for value in node:
            yield from leaves(value, path)
    else:
        yield path, node


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_no_word_was_read_as_a_truth_value(path):
    """YAML reads a bare on, off, yes or no as true or false: such words must be quoted."""
    found = [(where, leaf) for where, leaf in leaves(yaml.safe_load(path.read_text(encoding="utf-8")))]
    assert len(found) > 30
    assert [(where, leaf) for where, leaf in found if isinstance(leaf, bool) and where[-1] not in SWITCHES] == []
    assert all(isinstance(key, str) for where, _ in found for key in where)


def test_every_cue_asks_for_things_that_exist():
    lexicon = load()
    verbs = {lemma for forms in lexicon.verbs.values() for lemma in forms.values()}
    cues = [(verb, cue) for verb, found in lexicon.cues.items() for cue in found]
    assert len(cues) > 150
    for verb, cue in cues:
        lemma, _, particle = verb.partition("_")
        assert lemma in verbs, verb
        assert not particle or particle in lexicon.particles, verb
        assert {*cue.classes, *cue.excluded, *cue.objects, *cue.within} <= lexicon.classes.keys(), cue
        assert set(cue.value) <= PLACES | lexicon.prepositions | {"of"}, cue
        assert {where for _, places in cue.roles for where in places} <= PLACES | lexicon.prepositions | {"of"}, cue
        assert set(cue.says) <= lexicon.phrases.keys(), cue
        assert cue.value or cue.fill, cue
        assert set(cue.unit.split()) <= {unit for unit, _ in lexicon.units.values()}, cue
        assert not cue.scope or lexicon.predicates[cue.predicate].scope, cue


def test_every_predicate_can_be_said_and_shown():
    lexicon = load()
    said = {cue.predicate for found in lexicon.cues.values() for cue in found}
    said |= {*lexicon.nouns.values(), *(name for _, _, name in lexicon.scoped_nouns)}
    said |= {frame.predicate for frames in lexicon.frames.values() for frame in frames}
    assert said == lexicon.predicates.keys()
    for predicate in lexicon.predicates.values():
        assert predicate.kind in KINDS
        assert predicate.modality is None or predicate.modality in MODALITIES
        assert predicate.say
        assert {*predicate.fits, *predicate.by_value} <= lexicon.classes.keys()
        assert set(predicate.units) <= {unit for unit, _ in lexicon.units.values()}
        assert predicate.scope or not (predicate.by_value or predicate.marks or predicate.same or predicate.nearby)


def test_every_frame_is_tried_for_the_sentences_it_is_made_for():
    """A frame without its key in its own words would never be tried."""
    lexicon = load()
    assert sum(map(len, lexicon.frames.values())) > 20
    for key, frames in lexicon.frames.items():
        for frame in frames:
            assert key in frame.pattern.pattern, frame
            assert {"value", "amount"} & frame.pattern.groupindex.keys()
            assert set(frame.fits) <= lexicon.classes.keys()
            assert "scope" not in frame.pattern.groupindex or lexicon.predicates[frame.predicate].scope


def test_slots_that_are_named_belong_to_declared_predicates():
    lexicon = load()
    named = [*lexicon.carriers.values(), *(name for name, _ in lexicon.holders.values())]
    named += [name for rows in lexicon.asking_slots.values() for _, name in rows]
    assert len(named) > 40
    assert set(named) <= lexicon.predicates.keys()
    assert {preposition for _, preposition in lexicon.holders.values()} <= lexicon.prepositions
