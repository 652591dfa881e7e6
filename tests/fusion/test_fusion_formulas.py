"""Each fusion's formula, redone on paper: expected values are the arithmetic of the hits beside them."""

from datetime import datetime

import numpy as np
import pytest

from sodamem.errors import ConfigError
from sodamem.fusion.density import DensityFusion
from sodamem.fusion.noisy_or import NoisyOrFusion
from sodamem.fusion.rrf import ReciprocalRankFusion
from sodamem.fusion.weighted_sum import WeightedSumFusion, normalised
from sodamem.types import Interval, Window

MASSES = {"strong_direct": 0.4, "strong_derived": 0.1, "weak_direct": 0.2, "weak_derived": 0.05}  # paper section 4.5
STRENGTHS = {"graph": "strong", "bm25": "strong", "dense": "weak"}
A, B, C, D, PIECE, FACT = range(6)


def density(**fields):
    return DensityFusion(**{**MASSES, "decay": 0.0, "theta": None, "beta": 0.0, "unit": "item", **fields})


def noisy_or(**fields):
    return NoisyOrFusion(**{**MASSES, "theta": None, "beta": 0.0, "unit": "item", **fields})


def rrf(**fields):
    return ReciprocalRankFusion(**{"k": 60, "theta": None, "beta": 0.0, "unit": "item", **fields})


def weighted(**fields):
    given = {"weights": {"bm25": 0.6, "dense": 0.8}, "normalise": "max", "derived": 0.0}
    return WeightedSumFusion(**{**given, "theta": None, "beta": 0.0, "unit": "item", **fields})


@pytest.fixture(scope="module")
def snapshot(talk, remember, piece, fact):
    """Turns A, B, C, D; a piece of A and a fact of B. Cosines: A·B = 0.8, B·C = 0.96, A·C = 0.6; D is apart."""
    history = talk(
        {"a 2024-01-01": ["Ann: I moved. Yes.", "Bob: Where to?"], "b 2024-03-01": ["Ann: Oslo.", "Bob: Ah."]}
    )
    turns = [turn for session in history.sessions for turn in session.turns]
    vectors = {"a:0": (1, 0), "a:1": (0.8, 0.6), "b:0": (0.6, 0.8), "b:1": (-1, 0)}
    return remember(history, pieces=[piece(turns[0], "I moved.")], facts=[fact("f", turns[1])], vectors=vectors)


@pytest.fixture
def fuse(snapshot, asking):
    def run(fusion, tables, **query):
        ranking = fusion.fuse(asking(**query), tables, STRENGTHS, snapshot)
        return ranking, dict(zip(ranking.item.tolist(), ranking.confidence.tolist(), strict=True))

    return run


def test_the_density_is_the_sum_of_the_masses_of_the_paper(fuse, hits):
    tables = {
        "graph": hits((A, 1, True, 9), (B, 1, False, 0.1)),
        "bm25": hits((A, 1, True, 7), (A, 2, False, 0.5), (C, 2, True, 3)),
        "dense": hits((B, 1, True, 0.9), (D, 1, False, 0.2)),
    }
    ranking, confidence = fuse(density(), tables)
    assert confidence == pytest.approx({A: 0.4 + 0.4 + 0.1, C: 0.4, B: 0.1 + 0.2, D: 0.05})
    assert ranking.item.tolist() == [A, C, B, D]
    assert ranking.tunnels == ("graph", "bm25", "dense")
    awards = zip(ranking.award_place, ranking.award_tunnel, ranking.award_direct, ranking.award_mass, strict=True)
    assert sorted((int(t), bool(d), float(m)) for p, t, d, m in awards if p == 0) == [
        (0, True, 0.4),
        (1, False, 0.1),
        (1, True, 0.4),
    ]


