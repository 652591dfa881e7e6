"""Cuts a session into windows that fit a prompt: every word is in one window, what came before is shown beside it.

Windows overlap in what they show, never in what may be cited, so that no fact is found twice (paper section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sodamem.text import estimate_tokens
from sodamem.types import Turn

_SMALLEST = 40  # tokens: cutting a shorter stretch in two would tear sentences apart


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A stretch of a turn, nearly always the whole of it."""

    turn: Turn
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.turn.text[self.start : self.end]

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """`own` may be cited, as t1, t2, …; `context` came before and is only shown, as c1, c2, …"""

    own: tuple[Part, ...]
    context: tuple[Part, ...]

    def part(self, label: str) -> Part | None:
        return dict(self.labelled("t", self.own)).get(label)

    @staticmethod
    def labelled(letter: str, parts: Sequence[Part]) -> list[tuple[str, Part]]:
        return [(f"{letter}{number}", part) for number, part in enumerate(parts, start=1)]

    def since(self, label: str) -> Window:
        """The window from one of its own parts on; what is left out becomes context."""
        first = [name for name, _ in self.labelled("t", self.own)].index(label)
        return replace(self, own=self.own[first:], context=(*self.context, *self.own[:first]))


def windows(turns: Iterable[Turn], tokens: int, context: int) -> list[Window]:
    """Windows of at most `tokens` (estimated), each with up to `context` tokens of what came right before it."""
    parts = [
        part
        for turn in turns
        if turn.text.strip()
        for part in _pieces(Part(turn=turn, start=0, end=len(turn.text)), tokens)
    ]
    found: list[Window] = []
    first = 0
    while first < len(parts):
        last, spent = first, 0
        while last < len(parts) and (last == first or spent + parts[last].tokens <= tokens):
            spent += parts[last].tokens
            last += 1
        found.append(Window(own=tuple(parts[first:last]), context=_before(parts[:first], context)))
        first = last
    return found


def halves(window: Window) -> tuple[Window, ...]:
    """The same words in two windows; none when they are too few to be cut."""
    parts = list(window.own)
    if len(parts) == 1:
        parts = list(_pieces(parts[0], max(_SMALLEST, parts[0].tokens // 2 + 1)))
    if len(parts) == 1:
        return ()
    half, spent, cut = sum(part.tokens for part in parts) / 2, 0, 1
    for number, part in enumerate(parts[:-1], start=1):
        spent += part.tokens
        if spent <= half:
            cut = number
    first, second = tuple(parts[:cut]), tuple(parts[cut:])
    return replace(window, own=first), Window(own=second, context=(*window.context, *first))


def _before(parts: Sequence[Part], tokens: int) -> tuple[Part, ...]:
    kept: list[Part] = []
    for part in reversed(parts):
        tokens -= part.tokens
        if tokens < 0:
            break
        kept.append(part)
    return tuple(reversed(kept))


def _pieces(part: Part, tokens: int) -> Iterator[Part]:
    """Stretches of at most about so many tokens, cut where a line, else a sentence, else a word ends."""
    while part.tokens > tokens:
        text = part.text
        reach = max(1, len(text) * tokens // part.tokens)
        cut = next(
            (at + len(end) for end in ("\n", ". ", "? ", "! ", " ") if (at := text.rfind(end, reach // 2, reach)) > 0),
            reach,
        )
        yield replace(part, end=part.start + cut)
        part = replace(part, start=part.start + cut)
    if part.text.strip():
        yield part
