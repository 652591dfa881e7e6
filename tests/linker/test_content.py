"""Edges between facts: of bounded degree, the same for any order of the facts, none through a hub."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sodamem.errors import ConfigError
from sodamem.linker import content
from sodamem.linker.content import ContentLinker
from sodamem.linker.none import NoLinker
from sodamem.types import Role


def linker(**fields):
    return ContentLinker(**{"degree": 4, "similarity": 0.25, "relations": 2, "hub": 0.5, **fields})


@pytest.fixture(scope="module")
def said(talk, fact):
    """said("I ran.", "Biscuit barks.", …) -> one fact a line; who="…" names an entity of each."""

    def make(*lines, who=()):
        turns = talk({"a 2024-01-01": [f"Ann: {line}" for line in lines]}).sessions[0].turns
        roles = [(Role(name="who", entity=name, words=name),) if name else () for name in who or [""] * len(lines)]
        return [fact(f"f{n}", turn, roles=roles[n]) for n, turn in enumerate(turns)]

    return make


def pairs(edges, kind):
    return {(edge.source, edge.target) for edge in edges if edge.kind == kind}


def test_facts_in_like_words_are_joined(said):
    facts = said("I ran a marathon in Oslo", "The marathon in Oslo was cold", "My cat sleeps")
    edges = linker(relations=0).link(facts)
    assert pairs(edges, "SEMANTIC") == {("f0", "f1"), ("f1", "f0")}
    assert all(0.25 <= edge.weight <= 1 for edge in edges)


def test_likeness_is_bounded_by_degree_and_floor(said):
    facts = said(*[f"the marathon of {year}" for year in range(2000, 2012)])
    edges = linker(degree=3, similarity=0.01, relations=0).link(facts)
    assert set(Counter(edge.source for edge in edges).values()) == {3}
    assert linker(similarity=1.0, relations=0).link(facts) == ()
    assert linker(degree=0, relations=0).link(facts) == ()


def test_facts_of_one_entity_are_joined_in_the_order_they_were_said(said):
    facts = said("a", "b", "c", "d", who=["dog", "dog", "cat", "dog"])
    edges = [edge for edge in linker(degree=0, relations=1, hub=0.9).link(facts) if edge.label == "dog"]
    assert [(edge.source, edge.target, edge.kind) for edge in edges] == [
        ("f0", "f1", "RELATION"),
        ("f1", "f3", "RELATION"),
    ]


def test_a_hub_relates_nothing(said):
    facts = said("a", "b", "c", "d", who=["dog", "dog", "dog", ""])
    labels = {share: {edge.label for edge in linker(degree=0, hub=share).link(facts)} for share in (0.5, 0.8, 1.0)}
    assert labels == {0.5: set(), 0.8: {"dog"}, 1.0: {"dog", "person:ann"}}  # Ann says all four


def test_two_facts_are_no_hub(said):
    assert linker(degree=0, hub=0.0).link(said("a", "b", who=["dog", "dog"]))


@settings(deadline=None, max_examples=25)
@given(order=st.permutations(range(6)))
def test_the_order_of_the_facts_does_not_matter(said, order):
    facts = said(
        "I ran a race",
        "the race was long",
        "a long day",
        "my dog",
        "the dog ran",
        "race day",
        who=["dog", "", "", "dog", "dog", ""],
    )
    assert linker().link([facts[place] for place in order]) == linker().link(facts)


def test_the_size_of_a_block_changes_nothing(said, monkeypatch):
    facts = said(*[f"race {n % 5} day {n % 3}" for n in range(23)])
    whole = linker().link(facts)
    for size in (1, 2, 7):
        monkeypatch.setattr(content, "_BLOCK", size)
        assert linker().link(facts) == whole


@pytest.mark.parametrize("lines", [(), ("alone",), ("the", "of and"), ("🙂", "🙃"), ("word", "🙂")])
def test_few_and_wordless_facts_have_no_likeness(said, lines):
    assert pairs(linker(relations=0).link(said(*lines)), "SEMANTIC") == set()


def test_a_fact_is_never_its_own_neighbour_nor_joined_twice(said):
    edges = linker(similarity=0.0).link(said("race", "race", "race", who=["dog", "dog", ""]))
    assert all(edge.source != edge.target for edge in edges)
    keys = [(edge.source, edge.target, edge.kind, edge.label) for edge in edges]
    assert len(keys) == len(set(keys)) > 0


def test_the_ablation_draws_nothing(said):
    assert NoLinker().link(said("race", "race")) == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [("degree", -1), ("relations", -1), ("similarity", 1.1), ("similarity", float("nan")), ("hub", -0.1)],
)
def test_a_value_out_of_range_is_refused_by_name(field, value):
    with pytest.raises(ConfigError, match=rf"linker\.{field}.* must be"):
        linker(**{field: value})