def test_decay_divides_by_the_rank_of_the_head(fuse, hits):
    tables = {"bm25": hits((A, 1, True, 9), (B, 2, True, 8), (C, 3, True, 7), (D, 3, False, 1))}
    _, confidence = fuse(density(decay=0.5), tables)
    assert confidence == pytest.approx({A: 0.4 / 1, B: 0.4 / (1 + 0.5), C: 0.4 / (1 + 0.5 * 2), D: 0.1 / (1 + 0.5 * 2)})


def test_a_leader_absorbs_what_resembles_it_and_not_through_a_chain(fuse, hits):
    tables = {"bm25": hits((A, 1, True, 9)), "dense": hits((B, 1, True, 0.9), (C, 1, False, 0.8))}
    ranking, confidence = fuse(density(theta=0.8), tables)
    # A (0.4) leads and absorbs B (cosine 0.8); C resembles B at 0.96, but B is gone and A is only at 0.6.
    assert confidence == pytest.approx({A: 0.4 + 0.2, C: 0.05})
    assert [ranking.members(place) for place in (0, 1)] == [[A, B], [C]]


def test_the_most_valuable_leads_a_merged_item(fuse, hits):
    tables = {"bm25": hits((B, 1, True, 9)), "dense": hits((A, 1, True, 0.9), (C, 1, False, 0.8))}
    ranking, confidence = fuse(density(theta=0.8), tables)
    assert confidence == pytest.approx({B: 0.4 + 0.2 + 0.05})  # B resembles both
    assert ranking.members(0) == [B, A, C]  # the leader, then by value


def test_rounding_noise_of_a_sum_does_not_choose_the_leader(fuse, hits):
    # A and B are worth 0.6 each, so the lower row leads; but 0.1 + 0.2 + 0.3 is 0.6000000000000001 from left to right.
    assert 0.1 + 0.2 + 0.3 > 0.6 == 0.3 + 0.2 + 0.1
    parts = {"graph": 0.1, "bm25": 0.2, "dense": 0.3, "time": 0.6}
    tables = {name: hits((A if name == "time" else B, 1, True, 1)) for name in parts}
    for order in (list(parts), list(reversed(parts))):
        ranking, confidence = fuse(weighted(weights=parts, theta=0.8), {name: tables[name] for name in order})
        assert ranking.members(0) == [A, B], order
        assert confidence == pytest.approx({A: 1.2})


def test_nothing_is_merged_by_likeness_when_theta_is_null(fuse, hits):
    _, confidence = fuse(density(theta=None), {"bm25": hits((A, 1, True, 9), (B, 2, True, 8))})
    assert confidence == pytest.approx({A: 0.4, B: 0.4})


def test_items_without_a_vector_are_never_merged(talk, remember, asking, hits):
    history = talk({"a 2024-01-01": ["Ann: 🙂", "Bob: 🙃"]})
    blank = remember(history, vectors={})
    tables = {"bm25": hits((0, 1, True, 9), (1, 2, True, 8))}
    assert len(density(theta=0.8).fuse(asking(), tables, STRENGTHS, blank).item) == 2


def test_the_time_bonus_is_given_once_for_a_merged_item(fuse, hits):
    january = Window(interval=Interval(start=datetime(2024, 1, 1), end=datetime(2024, 2, 1), grain="month"))
    tables = {"bm25": hits((A, 1, True, 9), (B, 2, True, 8), (C, 3, True, 7))}
    ranking, confidence = fuse(density(theta=0.8, beta=0.3), tables, window=january)
    assert confidence == pytest.approx({A: 0.4 + 0.4 + 0.3, C: 0.4})  # A and B were both said in January, C in March
    assert ranking.bonus.tolist() == [0.3, 0.0]


def test_the_bonus_is_for_the_occurrence_not_for_the_day_it_was_said(talk, remember, fact, asking, hits):
    history = talk({"a 2024-06-01": ["Ann: I moved in January.", "Bob: Ah."]})
    occurred = Interval(start=datetime(2024, 1, 1), end=datetime(2024, 2, 1), grain="month")
    memory = remember(history, facts=[fact("f", history.sessions[0].turns[0], occurred=occurred)])
    ranking = density(beta=0.3).fuse(
        asking(window=Window(interval=occurred)), {"bm25": hits((0, 1, True, 2), (2, 2, True, 1))}, STRENGTHS, memory
    )
    assert ranking.item.tolist() == [2, 0] and ranking.confidence.tolist() == pytest.approx([0.7, 0.4])


