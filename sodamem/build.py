"""From configuration to objects: the only place where anything is instantiated, and where parts are wired.

A `_target_` may only name something of sodamem, or of a package listed in `trusted_targets`; the check is made on
the object that the name resolves to, since a dotted path can lead out of a trusted package.
"""

from __future__ import annotations

import logging
import math
import socket
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, cast

from hydra.errors import InstantiationException
from hydra.utils import get_object, instantiate
from omegaconf import DictConfig, OmegaConf

from sodamem import prompts
from sodamem.chat.cached import CachedChat
from sodamem.chat.metered import MeteredChat
from sodamem.chat.none import NoChat
from sodamem.config import one_line, options, plain
from sodamem.encoder.cache import VectorCache
from sodamem.errors import ConfigError, SodamemError
from sodamem.executor.spread import Spread
from sodamem.pipeline import Pipeline
from sodamem.protocols import Chat, Executor, Judge
from sodamem.sources import EXTRACT, PHASES, source
from sodamem.text import digest

# The stages whose options decide what a store contains; everything else can change over the same store.
INGEST = ("extractor", "timeline", "currency", "linker", "maintenance")


# The one field that wiring fills and no YAML: a node with a _target_ would be built anew for each part that names it.
CHAT = "chat"


def component(cfg: DictConfig, group: str, chat: Chat | None = None) -> Any:
    """The object that the group's option describes. Raises ConfigError naming the key at fault."""
    if cfg.get(group) is None:
        raise ConfigError(f"{group} must be chosen, got none. Choose an option with {group}=…, see sodamem options")
    return build(plain(cfg[group]), group, list(plain(cfg.trusted_targets)), chat)


def build(node: Mapping[str, Any], name: str, trusted: Sequence[str] = (), chat: Chat | None = None) -> Any:
    """Check targets and types of a plain config node, then instantiate it; a part that asks a model is given `chat`."""
    if "_target_" not in node:
        raise ConfigError(f"{name} must have a _target_, it has values only. Choose its option or drop ~{name}")
    _check_role(_resolve(str(node["_target_"]), name, ("sodamem", *trusted)), name)
    _check(node, name, ("sodamem", *trusted))
    asks = asks_a_model(node)
    with one_line():
        try:
            made = instantiate(node, _convert_="all", _partial_=asks)
            return made(chat=chat or NoChat()) if asks else made
        except TypeError as error:
            raise ConfigError(f"{name} cannot be built: {str(error).splitlines()[0]}") from error
        except InstantiationException as error:
            if isinstance(error.__cause__, SodamemError):
                raise error.__cause__ from None
            reason = str(error.__cause__ or error) or type(error.__cause__).__name__
            raise ConfigError(f"{name} cannot be built: {reason.splitlines()[0]}") from error


# What a part must be able to do to stand in for its stage; outsiders' classes need only match the shape.
ROLES = {
    "dataset": "open", "extractor": "extract", "timeline": "read", "currency": "resolve", "linker": "link",
    "maintenance": "dream", "store": "open", "encoder": "fit", "tunnel": "open", "fusion": "fuse", "planner": "gather",
    "reader": "read", "chat": "ask", "judge": "grade",
    "executor": "spread", "tracker": "run",
}  # fmt: skip


def _check_role(target: Any, name: str) -> None:
    """Refuse a class of another stage: it would build, and fail in the middle of a run."""
    role = ROLES.get(name.partition(".")[0])
    if role and not callable(getattr(target, role, None)):
        path = f"{target.__module__}.{target.__qualname__}"
        raise ConfigError(f"{name}._target_ must have a method {role}(), got {path}. Choose a class of its stage")


def asks_a_model(node: Mapping[str, Any]) -> bool:
    """Whether the class of a config node has a field for the chat, and the node leaves it to the wiring."""
    target = get_object(str(node["_target_"]))
    return CHAT not in node and is_dataclass(target) and CHAT in {field.name for field in fields(target) if field.init}


