"""The frontier: the published dominated sets first, then every doubt with its arithmetic; pictures and page of the same."""

import copy
import csv
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem import build, config
from sodamem.errors import ConfigError, MissingExtra
from sodamem.frontier import page, plot, report
from sodamem.frontier.robustness import limits, outcomes
from sodamem.frontier.table import Point, dominated, pareto, without_accepted

AT_MEAN = {
    "Cersei Embed",
    "Cersei Hybrid",
    "Cersei Full-context",
    "AgentOS",
    "LC GPT-5-mini",
    "EmergenceMem Simple Fast",
    "MemoryBank",
}
POINTS = st.builds(lambda a, c: Point(name=f"{a}/{c}", accuracy=a / 10, cost=c), st.integers(0, 10), st.integers(1, 9))


@pytest.fixture(scope="module")
def frontier():
    return build.component(config.compose("+frontier=paper"), "frontier")


@pytest.fixture(scope="module")
def figures(frontier):
    return report.figures(frontier, [Point(name="mine", accuracy=0.9, cost=1.0)], "Cersei Embed")


@pytest.fixture(scope="module")
def found(frontier):
    return {outcome.scenario.name: outcome for outcome in outcomes(frontier)}


# --- as published -------------------------------------------------------------------------------------------


def test_the_published_dominated_sets_come_out_under_mean_and_median(found):
    assert set(found["published"].dominated) == AT_MEAN
    assert set(found["median cost"].dominated) == AT_MEAN | {"MemoryOS", "Fact-Mem0 (read)"}


def test_the_subjects_costs_follow_from_its_tokens(frontier):
    assert frontier.cost("mean") == pytest.approx(1.6104204, abs=1e-6)  # the table rounds it to 1.61
    assert frontier.cost("median") == 1.11
    assert frontier.cost("cold") == pytest.approx(1000 * (8_293_078 * 0.14 + 881_135 * 0.28) / 1e6 / 500)
    assert frontier.ingest == pytest.approx(1000 * 115_000 * 0.14 / 1e6)
    row = next(system for system in frontier.table if system.name == frontier.subject)
    assert (row.point.accuracy, row.point.cost) == (464 / 500, round(frontier.cost("mean"), 2))


def test_nothing_on_the_frontier_is_dominated_and_all_else_is(frontier):
    points = [system.point for system in frontier.table]
    front = {point.name for point in pareto(points)}
    assert front == {
        "Supermemory (eval set)",
        "MemOS (TiMem repro)",
        "TiMem",
        "MemOS (eval set)",
        "SodaMem",
        "Mem0 (2026 research)",
        "agentmemory V4",
    }
    assert all(any(other.dominates(point) for other in points) == (point.name not in front) for point in points)


@given(st.lists(POINTS, min_size=1, max_size=12, unique_by=lambda point: point.name))
def test_dominance_is_a_strict_order(points):
    for a in points:
        assert not a.dominates(a)
        for b in points:
            assert not (a.dominates(b) and b.dominates(a))
            assert all(not (a.dominates(b) and b.dominates(c)) or a.dominates(c) for c in points)
    assert pareto(points)


@pytest.mark.data
@pytest.mark.skipif("SODAMEM_DATA" not in os.environ, reason="needs paper/ under SODAMEM_DATA")
def test_the_packaged_table_is_the_papers(frontier):
    root = Path(os.environ["SODAMEM_DATA"]) / "paper"
    rows = list(csv.DictReader((root / "table1.csv").read_text(encoding="utf-8").splitlines()))
    ours = [
        (s.name, s.date, s.model, round(100 * s.point.accuracy, 1), s.point.cost, s.high, s.basis, s.bound)
        for s in frontier.table
    ]
    assert ours == [
        (r["method"], r["date"], r["model"], float(r["accuracy_pct"]), float(r["cost_usd_per_1000q"]),
         float(r["cost_usd_per_1000q_high"] or 0) or None, r["cost_basis"].rstrip("."), r["note"].startswith("lower bound"))
        for r in rows
    ]  # fmt: skip
    prices = csv.DictReader((root / "prices.csv").read_text(encoding="utf-8").splitlines())
    (price,) = (r for r in prices if r["model"] == "deepseek-v4-flash")
    assert frontier.prices == {
        name: float(price[f"usd_per_1m_{key}"])
        for name, key in (("input", "input"), ("cached", "cached_input"), ("output", "output"))
    }


