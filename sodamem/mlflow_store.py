"""Opening an MLflow tracking store so that many processes can share it, and knowing whose runs are dead.

MLflow creates a database's tables in steps, logs them, and leaves a crashed run RUNNING for ever; here the first
process does it under a lock, quietly, and marks as FAILED what a dead process of this machine left behind.
"""

from __future__ import annotations

import logging
import os
import platform
import sqlite3
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock

import sodamem
from sodamem.errors import ConfigError, ServiceError
from sodamem.records import redacted

PROCESS, ERROR = "sodamem.process", "sodamem.error"  # tags: whose run it is, and what ended it
ATTEMPTS = 3  # to open a new database that another machine is opening too
PATIENCE = 120.0  # seconds to wait for a process that creates the tables; it takes 2-8
_SQLITE = "sqlite:///"
_log = logging.getLogger(__name__)


@lru_cache(maxsize=8)
def open_store(uri: str, experiment: str, artifacts: str | None) -> tuple[Any, str]:
    """The client of a store and the id of an experiment, both made when new. Opened once in a process.

    Raises ServiceError when the store cannot be reached or written, ConfigError for a deleted experiment.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # read when mlflow is imported
    from mlflow.exceptions import MlflowException
    from mlflow.tracking import MlflowClient
    from sqlalchemy.exc import SQLAlchemyError

    location = None if artifacts is None else Path(artifacts).expanduser().absolute().as_uri()
    with service(uri), _alone(uri), _quiet():
        for attempt in range(ATTEMPTS):
            try:
                client = MlflowClient(tracking_uri=absolute(uri))
                found = client.get_experiment_by_name(experiment)
                key: str = found.experiment_id if found else client.create_experiment(experiment, location)
                break
            except (MlflowException, SQLAlchemyError):
                if attempt == ATTEMPTS - 1:
                    raise
        if found and found.lifecycle_stage != "active":
            raise ConfigError(f"experiment must not be a deleted one, got {experiment}. Restore it or use another name")
        _bury_the_dead(client, key)
    return client, key


def absolute(uri: str) -> str:
    """A relative sqlite path would follow the working directory; every other URI stays as it is."""
    return _SQLITE + str(_file(uri)) if uri.startswith(_SQLITE) else uri


@contextmanager
def service(uri: str) -> Iterator[None]:
    """What goes wrong in the store becomes one line that names it."""
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, SQLAlchemyError, sqlite3.Error, OSError) as error:
        reason = redacted(" ".join(str(error).split()))[:200]
        raise ServiceError(
            f"tracking store {redacted(uri)} failed ({reason}). Check it, or use tracker=none"
        ) from error


def process_tag(pid: int) -> str:
    """host/pid/birth of a process; empty when there is none. The birth tells a reused pid from the old one."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass  # it lives, and is somebody else's
    birth = ""
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():  # Linux: the boot, and the ticks since then (field 22; the name before it may hold spaces)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        fields = stat.read_text().rpartition(")")[2].split()
        if fields[0] == "Z":  # dead, only that its parent has not asked: some containers' first process never does
            return ""
        birth = f"{boot}-{fields[19]}"
    return f"{platform.node()}/{pid}/{birth}"


@lru_cache(maxsize=1)
def revision() -> str:
    """The commit of the checkout that runs, marked when it has been edited; of an installed package the version."""
    root = Path(sodamem.__file__).parent.parent
    if not (root / ".git").exists():
        return sodamem.__version__
    described = subprocess.run(
        ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or sodamem.__version__


def _bury_the_dead(client: Any, experiment: str) -> None:
    for run in client.search_runs([experiment], "attributes.status = 'RUNNING'"):
        host, _, rest = run.data.tags.get(PROCESS, "").partition("/")
        if host == platform.node() and process_tag(int(rest.partition("/")[0])) != run.data.tags[PROCESS]:
            client.set_terminated(run.info.run_id, "FAILED")
            client.set_tag(run.info.run_id, ERROR, "its process died without ending it")
            _log.warning("run %s was left running by a dead process, now FAILED", run.info.run_id)


def _file(uri: str) -> Path:
    return Path(uri.removeprefix(_SQLITE)).expanduser().absolute()


def _alone(uri: str) -> AbstractContextManager[Any]:
    """A lock beside a sqlite file, after asking whether it can be written: MLflow would retry that for minutes."""
    if not uri.startswith(_SQLITE):
        return nullcontext()
    path = _file(uri)
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=PATIENCE)) as db:
        db.execute("BEGIN IMMEDIATE")
    return FileLock(f"{path}.lock", timeout=PATIENCE)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the migration log and a deprecation that is between mlflow and sqlalchemy."""
    loggers = [logging.getLogger(name) for name in ("mlflow.store.db.utils", "alembic")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            from sqlalchemy.exc import SADeprecationWarning

            warnings.simplefilter("ignore", SADeprecationWarning)
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
