"""A point of a study as overrides, and as an experiment file that says where it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from sodamem.config import options
from sodamem.sweep.point_overrides import expanded
from sodamem.sweep.space import Ground, Value

_HERE = ("tracker", "executor")  # of the place where the study ran, and no part of what it found


def experiment(
    name: str, ground: Ground, overrides: Sequence[str], point: Mapping[str, Value], origin: Mapping[str, object]
) -> str:
    """The YAML of `conf/experiment/<name>.yaml`: the study's baseline and what its winner changes.

    `origin` is written as comments: which study, on which data, with which result.
    """
    known = options()
    chosen: dict[str, str] = {}
    values: dict[str, Any] = {}
    base: list[str] = []
    for override in overrides:
        group, _, value = override.lstrip("+").partition("=")
        if group == "experiment":
            base.append(value)
        elif group in known:
            chosen[group] = value
        else:
            _put(values, group, yaml.safe_load(value))
    groups = {key: value for key, value in point.items() if key in known}
    out = {key.removeprefix("tunnel.") for key, value in point.items() if value == "out" and key.count(".") == 1}
    chosen |= {key: str(value) for key, value in groups.items()}
    cfg = ground.at(point)
    if out:
        chosen["tunnel"] = f"[{', '.join(name for name in cfg['tunnel'])}]"
    for key, setting in point.items():
        if key not in groups and setting not in ("in", "out"):
            for full in expanded(cfg, key):
                _put(values, full, setting)
    for here in _HERE:
        values.pop(here, None)
    head = [f"# {key}: {value}" for key, value in origin.items()]
    defaults = [
        *base,
        *({f"override /{key}": yaml.safe_load(value)} for key, value in chosen.items() if key not in _HERE),
    ]
    body = {"defaults": defaults, "name": name, **values} if defaults else {"name": name, **values}
    text = yaml.safe_dump(body, sort_keys=False, default_flow_style=None, allow_unicode=True, width=110)
    return "\n".join([f"# @package _global_\n# sodamem run experiment={name} dataset.split=test", *head, "", text])


def _put(values: dict[str, Any], key: str, value: Any) -> None:
    *path, last = key.split(".")
    for step in path:
        values = values.setdefault(step, {})
    values[last] = value
