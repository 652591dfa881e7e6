import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sodamem import serve
from sodamem.chat.openai_server import OpenAIChat
from sodamem.chat.vllm import VllmServer
from sodamem.errors import ConfigError, MissingExtra, ServiceError
from sodamem.types import ChatRequest, Message

FAKE = Path(__file__).parent / "chat" / "fault_server.py"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(serve, "POLL", 0.05)
    monkeypatch.setattr(serve, "GRACE", 2.0)


@pytest.fixture
def vllm(tmp_path, monkeypatch):
    """vllm("shell lines") puts a program of that name on the PATH; by default one that serves."""

    def install(body=f'exec "{sys.executable}" "{FAKE}" "$@"', **environment):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "vllm"
        program.write_text(f'#!/bin/sh\necho "got $@ invariant=$VLLM_BATCH_INVARIANT"\n{body}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        for name, value in environment.items():
            monkeypatch.setenv(name, value)

    return install


@pytest.fixture
def chat():
    made = []

    def make(start_timeout=30.0, port=None, **changes):
        fields = {"weights": "org/weights", "revision": "abc", "dtype": "float16", "seed": 3, "batch_invariant": True}
        fields |= {"gpus": 2, "max_num_seqs": 8, "start_timeout": start_timeout, "extra_args": ["--enforce-eager"]}
        common = {"base_url": f"http://127.0.0.1:{port or free()}/v1", "model": "small", "api_key_env": None}
        common |= {"context": 512, "concurrency": 1, "timeout": 5.0, "deadline": 9.0, "retries": 0, "pause": 0.0}
        common |= {"dialect": "vllm", "budget": "max_tokens", "omit": [], "extra": {}}
        made.append(OpenAIChat(**common, server=VllmServer(**fields | changes)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def free():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def gone(pid):
    """Whether a process has ended; one that nobody has collected yet counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_the_command_line_holds_every_setting(chat):
    ours = chat(port=8123)
    assert " ".join(ours.server.command(ours.model, ours.base_url, ours.context)) == (
        "vllm serve org/weights --served-model-name small --host 127.0.0.1 --port 8123 --max-model-len 512 "
        "--dtype float16 --seed 3 --tensor-parallel-size 2 --revision abc --max-num-seqs 8 --enforce-eager"
    )


def test_ready_means_that_a_completion_came_back_and_nothing_is_left_behind(vllm, chat, tmp_path):
    vllm(f'sleep 300 &\necho $! > "{tmp_path}/worker"\n"{sys.executable}" "{FAKE}" "$@"', FAKE_DELAY="0.4")
    ours, log = chat(), tmp_path / "logs" / "vllm.log"
    with serve.running(ours, log) as process:
        asked = ChatRequest(phase="read", messages=(Message(role="user", content="hi"),), max_tokens=5)
        assert ours.ask(asked).text == "hello" and ours.served().id == "small"
        worker = int((tmp_path / "worker").read_text())
        assert not gone(worker) and not gone(process.pid)
    assert gone(worker) and process.returncode is not None
    assert "got serve org/weights" in log.read_text() and "invariant=1" in log.read_text()


def test_an_early_death_ends_the_wait_at_once_and_shows_the_log(vllm, chat, tmp_path, capsys):
    vllm('echo "ValueError: no such weights"\nexit 3')
    began = time.monotonic()
    with (
        pytest.raises(ServiceError, match="ended with code 3 before it was ready"),
        serve.running(chat(), tmp_path / "log"),
    ):
        pass
    assert time.monotonic() - began < 15 and "ValueError: no such weights" in capsys.readouterr().err


def test_a_server_without_memory_is_not_waited_for(vllm, chat, tmp_path, capsys):
    vllm('echo "torch.OutOfMemoryError: CUDA out of memory."\nsleep 300')
    with pytest.raises(ServiceError, match="failed while starting"), serve.running(chat(), tmp_path / "log"):
        pass
    assert "OutOfMemoryError" in capsys.readouterr().err


def test_a_server_that_is_never_ready_is_given_its_own_time_and_stopped(vllm, chat, tmp_path):
    vllm(FAKE_DELAY="999")
    began = time.monotonic()
    late = pytest.raises(ServiceError, match=r"within 1 s, and did not .*Raise chat.server.start_timeout")
    with late, serve.running(chat(start_timeout=1.0), tmp_path / "log"):
        pass
    assert time.monotonic() - began < 15


def test_a_server_that_does_not_stop_when_asked_is_killed(vllm, chat, tmp_path):
    vllm(f'trap \'\' TERM\n"{sys.executable}" "{FAKE}" "$@" &\nwait; wait; sleep 300')
    with serve.running(chat(), tmp_path / "log") as process:
        pass
    assert process.returncode == -signal.SIGKILL


def test_an_address_in_use_is_refused_before_anything_starts(vllm, chat, tmp_path):
    vllm()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = pytest.raises(ServiceError, match="base_url must be free to serve at")
        with refused, serve.running(chat(port=taken.getsockname()[1]), tmp_path / "log"):
            pass
    assert not (tmp_path / "log").exists()


def test_a_missing_vllm_names_its_pip_line(chat, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtra, match=r'pip install "sodamem\[vllm\]"'), serve.running(chat(), tmp_path / "log"):
        pass


def test_a_chat_without_a_server_of_its_own_is_named(monkeypatch):
    with pytest.raises(ConfigError, match="chat must be an option with a server of its own, got scripted"):
        serve.serve(["scripted"])


def test_the_command_serves_until_it_is_told_to_stop(vllm, tmp_path):
    vllm()
    code = "import sys; from sodamem.cli import main; from sodamem import serve\n"
    code += "try: serve.serve(sys.argv[1:])\nexcept KeyboardInterrupt: sys.exit(130)"
    overrides = [f"chat.base_url=http://127.0.0.1:{free()}/v1", f"runs={tmp_path}/runs"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, "vllm_small", *overrides], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().startswith("ready: qwen2.5-7b-instruct")
    process.send_signal(signal.SIGTERM)
    process.stdout.close()
    assert process.wait(30) == 130
    assert "got serve Qwen/Qwen2.5-7B-Instruct" in (tmp_path / "runs" / "logs" / "vllm_vllm_small.log").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dtype": "int3"}, "server.dtype must be one of auto, bfloat16, float16, float32, got int3"),
        ({"gpus": 0}, "server.gpus must be >= 1, got 0"),
        ({"max_num_seqs": 0}, "server.max_num_seqs must be >= 1 or null, got 0"),
        ({"start_timeout": 0.0}, "server.start_timeout must be > 0 seconds, got 0.0"),
    ],
)
def test_bad_options_are_named(chat, change, message):
    with pytest.raises(ConfigError, match=message):
        chat(**change)
