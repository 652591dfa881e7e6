"""Derived indexes on disk: a cache beside the store, stamped with what it was built from, rebuilt when in doubt."""

from __future__ import annotations

import json
import logging
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
_log = logging.getLogger(__name__)
_STAMP = "stamp.json"


def cached(
    folder: Path,
    stamp: dict[str, str],
    build: Callable[[], T],
    save: Callable[[T, Path], None],
    load: Callable[[Path], T],
) -> T:
    """Load what `folder` holds when its stamp matches; else build it and save it with its stamp.

    A damaged index is never an error: it is said in the log and built again. Where nothing can be written (a
    frozen store on read-only media), the index is built in memory.
    """
    if (folder / _STAMP).exists():
        try:
            if json.loads((folder / _STAMP).read_text()) == stamp:
                return load(folder)
        except Exception as broken:  # whatever a third-party reader makes of damaged bytes
            _log.warning("index %s is damaged (%s: %s), building it again", folder, type(broken).__name__, broken)
    index = build()
    draft = folder.with_name(
        f"{folder.name}.{os.getpid()}-{threading.get_ident()}"
    )  # moved into place whole: readers never see half an index
    try:
        draft.mkdir(parents=True)
        save(index, draft)
        (draft / _STAMP).write_text(json.dumps(stamp))
        shutil.rmtree(folder, ignore_errors=True)
        draft.rename(folder)
    except OSError as refused:
        _log.info("index %s stays in memory: %s", folder, refused)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return index
