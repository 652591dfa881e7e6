"""The search space of a study: knobs with their ranges and conditions, and the configuration of every point.

A point is set into the baseline's plain values, so a trial never composes a configuration; only the options of a group
are composed, once each. Conditional knobs in the sense of Optuna's define-by-run (Akiba et al., KDD 2019).
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sodamem.config import compose, options, plain
from sodamem.errors import ConfigError

Value = bool | int | float | str | None
Point = dict[str, Value]
_KEYS = {"choice", "low", "high", "step", "log", "when"}


@dataclass(frozen=True, kw_only=True)
class Knob:
    """One dimension. choices: for a categorical one, else empty · low, high, step, log: of a range, whole numbers if
    both ends are · when: other knobs and the values of theirs with which this one exists."""

    name: str
    choices: tuple[Value, ...] = ()
    low: float = 0
    high: float = 0
    step: float | None = None
    log: bool = False
    when: Mapping[str, tuple[Value, ...]]

    @property
    def whole(self) -> bool:
        return isinstance(self.low, int) and isinstance(self.high, int)

    def active(self, point: Mapping[str, Value]) -> bool:
        """Whether the knob exists at a point whose earlier knobs are set."""
        return all(name in point and point[name] in values for name, values in self.when.items())

    def grid(self) -> tuple[Value, ...]:
        """Every value, for a knob that has finitely many; empty for one that has not."""
        if self.choices:
            return self.choices
        step = self.step or (1 if self.whole else None)
        if self.log or step is None:
            return ()
        count = int((self.high - self.low) / step + 1e-9) + 1
        return tuple(
            self.low + place * step if self.whole else round(self.low + place * step, 12) for place in range(count)
        )

    def ends(self) -> tuple[Value, ...]:
        """The values between which all others lie."""
        return self.choices or (self.low, self.high)

    def holds(self, value: Value) -> bool:
        if self.choices:
            return any(
                value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in self.choices
            )
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.low <= value <= self.high:
            return False
        return (not self.whole or isinstance(value, int)) and (
            self.step is None
            or any(abs(value - other) < 1e-9 for other in self.grid() if isinstance(other, int | float))
        )

    def suggest(self, trial: Any) -> Value:
        """The value that an Optuna trial proposes."""
        if self.choices:
            found: Value = trial.suggest_categorical(self.name, self.choices)
        elif self.whole:
            found = trial.suggest_int(self.name, self.low, self.high, step=int(self.step or 1), log=self.log)
        else:
            number = float(trial.suggest_float(self.name, self.low, self.high, step=self.step, log=self.log))
            found = number if self.step is None else round(number, 12)
        return found


def knobs(space: Mapping[str, Any]) -> tuple[Knob, ...]:
    """Read the `space` of a study. Raises ConfigError naming the entry at fault."""
    found: dict[str, Knob] = {}
    for name, given in space.items():
        given = {"choice": given} if isinstance(given, list) else given
        if not isinstance(given, Mapping) or set(given) - _KEYS or ("choice" in given) == ("low" in given):
            raise ConfigError(f"space.{name} must be a list of choices, or have low and high, got {given}")
        when = {key: tuple(v if isinstance(v, list) else [v]) for key, v in given.get("when", {}).items()}
        for other, values in when.items():
            if other not in found or not all(found[other].holds(value) for value in values):
                raise ConfigError(f"space.{name}.when must name values of an earlier knob, got {other}={list(values)}")
        found[name] = _choice(name, given, when) if "choice" in given else _range(name, given, when)
    if not found:
        raise ConfigError("space must have at least one knob, got none")
    return tuple(found.values())


def _choice(name: str, given: Mapping[str, Any], when: Mapping[str, tuple[Value, ...]]) -> Knob:
    choices = given["choice"]
    # Optuna takes plain values only: a list of tunnels is written as it is in an override.
    texts = [f"[{','.join(map(str, one))}]" if isinstance(one, list) else one for one in choices]
    if not texts or any(isinstance(one, Mapping) for one in texts) or len(set(map(repr, texts))) < len(texts):
        raise ConfigError(f"space.{name} must list different plain values, got {choices}")
    return Knob(name=name, choices=tuple(texts), when=when)


def _range(name: str, given: Mapping[str, Any], when: Mapping[str, tuple[Value, ...]]) -> Knob:
    numbers = {key: given[key] for key in ("low", "high", "step") if given.get(key) is not None}
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers.values()):
        raise ConfigError(f"space.{name} must have numbers for low, high and step, got {numbers}")
    if not {"low", "high"} <= set(numbers) or not numbers["low"] < numbers["high"] or not numbers.get("step", 1) > 0:
        raise ConfigError(f"space.{name} must have low < high and step > 0, got {numbers}")
    log = bool(given.get("log", False))
    if log and (not numbers["low"] > 0 or "step" in numbers):
        raise ConfigError(f"space.{name}.log must have low > 0 and no step, got {numbers}")
    return Knob(name=name, **numbers, log=log, when=when)


def grid(space: Sequence[Knob]) -> list[Point]:
    """Every point of a finite space, conditions respected. Raises ConfigError for a knob that is not finite."""
    if endless := [knob.name for knob in space if not knob.grid()]:
        raise ConfigError(f"space.{endless[0]} must have choices or a step to be searched as a grid, it has neither")
    points: list[Point] = [{}]
    for knob in space:
        points = [
            {**point, **({knob.name: value} if knob.active(point) else {})}
            for point in points
            for value in (knob.grid() if knob.active(point) else (None,))
        ]
    return points


class Ground:
    """The baseline of a study as plain values, and the plain configuration of every point around it."""

    def __init__(self, overrides: Sequence[str], space: Sequence[Knob]) -> None:
        self.plain: dict[str, Any] = plain(compose(*overrides))
        self.space = space
        self._groups = {knob.name: knob for knob in space if knob.name in options() or knob.name == "tunnel"}
        self._nodes = {
            (name, choice): plain(compose(*overrides, f"{name}={choice}")[name])
            for name, knob in self._groups.items()
            for choice in knob.choices
        }

    def baseline(self) -> Point:
        """The baseline's own point. Raises ConfigError where the space does not hold it."""
        point: Point = {}
        for knob in self.space:
            if knob.active(point):
                point[knob.name] = value = self._current(knob)
                if not knob.holds(value):
                    raise ConfigError(f"space.{knob.name} must hold the baseline's own value, {value!r}. Widen it")
        return point

    def corners(self) -> list[Point]:
        """Points that between them reach both ends of every knob and every choice: each knob alone off the baseline."""
        found = [self.baseline()]
        for knob in self.space:
            found += [self._around({knob.name: value, **self._needed(knob)}) for value in knob.ends()]
        return found

    def at(self, point: Mapping[str, Value]) -> dict[str, Any]:
        """The plain configuration of a point. Raises ConfigError for a key that it does not have."""
        cfg = copy.deepcopy(self.plain)
        for name, value in point.items():
            if name in self._groups:
                cfg[name] = copy.deepcopy(self._nodes[name, value])
        for name, value in point.items():
            if name not in self._groups:
                put(cfg, name, value)
        return cfg

    def _needed(self, knob: Knob) -> Point:
        """First values of the knobs that a knob depends on, and of those that they depend on."""
        found: Point = {}
        for name, values in knob.when.items():
            found |= {name: values[0], **self._needed(next(one for one in self.space if one.name == name))}
        return found

    def _around(self, fixed: Mapping[str, Value]) -> Point:
        point: Point = {}
        cfg = self.at({name: value for name, value in fixed.items() if name in self._groups})
        for knob in self.space:
            if knob.active(point):
                point[knob.name] = fixed[knob.name] if knob.name in fixed else self._current(knob, cfg)
        return point

    def _current(self, knob: Knob, cfg: Mapping[str, Any] | None = None) -> Value:
        """The value that a configuration, by default the baseline, gives a knob."""
        cfg = self.plain if cfg is None else cfg
        if knob.name in self._groups:
            node = cfg.get(knob.name)
            return next((c for c in knob.choices if self._nodes[knob.name, c] == node), "none of the choices")
        if (tunnel := toggled(knob.name)) is not None:
            return "in" if tunnel in cfg["tunnel"] else "out"
        values = [node[key] for node, key in places(cfg, knob.name)]
        if any(value != values[0] for value in values):
            raise ConfigError(f"space.{knob.name} must start from one value, the baseline has {values}")
        found: Value = values[0]
        if isinstance(found, int) and not isinstance(found, bool) and not knob.choices and not knob.whole:
            return float(found)
        return found


