"""The graph tunnel: facts by the entities a question names, told apart by their other words."""

import math

import pytest

from sodamem.errors import ConfigError
from sodamem.tunnel.expansion import Expansion
from sodamem.tunnel.graph import GraphTunnel
from sodamem.types import Edge, Role


def graph(**fields):
    expansion = Expansion(
        **{"neighbours": 0, "hops": 0, "degree": 4, "keep": 5, "soft_time": 0, **fields.pop("reach", {})}
    )
    return GraphTunnel(**{"strength": "strong", "heads": 10, "words": 1.0, "expansion": expansion, **fields})


@pytest.fixture(scope="module")
def snapshot(talk, remember, fact):
    """Four facts: three of Ann, one of Bob; one of Ann's names Biscuit, who is linked to Bob's."""
    history = talk(
        {"a 2024-01-01": ["Ann: I ran a marathon.", "Ann: Biscuit barks.", "Ann: I paint.", "Bob: I paint too."]}
    )
    turns = history.sessions[0].turns
    facts = [fact(f"f{n}", turn) for n, turn in enumerate(turns)]
    facts[1] = fact("f1", turns[1], roles=(Role(name="who", entity="animal:biscuit", words="Biscuit"),))
    return remember(history, facts=facts, edges=[Edge(source="f1", target="f3", kind="RELATION", weight=0.5)])


def rarity(count, of=4):
    return math.log(1 + (of - count + 0.5) / (count + 0.5))


def found(tunnel, snapshot, query):
    hits = tunnel.open(snapshot).search(query)
    rows = zip(hits.item, hits.direct, hits.score, strict=True)
    return {snapshot.ids[row]: (bool(direct), float(score)) for row, direct, score in rows}


def test_facts_score_the_rarity_of_the_entities_and_words_they_share(snapshot, asking):
    query = asking("Did Ann paint Biscuit?", entities=("person:ann", "animal:biscuit"))
    assert found(graph(), snapshot, query) == {
        "f1": (True, pytest.approx(rarity(3) + rarity(1) + rarity(1), abs=1e-6)),  # Ann, Biscuit, the word biscuit
        "f2": (True, pytest.approx(rarity(3) + rarity(2), abs=1e-6)),  # Ann, the word paint (with f3)
        "f0": (True, pytest.approx(rarity(3), abs=1e-6)),
    }


def test_without_weight_words_do_not_count(snapshot, asking):
    scores = found(graph(words=0), snapshot, asking("Did Ann paint?", entities=("person:ann",)))
    assert [score for _, score in scores.values()] == pytest.approx([rarity(3)] * 3, abs=1e-6)


def test_a_fact_of_nobody_named_is_no_hit_however_many_words_it_shares(snapshot, asking):
    assert found(graph(), snapshot, asking("Who paints too?")) == {}
    assert "f3" not in found(graph(), snapshot, asking("Who paints too?", entities=("person:ann",)))


def test_links_are_followed_to_facts_of_others(snapshot, asking):
    scores = found(graph(reach={"hops": 1}), snapshot, asking("biscuit", entities=("animal:biscuit",)))
    assert list(scores) == ["f1", "f3"] and scores["f3"][0] is False


def test_an_entity_that_the_memory_does_not_know_finds_nothing(snapshot, asking):
    assert found(graph(), snapshot, asking("Zoe?", entities=("person:zoe",))) == {}


def test_a_memory_without_facts_can_be_searched(talk, remember, asking):
    memory = remember(talk({"a 2024-01-01": ["Ann: Hi."]}))
    assert found(graph(reach={"hops": 2}), memory, asking("Ann?", entities=("person:ann",))) == {}
    assert found(graph(), remember(talk({})), asking("Ann?", entities=("person:ann",))) == {}


@pytest.mark.parametrize("value", [-1, float("nan")])
def test_a_weight_out_of_range_is_refused_by_name(value):
    with pytest.raises(ConfigError, match=rf"graph\.words must be >= 0, got {value}"):
        graph(words=value)
