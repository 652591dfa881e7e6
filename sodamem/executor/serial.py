"""One history after the other, in this thread: what every other executor must agree with."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from sodamem.executor.in_order import one_thread
from sodamem.protocols import Executor

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SerialExecutor(Executor):
    """Nothing is begun ahead: each item is made when it is asked for."""

    apart: ClassVar[bool] = False

    def spread(self, jobs: Iterable[Callable[[], Iterator[T]]]) -> Generator[T, None, None]:
        with one_thread():
            for job in jobs:
                yield from job()