def put(cfg: dict[str, Any], name: str, value: Value) -> None:
    """Set a dotted key of a plain configuration; `tunnel.<name>: out` leaves a tunnel out, `*` means every tunnel."""
    if (tunnel := toggled(name)) is not None:
        if value == "out":
            cfg["tunnel"].pop(tunnel, None)
        return
    for node, key in places(cfg, name):
        node[key] = value


def places(cfg: Mapping[str, Any], name: str) -> list[tuple[dict[str, Any], str]]:
    """The nodes that a dotted key names, `*` standing for every part that has the rest of it."""
    parents: list[Any] = [cfg]
    *path, key = name.split(".")
    for step in path:
        inside = (
            node.values() if step == "*" else [node[step]] if step in node else []
            for node in parents
            if isinstance(node, dict)
        )
        parents = list(itertools.chain.from_iterable(inside))
    found = [
        (node, key) for node in parents if isinstance(node, dict) and key in node and not isinstance(node[key], dict)
    ]
    if not found:
        raise ConfigError(f"space.{name} must be a key of the configuration, there is none. Check the spelling")
    return found


def toggled(name: str) -> str | None:
    """The tunnel that a knob like `tunnel.bm25` takes in or leaves out; None for any other knob."""
    group, _, tunnel = name.partition(".")
    return tunnel if group == "tunnel" and tunnel and "." not in tunnel else None
