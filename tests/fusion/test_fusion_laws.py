"""Laws that every fusion obeys, whatever the tunnels found."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sodamem.fusion.density import DensityFusion
from sodamem.fusion.noisy_or import NoisyOrFusion
from sodamem.fusion.rrf import ReciprocalRankFusion
from sodamem.fusion.weighted_sum import WeightedSumFusion
from sodamem.types import Hits

ROWS = 12
TUNNELS = {"graph": "strong", "bm25": "strong", "dense": "weak", "time": "weak"}
MASSES = {"strong_direct": 0.4, "strong_derived": 0.1, "weak_direct": 0.2, "weak_derived": 0.05}
WEIGHTS = {"graph": 0.2, "bm25": 0.6, "dense": 0.8, "time": 0.1}


def fusions(unit, theta):
    shared = {"unit": unit, "theta": theta, "beta": 0.3}
    yield DensityFusion(**MASSES, decay=0.0, **shared)
    yield DensityFusion(**MASSES, decay=0.7, **shared)
    yield NoisyOrFusion(**MASSES, **shared)
    yield ReciprocalRankFusion(k=60, **shared)
    for how in ("max", "minmax", "z"):
        yield WeightedSumFusion(weights=WEIGHTS, normalise=how, derived=0.3, **shared)


@st.composite
def tables(draw):
    """Hits of some tunnels: heads of distinct rows, best first, each with what it reaches."""
    found = {}
    for name in draw(st.lists(st.sampled_from(sorted(TUNNELS)), min_size=1, unique=True)):
        rows = []
        heads = draw(st.lists(st.integers(0, ROWS - 1), max_size=5, unique=True))
        scores = sorted((draw(st.sampled_from([0.1, 0.3, 0.7, 1.0, 2.5])) for _ in heads), reverse=True)
        for rank, (head, score) in enumerate(zip(heads, scores, strict=True), start=1):
            rows.append((head, rank, True, score))
            reached = draw(
                st.lists(st.integers(0, ROWS - 1).filter(lambda row, h=head: row != h), max_size=3, unique=True)
            )
            rows += [(row, rank, False, draw(st.sampled_from([-0.2, 0.0, 0.4]))) for row in reached]
        item, head, direct, score = zip(*rows, strict=True) if rows else ((), (), (), ())
        found[name] = Hits(
            item=np.array(item, dtype=np.int32),
            head=np.array(head, dtype=np.int32),
            direct=np.array(direct, dtype=np.bool_),
            score=np.array(score, dtype=np.float64),
        )
    return found


@pytest.fixture(scope="module")
def snapshot(talk, remember, piece, fact):
    """Eight turns, two pieces, two facts; vectors in the plane, so that some resemble each other."""
    history = talk(
        {
            f"{name} 2024-0{month}-01": [f"Ann: In {name} I moved. Yes.", "Bob: Where?", "Ann: Oslo.", "Bob: Ah."]
            for month, name in enumerate("ab", start=1)
        }
    )
    turns = [turn for session in history.sessions for turn in session.turns]
    ids = [turn.id for turn in turns] + [piece(turns[i], "Yes.").id for i in (0, 4)] + ["f1", "f2"]
    angles = {id: (np.cos(n * 0.4), np.sin(n * 0.4)) for n, id in enumerate(ids)}
    memory = remember(
        history,
        pieces=[piece(turns[0], "Yes."), piece(turns[4], "Yes.")],
        facts=[fact("f1", turns[1]), fact("f2", turns[6])],
        vectors=angles,
    )
    assert len(memory) >= ROWS
    return memory


def shown(ranking):
    return [(ranking.members(place), round(float(ranking.confidence[place]), 7)) for place in range(len(ranking.item))]


OPTIONS = [(unit, theta) for unit in ("item", "turn") for theta in (None, 0.8)]


@settings(deadline=None, max_examples=60)
@given(found=tables(), data=st.data())
def test_the_order_of_the_tunnels_does_not_change_the_ranking(snapshot, asking, found, data):
    names = data.draw(st.permutations(list(found)))
    for unit, theta in OPTIONS:
        for fusion in fusions(unit, theta):
            one = fusion.fuse(asking(), found, TUNNELS, snapshot)
            two = fusion.fuse(asking(), {name: found[name] for name in names}, TUNNELS, snapshot)
            assert shown(one) == shown(two), fusion


@settings(deadline=None, max_examples=60)
@given(found=tables())
def test_every_ranking_is_a_permutation_of_what_was_found(snapshot, asking, found):
    for unit, theta in OPTIONS:
        rows = {int(row) for table in found.values() for row in table.item}
        candidates = {int(snapshot.turn[row]) for row in rows} if unit == "turn" else rows
        for fusion in fusions(unit, theta):
            ranking = fusion.fuse(asking(), found, TUNNELS, snapshot)
            assert sorted(ranking.member.tolist()) == sorted(candidates)
            assert ranking.bounds[0] == 0 and ranking.bounds[-1] == len(candidates)
            assert [ranking.members(place)[0] for place in range(len(ranking.item))] == ranking.item.tolist()
            assert all(a >= b for a, b in zip(ranking.confidence, ranking.confidence[1:], strict=False))
            assert len(ranking.award_mass) == sum(map(len, found.values()))
            for place, row in zip(ranking.award_place, np.concatenate([t.item for t in found.values()]), strict=True):
                own = int(snapshot.turn[row]) if unit == "turn" else int(row)
                assert own in ranking.members(int(place))


@settings(deadline=None, max_examples=60)
@given(found=tables())
def test_awards_add_up_to_the_confidence_without_the_bonus(snapshot, asking, found):
    for unit, theta in OPTIONS:
        for fusion in fusions(unit, theta):
            if isinstance(fusion, NoisyOrFusion):
                continue  # its awards combine otherwise
            ranking = fusion.fuse(asking(), found, TUNNELS, snapshot)
            sums = defaultdict(float)
            for place, mass in zip(ranking.award_place.tolist(), ranking.award_mass.tolist(), strict=True):
                sums[place] += mass
            for place, confidence in enumerate(ranking.confidence - ranking.bonus):
                assert sums[place] == pytest.approx(confidence, abs=1e-7)


@settings(deadline=None, max_examples=60)
@given(found=tables())
def test_unit_turn_ranks_turns_only_and_loses_no_mass(snapshot, asking, found):
    shared = {**MASSES, "decay": 0.0, "theta": None, "beta": 0.0}
    item, turn = (
        DensityFusion(unit=unit, **shared).fuse(asking(), found, TUNNELS, snapshot) for unit in ("item", "turn")
    )
    wanted = defaultdict(float)
    for row, mass in zip(item.item.tolist(), item.confidence.tolist(), strict=True):
        wanted[int(snapshot.turn[row])] += mass
    assert dict(zip(turn.item.tolist(), turn.confidence.tolist(), strict=True)) == pytest.approx(wanted)


def one_by_one(rows, value, vectors, theta):
    """Leader clustering as it is told: from the most valuable down, whoever is not absorbed leads and absorbs."""
    leader = {}
    order = sorted(rows, key=lambda row: (-value[row], row))
    for row in order:
        if row not in leader:
            leader[row] = row
            for other in order:
                if other not in leader and round(float(vectors[row] @ vectors[other]), 6) >= theta:
                    leader[other] = row
    return leader


@settings(deadline=None, max_examples=150)
@given(masses=st.lists(st.integers(1, 6), min_size=ROWS, max_size=ROWS), theta=st.sampled_from([0.5, 0.7, 0.92, 1.0]))
def test_merging_is_leader_clustering(snapshot, asking, masses, theta):
    table = Hits(
        item=np.repeat(np.arange(ROWS), masses).astype(np.int32),
        head=np.concatenate([np.arange(1, count + 1) for count in masses]).astype(np.int32),
        direct=np.ones(sum(masses), dtype=np.bool_),
        score=np.ones(sum(masses)),
    )
    fusion = DensityFusion(**MASSES, decay=0.0, theta=theta, beta=0.0, unit="item")
    ranking = fusion.fuse(asking(), {"bm25": table}, TUNNELS, snapshot)
    expected = one_by_one(range(ROWS), masses, snapshot.vectors(np.arange(ROWS)), theta)
    found = {row: members[0] for members in map(ranking.members, range(len(ranking.item))) for row in members}
    assert found == expected


def test_a_better_leader_found_late_still_absorbs_its_own(snapshot, asking, hits):
    # In a row of neighbours 0-1-2-3-4 worth 6, 5, 4, 1, 3: 0 absorbs 1, so 2 leads and absorbs 3 before 4 could.
    rows = [(row, head, True, 1.0) for row, worth in enumerate((6, 5, 4, 1, 3)) for head in range(1, worth + 1)]
    fusion = DensityFusion(**MASSES, decay=0.0, theta=0.9, beta=0.0, unit="item")
    ranking = fusion.fuse(asking(), {"bm25": hits(*rows)}, TUNNELS, snapshot)
    assert sorted(ranking.members(place) for place in range(len(ranking.item))) == [[0, 1], [2, 3], [4]]
