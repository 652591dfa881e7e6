"""Hydra's launchers as this package uses them: one after the other, a pool of processes, a cluster.

Hydra is driven without hydra.main, so that results come back as values and faults as exceptions. A launcher raises for
a whole batch when one process dies; here each job keeps its own result or its own reason.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, cast

from hydra import initialize_config_module
from hydra._internal.callbacks import Callbacks
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, RunMode
from omegaconf import DictConfig

from sodamem.config import MODULE, VERSION_BASE, one_line
from sodamem.errors import ConfigError, MissingExtra
from sodamem.sweep.trial import TrialFiles, TrialResult

BASIC, JOBLIB, RAY = "basic", "joblib", "ray"
PACKAGES = {  # launcher -> its package, and the extra that brings it
    JOBLIB: ("hydra_joblib_launcher", "launchers"),
    "submitit_local": ("hydra_submitit_launcher", "launchers"),
    "submitit_slurm": ("hydra_submitit_launcher", "launchers"),
    RAY: ("hydra_ray_launcher", "ray"),
}
APART = ("submitit_local", "submitit_slurm", RAY)  # each job is a process of its own, whatever becomes of the others
BATCH = 8  # trials at a time where a launcher does not say how many it runs at once
_CHOICE = "hydra/launcher"
_OWN = (_CHOICE, "hydra.launcher.")


@dataclass(frozen=True, kw_only=True)
class Launch:
    """overrides: hydra/launcher=… and hydra.launcher.…=… · batch: trials at a time, None: as many as run at once."""

    overrides: tuple[str, ...]
    batch: int | None

    def __post_init__(self) -> None:
        if self.batch is not None and self.batch < 1:
            raise ConfigError(f"batch must be >= 1 trials, got {self.batch}")
        name = self.name
        package, extra = PACKAGES.get(name, ("", ""))
        if package and not _installed(package):
            raise MissingExtra(f'{_CHOICE}={name} needs a package that is missing: pip install "sodamem[{extra}]"')

    @property
    def name(self) -> str:
        chosen = [one.partition("=")[2] for one in self.overrides if one.startswith(f"{_CHOICE}=")]
        return chosen[-1] if chosen else BASIC

    def size(self, settings: Mapping[str, Any]) -> int:
        """How many trials are launched together. settings: the launcher's own, plain."""
        at_once = {BASIC: 1, "submitit_local": os.cpu_count()}.get(self.name, BATCH)
        if self.name == JOBLIB:
            at_once = settings["n_jobs"] if settings["n_jobs"] > 0 else os.cpu_count()
        return self.batch or at_once or 1


def _installed(package: str) -> bool:
    return find_spec("hydra_plugins") is not None and find_spec(f"hydra_plugins.{package}") is not None


