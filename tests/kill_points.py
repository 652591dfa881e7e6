"""A run of three questions that kills itself at one point and is taken up again: FOLDER -> what was left, as JSON."""

import json
import os
import signal
import sys
from pathlib import Path

from experiments import killing
from sodamem import ledger, sqlite_file
from sodamem import run as runner

OPTIONS = {"histories": 1, "questions": 3, "seconds": 0.0, "tracker": "none"}


def dies(owner, name, when=lambda *_: True):
    """owner.name kills the process the first time that `when` holds of its arguments."""
    before = getattr(owner, name)

    def struck(*given, **named):
        if when(*given):
            os.kill(os.getpid(), signal.SIGKILL)
        return before(*given, **named)

    setattr(owner, name, struck)


def of_phase(phase):
    return lambda _, usages, *rest: usages[0].phase == phase


POINTS = {
    "before the ledger": lambda: dies(runner, "Ledger"),
    "while the ledger is made": lambda: dies(sqlite_file, "_create", lambda path, *_: path.name == "ledger.sqlite"),
    "after an ingest reply, before its record": lambda: dies(ledger.Ledger, "record", of_phase("adjudicate")),
    "after a plan's reply, before its record": lambda: dies(ledger.Ledger, "record", of_phase("plan")),
    "before the results get their name": lambda: dies(Path, "rename", lambda path, _: "questions" in path.name),
    "before metrics.json": lambda: dies(runner, "_write", lambda path, _: path.name == "metrics.json"),
}


def main(base):
    killing.whole(base / "whole", **OPTIONS)
    found = {"calls": len(killing.billed(base / "whole")), "points": {}}
    for number, (point, first) in enumerate(POINTS.items()):
        runs = base / str(number)
        cfg = killing.ready(runs, OPTIONS)
        status = os.waitpid(killing.begin(cfg, runs, first), 0)[1]
        folder = killing.folder_of(runs)
        left = sorted(entry.name for entry in folder.iterdir())
        again = os.waitpid(killing.begin(cfg, runs), 0)[1]
        found["points"][point] = {
            "signal": os.WTERMSIG(status),
            "left": left,
            "resumed": again,
            "differing": killing.differing(killing.folder_of(base / "whole"), folder),
            "billed": len(killing.billed(runs)),
            "lost": killing.lost(folder),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
