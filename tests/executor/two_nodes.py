"""A run on a Ray cluster of two nodes of this machine, beside a serial one: RUNS. Started in a network of its own.

Prints one JSON object: what differs, how many histories each node did, and how a damaged store was reported.
"""

import json
import logging
import subprocess
import sys
from pathlib import Path

from sodamem import build, config
from sodamem import run as runner
from sodamem.errors import SodamemError

ADDRESS = "127.0.0.1:6379"
RAY = Path(sys.executable).with_name("ray")
DATA = ("dataset.histories=12", "dataset.split=all", "dataset.sessions=6", "dataset.turns_per_session=12")
DATA += ("dataset.questions_per_history=2", "dataset.distractors=0", "tracker=none")


class Notes(logging.Handler):
    """Keeps what the executor says of its nodes."""

    def __init__(self):
        super().__init__()
        self.said = []

    def emit(self, record):
        self.said.append(record.getMessage())


def start(folder):
    common = ["--node-ip-address=127.0.0.1", "--num-cpus=1", "--disable-usage-stats"]
    head = ["--head", "--port=6379", "--include-dashboard=false", f"--temp-dir={folder}"]
    for role in (head, [f"--address={ADDRESS}"]):
        done = subprocess.run([RAY, "start", *role, *common], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"ray start failed: {done.stdout}{done.stderr}")


def made(runs, *overrides):
    folder = runner.run(config.compose(*DATA, f"runs={runs}", *overrides), quiet=True).folder
    metrics = json.loads((folder / "metrics.json").read_text())
    metrics.pop("seconds/total")
    return (folder / "questions.jsonl").read_bytes(), metrics, json.loads((folder / "data.json").read_text())


def damaged(runs, *overrides):
    """What is said and left where the store of the seventh history is no store."""
    cfg = config.compose(*DATA, f"runs={runs}", *overrides)
    pipeline, corpus = build.pipeline(cfg), build.component(cfg, "dataset").open()
    with pipeline.store.open(corpus.history(corpus.history_ids[6]), pipeline.settings, pipeline.stores) as store:
        path = store.path
    path.write_bytes(b"no SQLite file, but long enough to be looked at" * 100)
    try:
        runner.run(cfg, quiet=True)
    except SodamemError as error:
        (partial,) = Path(runs).glob("*/questions.jsonl.partial")
        return type(error).__name__, str(error).replace(str(runs), "RUNS"), partial.read_text()
    return None


def main(runs):
    notes = Notes()
    logging.getLogger("sodamem.executor.ray").addHandler(notes)
    logging.getLogger("sodamem.executor.ray").setLevel(logging.INFO)
    start(runs / "ray")
    over = ("executor=ray", f"executor.address={ADDRESS}")
    here, there = made(runs / "serial"), made(runs / "cluster", *over)
    names = ("questions.jsonl", "metrics.json", "data.json")
    differ = [name for name, one, other in zip(names, here, there, strict=True) if one != other]
    nodes = list(notes.said)
    faults = damaged(runs / "damaged_serial"), damaged(runs / "damaged_cluster", *over)
    print(json.dumps({"differ": differ, "nodes": nodes, "questions": len(here[0].splitlines()), "faults": faults}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
