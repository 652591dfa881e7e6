"""Histories on the machines of a Ray cluster, or in Ray's workers on this one."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from sodamem.errors import MissingExtra, ServiceError
from sodamem.executor.apart import ONE_THREAD, Outcome, done, packed
from sodamem.executor.in_order import AHEAD, check_jobs, in_order
from sodamem.protocols import Executor

T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class RayExecutor(Executor):
    """address: of a cluster that runs, None to start Ray on this machine · jobs: histories worked on at a time, each on
    one CPU, None for as many as the cluster has CPUs. A process that is connected to Ray already stays as it is.
    """

    apart: ClassVar[bool] = True
    address: str | None
    jobs: int | None

    def __post_init__(self) -> None:
        check_jobs("ray", self.jobs)

    def ready(self) -> None:
        """Connect. Raises MissingExtra without Ray, ServiceError where the cluster does not answer."""
        _connected(self.address, self.jobs)

    def spread(self, jobs: Iterable[Callable[[], Iterator[T]]]) -> Generator[T, None, None]:
        """The items of one history come together. Raises ServiceError where the cluster fails.

        A history whose worker dies is done again, elsewhere if need be: its store goes on where it stopped. How many
        histories each node did is said in the log.
        """
        ray = _connected(self.address, self.jobs)
        workers = self.jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
        work = ray.remote(num_cpus=1, runtime_env={"env_vars": ONE_THREAD})(_done)
        folder = str(Path.cwd())
        begun: set[Any] = set()
        did: Counter[str] = Counter()

        def begin(job: Callable[[], Iterator[T]]) -> Iterator[T]:
            arguments = packed(job), folder
            with _faults(ray):
                task = work.remote(*arguments)
            begun.add(task)
            return items(task)

        def items(task: Any) -> Iterator[T]:
            with _faults(ray):
                outcome = ray.get(task)
            begun.discard(task)
            did[outcome.worker] += 1
            yield from outcome

        try:
            yield from in_order(jobs, begin, AHEAD * workers)
        finally:
            with suppress(ray.exceptions.RayError):  # of a cluster that is gone
                for task in begun:
                    ray.cancel(task)
                if begun:
                    ray.wait([*begun], num_returns=len(begun))
            for node, count in sorted(did.items()):
                _log.info("node %s did %d of %d histories", node, count, did.total())


def _done(job: bytes, folder: str) -> Outcome[Any]:
    """`done`, with the id of the node it was done on."""
    return replace(done(job, folder), worker=import_module("ray").get_runtime_context().get_node_id())


@contextmanager
def _faults(ray: Any) -> Iterator[None]:
    """What Ray raises when its part fails; a job's own error comes back in its outcome."""
    try:
        yield
    except ray.exceptions.RayError as error:
        said = " ".join(str(error).split())[:160]
        raise ServiceError(f"ray could not do a history ({type(error).__name__}: {said}). Look at its logs") from error


def _connected(address: str | None, jobs: int | None) -> Any:
    """The `ray` package, this process being connected. It stays so: starting Ray takes seconds."""
    try:
        ray: Any = import_module("ray")
    except ImportError as error:
        raise MissingExtra('executor=ray needs Ray. pip install "sodamem[ray]"') from error
    if not ray.is_initialized():
        own = {"num_cpus": jobs, "include_dashboard": False} if address is None else {}
        try:
            ray.init(address=address or "local", log_to_driver=False, configure_logging=False, **own)
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            said = " ".join(str(error).split())[:160]
            raise ServiceError(
                f"ray at {address or 'this machine'} cannot be used ({said}). Check executor.address"
            ) from error
    return ray
