"""A point of a study as Hydra's overrides, which is how a launcher hands a trial to another process.

Values survive Hydra's grammar and OmegaConf's interpolation as they are; what would mean something else in another
process (a relative path, the time of day) is settled in this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import Quote, QuotedString
from omegaconf import DictConfig, OmegaConf

from sodamem import config
from sodamem.mlflow_store import absolute
from sodamem.sweep.space import Ground, Value, toggled

_PATH = re.compile(r"(^|[._])(path|folder|artifacts)$")  # always of this machine's files
_FILE = re.compile(r"\.(coefficients|weights)$")  # a name that the package or a hub knows, or a file's
_ELSEWHERE = re.compile(r"\$\{(now|hydra):")
_ENVIRONMENT = re.compile(r"\$\{oc\.env:")


def overrides(ground: Ground, point: Mapping[str, Value]) -> list[str]:
    """What to add to the baseline's overrides for this point. Raises ConfigError for a key that it does not have.

    Options of groups come first, tunnels that are out last: `~tunnel.x` can only take away what is there.
    """
    known = config.options()
    chosen = {name: value for name, value in point.items() if name in known}
    found, out = [f"{name}={value}" for name, value in chosen.items()], []
    cfg = ground.at(chosen)
    for name, value in point.items():
        if name in known:
            continue
        if (tunnel := toggled(name)) is None:
            found += [f"{key}={quoted(value)}" for key in expanded(cfg, name)]
        elif value == "out" and tunnel in cfg["tunnel"]:
            out.append(f"~tunnel.{tunnel}")
    return [*found, *out]


def quoted(value: Value) -> str:
    """A plain value in Hydra's grammar. Text is always quoted, or `nan`, `null` and `1e3` would not stay text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    # OmegaConf would resolve ${…}; a backslash before it is doubled where there were some already.
    literal = re.sub(r"(\\*)\$\{", lambda found: found[1] * 2 + r"\${", value)
    return QuotedString(text=literal, quote=Quote.single).with_quotes()


def expanded(cfg: Mapping[str, Any], name: str) -> Iterator[str]:
    """The keys of a plain configuration that a key with `*` stands for; the key itself where there is none."""
    before, star, after = name.partition(".*.")
    if not star:
        yield name
        return
    node: Any = cfg
    for step in before.split("."):
        node = node[step]
    for part, inner in node.items():
        if _has(inner, after):
            yield from expanded(cfg, f"{before}.{part}.{after}")


def _has(node: Any, key: str) -> bool:
    first, _, rest = key.partition(".")
    if not isinstance(node, Mapping):
        return False
    if first == "*":
        return any(_has(inner, rest) for inner in node.values())
    return first in node and (_has(node[first], rest) if rest else not isinstance(node[first], Mapping))


def settled(cfg: DictConfig) -> dict[str, Value]:
    """Keys whose value depends on where and when they are resolved, with what they are here and now.

    Addresses and names that come from the environment stay references: they may be secret.
    """
    raw = config.flat(OmegaConf.to_container(cfg, resolve=False))  # type: ignore[arg-type]
    found: dict[str, Value] = {}
    for key, value in config.flat(config.plain(cfg)).items():
        if not isinstance(value, str):
            continue
        written, here = str(raw.get(key, "")), value
        if key == "tracker.uri":
            here = absolute(value)
        elif _PATH.search(key) or (_FILE.search(key) and Path(value).exists()):
            here = str(Path(value).expanduser().absolute())
        moving = _ELSEWHERE.search(written) or (_ENVIRONMENT.search(written) and _PATH.search(key))
        if here != value or moving:
            found[key] = here
    return found