def chat_of(cfg: DictConfig) -> Chat:
    """The model of a configuration, its replies kept under the runs unless `replies` says otherwise."""
    if cfg.replies not in ("use", "replay", "none"):
        raise ConfigError(f"replies must be one of use, replay, none, got {cfg.replies}")
    chat = component(cfg, CHAT)
    if isinstance(chat, NoChat) or cfg.replies == "none":
        return cast(Chat, chat)
    return CachedChat(chat=chat, path=Path(cfg.runs) / "cache" / "replies.sqlite", mode=cfg.replies)


def pipeline(cfg: DictConfig, chat: Chat | None = None) -> Pipeline:
    """All stages of one configuration, wired into the pipeline; `chat` is the configuration's own unless given."""
    groups = (*INGEST, "store", "encoder", "fusion", "planner", "reader")
    told = chat or chat_of(cfg)
    metered = MeteredChat(chat=told)
    parts = {group: component(cfg, group, metered) for group in groups}
    asking = [group for group in groups if asks_a_model(plain(cfg[group]))]
    if asking and isinstance(told, NoChat):
        choice = next(iter(asking))
        known = ", ".join(name for name in options()[CHAT] if name != "none")
        raise ConfigError(f"{choice} needs a chat, got none. Choose chat= one of {known}")
    tunnels = {
        name: build(node, f"tunnel.{name}", list(plain(cfg.trusted_targets)))
        for name, node in (plain(cfg.tunnel) if cfg.get("tunnel") else {}).items()
    }
    if not tunnels:
        raise ConfigError("tunnel must name at least one tunnel, got []. Choose some with tunnel=[bm25,dense]")
    runs = Path(cfg.runs)
    return Pipeline(
        **parts,
        tunnels=tunnels,
        recall_options=component(cfg, "recall"),
        settings=_settings(cfg, told if set(asking) & set(INGEST) else None),
        stores=runs / "stores",
        cache=VectorCache(path=str(runs / "cache" / "vectors.sqlite")),
        at_once=int(plain(cfg[CHAT]).get("concurrency", 1)) if "extractor" in asking else 1,
    )


