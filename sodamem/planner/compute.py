"""Exact arithmetic over numbers, dates and lengths of time, by a small grammar: nothing is ever evaluated as code.

Models slip on sums and calendars; paper section 4.6 gives the planner a `compute` tool for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from sodamem.planner import amounts
from sodamem.planner.amounts import FUNCTIONS, MINUTES_OF, MONTHS_OF, ComputeError, Value

LONGEST, DEEPEST = 300, 20  # characters of an expression, parentheses within each other
_TOKEN = re.compile(
    r"\s*(?:(?P<date>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d)?(?![\w:-]))|(?P<number>\d+(?:\.\d+)?(?![\w.]))"
    r"|(?P<name>[A-Za-z_]+)|(?P<sign>[-+*/(),]))"
)


def compute(expression: str) -> str:
    """The value of an expression in words, e.g. `2023-05-08 - 2023-05-01` -> `7 days`.

    Numbers, ISO dates, `3 weeks`, + - * /, parentheses, and the functions of FUNCTIONS. Raises ComputeError.
    """
    if len(expression) > LONGEST:
        raise ComputeError(f"the expression must be at most {LONGEST} characters, got {len(expression)}")
    parser = _Parser(_tokens(expression))
    try:
        return amounts.show(parser.whole())
    except OverflowError:
        raise ComputeError("the date lies outside the years 1 to 9999") from None


def _tokens(expression: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while at < len(expression.rstrip()):
        match = _TOKEN.match(expression, at)
        if match is None:
            raise ComputeError(
                f"cannot read {expression[at : at + 12].strip()!r}: give numbers, ISO dates and + - * / ( )"
            )
        kind = str(match.lastgroup)
        found.append((kind, match[kind]))
        at = match.end()
    return found


class _Parser:
    """Recursive descent: a sum of products of atoms. An atom is a number, a date, a length, a call or a parenthesis."""

    def __init__(self, tokens: Sequence[tuple[str, str]]) -> None:
        self._tokens, self._at, self._depth = tokens, 0, 0

    def whole(self) -> Value:
        value = self._sum()
        if self._at < len(self._tokens):
            raise ComputeError(f"cannot go on at {self._tokens[self._at][1]!r}")
        return value

    def _sum(self) -> Value:
        value = self._product()
        while sign := self._take("+", "-"):
            value = amounts.added(value, self._product(), 1 if sign == "+" else -1)
        return value

    def _product(self) -> Value:
        value = self._signed()
        while sign := self._take("*", "/"):
            value = amounts.multiplied(value, self._signed(), over=sign == "/")
        return value

    def _signed(self) -> Value:
        negative = False
        while sign := self._take("-", "+"):
            negative ^= sign == "-"
        value = self._atom()
        return amounts.multiplied(value, Fraction(-1), over=False) if negative else value

    def _atom(self) -> Value:
        if self._take("("):
            return self._inner(self._closed)
        kind, text = self._next()
        if kind == "date":
            return amounts.date(text)
        if kind == "number":
            unit = self._unit()
            return amounts.length(Fraction(text), unit) if unit else amounts.bounded(Fraction(text))
        if kind == "name":
            return self._call(text)
        raise ComputeError(f"cannot begin with {text!r}")

    def _inner(self, read: Callable[[], Value]) -> Value:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ComputeError(f"parentheses must be at most {DEEPEST} deep")
        value = read()
        self._depth -= 1
        return value

    def _closed(self) -> Value:
        value = self._sum()
        self._demand(")")
        return value

    def _call(self, name: str) -> Value:
        if name not in FUNCTIONS:
            raise ComputeError(f"there is no {name!r}, only {', '.join(FUNCTIONS)}")
        self._demand("(")

        def arguments() -> Value:
            given = [self._sum()]
            while self._take(","):
                given.append(self._sum())
            self._demand(")")
            return FUNCTIONS[name](given)

        return self._inner(arguments)

    def _unit(self) -> str:
        kind, text = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        unit = text.lower().removesuffix("s")
        if kind == "name" and (unit in MONTHS_OF or unit in MINUTES_OF):
            self._at += 1
            return unit
        return ""

    def _next(self) -> tuple[str, str]:
        if self._at == len(self._tokens):
            raise ComputeError("the expression ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, *signs: str) -> str:
        if self._at < len(self._tokens) and self._tokens[self._at] in {("sign", sign) for sign in signs}:
            self._at += 1
            return self._tokens[self._at - 1][1]
        return ""

    def _demand(self, sign: str) -> None:
        if not self._take(sign):
            raise ComputeError(f"a {sign!r} is missing")
