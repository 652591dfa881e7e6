"""The YAML files of `sweeps/`: studies to search and families of ablations, packaged or a user's own."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from sodamem.errors import ConfigError

FOLDER = "sodamem.sweeps"


def packaged(kind: str) -> dict[str, dict[str, Any]]:
    """The packaged files of one kind (study or ablation), by name."""
    entries = sorted(resources.files(FOLDER).iterdir(), key=lambda entry: entry.name)
    files = {entry.name.removesuffix(".yaml"): entry for entry in entries if entry.name.endswith(".yaml")}
    read = {name: yaml.safe_load(entry.read_text(encoding="utf-8")) for name, entry in files.items()}
    return {name: content for name, content in read.items() if content.get("kind") == kind}


def find(name: str, kind: str, field: str) -> tuple[str, dict[str, Any]]:
    """A packaged file by its name, or a user's by its path. Raises ConfigError with the names there are."""
    if name.endswith((".yaml", ".yml")):
        try:
            content = yaml.safe_load(Path(name).read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError) as error:
            raise ConfigError(f"{field} must name a readable YAML file, got {name}: {error}") from error
        if not isinstance(content, dict) or content.get("kind") != kind:
            raise ConfigError(f"{field} must name a file with `kind: {kind}`, got {name}")
        return Path(name).stem, content
    known = packaged(kind)
    if name not in known:
        raise ConfigError(f"{field} must be one of {', '.join(known)}, or the path of a YAML file, got {name!r}")
    return name, known[name]
