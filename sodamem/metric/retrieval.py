"""Measures of a ranking against gold ids, and their means over questions under flat metric names.

Definitions follow trec_eval, with the ideal ranking built from the gold; `ndcg_lme` is LongMemEval's own variant.

A ranking lists each id once, best first; the gold is a set. Without gold every measure is undefined, neither 0 nor 1:
the functions raise DataError, and `score` leaves such questions out with the reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, log2

from sodamem.errors import DataError
from sodamem.types import Evidence, Question

CUTOFFS = (1, 3, 5, 10, 20, 50)
BUDGETS = (1000, 2000, 4000)  # tokens of evidence text
BY_CATEGORY = ("recall_at_10", "ndcg_at_10", "mrr")  # the measures that are also given for each category

Gold = frozenset[str] | set[str]


# --- one ranking --------------------------------------------------------------------------------------------


def recall(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """|gold ∩ top k| / |gold|."""
    return len(_defined(gold).intersection(ranking[:k])) / len(gold)


def recall_all(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """1 when the top k hold the whole gold, else 0."""
    return float(_defined(gold).issubset(ranking[:k]))


def hit(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """1 when the top k hold any gold, else 0."""
    return float(not _defined(gold).isdisjoint(ranking[:k]))


def mrr(ranking: Sequence[str], gold: Gold) -> float:
    """1 / rank of the first gold; 0 when none was found."""
    _defined(gold)
    return next((1 / rank for rank, item in enumerate(ranking, start=1) if item in gold), 0.0)


def ndcg(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """Σ 1/log2(rank + 1) over the gold in the top k, divided by that sum for an ideal ranking."""
    return _ndcg(ranking, gold, k, lambda rank: 1 / log2(rank + 1))


def ndcg_lme(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """As LongMemEval computes it: ranks 1 and 2 weigh the same. For parity with its figures only."""
    return _ndcg(ranking, gold, k, lambda rank: 1 / log2(max(rank, 2)))


def recall_at_tokens(groups: Sequence[Collection[str]], tokens: Sequence[int], gold: Gold, budget: int) -> float:
    """Recall of what a reader can be given: whole evidence items, in order, while their texts fit the budget.

    `groups[r]` are the ids that item r stands for and `tokens[r]` the length of its text.
    """
    found: set[str] = set()
    left = budget
    for ids, cost in zip(groups, tokens, strict=True):
        left -= cost
        if left < 0:
            break
        found.update(ids)
    return len(_defined(gold) & found) / len(gold)


def random_recall(pool: int, k: int) -> float:
    """What a random order of a pool of that size is expected to recall in its top k, whatever the gold."""
    if pool < 1:
        raise DataError(f"pool must hold at least one id, got {pool}")
    return min(k, pool) / pool


def collapse(groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """A ranking of items to a ranking of the ids they stand for: each id at its first occurrence."""
    return tuple(dict.fromkeys(name for ids in groups for name in ids))


def _ndcg(ranking: Sequence[str], gold: Gold, k: int, weight: Callable[[int], float]) -> float:
    ideal = fsum(map(weight, range(1, min(len(_defined(gold)), k) + 1)))
    return fsum(weight(rank) for rank, item in enumerate(ranking[:k], start=1) if item in gold) / ideal


def _defined(gold: Gold) -> Gold:
    if not gold:
        raise DataError("gold must hold at least one id for a measure to be defined, got none. Exclude the question")
    return gold


# --- one question -------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """How many ids of each unit the history holds: what a ranking could have listed."""

    turn: int
    session: int


@dataclass(frozen=True, kw_only=True)
class Row:
    """One question's measures under names like `turn/recall_at_10`; `excluded` says why some or all are missing.

    `excluded` holds a reason alone (`no_evidence`) for a question that cannot be scored, or with a unit in front
    (`turn/no_gold`) where only that unit cannot. `saturated` lists the cut-offs that reach the whole pool.
    """

    question_id: str
    history_id: str
    category: str
    values: Mapping[str, float]
    excluded: tuple[str, ...] = ()
    saturated: tuple[str, ...] = ()


def measure(ranking: Sequence[str], gold: Gold, pool: int) -> dict[str, float]:
    """All measures of one ranking of one unit, random baseline beside; names have no unit."""
    values = {"mrr": mrr(ranking, gold)}
    for k in CUTOFFS:
        values[f"recall_at_{k}"] = recall(ranking, gold, k)
        values[f"recall_all_at_{k}"] = recall_all(ranking, gold, k)
        values[f"hit_at_{k}"] = hit(ranking, gold, k)
        values[f"ndcg_at_{k}"] = ndcg(ranking, gold, k)
        values[f"ndcg_lme_at_{k}"] = ndcg_lme(ranking, gold, k)
        values[f"random_recall_at_{k}"] = random_recall(pool, k)
    return values


def score(question: Question, evidence: Sequence[Evidence], pool: Pool, count_tokens: Callable[[str], int]) -> Row:
    """The measures of one question's ranked evidence. A fact counts for the turns of its spans, best turn first."""
    row = Row(question_id=question.id, history_id=question.history_id, category=question.category, values={})
    if question.exclude:
        return replace(row, excluded=(question.exclude,))
    tokens = [count_tokens(item.text) for item in evidence]
    units: tuple[tuple[str, list[tuple[str, ...]], tuple[str, ...], int], ...] = (
        ("turn", [item.turn_ids for item in evidence], question.gold_turns, pool.turn),
        ("session", [(item.session_id,) for item in evidence], question.gold_sessions, pool.session),
    )
    values: dict[str, float] = {}
    excluded, saturated = [], []
    for unit, groups, wanted, size in units:
        if not wanted:
            excluded.append(f"{unit}/no_gold")
            continue
        gold = frozenset(wanted)
        values |= {f"{unit}/{name}": value for name, value in measure(collapse(groups), gold, size).items()}
        for budget in BUDGETS:
            values[f"{unit}/recall_at_{budget}_tokens"] = recall_at_tokens(groups, tokens, gold, budget)
        saturated += [f"{unit}/k_at_least_pool_at_{k}" for k in CUTOFFS if k >= size]
    return replace(row, values=values, excluded=tuple(excluded), saturated=tuple(saturated))


# --- all questions ------------------------------------------------------------------------------------------


def aggregate(rows: Iterable[Row]) -> dict[str, float]:
    """Means over questions. A measure that no question defines has no entry: there is no mean of nothing.

    Keys: `n` (questions scored in at least one unit), `<unit>/n`, `<unit>/<measure>`,
    `<unit>/<category>/<measure>` and `<unit>/<category>/n`, `excluded/<reason>` and `<unit>/k_at_least_pool_at_<k>`
    (counts of questions).
    """
    columns: dict[str, list[float]] = defaultdict(list)
    counts: Counter[str] = Counter(n=0)
    for row in rows:
        counts["n"] += bool(row.values)
        counts.update(f"excluded/{reason}" for reason in row.excluded)
        counts.update(row.saturated)
        for name, value in row.values.items():
            columns[name].append(value)
            unit, _, measured = name.partition("/")
            if measured in BY_CATEGORY:
                columns[f"{unit}/{row.category}/{measured}"].append(value)
    for name, values in columns.items():
        if name.endswith("/mrr"):  # defined wherever any measure is
            counts[f"{name.removesuffix('/mrr')}/n"] = len(values)
    # fsum is exact, so the means do not depend on the order of the questions.
    means = {name: fsum(values) / len(values) for name, values in columns.items()}
    return dict(sorted({**counts, **means}.items()))
