"""Jobs in other processes: how one gets there, and how what it made comes back, its error with it."""

from __future__ import annotations

import os
import pickle
import socket
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sodamem.errors import ConfigError, SodamemError

T = TypeVar("T")
# Read when the libraries are loaded, so a process must be started with them. onnxruntime is told by the encoder.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[T]):
    """What a job made before it ended or raised. worker: where that was."""

    items: list[T]
    error: Exception | None
    worker: str = ""

    def __iter__(self) -> Iterator[T]:
        yield from self.items
        if self.error is not None:
            raise self.error


def packed(job: Callable[[], Iterator[Any]]) -> bytes:
    """The job as bytes. Raises what the job's own packing raises."""
    return pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL)


def done(job: bytes, folder: str) -> Outcome[Any]:
    """Unpack a job and do all of it in this process, in the working directory of the process that packed it."""
    items: list[Any] = []
    try:
        _move(folder)
        for item in pickle.loads(job)():
            items.append(item)  # one by one: those before an error count
    except Exception as error:  # any fault of a job belongs to whoever asked for it
        return Outcome(items=items, error=_portable(error))
    return Outcome(items=items, error=None)


def _move(folder: str) -> None:
    """Relative paths of a configuration count from where the run was started."""
    try:
        os.chdir(folder)
    except OSError as error:
        raise ConfigError(
            f"working directory {folder} must be there on every machine, got none on {socket.gethostname()}. "
            "Start the run in a folder that they share"
        ) from error


def _portable(error: Exception) -> Exception:
    """The error as it can travel: itself where pickle gives it back, else its words; with its traceback as a note."""
    if not isinstance(error, SodamemError):
        error.add_note(f"In a worker process:\n{''.join(traceback.format_exception(error))}")
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:  # of exceptions whose constructors want more than a message
        said = f"{type(error).__name__}: {error}"
        return SodamemError(str(error)) if isinstance(error, SodamemError) else RuntimeError(said)
