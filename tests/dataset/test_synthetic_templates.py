"""The words of the synthetic dialogues: enough paraphrases, every place filled, one table of predicates."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from string import Formatter

import pytest
import yaml

from sodamem.dataset.synthetic import SyntheticDataset
from sodamem.dataset.synthetic.templates import lexicon


def _places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_every_fact_type_has_at_least_six_paraphrases() -> None:
    words = lexicon()
    told = {state.predicate: (state.state, state.change) for state in words.states}
    told |= {holding.predicate: (holding.state,) for holding in words.holdings}
    told |= {event.predicate: (event.did,) for event in words.happenings}
    told |= {"likes": (words.taste_words["like"],), "dislikes": (words.taste_words["dislike"],)}
    assert set(told) == set(words.predicates)
    assert all(len(templates) >= 6 for kinds in told.values() for templates in kinds)


def test_cardinality_follows_the_kind_of_wording() -> None:
    words = lexicon()
    single = {state.predicate for state in words.states}
    event = {happening.predicate for happening in words.happenings}
    for name, predicate in words.predicates.items():
        assert predicate.cardinality == ("single" if name in single else "event" if name in event else "multi")


def test_dated_and_undated_forms_exist_where_a_story_may_need_either() -> None:
    words = lexicon()
    both = [state.change for state in words.states] + [t for h in words.holdings for t in (h.gain, h.ended)]
    for templates in both:
        dated = [bool(_places(text) & {"when", "When"}) for text in templates]
        assert any(dated)
        assert not all(dated)
    always = [state.other_change for state in words.states if state.other_change]
    always += [templates for event in words.happenings for templates in (event.did, event.did_at, event.other)]
    for templates in always:
        assert any(_places(text) & {"when", "When"} for text in templates)


def test_a_value_is_named_wherever_it_is_claimed() -> None:
    for state in lexicon().states:
        claimed = (state.state, state.change, state.fix, state.temporary, state.plan, state.maybe, state.advice)
        assert all("value" in _places(text) for templates in claimed for text in templates), state.predicate


def test_no_value_occurs_twice_in_its_pool() -> None:
    words = lexicon()
    pools = [state.values for state in words.states] + [holding.values for holding in words.holdings]
    pools += [group.values for event in words.happenings for group in event.groups]
    for values in pools:
        assert len(set(values)) == len(values)


@pytest.mark.parametrize("option", ["synthetic", "synthetic_hard"])
def test_the_yaml_has_exactly_the_fields_of_the_dataset(option: str) -> None:
    path = Path(__file__).parents[2] / "conf" / "dataset" / f"{option}.yaml"
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert spec.pop("_target_") == "sodamem.dataset.synthetic.SyntheticDataset"
    assert set(spec) == set(signature(SyntheticDataset).parameters)
    assert SyntheticDataset(**spec).open().history_ids