def spread(cfg: DictConfig) -> Spread:
    """Who works on the histories of a run, found ready. Raises what its `ready` raises, and ConfigError for other
    processes where a model takes part: a run's ledger, and the bound on requests in flight, belong to one process.
    """
    executor: Executor = component(cfg, "executor")
    if executor.apart and not isinstance(component(cfg, CHAT), NoChat):
        raise ConfigError(
            f"executor must stay in one process where a model takes part, got {type(executor).__name__}. "
            "Choose executor=threads, or chat=none"
        )
    executor.ready()
    return Spread(executor=executor, recipe=Recipe.of(cfg) if executor.apart else None)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A configuration on its way to another process, which makes pipeline and judge of it once and keeps them.

    It travels as plain values, since resolvers do not work there, with the hash of the code that is to be run.
    """

    cfg: Mapping[str, Any]
    code: str
    host: str

    @classmethod
    def of(cls, cfg: DictConfig) -> Recipe:
        return cls(cfg=plain(cfg), code=_code(), host=socket.gethostname())

    def __call__(self) -> tuple[Pipeline, Judge]:
        named = digest(self.cfg, self.code, self.host)
        if named not in _made:
            _made.clear()  # parts of an earlier configuration
            _made[named] = self._make()
        return _made[named]

    def _make(self) -> tuple[Pipeline, Judge]:
        host = socket.gethostname()
        if self.code != _code():
            raise ConfigError(
                f"sodamem must be the same in all processes of a run, got other code on {host}. "
                "Install one version on all machines, and leave its files alone while it runs"
            )
        cfg = OmegaConf.create(dict(self.cfg))
        made: Pipeline = pipeline(cfg)
        if host != self.host:  # SQLite's write-ahead log does not reach from one machine to another
            made = replace(made, cache=VectorCache(path=str(Path(cfg.runs) / "cache" / f"vectors.{host}.sqlite")))
        return made, component(cfg, "judge")


_made: dict[str, tuple[Pipeline, Judge]] = {}


def _code() -> str:
    return source(*sorted({part for parts in PHASES.values() for part in parts}))


def _settings(cfg: DictConfig, chat: Chat | None) -> dict[str, object]:
    """What decides the content of a store; where a model takes part, that is also its identity and its prompts."""
    settings: dict[str, object] = {group: plain(cfg[group]) for group in INGEST} | {"code": source(*EXTRACT)}
    if chat is not None:
        settings |= {CHAT: chat.digest, "prompts": {**prompts.digests("extract"), **prompts.digests("adjudicate")}}
    return settings


def _check(node: Any, name: str, trusted: tuple[str, ...]) -> None:
    """Refuse foreign targets and values of a wrong type anywhere below `node`."""
    if isinstance(node, Sequence) and not isinstance(node, str):
        for place, part in enumerate(node):
            _check(part, f"{name}[{place}]", trusted)
    if not isinstance(node, Mapping):
        return
    for key, part in node.items():
        _check(part, f"{name}.{key}", trusted)
    if "_target_" in node:
        if directives := sorted(key for key in node if str(key).startswith("_") and key != "_target_"):
            raise ConfigError(f"{name}.{directives[0]} must not be used: _target_ is the only directive here")
        target = _resolve(str(node["_target_"]), name, trusted)
        if is_dataclass(target):
            _check_types(target, node, name)


def _resolve(path: str, name: str, trusted: tuple[str, ...]) -> Any:
    refused = (
        f"{name}._target_ must be something of {', '.join(trusted)}, got {path}. "
        "List its package in trusted_targets if you trust it"
    )
    if path.partition(".")[0] not in {prefix.partition(".")[0] for prefix in trusted}:
        raise ConfigError(refused)
    logging.getLogger(get_object.__module__).disabled = True  # it logs, over several lines, what is said in one below
    try:
        found = get_object(path)
    except Exception as error:  # Hydra raises several types here, and an import may raise anything
        raise ConfigError(f"{name}._target_ must name a class, got {path}: {str(error).splitlines()[0]}") from error
    home = f"{getattr(found, '__module__', '')}."
    if not any(home.startswith(f"{prefix}.") for prefix in trusted) or not isinstance(found, type):
        raise ConfigError(refused)
    return found


def _check_types(target: Any, node: Mapping[str, Any], name: str) -> None:
    hints = typing.get_type_hints(target)
    known = {field.name for field in fields(target) if field.init}
    given = {key for key in node if not key.startswith("_")}
    if strange := sorted(given - known):
        raise ConfigError(f"{name}.{strange[0]} must be one of {', '.join(sorted(known))}. Check the spelling")
    for key in given:
        if not _fits(node[key], hints[key]):
            raise ConfigError(f"{name}.{key} must be {_say(hints[key])}, got {node[key]!r}")


def _fits(value: Any, hint: Any) -> bool:
    """Whether a YAML value may stand for a field of this type. An int may stand for a float, a bool for neither."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return any(_fits(value, part) for part in parts)
    if origin is typing.Literal:
        return value in parts
    if isinstance(value, Mapping) and "_target_" in value:
        return True  # a nested component, checked on its own
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_fits(part, parts[1]) for part in value.values())
    if origin is not None and issubclass(origin, Sequence):
        return isinstance(value, list) and all(_fits(part, parts[0]) for part in value)
    if hint is types.NoneType:
        return value is None
    if hint in (int, float):
        number = (int, float) if hint is float else int
        return isinstance(value, number) and not isinstance(value, bool) and not math.isnan(value)
    if hint in (str, bool):
        return isinstance(value, hint)
    return not is_dataclass(hint)  # a part of its own, which only a node with a _target_ describes


def _say(hint: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false", types.NoneType: "null"}
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(_say(part) for part in parts)
    if origin is typing.Literal:
        return f"one of {', '.join(map(str, parts))}"
    if origin is not None and issubclass(origin, Mapping):
        return f"a mapping to {_say(parts[1])}"
    if origin is not None and issubclass(origin, Sequence):
        return f"a list of {_say(parts[0])}"
    return names.get(hint, getattr(hint, "__name__", str(hint)))
