"""Which of a study's workers are alive: by their processes on this machine, by a sign in the storage on all others.

Optuna's own heartbeat is for databases and for `Study.optimize` alone; this one needs nothing but an attribute of a
trial, and no two clocks that agree.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import optuna
from optuna.exceptions import StorageInternalError, UpdateFinishedTrialError
from optuna.trial import FrozenTrial

from sodamem.errors import SodamemError
from sodamem.mlflow_store import process_tag

PROCESS, BEAT = "process", "beat"  # attributes of a trial: who is at it, and how often that one has shown to be alive
EVERY = 30.0  # seconds between two signs of life
GRACE = 120.0  # seconds without one, watched by the same process, after which a worker elsewhere is given up
_log = logging.getLogger(__name__)


class Watch:
    """Judges the workers at trials, from what this process has seen of them so far."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[object, float]] = {}

    def gone(self, trial: FrozenTrial) -> bool:
        """Whether nobody is at a running trial any more: at once where its process was of this machine."""
        tag = str(trial.user_attrs.get(PROCESS, ""))
        if tag and _home(tag) == _home(process_tag(os.getpid())):
            return process_tag(int(tag.split("/")[1])) != tag
        sign, now = (tag, trial.user_attrs.get(BEAT), len(trial.params)), time.monotonic()
        if self._seen.get(trial.number, (None, now))[0] != sign:
            self._seen[trial.number] = sign, now
        return now - self._seen[trial.number][1] > GRACE


def _home(tag: str) -> str:
    """Machine and boot of a process. Other machines, too, are called localhost, and have the same processes' ids."""
    host, _, rest = tag.partition("/")
    return f"{host}/{rest.partition('/')[2].partition('-')[0]}"


@contextmanager
def beating(trial: optuna.Trial, storage: Any) -> Iterator[None]:
    """While the body runs, the trial shows every EVERY seconds that its worker is alive."""
    stop = threading.Event()
    beats = threading.Thread(target=_beat, args=(trial, storage, stop), daemon=True)
    beats.start()
    try:
        yield
    finally:
        stop.set()
        beats.join()


def _beat(trial: optuna.Trial, storage: Any, stop: threading.Event) -> None:
    count = 0
    while not stop.wait(EVERY):
        count += 1
        try:
            trial.set_user_attr(BEAT, count)
        except UpdateFinishedTrialError:  # it was given up all the same
            break
        except (StorageInternalError, SodamemError, OSError) as error:  # the trial's own worker will meet it too
            _log.warning("no sign of life of trial %d was taken: %s", trial.number, error)
    storage.remove_session()


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM as an interrupt, so that a trial is given back when a cluster's scheduler ends its worker."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
