"""A study: what is searched, for which measures, how, and what it must stay while it is resumed.

A study is resumed only in the space, on the data and with the code it was begun with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sodamem import text
from sodamem.errors import ConfigError
from sodamem.sweep.space import Knob, knobs

SAMPLERS = ("tpe", "nsga2", "random", "grid")
PRUNERS = ("none", "median")
Direction = Literal["maximize", "minimize"]
DIRECTIONS: tuple[str, ...] = get_args(Direction)
_KEYS = {"kind", "measures", "trials", "sampler", "seed", "replay", "pruner", "block", "overrides", "space"}
BLOCK = 50  # questions


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study as its YAML gives it. measures: flat metric name -> direction, the first is what the winner is best in ·
    trials: in total, resumed ones included · replay: auto, true or false · block: questions that a live trial answers
    between two looks of the pruner · overrides: the baseline."""

    name: str
    measures: Mapping[str, Direction]
    trials: int
    sampler: str
    seed: int
    replay: str
    pruner: str
    block: int
    overrides: tuple[str, ...]
    space: tuple[Knob, ...]

    def __post_init__(self) -> None:
        for name, value, known in (
            ("sampler", self.sampler, SAMPLERS),
            ("pruner", self.pruner, PRUNERS),
            ("replay", self.replay, ("auto", "true", "false")),
            *(("measures", direction, DIRECTIONS) for direction in self.measures.values()),
        ):
            if value not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {value!r}")
        if not self.measures or self.trials < 1:
            raise ConfigError(f"study must have a measure and at least one trial, got {self.trials} trials")
        if self.block < 1:
            raise ConfigError(f"block must be >= 1, got {self.block}. It counts questions")
        if self.pruner != "none" and len(self.measures) > 1:
            raise ConfigError("pruner must be none where there are several measures, Optuna compares one at a time")

    @classmethod
    def read(cls, name: str, given: Mapping[str, Any]) -> Study:
        """From the content of a YAML file, its fields overridden by `given`. Raises ConfigError naming a faulty key."""
        if strange := sorted(set(given) - _KEYS) or sorted(_KEYS - {"pruner", "block", "replay"} - set(given)):
            raise ConfigError(f"study {name} must have the keys {', '.join(sorted(_KEYS))}; {strange[0]} is amiss")
        try:
            return cls(
                name=name,
                measures=dict(given["measures"]),
                trials=int(given["trials"]),
                sampler=str(given["sampler"]),
                seed=int(given["seed"]),
                replay=str(given.get("replay", "auto")).lower(),
                pruner=str(given.get("pruner", "none")),
                block=int(given.get("block", BLOCK)),
                overrides=tuple(given["overrides"]),
                space=knobs(given["space"]),
            )
        except (TypeError, ValueError) as error:
            raise ConfigError(f"study {name} must have values of the right type, got: {error}") from error

    def identity(self, sha256: str, baseline: Mapping[str, Any]) -> dict[str, str]:
        """Everything that a trial's value depends on, flat: a study is resumed only where all of it is the same."""
        found: dict[str, str] = {f"measures.{name}": direction for name, direction in self.measures.items()}
        for knob in self.space:
            described = {k: v for k, v in vars(knob).items() if k not in ("name", "when") and v}
            described |= {"when": {k: list(v) for k, v in knob.when.items()}} if knob.when else {}
            found[f"space.{knob.name}"] = json.dumps(described, sort_keys=True)
        found["data.sha256"] = sha256
        return {**found, **{f"baseline.{key}": json.dumps(value, sort_keys=True) for key, value in baseline.items()}}


def named(study: Study, identity: Mapping[str, str]) -> str:
    """<name>-<hash of space, directions and data>: the study's name in its storage, and that of its folder."""
    return f"{study.name}-{text.digest(dict(identity))[:10]}"


def refuse_other(name: str, mine: Mapping[str, str], theirs: Mapping[str, str]) -> None:
    """Raise ConfigError with the differences between a study as it was begun and as it is asked for now."""
    changed = [
        f"{key} was {theirs.get(key, 'absent')}, is {mine.get(key, 'absent')}"
        for key in sorted(mine.keys() | theirs.keys())
        if mine.get(key) != theirs.get(key)
    ]
    raise ConfigError(
        f"study {name} must keep the space and data it was begun with: {'; '.join(changed[:5])}"
        + (f" (and {len(changed) - 5} more)" if len(changed) > 5 else "")
        + ". Restore them to resume it, or begin another with --new"
    )
