"""A real vLLM server with a small real model, on this machine's processor: `make test-vllm`."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pytest

from sodamem import build, config

HOME = os.environ.get("SODAMEM_VLLM", "")  # the environment that the Makefile makes; it holds the model as well
CONTEXT = 4096


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.vllm)
            if not HOME:
                item.add_marker(pytest.mark.skip(reason="needs the environment of `make test-vllm`"))


class Server:
    """`sodamem serve vllm_small` with the small model, as somebody would start it in a terminal of its own."""

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.root = f"http://127.0.0.1:{probe.getsockname()[1]}"
        self.folder, self.process = folder, None
        shipped = config.plain(config.compose("chat=vllm_small").chat.server.extra_args)
        flags = [*shipped, "--enforce-eager"]  # spares a processor the compilation
        # Prefixes are kept in blocks of 128 tokens on a processor, 16 on a GPU; and of all layers alike, as for a model
        # without sliding windows, since this one's keep a prefix only once it has come twice.
        flags += ["--block-size=32", "--disable-hybrid-kv-cache-manager"]
        self.overrides = (
            "chat=vllm_small",
            f"chat.base_url={self.root}/v1",
            "chat.model=gemma-3-270m",
            f"chat.context={CONTEXT}",
            "chat.concurrency=8",
            "chat.retries=1",
            "+chat.extra.repetition_penalty=1.15",  # a base model repeats itself until its tokens end
            f"chat.server.weights={Path(HOME, 'model')}",
            "chat.server.start_timeout=500",
            f"chat.server.extra_args=[{','.join(map(repr, flags))}]",
        )

    def start(self):
        environment = {
            **os.environ,
            "PATH": f"{Path(HOME, 'bin')}{os.pathsep}{os.environ['PATH']}",
            "VLLM_CPU_KVCACHE_SPACE": "2",  # GB
            "HF_HUB_OFFLINE": "1",
            "SODAMEM_RUNS": str(self.folder),
        }
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("sodamem"), "serve", "vllm_small", *self.overrides[1:]],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        said = self.process.stdout.readline()  # comes with the first completion, or with the end of the process
        assert said.startswith("ready: gemma-3-270m at "), self.process.communicate()[1]

    def workers(self):
        """Processes of vLLM: children of `sodamem serve`, and theirs."""
        found, left = [], [self.process.pid]
        while left:
            with suppress(FileNotFoundError):
                pid = left.pop()
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
                found += map(int, children)
                left += map(int, children)
        return found

    def kill(self):
        """End vLLM without a warning; gives the words and the exit code of `sodamem serve`."""
        os.killpg(self.workers()[0], signal.SIGKILL)
        return self.process.communicate(timeout=60)[1], self.process.returncode

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.communicate(timeout=60)

    def counter(self, name):
        """A figure that the server itself keeps, summed over its labels."""
        with urlopen(f"{self.root}/metrics") as answer:
            lines = answer.read().decode()
        return sum(float(value) for value in re.findall(rf"^{name}(?:\{{.*\}})? (\S+)$", lines, re.MULTILINE))


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A server that has given its first completion. A test that kills it starts it again."""
    made = Server(tmp_path_factory.mktemp("serving"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def client(server):
    """client(context=256, …) -> a chat over the server, other than configured; closed at the end."""
    plain = build.component(config.compose(*server.overrides), "chat")
    made = []

    def make(**changes):
        made.append(replace(plain, **changes))
        return made[-1]

    yield make
    for each in made:
        each.close()
