"""The prompts, as plain text files in words of our own: `load(name)`, and the digest that a run records.

A prompt is a file so that a change of it is a change that can be read; `{{name}}` is where the code puts a value.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

from sodamem.errors import ConfigError
from sodamem.text import digest as text_digest

_SLOT = re.compile(r"\{\{(\w+)\}\}")


@lru_cache(maxsize=64)
def load(name: str, **values: str) -> str:
    """The text of prompts/<name>.txt with every `{{slot}}` filled.

    Raises ConfigError when there is no such prompt, or when its slots are not those of the values.
    """
    if name not in names():
        raise ConfigError(f"prompt must be one of {', '.join(names())}, got {name!r}")
    text = resources.files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8").strip()
    if (wanted := set(_SLOT.findall(text))) != set(values):
        raise ConfigError(f"prompt {name} must be given its slots {sorted(wanted)}, got {sorted(values)}")
    return _SLOT.sub(lambda slot: values[slot[1]], text)


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Every prompt there is."""
    found = (entry.name for entry in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".txt") for name in found if name.endswith(".txt")))


def digest(name: str) -> str:
    """Identifies the words of a prompt, slots unfilled; what a run records beside its name."""
    if name not in names():
        raise ConfigError(f"prompt must be one of {', '.join(names())}, got {name!r}")
    return text_digest(resources.files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8"))[:16]


def digests(prefix: str = "") -> dict[str, str]:
    """Name to digest, of all prompts whose names begin so."""
    return {name: digest(name) for name in names() if name.startswith(prefix)}
