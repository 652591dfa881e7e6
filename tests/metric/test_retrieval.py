"""Every measure against arithmetic one can redo, against ir_measures, and against its laws."""

import random
from datetime import datetime
from math import log2

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.errors import DataError
from sodamem.metric import retrieval as r
from sodamem.types import Evidence, Question

IDS = [f"t{i:02d}" for i in range(30)]
rankings = st.permutations(IDS).flatmap(lambda ids: st.integers(0, 30).map(lambda n: ids[:n]))
golds = st.sets(st.sampled_from([*IDS, "unseen"]), min_size=1, max_size=8)
cutoffs = st.sampled_from(r.CUTOFFS)
CUT = [r.recall, r.recall_all, r.hit, r.ndcg, r.ndcg_lme]


def question(**fields):
    defaults = {"id": "q", "history_id": "h", "text": "?", "asked_at": datetime(2024, 1, 1), "gold": "x"}
    category = {"category": "category_2", "category_name": "temporal"}
    gold = {"gold_turns": ("a:0",), "gold_sessions": ("a",)}
    return Question(**{**defaults, **category, **gold, **fields})


def evidence(*items):
    return [
        Evidence(
            id=f"e{rank}",
            kind="turn",
            rank=rank,
            turn_ids=turns,
            session_id=turns[0].split(":")[0],
            speaker="A",
            text=text,
            at=datetime(2024, 1, 1),
            confidence=1.0,
            awards=(),
        )
        for rank, (turns, text) in enumerate(items, start=1)
    ]


def words(text):
    return len(text.split())


def test_hit_recall_and_recall_all_are_three_different_things():
    ranking, gold = ["g0"] + [f"x{i}" for i in range(9)], {f"g{i}" for i in range(20)}
    assert r.hit(ranking, gold, 10) == 1
    assert r.recall(ranking, gold, 10) == 1 / 20
    assert r.recall_all(ranking, gold, 10) == 0


def test_ndcg_ideal_comes_from_the_gold_and_not_from_what_was_retrieved():
    # One of two gold ids is found, at rank 2; an ideal ranking has them at ranks 1 and 2.
    assert r.ndcg(["x", "g1"], {"g1", "g2"}, 10) == pytest.approx((1 / log2(3)) / (1 / log2(2) + 1 / log2(3)))
    # With more gold than k, the ideal fills k ranks.
    assert r.ndcg(["g1", "g2"], {"g1", "g2", "g3"}, 2) == 1


def test_longmemevals_ndcg_keeps_its_own_name_since_it_ignores_the_order_of_ranks_1_and_2():
    assert r.ndcg_lme(["x", "g"], {"g"}, 10) == 1
    assert r.ndcg(["x", "g"], {"g"}, 10) == pytest.approx(1 / log2(3))
    assert r.ndcg_lme(["x", "x2", "g"], {"g"}, 10) == pytest.approx(1 / log2(3))


def test_turns_collapse_to_sessions_before_the_cut():
    ranking = r.collapse([["s2"], ["s1"], ["s1"], ["s1"], ["s2"], ["s3"]])
    assert ranking == ("s2", "s1", "s3")
    assert r.ndcg(ranking, {"s1"}, 2) == r.ndcg(ranking, {"s1"}, 5) == pytest.approx(1 / log2(3))


def test_token_budget_counts_whole_items_and_stops_at_the_first_that_does_not_fit():
    groups, tokens = [["a"], ["b", "c"], ["d"]], [400, 600, 1]
    assert r.recall_at_tokens(groups, tokens, {"a", "b", "c", "d"}, 1000) == 3 / 4
    assert r.recall_at_tokens(groups, tokens, {"a", "b", "c", "d"}, 999) == 1 / 4
    assert r.recall_at_tokens(groups, tokens, {"a"}, 0) == 0


def test_random_recall_is_k_over_pool_and_never_above_one():
    assert r.random_recall(40, 10) == 10 / 40
    assert r.random_recall(4, 10) == 1
    with pytest.raises(DataError, match="pool must hold at least one id, got 0"):
        r.random_recall(0, 10)


def test_random_recall_is_the_mean_over_random_orders():
    draw, pool = random.Random(7), list(range(12))
    mean = sum(r.recall([str(i) for i in draw.sample(pool, 12)], {"3", "5"}, 5) for _ in range(4000)) / 4000
    assert mean == pytest.approx(r.random_recall(12, 5), abs=0.02)


@pytest.mark.parametrize("measured", [*CUT, lambda ranking, gold, k: r.mrr(ranking, gold)])
def test_no_gold_is_an_error_and_neither_0_nor_1(measured):
    with pytest.raises(DataError, match="gold must hold at least one id"):
        measured(["a"], set(), 10)


