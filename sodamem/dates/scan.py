"""The reader: tries every rule that can begin at a word, keeps the longest phrase, lets rules read their sub-phrases.

Rules are tried by their first word, so a sentence costs time only where it could hold a time expression.
Longest match over full phrases is what keeps a modifier from falling off ("next friday afternoon").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from sodamem.dates.policy import RULES_VERSION, Direction, Policy
from sodamem.dates.tense import tense
from sodamem.errors import DataError
from sodamem.types import Interval, TimeValue

_TOKEN = re.compile(r"(?<![\w$€£#@/.:-])(?:[a-z]+|\d|'(?=\d0s))(?!['’]t\b)|(?<=[-/])[a-z]+", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"\b(in|on|at|since|until|till|by|during|from|before|after|around|about|for|of|over|within|through|throughout|between|to|"
    r"all|back|every|each|year|than|prior to|as of|and|up)\s+(the\s+|last\s+|both\s+)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What a rule made of a phrase. `end` -1 means the end of the rule's own match; interval None is unresolved."""

    interval: Interval | None
    end: int = -1
    rule: str = ""
    approximate: bool = False
    alternatives: tuple[Interval, ...] = ()


UNRESOLVED = Reading(interval=None)
Build = Callable[["Context", "re.Match[str]"], Reading | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of phrase: how it begins (first words; "#" is a digit), its pattern, and what it means."""

    name: str
    starts: frozenset[str]
    pattern: re.Pattern[str]
    build: Build

    def read(self, ctx: Context, position: int) -> Reading | None:
        """None when the words are not this kind of phrase; unresolved when they are but name no date."""
        match = self.pattern.match(ctx.text, position)
        if match is None:
            return None
        try:
            reading = self.build(ctx, match)
        except (ValueError, OverflowError, DataError):
            # 30 February, the year 10000, a range that runs backwards: temporal words, but no date on the calendar.
            reading = UNRESOLVED
        if reading is None:
            return None
        return replace(reading, end=match.end() if reading.end < 0 else reading.end, rule=reading.rule or self.name)


Extend = Callable[["Context", Reading, int], Reading | None]


@dataclass(frozen=True, slots=True)
class Grammar:
    """All rules by first word, the suffixes that may follow any phrase, and the words without which no phrase is."""

    rules: Mapping[str, tuple[Rule, ...]]
    suffixes: tuple[Extend, ...]
    cues: frozenset[str]


def grammar(rules: Iterable[Rule], suffixes: tuple[Extend, ...], cues: frozenset[str]) -> Grammar:
    table: dict[str, list[Rule]] = {}
    for rule in rules:
        for word in rule.starts:
            table.setdefault(word, []).append(rule)
    return Grammar({word: tuple(found) for word, found in table.items()}, suffixes, cues)


@dataclass(slots=True)
class Context:
    """One text being read against one anchor. `licence` is the preposition before the phrase now being read."""

    text: str
    at: datetime
    policy: Policy
    grammar: Grammar
    licence: str = ""
    year: int | None = None
    default_year: int | None = None
    memo: dict[tuple[int, str, datetime, int | None, bool], Reading | None] = field(default_factory=dict)

    def phrase(
        self,
        position: int,
        licence: str,
        *,
        at: datetime | None = None,
        year: int | None = None,
        extend: bool = True,
    ) -> Reading | None:
        """The longest phrase that begins at a position, or None; against another anchor or year if one is given."""
        year = year or self.default_year
        key = (position, licence, at or self.at, year, extend)
        if key in self.memo:
            return self.memo[key]
        outer = self.licence, self.at, self.year
        self.licence, self.at, self.year = licence, at or self.at, year
        first = self.text[position : position + 1]
        word = "#" if first.isdigit() else _word(self.text, position)
        best: Reading | None = None
        for rule in self.grammar.rules.get(word, ()):
            found = rule.read(self, position)
            if found is not None and (best is None or found.end > best.end):
                best = found
        while best is not None and extend:
            tries = (_extended(suffix, self, best, position) for suffix in self.grammar.suffixes)
            longer = next((reading for reading in tries if reading), None)
            if longer is None:
                break
            best = longer
        self.licence, self.at, self.year = outer
        self.memo[key] = best
        return best

    def tense(self, start: int, end: int) -> Direction | None:
        return tense(self.text, start, end)

    def side(self, start: int, end: int) -> Direction:
        """The tense, or the policy's direction where no verb tells."""
        return self.tense(start, end) or self.policy.untensed


def _extended(suffix: Extend, ctx: Context, base: Reading, position: int) -> Reading | None:
    """The longer phrase, None where there is none or it names no time: a range that runs backwards is no range."""
    try:
        return suffix(ctx, base, position)
    except (ValueError, OverflowError, DataError):
        return None


_WORD = re.compile(r"[a-z]+|'", re.IGNORECASE)


def _word(text: str, position: int) -> str:
    match = _WORD.match(text, position)
    return match.group().lower() if match else ""


_LETTERS = re.compile(r"[a-z]+")
_DIGIT = re.compile(r"\d")


def scan(text: str, at: datetime, policy: Policy, rules: Grammar, *, year: int | None = None) -> tuple[TimeValue, ...]:
    """All time expressions of a text in order of position; spans are code points of the text.

    year: the year of everything that comes once a year and names none; else the anchor and the tense tell it.
    """
    if rules.cues.isdisjoint(_LETTERS.findall(text.lower())) and not _DIGIT.search(text):
        return ()
    ctx = Context(text, at, policy, rules, default_year=year)
    values: list[TimeValue] = []
    done = 0
    for token in _TOKEN.finditer(text):
        start = token.start()
        first = token.group().lower()
        if start < done or ("#" if first.isdigit() else first) not in rules.rules:
            continue
        before = _PREPOSITION.search(text, max(0, start - 18), start)
        reading = ctx.phrase(start, before.group(1).lower() if before else "")
        if reading is None:
            continue
        done = reading.end
        values.append(
            TimeValue(
                words=text[start:done],
                start=start,
                end=done,
                anchor=at,
                interval=reading.interval,
                rule=reading.rule,
                version=RULES_VERSION,
                approximate=reading.approximate,
                alternatives=tuple(a for a in dict.fromkeys(reading.alternatives) if a != reading.interval),
            )
        )
    return tuple(values)
