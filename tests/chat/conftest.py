"""Chats over a server of faults."""

import importlib.util
import threading
from pathlib import Path

import pytest

from sodamem.chat.openai_server import OpenAIChat
from sodamem.types import ChatRequest, Message


def _load():
    spec = importlib.util.spec_from_file_location("fault_server", Path(__file__).with_name("fault_server.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def act():
    """The module of acts: act.says("hello"), act.refuses(429), act.hangs(), act.cuts(), …"""
    return _load()


@pytest.fixture
def server(act):
    """A server that answers `hello` until it is told otherwise."""
    with act.FaultServer() as fake:
        threading.Thread(target=fake.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield fake
        fake.stopped.set()
        fake.shutdown()


@pytest.fixture
def chat(server):
    """chat(retries=2, …) -> a chat over the server, quick to give up; closed at the end."""
    made = []

    def make(**changes):
        made.append(OpenAIChat(**settings(base_url=server.url, **changes)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def settings(**changes):
    common = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key_env": None, "context": 4096}
    common |= {"concurrency": 8, "timeout": 5.0, "deadline": 20.0, "retries": 2, "pause": 0.0}
    common |= {"dialect": "vllm", "budget": "max_tokens", "omit": [], "extra": {}, "server": None}
    return common | changes


@pytest.fixture(scope="session")
def options():
    """options(retries=0, …) -> the fields of a chat."""
    return settings


@pytest.fixture(scope="session")
def request_of():
    """request_of("words", schema=…) -> a request of phase read."""

    def make(said="hello?", **fields):
        return ChatRequest(
            **{"phase": "read", "messages": (Message(role="user", content=said),), "max_tokens": 100} | fields
        )

    return make