@given(rankings, golds, cutoffs)
def test_measures_equal_a_second_implementation(ranking, gold, k):
    def theirs(measured):
        run = {"q": {item: float(len(ranking) - i) for i, item in enumerate(ranking)}}
        return ir_measures.calc_aggregate([measured], {"q": dict.fromkeys(gold, 1)}, run)[measured] if ranking else 0

    assert r.recall(ranking, gold, k) == pytest.approx(theirs(ir_measures.R @ k))
    assert r.hit(ranking, gold, k) == pytest.approx(theirs(ir_measures.Success @ k))
    assert r.ndcg(ranking, gold, k) == pytest.approx(theirs(ir_measures.nDCG @ k))
    assert r.mrr(ranking, gold) == pytest.approx(theirs(ir_measures.RR))


@given(rankings, golds, cutoffs)
def test_measures_stay_within_0_and_1_and_see_only_the_top_k(ranking, gold, k):
    for measured in CUT:
        value = measured(ranking, gold, k)
        assert 0 <= value <= 1
        assert value == measured([*ranking[:k], *reversed(ranking[k:])], gold, k)


@given(rankings, golds)
def test_recall_and_hit_never_fall_as_k_grows(ranking, gold):
    for measured in (r.recall, r.recall_all, r.hit):
        values = [measured(ranking, gold, k) for k in r.CUTOFFS]
        assert values == sorted(values)


@given(rankings, golds, cutoffs, st.randoms())
def test_order_within_the_top_k_does_not_change_set_measures(ranking, gold, k, shuffler):
    top = list(ranking[:k])
    shuffler.shuffle(top)
    for measured in (r.recall, r.recall_all, r.hit):
        assert measured(top, gold, k) == measured(ranking, gold, k)


def test_a_fact_counts_for_all_turns_of_its_spans():
    found = evidence((("b:1",), "one two"), (("a:3", "a:0"), "three"))
    row = r.score(question(), found, r.Pool(turn=30, session=4), words)
    assert row.values["turn/mrr"] == 1 / 3
    assert row.values["session/mrr"] == 1 / 2
    assert row.values["turn/recall_at_1000_tokens"] == 1
    assert row.values["turn/random_recall_at_10"] == 10 / 30


def test_excluded_questions_are_counted_by_reason_and_do_not_move_the_mean():
    pool = r.Pool(turn=30, session=4)
    rows = [
        r.score(question(id="q1"), evidence((("a:0",), "x")), pool, words),
        r.score(question(id="q2"), evidence((("b:0",), "x")), pool, words),
        r.score(question(id="q3", exclude="no_evidence", gold_turns=()), evidence((("a:0",), "x")), pool, words),
        r.score(question(id="q4", gold_turns=(), category="category_1"), evidence((("a:0",), "x")), pool, words),
    ]
    scores = r.aggregate(rows)
    assert scores["turn/recall_at_10"] == 1 / 2
    assert scores["session/recall_at_10"] == 2 / 3
    assert scores["turn/category_2/recall_at_10"] == 1 / 2
    assert "turn/category_1/recall_at_10" not in scores  # no mean of nothing
    assert {k: v for k, v in scores.items() if k == "n" or k.endswith("/n")} == {
        "n": 3,
        "turn/n": 2,
        "turn/category_2/n": 2,
        "session/n": 3,
        "session/category_1/n": 1,
        "session/category_2/n": 2,
    }
    assert scores["excluded/no_evidence"] == 1
    assert scores["excluded/turn/no_gold"] == 1


def test_a_cut_off_that_reaches_the_whole_pool_is_flagged():
    rows = [r.score(question(), [], r.Pool(turn=30, session=4), words)] * 3
    scores = r.aggregate(rows)
    assert scores["turn/k_at_least_pool_at_50"] == 3
    assert "turn/k_at_least_pool_at_20" not in scores
    assert scores["session/k_at_least_pool_at_5"] == 3
    assert scores["session/random_recall_at_5"] == 1


def test_no_rows_give_counts_and_no_measure():
    assert r.aggregate([]) == {"n": 0}


@given(st.randoms())
def test_the_order_of_the_questions_does_not_change_a_digit(shuffler):
    pool = r.Pool(turn=30, session=4)
    rows = [
        r.score(question(id=f"q{i}"), evidence(*((("b:0",), "x"),) * i, (("a:0",), "x")), pool, words) for i in range(7)
    ]
    before = r.aggregate(rows)
    shuffler.shuffle(rows)
    assert r.aggregate(rows) == before
