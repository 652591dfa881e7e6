"""When do more workers on one study pay? Trials a second of 1, 2 and 4 workers, in a journal file and in PostgreSQL.

The same study and number of trials each time, over recall recorded from synthetic histories: (a) replayed, a few
milliseconds a trial, and (b) with a wait added, as for the answers of a served model that has room for all workers.
A server of one's own is started where PostgreSQL is installed; `--storage URL` takes another one's empty database.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from experiments import local_postgres
from experiments.common import Cell, main, save, show
from sodamem.replay.recorded import Recordings, Setting
from sodamem.sweep.objective import Replayed
from sodamem.sweep.search import Evaluate, Search
from sodamem.sweep.space import Ground, Point
from sodamem.sweep.storage import quiet, storage
from sodamem.sweep.study import Study

WORKERS = (1, 2, 4)
WAIT = 0.5  # seconds of a slow trial: short for a model's, long enough to tell
MEASURE = "turn/recall_at_10"
STUDY = {
    "kind": "study",
    "measures": {MEASURE: "maximize"},
    "trials": 1,
    "sampler": "tpe",
    "seed": 20,
    "overrides": ["tracker=none"],
    "space": {
        f"fusion.weights.{tunnel}": {"low": 0.0, "high": 1.5, "step": 0.05}
        for tunnel in ("bm25", "bm25_session", "bm25_fact", "dense", "dense_context", "speaker", "time", "when")
    },
}


@dataclass(frozen=True, kw_only=True)
class Bench:
    """One study in one storage, scored in one way."""

    study: Study
    where: str
    evaluate: Evaluate
    baseline: Point

    def seconds(self, workers: int) -> float:
        """Wall seconds that workers who start at the same moment take for all trials; begun anew each time."""
        name = f"{self.study.name}-{uuid4().hex[:10]}"
        self._opened(name)  # the tables are there before the clock runs
        ready, go = os.pipe(), os.pipe()
        children = [self._fork(name, ready, go) for _ in range(workers)]
        for _ in children:
            os.read(ready[0], 1)
        started = time.perf_counter()
        for end in (*go, *ready):
            os.close(end)
        ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        spent = time.perf_counter() - started
        told = len(self._opened(name).complete())
        if any(ended) or told != self.study.trials:
            raise RuntimeError(f"{self.study.trials} trials must be told, {told} were; workers ended with {ended}")
        return spent

    def _opened(self, name: str) -> Search:
        with quiet():
            return Search.open(self.study, name, {}, *storage(self.where, Path()), new=True)

    def _fork(self, name: str, ready: tuple[int, int], go: tuple[int, int]) -> int:
        if child := os.fork():
            return child
        code = 1
        try:
            os.close(go[1])
            search = self._opened(name)
            os.write(ready[1], b".")
            os.read(go[0], 1)  # nothing ever comes: it ends when the parent lets go
            with quiet():
                search.run(self.evaluate, self.baseline)
            code = 0
        finally:
            os._exit(code)


@contextmanager
def stores(given: str | None, folder: Path) -> Iterator[dict[str, str]]:
    """The storages to compare, by name."""
    found = {"journal": str(folder / "journal.log")}
    if given:
        yield {**found, "database": given}
    elif local_postgres.programs() is None:
        print("PostgreSQL is not installed here: the journal alone is measured", file=sys.stderr)
        yield found
    else:
        with local_postgres.server() as address:
            yield {**found, "PostgreSQL": f"postgresql+psycopg://{local_postgres.USER}@{address}/{local_postgres.USER}"}


def run() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--trials", type=int, default=60, help="replayed ones (default %(default)s); a quarter are slow"
    )
    parser.add_argument("--storage", metavar="URL", help="an empty database instead of a server of one's own")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows of the table to FILE as well")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, stores(given.storage, Path(temporary)) as known:
        study = Study.read("bench", STUDY)
        ground = Ground([*study.overrides, f"runs={temporary}"], study.space)
        recordings = Recordings(Path(temporary), [Setting.of(ground.at(point)) for point in ground.corners()])
        replayed = Replayed(ground, recordings, [MEASURE])
        baseline = ground.baseline()
        replayed(baseline, _never)  # records, and lays out the tables

        def waiting(point: Point, report: Callable[[int, float], bool]) -> Mapping[str, float]:
            time.sleep(WAIT)
            return replayed(point, report)

        rows: list[dict[str, Cell]] = []
        for store, where in known.items():
            for kind, evaluate, trials in (
                ("replayed", replayed, given.trials),
                (f"+ {WAIT} s", waiting, max(1, given.trials // 4)),
            ):
                sized = Study.read("bench", {**STUDY, "trials": trials})
                bench = Bench(study=sized, where=where, evaluate=evaluate, baseline=baseline)
                rates = {workers: trials / bench.seconds(workers) for workers in WORKERS}
                row = {"storage": store, "trial": kind, "trials": trials}
                rows += [{**row, "workers": n, "trials/s": rate, "ratio": rate / rates[1]} for n, rate in rates.items()]
        show(rows, ["storage", "trial", "trials", "workers", "trials/s", "ratio"])
        save(rows, given.json)


def _never(block: int, value: float) -> bool:
    return False


if __name__ == "__main__":
    main(run)
