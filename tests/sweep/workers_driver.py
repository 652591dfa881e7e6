"""Workers of one study that start at the same moment: one interpreter, a fork each, the plan of it as JSON.

{"command": [...], "workers": n} runs `sodamem` with these arguments in each; else each searches {"study", "where"} with
a score made up of the point, and writes a line to "log" for every point it begins; the one that writes line "killed"
dies of it. Prints what became of each.
"""

import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path

import sodamem.commands_sweeps  # noqa: F401 - imported once, before the forks
from sodamem.cli import main
from sodamem.sweep import sweep  # noqa: F401
from sodamem.sweep.search import Search
from sodamem.sweep.storage import quiet, storage
from sodamem.sweep.study import Study


class Hesitant(Search):
    """Between looking at what others do and taking a trial, it gives them time to do the same."""

    def _look(self):
        super()._look()
        time.sleep(0.02)


def search(plan, worker):
    study = Study.read("x", plan["study"])
    measure, *_ = study.measures
    log = os.open(plan["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    begun = 0

    def evaluate(point, _):
        nonlocal begun
        begun += 1
        line = json.dumps({"point": point, "worker": worker, "begun": begun})
        os.write(log, f"{line}\n".encode())
        if plan.get("killed") == Path(plan["log"]).read_text().splitlines().index(line):
            os.kill(os.getpid(), signal.SIGKILL)
        return {measure: -abs(point["a"] - 0.3)}

    with quiet():
        found = Hesitant.open(study, "x-1", plan["identity"], *storage(plan["where"], Path(plan["log"]).parent))
        found.run(evaluate, {"a": 0.5})
    return {"best": found.best()[0].number, "elsewhere": found.elsewhere, "own": begun}


def fork(plan, worker, go):
    """A child that waits for the others and then works; its output and what became of it in files."""
    path = Path(plan["out"]) / f"{worker}"
    if pid := os.fork():
        return pid
    status = 1
    try:
        os.close(go[1])
        os.read(go[0], 1)  # nothing ever comes: it ends when the parent lets go
        with path.with_suffix(".out").open("wb") as out, path.with_suffix(".err").open("wb") as err:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
        if "command" in plan:
            runs = plan.get("runs", [])
            os.environ |= {"SODAMEM_RUNS": runs[worker]} if runs else {}
            status = main(plan["command"])
        else:
            print(json.dumps(search(plan, worker)))
            status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def drive(plan):
    go = os.pipe()
    pids = [fork(plan, worker, go) for worker in range(plan["workers"])]
    os.close(go[0])
    os.close(go[1])
    statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    out = Path(plan["out"])
    print(
        json.dumps(
            [
                {"status": status, "out": (out / f"{n}.out").read_text(), "err": (out / f"{n}.err").read_text()}
                for n, status in enumerate(statuses)
            ]
        )
    )


if __name__ == "__main__":
    drive(json.loads(sys.argv[1]))
