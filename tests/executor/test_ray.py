"""A run over a Ray cluster of two nodes is the run that one process makes, and both nodes work on it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.ray

ALONE = ["unshare", "--net", "--pid", "--fork", "--mount-proc"]  # Ray listens on all interfaces


@pytest.fixture(scope="module")
def found():
    """What the driver in two_nodes.py says, run where the only network is the loopback."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed: make test-ray makes its environment")
    if not shutil.which("unshare") or subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a network namespace is not permitted here: run as root on Linux")
    driver = Path(__file__).with_name("two_nodes.py")
    path = os.pathsep.join(filter(None, sys.path))
    env = {**os.environ, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1", "RAY_AUTH_MODE": "disabled", "PYTHONPATH": path}
    with tempfile.TemporaryDirectory(prefix="sodamem-") as runs:  # short: sockets lie below it
        script = f'ip link set lo up && exec "{sys.executable}" "{driver}" "{runs}"'
        argv = [*ALONE, "sh", "-c", script]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def test_a_cluster_gives_what_one_process_gives(found):
    assert found["differ"] == [] and found["questions"] == 24


def test_both_nodes_work(found):
    did = [re.fullmatch(r"node (\w{20,}) did (\d+) of 12 histories", said) for said in found["nodes"]]
    assert len({one[1] for one in did}) == 2
    assert sum(int(one[2]) for one in did) == 12 and all(int(one[2]) for one in did)


def test_a_failure_on_a_node_is_the_failure_of_one_process(found):
    here, there = found["faults"]
    assert here == there and here[0] == "StoreError" and "\n" not in here[1]
    assert len(here[2].splitlines()) == 12  # the six histories before the damaged one
