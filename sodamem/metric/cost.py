"""What model calls cost: tokens by phase, money under a dated price table, GPU-seconds for models of one's own.

Money is empty, never 0, where no price is known. Cold is the cost with an empty reply cache, warm what was really
sent. The rule for a question of the published system: arXiv 2608.08055, section 5.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sodamem.errors import ConfigError
from sodamem.types import Usage

RATES = ("input", "cached", "output")
MILLION = 1_000_000
INGEST, ANSWER, JUDGE = ("extract", "adjudicate"), ("plan", "read"), ("judge",)  # the judge is no cost of a system
GROUPS: Mapping[str, Sequence[str]] = {"ingest": INGEST, "answer": ANSWER, "judge": JUDGE}


@dataclass(frozen=True, kw_only=True)
class PriceTable:
    """Prices of one day. models: name -> {input, cached, output} in US dollars for a million tokens.

    `cached` None: cached tokens are priced as any others. A dated name (gpt-4o-2024-08-06) goes by its model's price.
    """

    name: str
    as_of: str
    models: Mapping[str, Mapping[str, float | None]]

    def __post_init__(self) -> None:
        for model, rates in self.models.items():
            if set(rates) != set(RATES):
                raise ConfigError(f"models.{model} must have {', '.join(RATES)}, got {', '.join(sorted(rates))}")
            for name, rate in rates.items():
                if (rate is None and name != "cached") or (rate is not None and not 0 <= rate < math.inf):
                    raise ConfigError(f"models.{model}.{name} must be >= 0 dollars for a million tokens, got {rate}")

    def dollars(self, usage: Usage) -> float | None:
        """The price of one attempt as if it had been sent; None for a model without a price.

        Cached tokens that were not reported are priced as sent in full, which makes the figure an upper bound.
        """
        if (rates := self._rates(usage.model)) is None:
            return None
        cached = min(usage.cached or 0, usage.prompt)
        full, low, out = (rates["input"], rates["cached"], rates["output"])
        low = full if low is None else low
        assert full is not None and low is not None and out is not None  # checked when made
        return ((usage.prompt - cached) * full + cached * low + usage.completion * out) / MILLION

    def _rates(self, model: str) -> Mapping[str, float | None] | None:
        known = [
            name
            for name in self.models
            if model == name or (model.startswith(f"{name}-") and model[len(name) + 1].isdigit())
        ]
        return self.models[max(known, key=len)] if known else None


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The cost of some attempts. `hits` of them were read from the reply cache, and are in `cold` alone.

    Tokens are those of attempts that were sent. cached, reasoning: None where no attempt reported them; `silent`
    counts sent attempts without a figure for cached tokens, whose price is an upper bound. cold, warm: US dollars,
    None as soon as one attempt has no price; the models without one are in `unpriced`.
    """

    attempts: int
    hits: int
    prompt: int
    cached: int | None
    completion: int
    reasoning: int | None
    silent: int
    seconds: float  # summed over requests, waits of the server included; more than the clock shows, if concurrent
    cold: float | None
    warm: float | None
    unpriced: tuple[str, ...]


def spent(usages: Iterable[Usage], prices: PriceTable) -> Spent:
    """What these attempts cost together, each counted once."""
    rows = list(usages)
    sent = [usage for usage in rows if not usage.cache_hit]
    return Spent(
        attempts=len(sent),
        hits=len(rows) - len(sent),
        prompt=sum(usage.prompt for usage in sent),
        cached=_known(usage.cached for usage in sent),
        completion=sum(usage.completion for usage in sent),
        reasoning=_known(usage.reasoning for usage in sent),
        silent=sum(usage.cached is None for usage in sent),
        seconds=math.fsum(usage.seconds for usage in sent),
        cold=_total(prices.dollars(usage) for usage in rows),
        warm=_total(prices.dollars(usage) for usage in sent),
        unpriced=tuple(sorted({usage.model for usage in rows if prices.dollars(usage) is None})),
    )


def by_phase(usages: Iterable[Usage], prices: PriceTable) -> dict[str, Spent]:
    """The cost of each phase, and of ingest, answer and judge as a whole; phases without a call are left out."""
    rows = list(usages)
    found = {phase: spent([u for u in rows if u.phase == phase], prices) for phase in sorted({u.phase for u in rows})}
    for group, phases in GROUPS.items():
        if any(phase in found for phase in phases):
            found[f"total/{group}"] = spent([usage for usage in rows if usage.phase in phases], prices)
    return found


def gpu_seconds(intervals: Iterable[tuple[float, float]], gpus: int) -> float:
    """GPU-seconds of (start, end) times of requests: while any is running, all GPUs of the server are taken."""
    busy, until = 0.0, -math.inf
    for start, end in sorted(intervals):
        busy += max(0.0, end - max(start, until))
        until = max(until, end)
    return busy * gpus


# --- beforehand ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a phase is expected to need: calls, prompt tokens of one (an estimate), and its completion budget."""

    phase: str
    model: str
    calls: int
    prompt: int
    max_tokens: int


def estimate(loads: Sequence[Load], prices: PriceTable) -> str:
    """A table for people: calls, and at most how many tokens and dollars. Every figure in it is an estimate."""
    lines, totals = (
        [f"{'phase':12}{'calls':>9}{'prompt':>14}{'completion':>14}{'dollars':>11}   (est., at most)"],
        [0, 0, 0],
    )
    money: list[float | None] = []
    for load in loads:
        whole = Usage(phase=load.phase, model=load.model, prompt=load.calls * load.prompt)
        whole = replace(whole, completion=load.calls * load.max_tokens)
        money.append(prices.dollars(whole))
        row = (load.calls, whole.prompt, whole.completion)
        totals = [before + more for before, more in zip(totals, row, strict=True)]
        lines.append(_row(load.phase, row, money[-1]))
    return "\n".join([*lines, _row("together", totals, _total(money))])


def _row(name: str, counts: Sequence[int], dollars: float | None) -> str:
    calls, prompt, completion = counts
    return f"{name:12}{calls:>9,}{prompt:>14,}{completion:>14,}{'-' if dollars is None else f'{dollars:.4f}':>11}"


def _known(values: Iterable[int | None]) -> int | None:
    reported = [value for value in values if value is not None]
    return sum(reported) if reported else None


def _total(values: Iterable[float | None]) -> float | None:
    """Their sum; None as soon as one is unknown."""
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total
