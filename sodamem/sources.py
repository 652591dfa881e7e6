"""Hashes of this package's own source: what was made by one version of a part must not pass for another version's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from sodamem.text import digest

_KINDS = (".py", ".yaml", ".txt")

# What each phase of a run executes, models' prompts apart: they are compared by their own hashes.
EXTRACT = ("extractor", "timeline", "currency", "linker", "maintenance", "dates", "facts.py", "provenance.py")
RECALL = ("store", "encoder", "tunnel", "query.py", "states.py", "states.yaml", "pipeline.py", "types.py", "text.py")
FUSION = ("fusion",)
PLAN = ("planner",)
READ = ("reader",)
JUDGE = ("judge",)
MEASURE = ("metric", "evaluate.py")
DATA = ("dataset",)
PHASES: Mapping[str, tuple[str, ...]] = {
    "extract": (*DATA, *EXTRACT),
    "plan": (*RECALL, *FUSION, *PLAN),
    "read": READ,
    "judge": (*JUDGE, *MEASURE),
}


@cache
def source(*parts: str) -> str:
    """Digest of the named files and folders of sodamem, with the tables that lie beside the code.

    Raises FileNotFoundError for a part that is not there: a hash of nothing would call all versions equal.
    """
    home = resources.files("sodamem")
    found = [(path, sha256) for part in parts for path, sha256 in _hashed(home / part, part)]
    return digest(sorted(found))[:16]


def _hashed(entry: Traversable, path: str) -> Iterator[tuple[str, str]]:
    if entry.is_file():
        if path.endswith(_KINDS):
            yield path, hashlib.sha256(entry.read_bytes()).hexdigest()
    elif entry.is_dir():
        for inner in entry.iterdir():
            yield from _hashed(inner, f"{path}/{inner.name}")
    else:
        raise FileNotFoundError(f"sodamem/{path} must be a part of the installed package")
