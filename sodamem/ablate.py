"""Ablations over a declared family: what each change does to one measure, paired on the same questions.

A family is a YAML of `sweeps/` with a baseline and named variants, both as overrides. Differences come with intervals
from whole conversations drawn again (Davison and Hinkley 1997) and p-values adjusted over the family (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from sodamem import build
from sodamem.config import compose
from sodamem.errors import ConfigError
from sodamem.evaluate import retrieve
from sodamem.metric.retrieval import Row
from sodamem.metric.statistics import Estimate, bootstrap_p, holm, paired_bootstrap, paired_effect

STUDIES = "sodamem.sweeps"
DRAWS, SEED = 10_000, 20  # of every resampling


@dataclass(frozen=True, kw_only=True)
class Family:
    """A baseline and its variants, as override lists; `measure` is the flat name of a per-question measure."""

    name: str
    measure: str
    baseline: tuple[str, ...]
    variants: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One variant against the baseline over the questions that both score. p and p_holm are two-sided, None for one conversation."""

    variant: str
    mean: float
    difference: Estimate
    effect: float | None
    p: float | None
    p_holm: float | None


def studies(kind: str) -> dict[str, Any]:
    """The packaged YAML files of one kind, by name."""
    found = {}
    for entry in sorted(resources.files(STUDIES).iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".yaml"):
            study = yaml.safe_load(entry.read_text(encoding="utf-8"))
            if study.get("kind") == kind:
                found[entry.name.removesuffix(".yaml")] = study
    return found


def family(name: str) -> Family:
    """A packaged family by name; raises ConfigError with the names there are."""
    known = studies("ablation")
    if name not in known:
        raise ConfigError(f"family must be one of {', '.join(known)}, got {name!r}")
    found = known[name]
    variants = {str(variant): tuple(overrides) for variant, overrides in found["variants"].items()}
    return Family(name=name, measure=found["measure"], baseline=tuple(found["baseline"]), variants=variants)


def scores(overrides: Sequence[str], measure: str) -> tuple[dict[str, float], dict[str, str]]:
    """The measure of every question under a setting, and the conversation each belongs to; both by question id."""
    cfg = compose(*overrides)
    rows: list[Row] = retrieve(build.pipeline(cfg), build.component(cfg, "dataset").open())
    found = {row.question_id: row.values[measure] for row in rows if measure in row.values}
    if not found:
        raise ConfigError(f"measure must be one that is defined for some question, got {measure}")
    return found, {row.question_id: row.history_id for row in rows}


TABLE = ("setting", "recall", "difference", "low", "high", "effect", "p", "p_holm")


def rows(mean: float, found: Sequence[Comparison]) -> list[dict[str, str | float | None]]:
    """The table of a family, baseline first: keys as in TABLE."""
    lines: list[dict[str, str | float | None]] = [{"setting": "baseline", "recall": mean}]
    for one in found:
        estimate = one.difference
        lines.append(
            {
                "setting": one.variant,
                "recall": one.mean,
                "difference": estimate.mean,
                "low": estimate.low,
                "high": estimate.high,
                "effect": one.effect,
                "p": one.p,
                "p_holm": one.p_holm,
            }
        )
    return lines


def ablate(
    family: Family, overrides: Sequence[str] = (), step: Callable[[str], None] = lambda _: None
) -> tuple[float, int, list[Comparison]]:
    """The baseline's mean, the number of questions, and every variant compared with it, in the order declared.

    `overrides` apply to the baseline and to all variants (a split, an encoder); `step` is told of each setting.
    """
    base, clusters = scores((*family.baseline, *overrides), family.measure)
    step("baseline")
    found: dict[str, dict[str, float]] = {}
    for variant, changes in family.variants.items():
        found[variant], _ = scores((*family.baseline, *overrides, *changes), family.measure)
        step(variant)
    pairs = {name: [values[i] - base[i] for i in sorted(base)] for name, values in found.items()}
    groups = [clusters[i] for i in sorted(base)]
    p = {name: bootstrap_p(differences, groups, draws=DRAWS, seed=SEED) for name, differences in pairs.items()}
    adjusted = holm({name: value for name, value in p.items() if value is not None})
    compared = [
        Comparison(
            variant=name,
            mean=sum(values.values()) / len(values),
            difference=paired_bootstrap(values, base, clusters, draws=DRAWS, seed=SEED),
            effect=paired_effect(pairs[name]),
            p=p[name],
            p_holm=adjusted.get(name),
        )
        for name, values in found.items()
    ]
    return sum(base.values()) / len(base), len(base), compared