# --- under doubt --------------------------------------------------------------------------------------------


def test_a_judge_that_lets_vague_answers_pass_leaves_two_dominances(found):
    outcome = found["vague"]
    share = 967 / 1540
    assert outcome.accuracy == pytest.approx((464 / 500 - share) / (1 - share))
    assert outcome.dominated == ("EmergenceMem Simple Fast", "MemoryBank")
    assert outcome.probability["Cersei Embed"] < 0.1 < found["specific"].probability["Cersei Embed"]


def test_counting_ingest_takes_the_dominance_over_the_nearest_rival(found):
    assert "Cersei Embed" not in found["ingest / 1"].dominated and "Cersei Embed" in found["ingest / 100"].dominated
    assert found["ingest / 10"].cost == pytest.approx(found["published"].cost + 1.61)


def test_a_cold_cache_and_a_quarter_more_in_prices_take_it_too(found):
    assert all("Cersei Embed" not in found[name].dominated for name in ("cold cache", "prices x1.25"))
    assert found["cold cache"].probability["Cersei Embed"] == 0


def test_the_median_run_is_less_sure_than_the_best(found):
    for name in AT_MEAN - {"MemoryBank", "EmergenceMem Simple Fast", "LC GPT-5-mini"}:
        assert found["median run"].probability[name] < found["published"].probability[name]


def test_probabilities_are_shares_and_the_same_every_time(frontier, found):
    again = {outcome.scenario.name: outcome for outcome in outcomes(frontier)}
    assert again == found
    assert all(0 <= p <= 1 for outcome in found.values() for p in outcome.probability.values())
    assert all(outcome.probability["agentmemory V4"] < 0.05 for outcome in found.values())


def test_prices_that_may_be_off_make_a_near_rival_uncertain_and_leave_a_far_one(found):
    outcome = found["prices +-1.5"]
    assert 0.5 < outcome.probability["Cersei Embed"] < 0.8 and outcome.probability["Cersei Full-context"] > 0.99
    assert 0 < outcome.probability["MemoryOS"] < 0.5  # a point that is not dominated may be


def test_each_limit_is_where_the_dominance_ends(frontier):
    rival = frontier.rival("Cersei Embed")
    bound = limits(frontier, rival)
    assert bound.accepted_best == pytest.approx((0.928 - 0.866) / (1 - 0.866))
    assert bound.accepted_median == pytest.approx((0.906 - 0.866) / (1 - 0.866))
    assert bound.factor == pytest.approx(1.84 / frontier.cost("mean"))
    assert bound.per_history == 71  # 16.10 / (1.84 - 1.6104) = 70.1
    assert without_accepted(0.928, bound.accepted_best) == pytest.approx(0.866)
    full = [frontier.cost("mean") + frontier.ingest / n for n in (bound.per_history, bound.per_history - 1)]
    assert full[0] <= rival.point.cost < full[1]


def test_there_is_no_limit_where_there_is_no_dominance(frontier):
    bound = limits(frontier, frontier.rival("agentmemory V4"))
    assert (bound.accepted_best, bound.factor, bound.per_history) == (None, None, None)
    assert limits(frontier, frontier.rival("MemoryOS")).factor < 1  # what prices would have to become


def test_the_referees_test_is_said_with_its_numbers(frontier, figures):
    said = report.referee(frontier, "Cersei Embed")
    assert said.startswith(
        "Strict dominance over Cersei Embed needs judged accuracy >= 86.6 % and full cost <= $1.84 per 1,000 questions."
    )
    for part in (
        "92.8% at best of 3 runs (met)",
        "$1.61 (met)",
        "cold cache $2.82 (not met)",
        "$17.71 in full",
        "71 questions",
    ):
        assert part in said
    assert figures["referee"][1].endswith("mine: 90.0% (met) and $1.00 (met): dominates it.")


