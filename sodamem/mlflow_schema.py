"""The tables of a new MLflow database, made aside and moved into place whole.

MLflow makes them in some fifty steps, each committed by itself, and cannot go on where a process died between two.
"""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock

from sodamem.mlflow_store import PATIENCE, absolute, open_store, service

_SQLITE = "sqlite:///"
_THERE = "Default"  # the experiment that MLflow makes together with the tables


def make(uri: str) -> None:
    """Make the tables of a sqlite store that has none; any other store is left to itself.

    One process makes them, others wait for it. Raises ServiceError when the file cannot be made.
    """
    if not uri.startswith(_SQLITE):
        return
    path = Path(absolute(uri).removeprefix(_SQLITE))
    with service(uri):
        if _made(path):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=PATIENCE):
            if not _made(path):
                _move(path)


def _made(path: Path) -> bool:
    """Whether the file holds anything; what may be wrong with it is for MLflow to say."""
    return path.exists() and path.stat().st_size > 0


def _move(path: Path) -> None:
    draft = path.with_name(f"{path.name}.new")
    for left in path.parent.glob(f"{draft.name}*"):  # by a process that was killed here
        left.unlink()
    open_store.__wrapped__(f"{_SQLITE}{draft}", _THERE, None)
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    SqlAlchemyStore(f"{_SQLITE}{draft}", str(path.parent)).engine.dispose()  # the one that all of a process share
    draft.replace(path)
    draft.with_name(f"{draft.name}.lock").unlink(missing_ok=True)
