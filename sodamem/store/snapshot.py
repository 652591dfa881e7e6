"""A finished store as columns: what tunnels and fusion read (paper section 4.4).

Row r of every array is the same item. Rows are canonical: turns in the order they were said, then pieces, then
facts, profiles last; so equal content gives equal rows whatever the order of ingest. `T` below is the number of
turns, `N` of items. Times are numpy datetime64[s] of floating time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodamem.store.sqlite import Store
from sodamem.types import ITEM_KINDS, FactEvent, Interval, MessagePiece, TimeValue, Turn

TURN, PIECE, FACT = range(len(ITEM_KINDS))
Encode = Callable[[Sequence[str]], NDArray[np.float32]]
Read = Callable[[str, datetime], tuple[TimeValue, ...]]


class Snapshot:
    """Columns of one finished store, with its vectors computed on first use by `encode`.

    ids, texts: [N] · kind: uint8 [N] (index into ITEM_KINDS) · turn: int32 [N], row of the source turn · session:
    int32 [N], number of the session in time order · start, end: datetime64 [N], when the item happened (a fact's
    occurrence, else the day it was said) · said: datetime64 [N] · valid_from, valid_until: NaT where unknown ·
    active, retired: bool [N] · id_rank: int64 [N], place of the id in sorted order, the last tie-break.
    """

    def __init__(self, store: Store, *, speaker_in_text: bool, caption_in_text: bool) -> None:
        self.fingerprint = store.fingerprint
        self.folder: Path = store.path.with_suffix(".derived")
        self.turns: list[Turn] = store.turns()
        self.edges = store.edges()
        self.entities = {entity.id: entity for entity in store.entities()}
        place = {turn.id: row for row, turn in enumerate(self.turns)}
        # A piece that is its whole turn would only be the turn a second time.
        self.pieces: list[MessagePiece] = [
            piece for piece in store.pieces() if piece.text.strip() != self.turns[place[piece.turn_id]].text.strip()
        ]
        self.facts: list[FactEvent] = [*store.facts(), *store.profiles()]
        self.ids = [turn.id for turn in self.turns]
        self.ids += [piece.id for piece in self.pieces] + [fact.id for fact in self.facts]
        self.row = {item: row for row, item in enumerate(self.ids)}
        self.turn = np.array(
            [*range(len(self.turns))]
            + [place[piece.turn_id] for piece in self.pieces]
            + [place[fact.pieces[0].turn_id] for fact in self.facts],
            dtype=np.int32,
        )
        sizes = (len(self.turns), len(self.pieces), len(self.facts))
        self.kind = np.repeat(np.arange(3, dtype=np.uint8), sizes)
        self.first = {TURN: 0, PIECE: sizes[0], FACT: sizes[0] + sizes[1]}
        self.texts = [_turn_text(turn, speaker_in_text, caption_in_text) for turn in self.turns]
        for piece in self.pieces:
            speaker = self.turns[place[piece.turn_id]].speaker
            self.texts.append(f"{speaker}: {piece.text}" if speaker_in_text else piece.text)
        self.texts += [fact.text for fact in self.facts]
        self._columns()
        self._encode: Encode | None = None
        self._read: Read | None = None
        self._matrix: NDArray[np.float32] | None = None
        self._encoded: set[int] = set()
        self._encoding = Lock()

    def _columns(self) -> None:
        sessions = list(dict.fromkeys(turn.session_id for turn in self.turns))
        number = {session: index for index, session in enumerate(sessions)}
        self.sessions: list[str] = sessions
        self.session = np.array([number[turn.session_id] for turn in self.turns], dtype=np.int32)[self.turn]
        self.said = np.array([turn.at for turn in self.turns], dtype="datetime64[s]")[self.turn]
        # A profile cites turns of many days: it is known from the last of them on, not from the first.
        self.said[self.first[FACT] :] = np.array([fact.mentioned_at for fact in self.facts], dtype="datetime64[s]")
        self.start = self.said.astype("datetime64[D]").astype("datetime64[s]")
        self.end = self.start + np.timedelta64(1, "D")
        self.valid_from = np.full(len(self.ids), "NaT", dtype="datetime64[s]")
        self.valid_until = self.valid_from.copy()
        self.active = np.ones(len(self.ids), dtype=bool)
        self.retired = np.zeros(len(self.ids), dtype=bool)
        for row, fact in enumerate(self.facts, start=self.first[FACT]):
            self.active[row], self.retired[row] = fact.status == "active", fact.status == "invalid"
            if fact.occurred:
                self.start[row], self.end[row] = _bounds(fact.occurred)
            if fact.valid_from:
                self.valid_from[row] = np.datetime64(fact.valid_from, "s")
            if fact.valid_until:
                self.valid_until[row] = np.datetime64(fact.valid_until, "s")
        order = sorted(range(len(self.ids)), key=self.ids.__getitem__)
        self.id_rank = np.empty(len(order), dtype=np.int64)
        self.id_rank[order] = np.arange(len(order))

    def __len__(self) -> int:
        return len(self.ids)

    # --- what is worked out on first use ------------------------------------------------------------------------

    def use(self, encode: Encode, read: Read) -> None:
        """Set the encoder (texts [n] to float32 [n, d] of unit norm) and the timeline of this snapshot."""
        self._encode, self._read = encode, read

    @cached_property
    def times(self) -> list[tuple[TimeValue, ...]]:
        """Time expressions of each turn, read at the time it was said: [T]."""
        if self._read is None:
            raise RuntimeError("Snapshot.use(encode, read) must be called before times are read")
        return [self._read(turn.text, turn.at) for turn in self.turns]

    def vectors(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """float32 [n, d], unit norm; an item without a known word has the zero vector.

        Items are encoded kind by kind, when the first of a kind is asked for: turns alone never pay for facts.
        """
        if self._encode is None:
            raise RuntimeError("Snapshot.use(encode, read) must be called before vectors are read")
        for kind in np.unique(self.kind[rows]).tolist():
            with self._encoding:  # questions may be worked on side by side
                if kind not in self._encoded:
                    first = self.first[kind]
                    block = self._encode(self.texts[first : first + int((self.kind == kind).sum())])
                    if self._matrix is None:
                        self._matrix = np.zeros((len(self), block.shape[1]), dtype=np.float32)
                    self._matrix[first : first + len(block)] = block
                    self._encoded.add(kind)
        if self._matrix is None:  # no rows of any kind: nothing is known of the dimension
            return np.zeros((0, 0), dtype=np.float32)
        wanted: NDArray[np.float32] = self._matrix[rows]
        return wanted

    # --- neighbourhoods ---------------------------------------------------------------------------------------

    def around(self, row: int, radius: int) -> list[int]:
        """Turn rows at most `radius` turns from turn `row` in the same session, without itself."""
        last = len(self.turns) - 1
        rows = range(max(0, row - radius), min(last, row + radius) + 1)
        return [other for other in rows if other != row and self.session[other] == self.session[row]]

    @cached_property
    def spans(self) -> list[list[int]]:
        """Piece rows of each turn, in the order of their offsets: [T]."""
        found: list[list[int]] = [[] for _ in self.turns]
        for row in range(self.first[PIECE], self.first[FACT]):
            found[self.turn[row]].append(row)
        return found

    @cached_property
    def linked(self) -> dict[int, list[tuple[int, float]]]:
        """Neighbours of each row over SEMANTIC and RELATION edges, both ways, strongest first."""
        found: dict[int, list[tuple[int, float]]] = {}
        for edge in self.edges:
            if edge.kind in ("SEMANTIC", "RELATION") and edge.source in self.row and edge.target in self.row:
                source, target = self.row[edge.source], self.row[edge.target]
                found.setdefault(source, []).append((target, edge.weight))
                found.setdefault(target, []).append((source, edge.weight))
        return {row: sorted(set(ends), key=lambda end: (-end[1], end[0])) for row, ends in found.items()}

    @cached_property
    def mentions(self) -> dict[str, NDArray[np.int32]]:
        """Fact rows of each entity: as subject or in a role."""
        found: dict[str, list[int]] = {}
        for row, fact in enumerate(self.facts, start=self.first[FACT]):
            for entity in dict.fromkeys((fact.subject, *(role.entity for role in fact.roles))):
                found.setdefault(entity, []).append(row)
        return {entity: np.array(rows, dtype=np.int32) for entity, rows in found.items()}

    @cached_property
    def stated(self) -> dict[int, list[int]]:
        """Places in `facts` of the facts that each turn supports, by row of the turn."""
        found: dict[int, list[int]] = {}
        for place, fact in enumerate(self.facts):
            for turn in dict.fromkeys(piece.turn_id for piece in fact.pieces):
                found.setdefault(self.row[turn], []).append(place)
        return found

    def fact(self, row: int) -> FactEvent | None:
        return self.facts[row - self.first[FACT]] if row >= self.first[FACT] else None

    def sources(self, row: int) -> list[int]:
        """Turn rows that an item stands for: of all its pieces, the one it is filed under first."""
        fact = self.fact(row)
        return list(dict.fromkeys(self.row[piece.turn_id] for piece in fact.pieces)) if fact else [int(self.turn[row])]

    def meets(self, rows: NDArray[np.int32], window: Interval | None) -> NDArray[np.bool_]:
        """Which items happened (at least partly) inside `window`; all False when there is none."""
        if window is None:
            return np.zeros(len(rows), dtype=bool)
        start, end = _bounds(window)
        met: NDArray[np.bool_] = (self.start[rows] < end) & (start < self.end[rows])
        return met


def _turn_text(turn: Turn, speaker: bool, caption: bool) -> str:
    text = f"{turn.speaker}: {turn.text}" if speaker and turn.speaker else turn.text
    return f"{text} [{turn.caption}]" if caption and turn.caption else text


def _bounds(interval: Interval) -> tuple[np.datetime64, np.datetime64]:
    # Sub-second intervals must not collapse: the end is rounded up to the next whole second.
    end = np.datetime64(interval.end, "s") + (1 if interval.end.microsecond else 0)
    return np.datetime64(interval.start, "s"), end


def moment(value: datetime) -> np.datetime64:
    return np.datetime64(value, "s")
