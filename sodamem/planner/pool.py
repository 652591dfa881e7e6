"""The evidence pool of one plan: what was found, in the order it arrived, under labels that stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sodamem.types import Evidence


class Pool:
    """Items by label (e1, e2, …). An item is there once, whichever call found it, merged ones included."""

    def __init__(self, items: Iterable[Evidence]) -> None:
        self._items: list[Evidence] = []
        self._known: set[str] = set()
        self.add(items)
        self._recalled = len(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, items: Iterable[Evidence]) -> list[str]:
        """Add what is new; gives the labels of what was."""
        before = len(self._items)
        for item in items:
            if item.id not in self._known:
                self._known.update((item.id, *item.members))
                self._items.append(item)
        return [f"e{number}" for number in range(before + 1, len(self._items) + 1)]

    def get(self, label: str) -> Evidence | None:
        number = label.removeprefix("e")
        known = number.isascii() and number.isdigit() and 0 < int(number) <= len(self._items)
        return self._items[int(number) - 1] if known else None

    def label(self, item: Evidence) -> str:
        """The label of an item by its id, or of the one it was merged into; empty when it is not in the pool."""
        found = (place for place, held in enumerate(self._items) if item.id in (held.id, *held.members))
        return next((f"e{place + 1}" for place in found), "")

    def items(self) -> Sequence[tuple[str, Evidence]]:
        return [(f"e{place + 1}", item) for place, item in enumerate(self._items)]

    def gathered(self, head: int) -> tuple[Evidence, ...]:
        """The pool for reading: the first `head` of the recall, then what was found later, then the rest of the recall.

        What a plan went looking for must not stand behind fifty items that it did not.
        """
        recalled, found = self._items[: self._recalled], self._items[self._recalled :]
        ordered = (*recalled[:head], *found, *recalled[head:])
        return tuple(replace(item, rank=rank) for rank, item in enumerate(ordered, start=1))
