"""A thread for each history, in this process: what pays where a history waits for a model that answers over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event
from typing import ClassVar, TypeVar

from sodamem.executor.in_order import AHEAD, check_jobs, in_order, one_thread
from sodamem.protocols import Executor

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ThreadsExecutor(Executor):
    """jobs: histories worked on at a time, each with its memory open. Of one history, items come as they are made."""

    apart: ClassVar[bool] = False
    jobs: int

    def __post_init__(self) -> None:
        check_jobs("threads", self.jobs)

    def spread(self, jobs: Iterable[Callable[[], Iterator[T]]]) -> Generator[T, None, None]:
        """When it is closed, or a job raises, jobs under way end at their next item, and it waits for that."""
        stop = Event()
        with one_thread(), ThreadPoolExecutor(self.jobs, thread_name_prefix="sodamem-history") as pool:

            def begin(job: Callable[[], Iterator[T]]) -> Iterator[T]:
                line: _Line[T] = SimpleQueue()
                pool.submit(copy_context().run, _run, job, line, stop)  # a meter or scope of the caller's holds there
                return _items(line)

            try:
                yield from in_order(jobs, begin, AHEAD * self.jobs)
            finally:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class _End:
    """The last thing a job says: that it is over, and the error if that is why."""

    error: BaseException | None = None


_Line = SimpleQueue[tuple[T] | _End]


def _run(job: Callable[[], Iterator[T]], line: _Line[T], stop: Event) -> None:
    try:
        for item in job():
            line.put((item,))
            if stop.is_set():
                break
    except BaseException as error:  # raised again by the thread that reads the line
        line.put(_End(error))
    else:
        line.put(_End())


def _items(line: _Line[T]) -> Iterator[T]:
    while not isinstance(said := line.get(), _End):
        yield said[0]
    if said.error is not None:
        raise said.error
