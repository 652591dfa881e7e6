"""Ablations over a declared family: what each change does to one measure, paired on the same questions.

A family is a YAML of `sweeps/` with a baseline and named variants, both as overrides. Differences come with intervals
from whole conversations drawn again (Davison and Hinkley 1997) and p-values, for verdicts those of McNemar 1947,
adjusted over the family (Holm 1979).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import stdev
from typing import Any, Literal

from omegaconf import OmegaConf

from sodamem import build, studies, text
from sodamem.config import compose, plain
from sodamem.errors import ConfigError
from sodamem.evaluate import results, retrieve
from sodamem.metric.statistics import Estimate, bootstrap_p, holm, mcnemar, paired_bootstrap, paired_effect
from sodamem.replay.measures import by_question, is_replayable
from sodamem.replay.recorded import Recordings, Setting, fusion_of

DRAWS, SEED = 10_000, 20  # of every resampling
ACCURACY = "accuracy/strict"  # the one measure that needs answers; all others are of recall
Scores = dict[str, float]  # by question id


@dataclass(frozen=True, kw_only=True)
class Family:
    """A baseline and its variants, as override lists; `measure` is the flat name of a per-question measure.

    seeds: an override a run where something is random, such as `dataset.seed=8`; every setting is run under each.
    """

    name: str
    measure: str
    baseline: tuple[str, ...]
    variants: Mapping[str, tuple[str, ...]]
    seeds: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One variant against the baseline over the questions that both score. runs: the mean under each seed · p, p_holm:
    two-sided, None where there is but one conversation to draw from."""

    variant: str
    mean: float
    runs: tuple[float, ...]
    difference: Estimate
    effect: float | None
    p: float | None
    p_holm: float | None


@dataclass(frozen=True, kw_only=True)
class Ablation:
    """A family measured. mean, runs: of the baseline · n: scored questions, over all seeds · test: where p is from."""

    mean: float
    runs: tuple[float, ...]
    n: int
    test: Literal["McNemar", "bootstrap"]
    compared: tuple[Comparison, ...]


def family(name: str) -> Family:
    """A family by name or path; raises ConfigError with the names there are, or the key that is amiss."""
    name, found = studies.find(name, "ablation", "family")
    try:
        variants = {str(variant): tuple(map(str, overrides)) for variant, overrides in found["variants"].items()}
        seeds = [f"{key}={value}" for key, values in found.get("seeds", {}).items() for value in values]
        chosen = Family(
            name=name,
            measure=str(found["measure"]),
            baseline=tuple(found["baseline"]),
            variants=variants,
            seeds=tuple(seeds),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"family {name} must have measure, baseline and variants with lists of overrides: {error}"
        ) from error
    if len(found.get("seeds", {})) > 1:
        raise ConfigError(f"family {name} must vary one seed, got {', '.join(found['seeds'])}. Keep one of them")
    return chosen


TABLE = ("setting", "mean", "difference", "low", "high", "effect", "p", "p_holm")
SEEDED = (*TABLE[:2], "sd", "runs", *TABLE[2:])
Row = dict[str, str | float | None]


def rows(found: Ablation) -> list[Row]:
    """The table of a family, baseline first: keys as in TABLE, or SEEDED where there were several seeds."""
    lines: list[Row] = [{"setting": "baseline", "mean": found.mean, **_spread(found.runs)}]
    for one in found.compared:
        estimate = one.difference
        lines.append(
            {
                "setting": one.variant,
                "mean": one.mean,
                **_spread(one.runs),
                "difference": estimate.mean,
                "low": estimate.low,
                "high": estimate.high,
                "effect": one.effect,
                "p": one.p,
                "p_holm": one.p_holm,
            }
        )
    return lines


def _spread(runs: Sequence[float]) -> Row:
    """Standard deviation over the seeds, and the mean under each of them: the best alone would say nothing."""
    return {"sd": stdev(runs), "runs": " ".join(f"{run:.3f}" for run in runs)} if len(runs) > 1 else {}


