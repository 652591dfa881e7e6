"""Agreement measures equal independent implementations; the corrected accuracy covers the truth as often as it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as reference_fleiss

from sodamem.errors import DataError
from sodamem.metric.agreement import Quality, cohen_kappa, corrected, fleiss_kappa, gwet_ac1, observed

LABELS = st.sampled_from(["correct", "incorrect", "unjudged"])
TABLES = st.integers(2, 5).flatmap(
    lambda m: st.lists(st.lists(LABELS, min_size=m, max_size=m), min_size=1, max_size=40)
)


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=60))
def test_cohens_kappa_is_that_of_scikit_learn(pairs):
    a, b = zip(*pairs, strict=True)
    ours = cohen_kappa(a, b)
    if len({*a, *b}) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(cohen_kappa_score(a, b), abs=1e-9)


@given(TABLES)
def test_fleiss_kappa_is_that_of_statsmodels(rows):
    ours = fleiss_kappa(rows)
    if len({label for row in rows for label in row}) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(reference_fleiss(aggregate_raters(np.array(rows))[0]), abs=1e-9)


def test_ac1_stays_high_where_kappa_collapses_because_one_label_prevails():
    """118 + 5 + 2 + 0 of 125, worked by hand."""
    a = ["+"] * 118 + ["+"] * 5 + ["-"] * 2
    b = ["+"] * 118 + ["-"] * 5 + ["+"] * 2
    share = (123 + 120) / 250
    chance = 2 * share * (1 - share)
    assert gwet_ac1(a, b) == pytest.approx((118 / 125 - chance) / (1 - chance), abs=1e-12)
    assert gwet_ac1(a, b) > 0.9 > 0 > cohen_kappa(a, b)


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30))
def test_agreement_does_not_depend_on_who_comes_first_or_on_the_order_of_the_items(pairs):
    a, b = zip(*pairs, strict=True)
    for measure in (observed, cohen_kappa, gwet_ac1):
        assert measure(a, b) == pytest.approx(measure(b, a)) if measure(a, b) is not None else measure(b, a) is None
        assert measure(a[::-1], b[::-1]) == pytest.approx(measure(a, b)) if measure(a, b) is not None else True


def test_perfect_agreement_is_one():
    labels = ["correct", "incorrect", "correct"]
    assert observed(labels, labels) == cohen_kappa(labels, labels) == gwet_ac1(labels, labels) == 1
    assert gwet_ac1(["correct"], ["correct"]) == 1
    assert fleiss_kappa([(x, x, x) for x in labels]) == 1


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: observed([], []), "at least one, got 0 and 0"),
        (lambda: cohen_kappa(["a"], ["a", "b"]), "got 1 and 2"),
        (lambda: fleiss_kappa([["a"], ["a", "b"]]), "as many labels for each item"),
        (lambda: fleiss_kappa([]), "at least one item"),
        (lambda: Quality(right=0, accepted=0, wrong=1, refused=1), "both totals at least 1"),
        (lambda: Quality(right=2, accepted=3, wrong=1, refused=1), "within their totals"),
        (lambda: corrected(5, 4, Quality(right=1, accepted=1, wrong=1, refused=1)), "accepted must be within 0..n"),
    ],
)
def test_ratings_that_do_not_fit_are_refused(call, said):
    with pytest.raises(DataError, match=said):
        call()


# --- corrected accuracy -------------------------------------------------------------------------------------


def test_the_corrected_share_is_the_formula_of_rogan_and_gladen():
    quality = Quality(right=100, accepted=90, wrong=200, refused=160)
    found = corrected(350, 500, quality)
    assert found.share == pytest.approx((0.7 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert found.low < found.share < found.high


def test_a_perfect_judge_corrects_nothing():
    quality = Quality(right=10**7, accepted=10**7, wrong=10**7, refused=10**7)
    found = corrected(400, 500, quality)
    assert found.share == pytest.approx(0.8)
    assert (found.low, found.high) == pytest.approx((0.7627, 0.8328), abs=1e-3)  # Agresti-Coull of 400 in 500


@pytest.mark.parametrize("refused", [10, 9])
def test_nothing_follows_from_a_judge_no_better_than_chance(refused):
    assert corrected(50, 100, Quality(right=20, accepted=10, wrong=20, refused=refused)) is None


def test_shares_stay_within_bounds_when_the_judge_is_too_strict_for_them():
    found = corrected(100, 100, Quality(right=50, accepted=40, wrong=50, refused=50))
    assert found.share == 1 and 0 <= found.low <= found.high <= 1


@pytest.mark.parametrize(("truth", "hit", "miss"), [(0.9, 0.95, 0.8), (0.6, 0.9, 0.9), (0.3, 0.8, 0.97)])
def test_the_interval_holds_the_truth_as_often_as_it_says(truth, hit, miss):
    draw = np.random.default_rng(5)
    right, wrong, n, rounds, inside = 120, 150, 500, 400, 0
    for _ in range(rounds):
        quality = Quality(
            right=right, accepted=draw.binomial(right, hit), wrong=wrong, refused=draw.binomial(wrong, miss)
        )
        found = corrected(int(draw.binomial(n, truth * hit + (1 - truth) * (1 - miss))), n, quality)
        inside += found.low <= truth <= found.high
    assert inside / rounds >= 0.93
