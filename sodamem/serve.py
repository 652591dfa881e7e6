"""`vllm serve` from a chat's configuration: started, waited for, watched, and stopped with all its processes.

Ready means that a real completion came back: the list of models answers minutes before the model does
(vllm-project/vllm#50282). A server that dies says why at the end of its log, and nobody waits for it any longer.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from sodamem.chat.openai_server import OpenAIChat
from sodamem.chat.vllm import VllmServer
from sodamem.errors import ConfigError, MissingExtra, ModelError, ServiceError
from sodamem.types import ChatRequest, Message

POLL = 0.5  # seconds between looks at a server that is starting
PROBE = 60.0  # seconds of one attempt at a first completion
GRACE = 15.0  # seconds between asking a server to stop and killing it
TAIL = 20  # lines of a log that are shown
_DOOMED = re.compile(
    rb"out of memory|OutOfMemoryError|EngineDeadError|Engine core initialization failed", re.IGNORECASE
)


class _Parser(argparse.ArgumentParser):
    """argparse, with its faults as ConfigError so that they look like all others."""

    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}. See {self.prog} --help")


def serve(arguments: list[str]) -> int:
    """Sodamem serve CHAT [OVERRIDE ...]"""
    from sodamem import build, config

    parser = _Parser(prog="sodamem serve", description="Start vLLM for one option of conf/chat; Ctrl-C stops it.")
    parser.add_argument("chat", metavar="CHAT", help="the option, e.g. vllm_small")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE", help="chat.server.gpus=2, chat.context=8192")
    given = parser.parse_args(arguments)
    cfg = config.compose(f"chat={given.chat}", *given.overrides)
    chat = build.component(cfg, "chat")
    if not isinstance(chat, OpenAIChat) or chat.server is None:
        raise ConfigError(f"chat must be an option with a server of its own, got {given.chat}. vllm_small has one")
    log = Path(cfg.runs) / "logs" / f"vllm_{given.chat}.log"
    print(f"starting {chat.model} at {chat.base_url}; log in {log}", file=sys.stderr)
    with _stoppable(), running(chat, log) as process:
        print(f"ready: {chat.model} at {chat.base_url}. Ctrl-C stops it", flush=True)
        code = process.wait()
    print(tail(log), file=sys.stderr)
    raise ServiceError(f"vllm serve must run until it is stopped, and ended with code {code}. Its log: {log}")


@contextlib.contextmanager
def running(chat: OpenAIChat, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server for this chat that has given a completion; every process of it is gone afterwards.

    Raises ServiceError when the address is taken, when the server dies (the end of its log on stderr), and when it is
    not ready after `start_timeout` seconds; MissingExtra when there is no vllm.
    """
    server = chat.server
    if server is None:
        raise ConfigError("chat.server must say how vLLM is started, got null")
    _refuse_taken(chat.base_url)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as sink:
        try:
            process = subprocess.Popen(
                server.command(chat.model, chat.base_url, chat.context),
                env={**os.environ, **server.environment()},
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a group of its own: its workers are stopped with it
            )
        except FileNotFoundError as error:
            raise MissingExtra('sodamem serve needs vLLM. pip install "sodamem[vllm]", best on its own') from error
    try:
        _wait(chat, server, process, log)
        yield process
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the server's whole process group: asked first, killed after a grace."""
    for sign, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            process.poll()  # collects the leader, which would stay in the group otherwise
            try:
                os.killpg(process.pid, 0)
            except ProcessLookupError:
                process.wait()
                return
            time.sleep(0.02)


def tail(log: Path, lines: int = TAIL) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def _wait(chat: OpenAIChat, server: VllmServer, process: subprocess.Popen[bytes], log: Path) -> None:
    probe = replace(chat, retries=0, concurrency=1, timeout=min(PROBE, server.start_timeout), deadline=PROBE)
    word = ChatRequest(phase="start", messages=(Message(role="user", content="Hello"),), max_tokens=1)
    deadline, said = time.monotonic() + server.start_timeout, "it has not answered yet"
    try:
        while time.monotonic() < deadline:
            if (code := process.poll()) is not None:
                raise _dead(log, f"ended with code {code} before it was ready")
            if _DOOMED.search(log.read_bytes()):
                raise _dead(log, "failed while starting")
            try:
                probe.ask(word)
            except ModelError as error:
                if error.reason == "wrong_model":
                    raise
                if error.reason == "empty":  # the model's own end of text: it works
                    return
                said = str(error)
            else:
                return
            time.sleep(POLL)
    finally:
        probe.close()
    print(tail(log), file=sys.stderr)
    raise ServiceError(
        f"vllm serve must give a completion within {server.start_timeout:g} s, and did not ({said}). "
        f"Its log: {log}. Raise chat.server.start_timeout if it was still loading"
    )


def _dead(log: Path, how: str) -> ServiceError:
    print(tail(log), file=sys.stderr)
    return ServiceError(f"vllm serve {how}. The end of its log stands above; all of it is in {log}")


def _refuse_taken(base_url: str) -> None:
    """What already listens there would answer in the place of the server that is being started."""
    url = urlsplit(base_url)
    address = (str(url.hostname), url.port or 80)
    with contextlib.suppress(OSError), socket.create_connection(address, timeout=2):
        raise ServiceError(f"base_url must be free to serve at, and something answers at {base_url}. Stop it")


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM as an interrupt, so that the server is stopped on the way out."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