@pytest.mark.parametrize(("order", "expected"), [("near_to_far", [C, D, A, B]), ("far_to_near", [A, B, C, D])])
def test_ties_are_broken_by_time_then_by_id(fuse, hits, order, expected):
    tables = {"bm25": hits((D, 1, True, 9), (B, 2, True, 8), (C, 3, True, 7), (A, 4, True, 6))}
    ranking, _ = fuse(density(), tables, window=Window(order=order))
    assert ranking.item.tolist() == expected  # C, D were said in March; asked in December


def test_noisy_or_is_one_minus_the_product_of_doubts(fuse, hits):
    tables = {"bm25": hits((A, 1, True, 9), (B, 1, False, 1)), "dense": hits((A, 1, True, 1), (A, 2, False, 1))}
    ranking, confidence = fuse(noisy_or(), tables)
    assert confidence == pytest.approx({A: 1 - (1 - 0.4) * (1 - 0.2) * (1 - 0.05), B: 0.1})
    assert ranking.award_mass.tolist() == [0.4, 0.1, 0.2, 0.05]


def test_noisy_or_of_merged_items_combines_all_their_reasons(fuse, hits):
    january = Window(interval=Interval(start=datetime(2024, 1, 1), end=datetime(2024, 2, 1), grain="month"))
    tables = {"bm25": hits((A, 1, True, 9)), "dense": hits((B, 1, True, 1))}
    _, confidence = fuse(noisy_or(theta=0.8, beta=0.3), tables, window=january)
    assert confidence == pytest.approx({A: 1 - (1 - 0.4) * (1 - 0.2) + 0.3})


def test_reciprocal_ranks_add_up_over_the_tunnels(fuse, hits):
    tables = {"bm25": hits((A, 1, True, 9), (B, 2, True, 8)), "dense": hits((B, 1, True, 0.5))}
    ranking, confidence = fuse(rrf(), tables)
    assert confidence == pytest.approx({B: 1 / (60 + 2) + 1 / (60 + 1), A: 1 / (60 + 1)})
    assert ranking.item.tolist() == [B, A]


def test_a_reciprocal_rank_list_is_heads_each_followed_by_what_it_reached(fuse, hits):
    # The list is A, C (reached from A, better), D (reached from A), B; A again below B does not count.
    tables = {
        "bm25": hits((A, 1, True, 9), (D, 1, False, 0.2), (C, 1, False, 0.7), (B, 2, True, 8), (A, 2, False, 0.9))
    }
    ranking, confidence = fuse(rrf(), tables)
    assert confidence == pytest.approx({A: 1 / 61, C: 1 / 62, D: 1 / 63, B: 1 / 64})
    assert ranking.award_mass.tolist() == pytest.approx([1 / 61, 1 / 63, 1 / 62, 1 / 64, 0])


def test_a_weighted_sum_adds_normalised_scores(fuse, hits):
    tables = {"bm25": hits((A, 1, True, 8), (B, 2, True, 2)), "dense": hits((B, 1, True, 0.5), (C, 2, True, 0.25))}
    _, confidence = fuse(weighted(), tables)
    assert confidence == pytest.approx({A: 0.6 * 8 / 8, B: 0.6 * 2 / 8 + 0.8 * 0.5 / 0.5, C: 0.8 * 0.25 / 0.5})


def test_a_derived_hit_gets_a_share_of_its_head_and_the_best_award_counts(fuse, hits):
    tables = {"bm25": hits((A, 1, True, 8), (B, 1, False, 99), (C, 2, True, 4), (B, 2, False, 99), (A, 2, False, 99))}
    ranking, confidence = fuse(weighted(derived=0.5), tables)
    assert confidence == pytest.approx({A: 0.6 * 1, B: 0.6 * 0.5 * 1, C: 0.6 * 4 / 8})
    assert ranking.award_mass.tolist() == pytest.approx([0.6, 0.3, 0.3, 0, 0])


