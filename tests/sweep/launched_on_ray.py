"""A study launched on a Ray cluster of two nodes of this machine: STUDY RUNS. Started in a network of its own.

Prints one JSON object: the driver's process, those that the trials were run by, and what the command returned.
"""

import json
import os
import sys
from pathlib import Path

from sodamem.commands_sweeps import sweep
from tests.executor.two_nodes import ADDRESS, start


def main(study, runs):
    start(runs / "ray")
    init = [f"hydra.launcher.ray.init.address={ADDRESS}", "+hydra.launcher.ray.init.object_store_memory=null"]
    once = "+hydra.launcher.ray.remote.max_retries=0"  # else Ray runs a trial that died three times more
    arguments = [f"study={study}", "-q", "--no-test", "-m", "hydra/launcher=ray", *init, once, "--batch", "3"]
    code = sweep([*arguments, f"runs={runs}"])
    tags = [path.read_text() for path in runs.glob("studies/*/trials/*.begun")]
    print(json.dumps({"code": code, "driver": os.getpid(), "trials": [int(tag.split("/")[1]) for tag in tags]}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
