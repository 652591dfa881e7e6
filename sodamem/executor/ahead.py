"""Work that waits for a model, begun ahead in threads and handed on in order: what ingest does with sessions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from sodamem.executor.in_order import AHEAD

A = TypeVar("A")
B = TypeVar("B")


def ahead(items: Iterable[A], work: Callable[[A], B], width: int) -> Generator[tuple[A, B], None, None]:
    """Each item with what `work` makes of it, in order; `width` are worked on at a time, few lie done.

    A width of 1 is a plain loop in this thread. Else the threads meter and record for the caller, items are taken in
    this thread, and where `work` raises, what is under way is waited for, since it is paid for.
    """
    if width == 1:
        for item in items:
            yield item, work(item)
        return
    begun: deque[tuple[A, Future[B]]] = deque()
    with ThreadPoolExecutor(width, thread_name_prefix="sodamem-ahead") as pool:
        try:
            for item in items:
                begun.append((item, pool.submit(copy_context().run, work, item)))
                if len(begun) == AHEAD * width:
                    first, future = begun.popleft()
                    yield first, future.result()
            for last, future in begun:
                yield last, future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
