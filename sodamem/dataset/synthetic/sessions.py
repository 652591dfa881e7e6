"""A history's sessions as a sequence that is written while it is read, in O(1) memory and with random access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import overload

from sodamem.dataset.synthetic.chat import Exchange, filler
from sodamem.dataset.synthetic.clock import Clock
from sodamem.dataset.synthetic.scribe import session_id, turn_id
from sodamem.dataset.synthetic.templates import lexicon
from sodamem.types import Session, Turn


@dataclass(frozen=True, kw_only=True)
class LazySessions(Sequence[Session]):
    """Session i is made from the seed and the few planned exchanges; nothing made is kept."""

    key: str
    clock: Clock
    turns: int
    cells: Mapping[int, Mapping[int, Exchange]]  # session -> exchange -> what is said there
    speakers: tuple[str, str]

    def __len__(self) -> int:
        return self.clock.sessions

    @overload
    def __getitem__(self, index: int) -> Session: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Session, ...]: ...
    def __getitem__(self, index: int | slice) -> Session | tuple[Session, ...]:
        if isinstance(index, slice):
            return tuple(self._session(i) for i in range(*index.indices(len(self))))
        return self._session(range(len(self))[index])

    def _session(self, index: int) -> Session:
        at = self.clock.at(index)
        planned = self.cells.get(index, {})
        texts: list[str] = []
        for exchange in range(self.turns // 2):
            texts += planned.get(exchange) or filler(self.key, index, exchange)
        if self.turns % 2:
            texts.append(Random(f"{self.key}/close/{index}").choice(lexicon().speech["close"]))
        turns = tuple(
            Turn(
                id=turn_id(index, place),
                session_id=session_id(index),
                index=place,
                role=("user", "assistant")[place % 2],
                speaker=self.speakers[place % 2],
                text=text,
                at=at,
            )
            for place, text in enumerate(texts)
        )
        return Session(id=session_id(index), at=at, turns=turns)
