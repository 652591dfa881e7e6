"""Finds the span of a turn that quoted words come from, or says why there is none.

Provenance rule of arXiv 2608.08055, section 4.2: a fact is kept only if its words literally occur in its source.
"""

from __future__ import annotations

import unicodedata
from typing import Literal, get_args

from sodamem.errors import ProvenanceError
from sodamem.types import MessagePiece, Turn

Reason = Literal["empty", "not_found", "ambiguous"]
REASONS: tuple[str, ...] = get_args(Reason)


def locate(turn: Turn, quote: str) -> MessagePiece | Reason:
    """The one piece of `turn` that reads `quote`, or the reason for which the quotation is rejected.

    Words are sought exactly; where they do not occur, once more after NFC and white-space normalisation. A quote
    that occurs twice is ambiguous either way: nothing says which occurrence was meant. The piece is always the
    original's text, never the quote's.
    """
    if not quote.strip():
        return "empty"
    spans = _occurrences(turn.text, quote) or _normalised_occurrences(turn.text, quote)
    if not spans:
        return "not_found"
    if len(spans) > 1:
        return "ambiguous"
    return piece(turn, *spans[0])


def piece(turn: Turn, start: int, end: int) -> MessagePiece:
    """The piece `turn.text[start:end]`, in code points; raises ProvenanceError when the span leaves the text."""
    return MessagePiece(turn_id=turn.id, start=start, end=end, text=turn.text[start:end])


def verify(turn: Turn, cited: MessagePiece) -> None:
    """Raises ProvenanceError unless the piece names this turn and reads exactly what stands there."""
    if cited.turn_id != turn.id:
        raise ProvenanceError(f"piece {cited.id} must cite turn {turn.id}, got {cited.turn_id}")
    if turn.text[cited.start : cited.end] != cited.text:
        raise ProvenanceError(f"piece {cited.id} must read what its turn says, got {cited.text!r}")


def _occurrences(text: str, quote: str) -> list[tuple[int, int]]:
    """At most two spans of `quote`, overlapping ones included: two are enough to know that it is ambiguous."""
    first = text.find(quote)
    if first < 0:
        return []
    second = text.find(quote, first + 1)
    return [(at, at + len(quote)) for at in (first, second) if at >= 0]


def _normalised_occurrences(text: str, quote: str) -> list[tuple[int, int]]:
    normal, origin = _normalise(text)
    wanted = _normalise(quote.strip())[0]
    spans = _occurrences(normal, wanted)
    # A hit that begins or ends inside a composed character has no span in the original.
    return [(origin[a], origin[b]) for a, b in spans if a in origin and b in origin]


def _normalise(text: str) -> tuple[str, dict[int, int]]:
    """NFC with each run of white space as one blank, and the original offset of every character boundary.

    A gap maps to its end where text starts and to its begin where text stops: boundaries are recorded at the
    edges of clusters, and a gap is a cluster of its own.
    """
    parts: list[str] = []
    origin = {0: 0}
    length = 0
    for start, end in _clusters(text):
        cluster = text[start:end]
        parts.append(" " if cluster.isspace() else unicodedata.normalize("NFC", cluster))
        length += len(parts[-1])
        origin[length] = end
    return "".join(parts), origin


def _clusters(text: str) -> list[tuple[int, int]]:
    """Stretches that normalise on their own: a white-space run, or a character with all that composes with it."""
    edges = [0]
    for at in range(1, len(text)):
        before, here = text[at - 1], text[at]
        if before.isspace() or here.isspace():
            joined = before.isspace() and here.isspace()
        elif here.isascii():
            joined = False  # no ASCII character composes with what stands before it
        else:
            joined = _composes(text[edges[-1] : at], here)
        if not joined:
            edges.append(at)
    return list(zip(edges, [*edges[1:], len(text)], strict=True)) if text else []


def _composes(cluster: str, following: str) -> bool:
    if unicodedata.combining(following):
        return True
    alone = unicodedata.normalize("NFC", cluster) + unicodedata.normalize("NFC", following)
    return unicodedata.normalize("NFC", cluster + following) != alone
