"""A PostgreSQL server of one's own for as long as it is needed: in a temporary folder, on the loopback interface alone.

Its programs come with the operating system's package (Debian: postgresql); the server itself refuses to run as root.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

USER = "postgres"  # the superuser of the server


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, of the latest version; None where it is not installed."""
    named = shutil.which("initdb")
    found = Path(named) if named else max(Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=None)
    return found.parent if found else None


@contextmanager
def server(rules: str = "", options: str = "") -> Iterator[str]:
    """`host:port` of a server that trusts everybody on this machine, once it answers; stopped and deleted at the end.

    rules: lines of pg_hba.conf that go before that · options: of the server, such as -F to not wait for the disk.
    Raises FileNotFoundError where PostgreSQL is not installed, CalledProcessError when the server does not start.
    """
    found = programs()
    if found is None:
        raise FileNotFoundError("initdb must be on the path or under /usr/lib/postgresql. Install PostgreSQL")
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    ordinary: dict[str, Any] = {}
    if os.geteuid() == 0:
        ordinary = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        shutil.chown(folder, "nobody", "nogroup")
    data = folder / "data"

    def call(program: str, *arguments: str | Path) -> None:
        command = [found / program, "-D", data, *arguments]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **ordinary)

    try:
        call("initdb", "-A", "trust", "-U", USER, "-N")
        known = data / "pg_hba.conf"
        known.write_text(rules + known.read_text(encoding="utf-8"), encoding="utf-8")
        port = _free()
        call("pg_ctl", "-w", "-s", "-l", folder / "log", "-o", f"{options} -p {port} -h 127.0.0.1 -k {folder}", "start")
        try:
            yield f"127.0.0.1:{port}"
        finally:
            call("pg_ctl", "-w", "-s", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def _free() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
