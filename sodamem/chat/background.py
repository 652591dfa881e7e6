"""One event loop on a thread of its own, for all clients of a process: blocking callers, concurrent requests."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.RLock()  # a client that is collected inside `loop` asks for the loop again
_running: tuple[int, asyncio.AbstractEventLoop] | None = None


def loop() -> asyncio.AbstractEventLoop:
    """The loop of this process, started on first use. A forked child gets its own: threads do not survive a fork."""
    global _running  # noqa: PLW0603 - one loop a process is the point
    with _lock:
        if _running is None or _running[0] != os.getpid():
            fresh = asyncio.new_event_loop()
            threading.Thread(target=fresh.run_forever, name="sodamem-chat", daemon=True).start()
            _running = os.getpid(), fresh
        return _running[1]


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Start work on the loop, from any thread. Cancelling the future cancels the work."""
    return asyncio.run_coroutine_threadsafe(work, loop())


def wait(work: Coroutine[Any, Any, T]) -> T:
    """The work's result; an interrupt while waiting cancels it, so that nothing goes on being paid for."""
    future = submit(work)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


@atexit.register
def _settle() -> None:
    """Let the last work end, such as the closing of connections, before the process does."""
    if _running is not None and _running[0] == os.getpid():
        with contextlib.suppress(TimeoutError):
            submit(_others()).result(timeout=2)


async def _others() -> None:
    if others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others, timeout=1)