@pytest.mark.parametrize(
    ("how", "expected"),
    [("max", [4 / 4, 3 / 4, 2 / 4]), ("minmax", [1, (3 - 2) / (4 - 2), 0]), ("z", [1.5**0.5, 0, -(1.5**0.5)])],
)
def test_normalisers(how, expected):
    # z of 4, 3, 2: mean 3, variance 2/3
    assert normalised(
        np.array([4.0, 3.0, 2.0]), np.zeros(len([4.0, 3.0, 2.0]), dtype=int), how
    ).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(("how", "expected"), [("max", 1), ("minmax", 1), ("z", 0)])
def test_equal_scores_are_not_divided_by_nothing(how, expected):
    assert normalised(np.array([3.0, 3.0]), np.zeros(len([3.0, 3.0]), dtype=int), how).tolist() == [expected, expected]
    assert normalised(np.zeros(0), np.zeros(0, dtype=int), how).tolist() == []


def test_a_tunnel_without_a_weight_is_refused_by_name(fuse, hits):
    with pytest.raises(ConfigError, match=r"fusion\.weights must name every tunnel, got none for graph\. Set \+fusion"):
        fuse(weighted(), {"graph": hits((A, 1, True, 1)), "bm25": hits()})


def test_unit_turn_counts_pieces_and_facts_for_their_turn(fuse, hits):
    tables = {"bm25": hits((A, 1, True, 9), (PIECE, 2, True, 8), (FACT, 3, True, 7))}
    ranking, confidence = fuse(density(unit="turn"), tables)
    assert confidence == pytest.approx({A: 0.4 + 0.4, B: 0.4})
    assert set(ranking.member.tolist()) == {A, B}
    _, apart = fuse(density(unit="item"), tables)
    assert apart == pytest.approx({A: 0.4, PIECE: 0.4, FACT: 0.4})


@pytest.mark.parametrize(
    "fusion", [density(), noisy_or(), rrf(), weighted()], ids=["density", "noisy_or", "rrf", "sum"]
)
@pytest.mark.parametrize("theta", [None, 0.8])
def test_a_question_that_finds_nothing_gives_an_empty_ranking(fuse, hits, fusion, theta):
    import dataclasses

    ranking, confidence = fuse(dataclasses.replace(fusion, theta=theta), {"bm25": hits(), "dense": hits()})
    assert confidence == {} and ranking.bounds.tolist() == [0] and len(ranking.award_place) == 0


@pytest.mark.parametrize(
    ("make", "field", "value", "said"),
    [
        (density, "beta", -1, r"fusion\.beta must be >= 0, got -1"),
        (density, "beta", float("nan"), r"fusion\.beta must be >= 0, got nan"),
        (density, "theta", 0, r"fusion\.theta must be above 0 and at most 1"),
        (density, "theta", 1.1, r"fusion\.theta must be above 0 and at most 1"),
        (density, "unit", "session", r"fusion\.unit must be one of item, turn, got 'session'"),
        (density, "decay", -0.1, r"fusion\.decay must be >= 0, got -0\.1"),
        (density, "weak_derived", float("nan"), r"fusion\.weak_derived must be >= 0, got nan"),
        (noisy_or, "strong_direct", 1, r"fusion\.strong_direct must be at least 0 and below 1, got 1"),
        (rrf, "k", 0, r"fusion\.k must be > 0, got 0"),
        (weighted, "normalise", "sum", r"fusion\.normalise must be one of max, minmax, z, got 'sum'"),
        (weighted, "derived", 1.5, r"fusion\.derived must be between 0 and 1, got 1\.5"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(make, field, value, said):
    with pytest.raises(ConfigError, match=said):
        make(**{field: value})
