import math

import pytest

from sodamem.errors import ConfigError
from sodamem.metric.cost import Load, PriceTable, by_phase, estimate, gpu_seconds, spent
from sodamem.types import Usage

TABLE = PriceTable(
    name="t",
    as_of="2026-08",
    models={"a": {"input": 0.14, "cached": 0.0028, "output": 0.28}, "b": {"input": 1.0, "cached": None, "output": 2.0}},
)


def used(phase="read", model="a", **fields):
    return Usage(phase=phase, model=model, **fields)


def test_cached_tokens_have_their_own_price():
    usage = used(prompt=6231, cached=6016, completion=801)
    assert TABLE.dollars(usage) == pytest.approx(((6231 - 6016) * 0.14 + 6016 * 0.0028 + 801 * 0.28) / 1e6, abs=1e-15)


def test_cached_tokens_without_a_price_of_their_own_cost_as_others():
    assert TABLE.dollars(used(model="b", prompt=10, cached=4, completion=1)) == pytest.approx((10 * 1 + 1 * 2) / 1e6)


def test_unreported_cached_tokens_give_an_upper_bound_and_are_counted():
    found = spent([used(prompt=10), used(prompt=10, cached=10)], TABLE)
    assert found.silent == 1 and found.cached == 10
    assert found.warm == pytest.approx((10 * 0.14 + 10 * 0.0028) / 1e6)
    assert spent([used(prompt=10)], TABLE).cached is None


def test_a_model_without_a_price_has_no_cost_rather_than_none():
    found = spent([used(prompt=10), used(model="local", prompt=10, seconds=2.0)], TABLE)
    assert found.cold is None and found.warm is None and found.unpriced == ("local",) and found.seconds == 2.0


def test_a_dated_name_goes_by_its_model_and_a_longer_name_does_not():
    assert TABLE.dollars(used(model="a-2024-08-06", prompt=10)) == TABLE.dollars(used(prompt=10))
    assert TABLE.dollars(used(model="a-mini", prompt=10)) is None


def test_hits_cost_nothing_warm_and_their_full_price_cold():
    rows = [used(prompt=100, completion=10), used(prompt=100, completion=10, cache_hit=True)]
    found = spent(rows, TABLE)
    assert (found.attempts, found.hits, found.prompt, found.completion) == (1, 1, 100, 10)
    assert found.cold == pytest.approx(2 * (100 * 0.14 + 10 * 0.28) / 1e6) and found.warm == pytest.approx(
        found.cold / 2
    )


def test_the_judge_is_in_no_systems_cost():
    rows = [
        used(phase, prompt=2**place) for place, phase in enumerate(("extract", "adjudicate", "plan", "read", "judge"))
    ]
    found = by_phase(rows, TABLE)
    assert {name: cost.prompt for name, cost in found.items() if name.startswith("total/")} == {
        "total/ingest": 1 + 2,
        "total/answer": 4 + 8,
        "total/judge": 16,
    }
    assert found["plan"].prompt == 4 and "total/ingest" not in by_phase(rows[2:], TABLE)


def test_no_attempt_costs_zero():
    assert spent([], TABLE).warm == 0.0


def test_gpu_seconds_count_time_in_which_anything_runs_once():
    assert gpu_seconds([(0, 2), (1, 3), (5, 6), (5.5, 5.7)], gpus=2) == pytest.approx((3 + 1) * 2)
    assert gpu_seconds([], gpus=1) == 0


def test_an_estimate_says_that_it_is_one_and_adds_up():
    loads = [
        Load(phase="read", model="a", calls=10, prompt=1000, max_tokens=100),
        Load(phase="judge", model="b", calls=10, prompt=100, max_tokens=10),
    ]
    table = estimate(loads, TABLE)
    assert "est." in table and "11,000" in table.splitlines()[-1]
    assert table.splitlines()[-1].endswith(f"{(10_000 * 0.14 + 1000 * 0.28 + 1000 + 100 * 2) / 1e6:.4f}")
    assert (
        estimate([Load(phase="read", model="local", calls=1, prompt=1, max_tokens=1)], TABLE)
        .splitlines()[-1]
        .endswith("-")
    )


@pytest.mark.parametrize(
    "rates",
    [
        {"input": 1.0},
        {"input": None, "cached": None, "output": 1.0},
        {"input": 1.0, "cached": -1.0, "output": 1.0},
        {"input": math.inf, "cached": None, "output": 1.0},
    ],
)
def test_bad_prices_are_named(rates):
    with pytest.raises(ConfigError, match=r"models\.m"):
        PriceTable(name="t", as_of="", models={"m": rates})
