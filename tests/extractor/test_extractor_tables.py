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
SWITCHES = {"many", "quantity", "name", "or_name", "modified", "passive", "negated", "change", "ends", "near"}


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
    assert len(found) > 50
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
        assert {*cue.classes, *cue.excluded, *cue.objects} <= lexicon.classes.keys(), cue
        assert set(cue.value) <= PLACES | lexicon.prepositions | {"of"}, cue
        assert {where for _, places in cue.roles for where in places} <= PLACES | lexicon.prepositions | {"of"}, cue
        assert set(cue.says) <= lexicon.phrases.keys(), cue
        assert cue.value or cue.fill, cue
        assert not cue.unit or cue.unit in {unit for unit, _ in lexicon.units.values()}, cue


def test_every_predicate_can_be_said_and_shown():
    lexicon = load()
    said = {cue.predicate for found in lexicon.cues.values() for cue in found}
    said |= {*lexicon.nouns.values(), *(name for _, _, name in lexicon.scoped_nouns)}
    assert said == lexicon.predicates.keys()
    for predicate in lexicon.predicates.values():
        assert predicate.kind in KINDS
        assert predicate.modality is None or predicate.modality in MODALITIES
        assert predicate.say
