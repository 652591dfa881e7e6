"""What makes a judge the same judge, and how one is asked the same thing again.

A judge is its model, prompt, parser and settings under one hash: a changed judge is a new judge.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from sodamem.errors import ConfigError
from sodamem.protocols import Judge


@runtime_checkable
class Repeatable(Protocol):
    """A judge whose verdict may differ from one time to the next, as a model's may."""

    def repeated(self, number: int) -> Judge: ...


def identity(judge: Judge) -> str:
    """The digest that a judge goes by; raises ConfigError for one that has none, since it could change unnoticed."""
    found = getattr(judge, "digest", None)
    if not isinstance(found, str) or not found:
        raise ConfigError(f"judge {judge.name} must have a digest of its model, prompt, parser and settings, got none")
    return found


def repeated(judge: Judge, number: int) -> Judge:
    """The same judge for its repetition `number`, from 0; one that always says the same is handed back."""
    return judge.repeated(number) if isinstance(judge, Repeatable) and number else judge
