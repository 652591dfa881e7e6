"""Histories in worker processes of this machine: joblib's loky, which starts them clean and notices when one dies.

Its pool is used directly: `joblib.Parallel` goes on dispatching while results wait for their turn, without a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from joblib import cpu_count
from joblib.externals.loky import get_reusable_executor

from sodamem.errors import ServiceError
from sodamem.executor.apart import ONE_THREAD, Outcome, done, packed
from sodamem.executor.in_order import AHEAD, check_jobs, in_order
from sodamem.protocols import Executor

T = TypeVar("T")
IDLE = 300  # seconds after which a worker without work ends; until then, a further run finds it ready


@dataclass(frozen=True, kw_only=True)
class LokyExecutor(Executor):
    """jobs: worker processes, None for as many as this process may use cores. A worker keeps what it has built."""

    apart: ClassVar[bool] = True
    jobs: int | None

    def __post_init__(self) -> None:
        check_jobs("loky", self.jobs)

    def spread(self, jobs: Iterable[Callable[[], Iterator[T]]]) -> Generator[T, None, None]:
        """The items of one history come together. Raises ServiceError where a worker dies.

        When it is closed, or a job raises, it waits for the jobs under way; an interrupt ends the workers.
        """
        workers = self.jobs or cpu_count()
        pool = get_reusable_executor(max_workers=workers, timeout=IDLE, env=ONE_THREAD)
        folder = str(Path.cwd())
        begun: set[Future[Outcome[Any]]] = set()

        def begin(job: Callable[[], Iterator[T]]) -> Iterator[T]:
            with _alive():
                future = pool.submit(done, packed(job), folder)
            begun.add(future)
            return items(future)

        def items(future: Future[Outcome[T]]) -> Iterator[T]:
            with _alive():
                outcome = future.result()
            begun.discard(future)
            yield from outcome

        try:
            yield from in_order(jobs, begin, AHEAD * workers)
        except KeyboardInterrupt:
            pool.shutdown(wait=True, kill_workers=True)
            begun.clear()
            raise
        finally:
            for future in begun:
                future.cancel()
            wait(begun)


@contextmanager
def _alive() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        raise ServiceError(
            "a worker of executor=loky ended without a word, as one does that is out of memory. "
            "Lower executor.jobs, or use executor=serial"
        ) from error
