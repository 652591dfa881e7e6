"""Intervals and tests against scipy and statsmodels, and the properties that make them safe to report."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint, proportion_effectsize

from sodamem.errors import DataError
from sodamem.metric.statistics import (
    cluster_bootstrap,
    cohens_h,
    holm,
    mcnemar,
    paired_bootstrap,
    paired_effect,
    wilson,
)


@given(
    st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.9, 0.95, 0.99])
)
def test_wilson_equals_statsmodels_and_stays_within_0_and_1(counts, confidence):
    low, high = wilson(*counts, confidence)
    assert (low, high) == pytest.approx(proportion_confint(*counts, alpha=1 - confidence, method="wilson"), abs=1e-12)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1
    assert low < high


def test_wilson_of_ten_out_of_ten_does_not_claim_certainty():
    z2 = 1.959963984540054**2
    assert wilson(10, 10) == pytest.approx((10 / (10 + z2), 1))


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_statsmodels_and_scipy(only_a, only_b):
    p = mcnemar(only_a, only_b)
    assert p == pytest.approx(their_mcnemar([[5, only_a], [only_b, 5]], exact=True).pvalue if only_a + only_b else 1)
    assert p == pytest.approx(binomtest(only_a, only_a + only_b, 0.5).pvalue if only_a + only_b else 1)
    assert p == mcnemar(only_b, only_a)


def test_mcnemar_as_arithmetic():
    assert mcnemar(5, 0) == 2 * (1 / 2) ** 5


@settings(max_examples=20)  # theirs takes 50 ms a call
@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), min_size=1, max_size=12))
def test_holm_equals_statsmodels(p_values):
    theirs = multipletests(list(p_values.values()), method="holm")[1]
    assert list(holm(p_values).values()) == pytest.approx(list(theirs))


def test_holm_as_arithmetic():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 3 * 0.01, "b": 2 * 0.03, "c": 2 * 0.03})


@given(st.floats(0, 1), st.floats(0, 1))
def test_cohens_h_equals_statsmodels(p, q):
    assert cohens_h(p, q) == pytest.approx(proportion_effectsize(p, q), abs=1e-12)


def test_paired_effect_is_mean_over_deviation_and_undefined_without_spread():
    assert paired_effect([1, 2, 3]) == pytest.approx(2 / 1)
    assert paired_effect([0.1, 0.1]) is None
    assert paired_effect([0.1]) is None


def test_bootstrap_draws_conversations_so_agreeing_questions_do_not_narrow_the_interval():
    # Two conversations, all right and all wrong: the mean is 0, 1/2 or 1 with probability 1/4, 1/2, 1/4.
    for size in (1, 100):
        found = cluster_bootstrap([1.0] * size + [0.0] * size, ["a"] * size + ["b"] * size, draws=2000, seed=1)
        assert (found.mean, found.low, found.high, found.n, found.clusters) == (0.5, 0, 1, 2 * size, 2)


def test_bootstrap_of_independent_rows_approaches_the_normal_interval():
    rng = np.random.default_rng(5)
    values = list(rng.random(400))
    found = cluster_bootstrap(values, [str(i) for i in range(400)], draws=4000, seed=2)
    half = 1.96 * np.std(values) / 20
    assert (found.low, found.high) == pytest.approx((found.mean - half, found.mean + half), abs=0.004)


def test_bootstrap_weighs_a_conversation_by_its_questions():
    found = cluster_bootstrap([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"], draws=500, seed=1)
    assert found.mean == 3 / 4


@given(st.randoms())
def test_bootstrap_does_not_depend_on_the_order_of_rows(shuffler):
    rows = [(i / 7, f"conv-{i % 5}") for i in range(40)]
    before = cluster_bootstrap(*zip(*rows, strict=True), draws=50, seed=3)
    shuffler.shuffle(rows)
    assert cluster_bootstrap(*zip(*rows, strict=True), draws=50, seed=3) == before


def test_one_conversation_has_a_mean_but_no_interval():
    found = cluster_bootstrap([0.0, 1.0], ["a", "a"], draws=100, seed=1)
    assert (found.mean, found.low, found.high) == (0.5, None, None)


def test_a_paired_comparison_cancels_what_both_systems_share():
    a = {f"q{i}": i / 50 + 0.1 for i in range(50)}
    b = {f"q{i}": i / 50 for i in range(50)}
    found = paired_bootstrap(a, b, {f"q{i}": f"c{i % 5}" for i in range(50)}, draws=500, seed=1)
    assert (found.mean, found.low, found.high) == pytest.approx((0.1, 0.1, 0.1))


def test_systems_that_answered_different_questions_are_not_compared():
    with pytest.raises(DataError, match=r"same questions, 2 are in one only, e\.g\. q1"):
        paired_bootstrap({"q1": 1.0}, {"q2": 1.0}, {}, draws=10, seed=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wilson(3, 2), "successes must be within 0..n"),
        (lambda: wilson(0, 0), "n at least 1"),
        (lambda: wilson(1, 2, 1.0), "confidence must be between 0 and 1, got 1.0"),
        (lambda: mcnemar(-1, 2), "discordant counts must be >= 0"),
        (lambda: cluster_bootstrap([], [], draws=10, seed=1), "not empty"),
        (lambda: cluster_bootstrap([1.0], ["a", "b"], draws=10, seed=1), "got 1 and 2"),
        (lambda: cluster_bootstrap([1.0], ["a"], draws=0, seed=1), "draws must be >= 1, got 0"),
        (lambda: cluster_bootstrap([1.0, 2.0], ["a", "b"], draws=5, seed=1, confidence=95), "confidence must be"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_words(call, message):
    with pytest.raises(DataError, match=message):
        call()