# --- shown --------------------------------------------------------------------------------------------------


def test_the_report_names_both_sets_and_survives_json(frontier, figures):
    shown = report.describe(frontier, json.loads(json.dumps(figures)))
    assert "at mean cost $1.61 (7)" in shown and "at median cost $1.11 (9)" in shown and "10-16" in shown
    assert ">= 2.21" in shown and "dominated by mine" in shown


def test_the_pictures_are_the_same_bytes_every_time(frontier):
    one, two = (plot.draw(frontier, [Point(name="mine", accuracy=0.5, cost=0.1)]) for _ in range(2))
    assert one == two
    assert (
        one["png"].startswith(b"\x89PNG")
        and b"<svg" in one["svg"]
        and b"MemoryBank" in one["svg"]
        and b"mine" in one["svg"]
    )


def test_without_matplotlib_the_missing_extra_is_named(frontier, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r'pip install "sodamem\[plot\]"'):
        plot.draw(frontier)


def test_the_page_holds_its_data_and_nothing_from_outside(figures):
    shown = page.page(figures | {"source": "</script><b>"})
    assert shown.count("</script>") == 2 and "/*DATA*/" not in shown
    start = shown.index('id="data">') + len('id="data">')
    assert json.loads(shown[start : shown.index("</script>")])["subject"] == "SodaMem"
    assert "http" not in shown.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


# --- what may be written ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("runs", [501], r"runs must each be within 0\.\.500"),
        ("runs", [], "at least one"),
        ("questions", 0, "questions and draws must be >= 1"),
        ("subject", "Nobody", "subject must be one of systems"),
        ("usage", {"prompt": 1}, "usage must have prompt, cached, completion"),
        ("judges", {"x": [1, 2]}, r"judges\.x must be \[shown, accepted\]"),
        ("scenarios", {"x": {"judge": "nobody"}}, r"scenarios\.x\.judge must be one of specific, vague"),
        ("scenarios", {"x": {"run": "worst"}}, "scenarios.x must have run of best, median"),
        ("scenarios", {"x": {"spread": 0.5}}, "spread >= 1"),
        ("scenarios", {"x": {"price": 2}}, r"scenarios\.x\.price must be one of"),
        ("systems", [{"name": "SodaMem"}], r"systems\[0\] must have accuracy"),
        (
            "systems",
            [{"name": "SodaMem", "accuracy": 101, "cost": 1, "date": "", "model": "", "basis": "est"}],
            "within 0..100",
        ),
        (
            "systems",
            [{"name": "SodaMem", "accuracy": 1, "cost": 1, "date": "", "model": "", "basis": "guess"}],
            "basis must be one of",
        ),
        (
            "systems",
            [{"name": "SodaMem", "accuracy": 1, "cost": 1, "date": "", "model": "", "basis": "est"}] * 2,
            "names of their own",
        ),
        ("systems", [{"nam": "SodaMem"}], r"systems\[0\]\.nam must be one of"),
    ],
)
def test_a_table_that_cannot_be_is_refused_in_one_line(key, value, said):
    node = copy.deepcopy(config.plain(config.compose("+frontier=paper").frontier))
    with pytest.raises(ConfigError, match=said) as caught:
        build.build(node | {key: value}, "frontier")
    assert "\n" not in str(caught.value)


def test_a_rival_that_is_not_there_is_answered_with_those_that_are(frontier):
    with pytest.raises(ConfigError, match="rival must be one of agentmemory V4"):
        frontier.rival("SodaMem")


def test_the_subject_dominates_itself_never(frontier):
    assert frontier.subject not in dominated(Point(name="x", accuracy=1, cost=0.01), frontier.rivals)