def parted(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """Overrides of the configuration, and those of the launcher. Raises ConfigError for another sweeper of Hydra's."""
    own = [one for one in overrides if one.lstrip("+~").startswith(_OWN)]
    if others := [one for one in overrides if one.lstrip("+~").startswith(("hydra/sweeper", "hydra.sweep"))]:
        raise ConfigError(f"a study is its own sweeper and has its own folder, got {others[0]}. Leave it out")
    return [one for one in overrides if one not in own], own


@contextmanager
def hydra_at_work(overrides: Sequence[str], launcher: str) -> Iterator[tuple[DictConfig, HydraContext]]:
    """The configuration of a multirun and what a launcher needs beside it; Hydra's own state is put back at the end."""
    outer, outer_config = GlobalHydra.instance().hydra, HydraConfig.instance().cfg
    GlobalHydra.instance().clear()
    try:
        with initialize_config_module(config_module=MODULE, version_base=VERSION_BASE, job_name="sodamem"):
            with one_line():
                loader = GlobalHydra.instance().config_loader()
                known = sorted({*loader.get_group_options(_CHOICE), *PACKAGES})
                if launcher not in known:
                    raise ConfigError(f"{_CHOICE} must be one of {', '.join(known)}, got {launcher!r}")
                cfg = loader.load_configuration("config", list(overrides), run_mode=RunMode.MULTIRUN)
                HydraConfig.instance().set_config(cfg)
                callbacks = Callbacks(cfg)
            callbacks.on_multirun_start(config=cfg, config_name="config")
            try:
                yield cfg, HydraContext(config_loader=cast(ConfigLoader, _InTurn(loader)), callbacks=callbacks)
            finally:
                callbacks.on_multirun_end(config=cfg, config_name="config")
    finally:
        GlobalHydra.instance().hydra = outer
        HydraConfig.instance().cfg = outer_config


class _InTurn:
    """A config loader that composes for one thread at a time. What is sent to another process is the loader itself."""

    def __init__(self, loader: ConfigLoader) -> None:
        self._loader, self._lock = loader, threading.Lock()

    def load_sweep_config(self, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        with self._lock:
            return self._loader.load_sweep_config(master_config, sweep_overrides)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self._loader,)


def _itself(loader: ConfigLoader) -> ConfigLoader:
    return loader


@dataclass(frozen=True, kw_only=True)
class Job:
    """One trial to launch. point: its key · overrides: that compose its configuration."""

    point: str
    overrides: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Jobs:
    """A launcher at work. files: where the jobs leave their results, also those that the launcher knows nothing of."""

    launcher: Launcher
    name: str
    files: TrialFiles

    def run(self, jobs: Mapping[int, Job]) -> dict[int, TrialResult | str]:
        """Launch a batch. For each number what the job left, or the launcher's reason where it left nothing."""
        if self.name == RAY:
            _, failed = self._attempt({})  # starts Ray, before several threads would
            if failed:
                return dict.fromkeys(jobs, failed)
        if self.name in APART:
            return _at_once(lambda number: self._attempt({number: jobs[number]})[0][number], jobs)
        return self._pooled(jobs)

    def _pooled(self, jobs: Mapping[int, Job]) -> dict[int, TrialResult | str]:
        """A pool goes down with any of its processes, and takes with it what runs beside and waits behind the one.

        What never began is launched again; of those that died together each is launched by itself, once.
        """
        found: dict[int, TrialResult | str] = {}
        while True:
            results, failed = self._attempt(jobs)
            found |= results
            left = [number for number, result in results.items() if isinstance(result, str)]
            died = [number for number in left if self.files.begun(number)]
            if not failed or not died or len(left) == 1:
                return found
            if len(died) > 1:
                for number in died:
                    found |= self._attempt({number: jobs[number]})[0]
            jobs = {number: jobs[number] for number in left if number not in died}
            if not jobs:
                return found

    def _attempt(self, jobs: Mapping[int, Job]) -> tuple[dict[int, TrialResult | str], str]:
        """Launch these together. Returns what came of each, and the reason if the launcher raised."""
        for number in jobs:
            self.files.forget(number)
        returned: Sequence[JobReturn] = []
        failed = ""
        try:
            calls = [job.overrides for job in jobs.values()]
            returned = self.launcher.launch(calls, initial_job_idx=min(jobs, default=0))
        except Exception as error:  # whatever a launcher, or what it drives, raises
            failed = f"{type(error).__name__}: {error}"
        handed = dict(zip(jobs, returned, strict=False))
        return {number: self._result(number, job, handed.get(number), failed) for number, job in jobs.items()}, failed

    def _result(self, number: int, job: Job, handed: JobReturn | None, failed: str) -> TrialResult | str:
        if handed is not None and handed.status == JobStatus.COMPLETED:
            return TrialResult(**handed.return_value)
        if (kept := self.files.read(number, job.point)) is not None:
            return kept
        return failed or f"the launcher returned nothing of it: {getattr(handed, '_return_value', None)!r}"


def _at_once(work: Callable[[int], Any], numbers: Iterable[int]) -> dict[int, Any]:
    """What `work` gives for each number, each in a thread of its own that does not keep an interrupted driver."""
    found: dict[int, Any] = {}

    def one(number: int) -> None:
        found[number] = work(number)

    threads = [threading.Thread(target=one, args=(number,), daemon=True) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
