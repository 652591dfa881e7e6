"""Composing a configuration: Hydra's compose API over the packaged `sodamem.conf`, every fault in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from hydra import compose as hydra_compose
from hydra import initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from sodamem.errors import ConfigError

MODULE = "sodamem.conf"
VERSION_BASE = "1.3"
DEBUG = "SODAMEM_DEBUG"


def compose(*overrides: str) -> DictConfig:
    """The configuration with `overrides` in Hydra's grammar, e.g. `fusion=density`, `fusion.beta=0.2`.

    Raises ConfigError in one line for an unknown option, key or syntax. Paths in it are absolute.
    """
    for override in overrides:
        group, _, value = override.partition("=")
        if value == "null" and group in (known := options()):
            raise ConfigError(f"{group} must be one of {', '.join(known[group])}, got null")
    with one_line():
        # A notebook or a test may have Hydra initialised already; composing must not disturb it.
        outer = GlobalHydra.instance().hydra
        GlobalHydra.instance().clear()
        try:
            with initialize_config_module(config_module=MODULE, version_base=VERSION_BASE):
                cfg = hydra_compose("config", overrides=list(overrides))
        finally:
            GlobalHydra.instance().hydra = outer
        return absolute(cfg)


def each_value(overrides: Sequence[str]) -> Iterator[list[str]]:
    """Overrides of a multirun as those of single runs, so that every value of every sweep occurs in one of them."""
    with one_line():
        parsed = OverridesParser.create().parse_overrides(list(overrides))
        values = [
            [f"{one.get_key_element()}={value}" for value in one.sweep_string_iterator()]
            if one.is_sweep_override()
            else [str(one.input_line)]
            for one in parsed
            if not str(one.key_or_group).startswith("hydra")
        ]
    for number in range(max(map(len, values), default=1)):
        yield [choices[number % len(choices)] for choices in values]


def absolute(cfg: DictConfig) -> DictConfig:
    """Make the folder of runs absolute, once, before anything depends on the working directory."""
    with one_line():
        OmegaConf.set_readonly(cfg, False)
        cfg.runs = str(Path(cfg.runs).expanduser().absolute())
    return cfg


def plain(node: Any) -> Any:
    """A config node as plain dicts and lists, every interpolation resolved: what may leave this process."""
    with one_line():
        return OmegaConf.to_container(node, resolve=True, throw_on_missing=True)


def unresolved(cfg: DictConfig) -> str:
    """The YAML that is saved and logged: environment variables stay names, so no secret is written."""
    return OmegaConf.to_yaml(cfg, resolve=False)


def options() -> dict[str, list[str]]:
    """Every group of the packaged configuration and its options, from the files themselves."""
    found: dict[str, list[str]] = {}
    for group in sorted(resources.files(MODULE).iterdir(), key=lambda entry: entry.name):
        if group.is_dir():
            names = sorted(entry.name[:-5] for entry in group.iterdir() if entry.name.endswith(".yaml"))
            if names:
                found[group.name] = names
    return found


def flat(node: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested config as one level with dotted keys; lists stay values."""
    found: dict[str, Any] = {}
    for key, value in node.items():
        name = f"{prefix}{key}"
        found |= flat(value, f"{name}.") if isinstance(value, Mapping) and value else {name: value}
    return found


@contextmanager
def one_line() -> Iterator[None]:
    """Turn what Hydra and OmegaConf raise into a ConfigError whose message is one line."""
    try:
        yield
    except MissingConfigException as error:
        group, _, name = str(error.missing_cfg_file).rpartition("/")
        known = options().get(group)
        choice = f"{group} must be one of {', '.join(known)}, got {name!r}" if known else str(error).splitlines()[0]
        raise ConfigError(choice) from error
    except OverrideParseException as error:
        raise ConfigError(
            f"override must be in Hydra's grammar, got {error.override!r}. Quote values with special signs: key='value'"
        ) from error
    except (HydraException, OmegaConfBaseException, ValueError) as error:  # Hydra raises ValueError for some overrides
        # Hydra's reason may stand in the cause.
        cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else error
        text = str(error) if str(error) else str(cause)
        if cause is not error and str(cause) not in text:
            text = f"{text}. {cause}"
        text = re.sub(r"\n?(?:full_key|object_type|Set the env variable)[^\n]*|In '[^']*': ", "", text)
        raise ConfigError(re.sub(r"\s*\n\s*", " ", text.strip()).replace("\t", "")) from error
