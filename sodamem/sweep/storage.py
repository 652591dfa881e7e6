"""Where a study is kept so that any number of workers can share it: a journal file, or a database by its URL.

Optuna's storages (Akiba et al., KDD 2019) keep trials, but let two workers create the same tables or take the same last
trial; here they do such things in turn. A study in a journal needs nothing but a disk that all of its workers see.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import optuna
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock

from sodamem.errors import ConfigError, DataError, MissingExtra, ServiceError
from sodamem.records import redacted

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Connection

BROKEN = 30  # seconds after which the lock of a worker that died in its turn is taken away; a turn takes milliseconds
CONNECT = 10  # seconds to wait for a database to answer
_POSTGRES, _SQLITE = "postgresql", "sqlite"
_RECORD = b'{"op_code":'  # how a line of a journal begins


class Shared(Protocol):
    """What the workers of a study share beside its trials. seconds: this process has spent in it."""

    seconds: float

    def turn(self, name: str) -> AbstractContextManager[None]:
        """While the body runs, no other worker's body with this name does."""

    def service(self) -> AbstractContextManager[None]:
        """What goes wrong in the storage becomes one line that names it, without its password: ServiceError."""


def storage(where: str | None, folder: Path) -> tuple[Any, Shared]:
    """Optuna's storage: a journal file, by default the study's own in `folder`, or a database by its URL.

    Raises ConfigError for a URL that cannot be used, MissingExtra without its driver, ServiceError when the database
    does not answer or the disk does not take the file, DataError for a file that is no journal.
    """
    if where and "://" in where:
        return _database(where)
    path = Path(where).expanduser().absolute() if where else folder / "journal.log"
    with _file_service(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        journal = Journal(path)
        return optuna.storages.JournalStorage(journal), journal


@contextmanager
def quiet() -> Iterator[None]:
    """Without Optuna's line for every trial, and its warnings that what is used here may change."""
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(level)


# --- a file -------------------------------------------------------------------------------------------------


class _Lock(JournalFileSymlinkLock):
    """The journal's lock. Who gets it drops what a writer that was killed, or a full disk, left of a last line:
    what is appended to half a line could never be read again."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), grace_period=BROKEN)
        self._path = path

    def acquire(self) -> bool:
        got = super().acquire()
        try:
            self._mend()
        except BaseException:
            self.release()
            raise
        return got

    def _mend(self) -> None:
        with self._path.open("rb+") as journal:
            size = journal.seek(0, os.SEEK_END)
            if not size or (journal.seek(size - 1), journal.read())[1] == b"\n":
                return
            journal.seek(0)
            journal.truncate(journal.read().rfind(b"\n") + 1)


class Journal(JournalFileBackend):
    """A journal file. A trial's parameters are written together with what follows them: one lock and one write to
    disk instead of one for each."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), _Lock(path))
        self.path, self.seconds = path, 0.0
        self._held: list[dict[str, Any]] = []
        with path.open("rb") as journal:
            if not _RECORD.startswith(journal.read(len(_RECORD))):
                raise DataError(f"storage {path} must be a journal file, it does not begin like one. Name another file")

    def read_logs(self, log_number_from: int) -> Any:
        with _counted(self):
            try:
                return list(super().read_logs(log_number_from))
            except ValueError as error:
                raise DataError(
                    f"storage {self.path} must be a journal file, it has a line that is no record"
                ) from error

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        self._held += logs
        if all("param_name" in log for log in self._held):  # the record of one parameter of a trial, and no other
            return
        with _counted(self):
            super().append_logs(self._held)
        self._held = []

    def turn(self, name: str) -> AbstractContextManager[None]:
        return _beside(self.path, self)

    def service(self) -> AbstractContextManager[None]:
        return _file_service(self.path)


@contextmanager
def _file_service(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ServiceError(_failed(str(path), error)) from error


class _Turn(JournalFileSymlinkLock):
    """A lock of the kind that works on disks shared by several machines too. The file that it points to says by its
    time when it was last taken: by that those who wait know a dead worker's from one that goes from hand to hand."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), grace_period=BROKEN)
        self._path = path
        if not path.exists():
            path.touch()

    def acquire(self) -> bool:
        got = super().acquire()
        self._path.touch()
        return got


@contextmanager
def _beside(path: Path, shared: Shared) -> Iterator[None]:
    """A turn by a lock beside a file."""
    lock = _Turn(path.with_name(f"{path.name}.turn"))
    with _counted(shared):
        lock.acquire()
    try:
        yield
    finally:
        with suppress(RuntimeError):  # it was taken away from us, as from a dead worker
            lock.release()


# --- a database ---------------------------------------------------------------------------------------------


class Database:
    """A database: PostgreSQL for any number of workers, sqlite for a few on one machine.

    seconds: those in which this thread had a connection out of the pool.
    """

    def __init__(self, url: URL, engine: Any) -> None:
        from sqlalchemy import event

        self.url, self.engine, self.seconds = url, engine, 0.0
        self._thread, self._out, self._since = threading.get_ident(), 0, 0.0
        event.listen(engine, "checkout", self._taken)
        event.listen(engine, "checkin", self._given)

    def turn(self, name: str) -> AbstractContextManager[None]:
        if self.url.get_backend_name() == _POSTGRES:
            return _advisory(self.engine, name)
        path = self.url.database
        return _beside(Path(path), self) if path and path != ":memory:" else nullcontext()

    def service(self) -> AbstractContextManager[None]:
        return _service(self.url)

    def _taken(self, *_: object) -> None:
        if threading.get_ident() == self._thread:
            self._since = self._since if self._out else time.perf_counter()
            self._out += 1

    def _given(self, *_: object) -> None:
        if threading.get_ident() == self._thread and self._out:
            self._out -= 1
            self.seconds += 0.0 if self._out else time.perf_counter() - self._since


def _database(where: str) -> tuple[Any, Database]:
    from sqlalchemy import create_engine
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    example = f"{_POSTGRES}+psycopg://user@host:5432/name"
    try:
        url = make_url(where)
    except (ArgumentError, ValueError) as error:  # its message may hold the password
        raise ConfigError(f"storage must be a path or a URL like {example}, got one that cannot be read") from error
    if (kind := url.get_backend_name()) not in (_POSTGRES, _SQLITE):
        raise ConfigError(f"storage must be a journal file, or a database like {example}, got one of {kind}")
    options: dict[str, Any] = {"pool_pre_ping": True}  # a server may have hung up during a trial of an hour
    if kind == _POSTGRES:
        options["connect_args"] = {"connect_timeout": CONNECT} if "connect_timeout" not in url.query else {}
    plain = where.replace("{", "{{").replace("}", "}}")  # Optuna fills in templates
    try:
        first = create_engine(url, **options)
    except (ImportError, ArgumentError) as error:
        raise MissingExtra(
            f"storage {_shown(url)} needs a driver: {_said(error, url)}. pip install 'sodamem[postgres]'"
        ) from error
    try:
        with _service(url), Database(url, first).turn("tables"):  # of two that create the tables at once, one fails
            kept = optuna.storages.RDBStorage(plain, engine_kwargs=options)
    except RuntimeError as error:  # tables of another version of Optuna's
        raise ServiceError(f"storage {_shown(url)} must be of this version: {_said(error, url)}") from error
    finally:
        first.dispose()
    return kept, Database(url, kept.engine)


@contextmanager
def _advisory(engine: Any, name: str) -> Iterator[None]:
    """A turn by a lock of PostgreSQL's, which goes with its transaction: no dead worker can keep it."""
    with engine.begin() as connection:
        _lock(connection, name)
        yield


def _lock(connection: Connection, name: str) -> None:
    from sqlalchemy import text

    number = int.from_bytes(hashlib.sha256(f"sodamem/{name}".encode()).digest()[:8], "big", signed=True)
    # a machine that lost its power closes no connection: the server does, by its own clock
    patience = f"set_config('idle_in_transaction_session_timeout', '{BROKEN}s', true)"
    connection.execute(text(f"SELECT {patience}, pg_advisory_xact_lock(:number)"), {"number": number})


@contextmanager
def _service(url: URL) -> Iterator[None]:
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except SQLAlchemyError as error:
        raise ServiceError(_failed(_shown(url), _said(error, url))) from error
    except optuna.exceptions.StorageInternalError as error:  # it wraps what says more
        raise ServiceError(_failed(_shown(url), _said(error.__cause__ or error, url))) from error


def _failed(where: str, error: object) -> str:
    told = str(error).rstrip(". ")
    return f"storage {where} must be there to read and write: {told}. What is in it is kept, the same command goes on"


def _shown(url: URL) -> str:
    """Kind, host and name of a database. A password with an unescaped @ has its end in the host."""
    host = (url.host or "").rpartition("@")[2] + (f":{url.port}" if url.port else "")
    return f"{url.get_backend_name()}://{host}/{url.database or ''}"


def _said(error: BaseException, url: URL) -> str:
    """The first line of what a driver says, without the password."""
    line = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
    for secret in (url.password, (url.host or "").rpartition("@")[0]):
        line = line.replace(str(secret), "***") if secret else line
    return redacted(line)


@contextmanager
def _counted(shared: Shared) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        shared.seconds += time.perf_counter() - started