def ablate(
    family: Family,
    overrides: Sequence[str] = (),
    step: Callable[[str], None] = lambda _: None,
    *,
    live: bool = False,
) -> Ablation:
    """The baseline's mean, the number of questions, and every variant compared with it, in the order declared.

    `overrides` apply to the baseline and to all variants (a split, an encoder); `step` is told of each setting.
    Variants that share what lies before fusion are replayed from one recording, with the same result; `live` runs all.
    p is McNemar's exact one for verdicts that are one to a question, else that of the cluster bootstrap: a question
    that is answered under several seeds is not several questions.
    """
    scored: dict[str, tuple[Scores, dict[str, str]]] = {}
    runs: dict[str, list[float]] = {}
    other_data = bool(family.seeds) and family.seeds[0].startswith("dataset.")
    for seed in family.seeds or ("",):
        shared = (*family.baseline, *overrides, *([seed] if seed else []))
        configurations = {"": plain(compose(*shared))}
        configurations |= {name: plain(compose(*shared, *changes)) for name, changes in family.variants.items()}
        for name, (values, clusters) in _scored(configurations, family.measure, step, live).items():
            runs.setdefault(name, []).append(sum(values.values()) / len(values))
            own, homes = scored.setdefault(name, ({}, {}))
            own |= {f"{seed} {question}": value for question, value in values.items()}
            homes |= {f"{seed} {question}": seed * other_data + home for question, home in clusters.items()}
    (base, clusters), found = scored[""], {name: scored[name][0] for name in family.variants}
    pairs = {name: [values[i] - base[i] for i in sorted(base)] for name, values in found.items()}
    verdicts = family.measure == ACCURACY and (other_data or len(family.seeds) < 2)
    p = {name: _p(differences, [clusters[i] for i in sorted(base)], verdicts) for name, differences in pairs.items()}
    adjusted = holm({name: value for name, value in p.items() if value is not None})
    compared = [
        Comparison(
            variant=name,
            mean=sum(values.values()) / len(values),
            runs=tuple(runs[name]),
            difference=paired_bootstrap(values, base, clusters, draws=DRAWS, seed=SEED),
            effect=paired_effect(pairs[name]),
            p=p[name],
            p_holm=adjusted.get(name),
        )
        for name, values in found.items()
    ]
    return Ablation(
        mean=sum(base.values()) / len(base),
        runs=tuple(runs[""]),
        n=len(base),
        test="McNemar" if verdicts else "bootstrap",
        compared=tuple(compared),
    )


def _p(differences: Sequence[float], groups: Sequence[str], verdicts: bool) -> float | None:
    if verdicts:
        return mcnemar(differences.count(-1.0), differences.count(1.0))
    return bootstrap_p(differences, groups, draws=DRAWS, seed=SEED)


def _scored(
    configurations: Mapping[str, Mapping[str, Any]], measure: str, step: Callable[[str], None], live: bool
) -> dict[str, tuple[Scores, dict[str, str]]]:
    """Scores of each configuration and the conversation of each question; by replay where several share a recording."""
    settings = {name: Setting.of(cfg) for name, cfg in configurations.items()}
    groups: dict[str, list[str]] = {}
    for name, setting in settings.items():
        groups.setdefault(_shared(setting, settings[""]), []).append(name)
    found = {}
    for names in groups.values():
        replayed = not live and len(names) > 1 and is_replayable(measure)
        recordings = Recordings(Path(configurations[""]["runs"]), [settings[name] for name in names])
        for name in names:
            scores = (
                _replayed(settings[name], recordings, measure) if replayed else _live(configurations[name], measure)
            )
            if not scores[0]:
                raise ConfigError(f"measure must be one that is defined for some question, got {measure}")
            found[name] = scores
            step(name or "baseline")
    return found


def _shared(setting: Setting, baseline: Setting) -> str:
    """Equal for settings that one recording can hold: the same before fusion, and no tunnel unlike the baseline's."""
    unlike = {
        name: node
        for name, node in setting.tunnels.items()
        if name in baseline.tunnels and node != baseline.tunnels[name]
    }
    return text.digest(setting.upstream, unlike)


def _replayed(setting: Setting, recordings: Recordings, measure: str) -> tuple[Scores, dict[str, str]]:
    replay = recordings.replay(setting)
    values = by_question(replay, fusion_of(setting), setting.cut, [measure])[measure].tolist()
    known = replay.recording
    return (
        {i: value for i, value in zip(known.ids, values, strict=True) if not math.isnan(value)},
        dict(zip(known.ids, known.histories, strict=True)),
    )


def _live(cfg: Mapping[str, Any], measure: str) -> tuple[Scores, dict[str, str]]:
    built = OmegaConf.create(dict(cfg))
    pipeline, corpus = build.pipeline(built), build.component(built, "dataset").open()
    if measure == ACCURACY:
        answered = list(results(pipeline, corpus, build.component(built, "judge"), spread=build.spread(built)))
        right = {one.question.id: float(one.verdict.label == "correct") for one in answered}  # unjudged is not correct
        return right, {one.question.id: one.question.history_id for one in answered}
    measured = retrieve(pipeline, corpus, spread=build.spread(built))
    return (
        {row.question_id: row.values[measure] for row in measured if measure in row.values},
        {row.question_id: row.history_id for row in measured},
    )
