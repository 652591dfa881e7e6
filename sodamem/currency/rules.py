"""The table of slots as it stands in the configuration, checked and turned into rules.

Paper section 4.4: cardinality is declared, and a predicate that is not declared keeps everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sodamem.errors import ConfigError

Holds = Literal["single", "multi", "event", "unknown"]
_DECLARED = get_args(Holds)[:3]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """How one predicate's slots behave.

    scope: role name -> what it means when the role is not told (None: then nothing is known about the slot) ·
    closed_by: predicates whose positive facts end the same value here · opposed_by: the same, but only for a value
    named in the same words · loose: "the guitar" may end "an acoustic guitar" when it is the only one ·
    nouns: words for the slot itself, which name no value: "I quit my job".
    """

    holds: Holds = "unknown"
    scope: tuple[tuple[str, str | None], ...] = ()
    closed_by: tuple[str, ...] = ()
    opposed_by: tuple[str, ...] = ()
    loose: bool = False
    nouns: tuple[str, ...] = ()


UNKNOWN = Rule()


def read_table(table: Mapping[str, Mapping[str, Any]]) -> dict[str, Rule]:
    """Rules by predicate; raises ConfigError for a key or a cardinality that does not exist."""
    return {predicate: _rule(predicate, row) for predicate, row in table.items()}


def closers(rules: Mapping[str, Rule]) -> dict[str, list[tuple[str, bool]]]:
    """Predicate -> the slots that its positive facts close, each with True where only the same words count."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for slot, rule in rules.items():
        for predicates, exact in ((rule.closed_by, False), (rule.opposed_by, True)):
            for predicate in predicates:
                found.setdefault(predicate, []).append((slot, exact))
    return found


def _rule(predicate: str, row: Mapping[str, Any]) -> Rule:
    where = f"currency.slots.{predicate}"
    keys = {"holds", "scope", "closed_by", "opposed_by", "loose", "nouns"}
    if unknown := sorted(set(row) - keys):
        raise ConfigError(f"{where} must only have the keys {sorted(keys)}, got {unknown}. Remove or rename them")
    holds: Holds | None = row.get("holds")
    if holds is None or holds not in _DECLARED:
        raise ConfigError(f"{where}.holds must be one of {list(_DECLARED)}, got {holds!r}. Choose one of these")
    return Rule(
        holds=holds,
        scope=tuple(sorted(row.get("scope", {}).items())),
        closed_by=_names(row.get("closed_by", ())),
        opposed_by=_names(row.get("opposed_by", ())),
        loose=bool(row.get("loose", False)),
        nouns=_names(row.get("nouns", ())),
    )


def _names(value: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(name) for name in value)
