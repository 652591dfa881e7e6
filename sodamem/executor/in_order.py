"""What all executors share: results in the order of the jobs with few begun ahead, and one thread of linear algebra."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from sodamem.errors import ConfigError

T = TypeVar("T")
AHEAD = 2  # jobs begun for each that can run at a time: none waits for work, and few results wait for their turn


def in_order(
    jobs: Iterable[Callable[[], Iterator[T]]], begin: Callable[[Callable[[], Iterator[T]]], Iterator[T]], ahead: int
) -> Iterator[T]:
    """The items of all jobs, job by job, where at most `ahead` jobs are begun and not yet handed on.

    `begin` starts a job and returns at once; what it returns waits for the job's items and raises its error. Where
    taking the next job raises, that comes after the items of the jobs before it.
    """
    begun: deque[Iterator[T]] = deque()
    coming = iter(jobs)
    more = True
    while more or begun:
        while more and len(begun) < ahead:
            try:
                begun.append(begin(next(coming)))
            except StopIteration:
                more = False
            except Exception as error:  # whatever the data raises has its place in the order, like a job's own error
                begun.append(raising(error))
                more = False
        if begun:
            yield from begun.popleft()


def raising(error: BaseException) -> Iterator[Any]:
    """An iterator whose first step raises."""
    yield from ()
    raise error


def one_thread() -> AbstractContextManager[object]:
    """One BLAS thread in this process: last bits depend on their number, and so would results on the executor."""
    limited: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limited


def check_jobs(executor: str, jobs: int | None) -> None:
    """Raises ConfigError unless `jobs` is a count, or None to be found out."""
    if jobs is not None and jobs < 1:
        raise ConfigError(f"executor.jobs must be >= 1, got {jobs} for {executor}")
