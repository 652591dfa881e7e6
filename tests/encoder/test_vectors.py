import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.encoder.vectors import length_batches, unit_rows
from sodamem.errors import ServiceError


def test_rows_get_norm_one_and_zero_rows_stay_zero():
    np.testing.assert_allclose(unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])), [[3 / 5, 4 / 5], [0, 0]], rtol=1e-7)


def test_negligible_rows_are_not_blown_up():
    assert not unit_rows(np.array([[1e-9, 0.0]]), negligible=1e-6).any()
    assert unit_rows(np.array([[1e-9, 0.0]])).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_not_finite_are_refused(value):
    with pytest.raises(ServiceError, match=r"finite"):
        unit_rows(np.array([[1.0, value]]))


@given(st.lists(st.text(max_size=60), max_size=30), st.integers(1, 64))
def test_batches_cover_every_text_once_and_keep_the_budget(texts, budget):
    batches = list(length_batches(texts, budget))
    assert sorted(position for batch in batches for position in batch) == list(range(len(texts)))
    for batch in batches:
        longest = max(len(texts[position]) for position in batch) // 4 + 3
        assert len(batch) == 1 or longest * len(batch) <= budget


def test_batches_do_not_depend_on_the_order_of_arrival():
    texts = ["a" * 40, "b", "cc", "d" * 39, ""]
    shuffled = [texts[i] for i in (3, 1, 4, 0, 2)]

    def batched(given):
        return [[given[position] for position in batch] for batch in length_batches(given, 20)]

    assert batched(texts) == batched(shuffled)
