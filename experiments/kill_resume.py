"""Does a run that is killed again and again end as if nothing had been, and what do the kills cost?

40 questions over a scripted model whose every call is billed before it is answered, kill -9 at random moments from the
first import to the last file, `resume=` after each. The same run without a kill is what its results must equal.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from pathlib import Path

from experiments import common, killing

ORDER = ("start", "ingest", "answers", "finish")


def study(base: Path, *, kills: int, seed: int, **options: object) -> dict[str, common.Cell]:
    """Run it once whole and once killed, under `base`; the figures of both."""
    began = time.perf_counter()
    whole, killed = base / "whole", base / "killed"
    killing.whole(whole, **options)
    calls = len(killing.billed(whole))
    story = killing.hammer(killed, kills=kills, calls=calls, seed=seed, **options)
    once, again = killing.folder_of(whole), killing.folder_of(killed)
    assert once is not None and again is not None  # both runs have ended
    different = killing.differing(once, again)
    figures: dict[str, common.Cell] = {
        "questions": len((again / "questions.jsonl").read_text(encoding="utf-8").splitlines()),
        "kills": sum(story.kills.values()),
        **{f"kills at {where}": story.kills.get(where, 0) for where in ORDER},
        "sittings": story.sittings,
        "calls of an uninterrupted run": calls,
        "calls billed": len(killing.billed(killed)),
        "calls lost in flight": killing.lost(again),
        "replies paid for twice": killing.paid_twice(again),
        "equal": "no: " + ", ".join(different) if different else "yes",
        "seconds": round(time.perf_counter() - began, 1),
    }
    if options.get("tracker") != "none":
        figures["tracked runs"] = ", ".join(killing.tracked(killed))
    return figures


def script() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures to FILE as well")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=20, help="of the moments")
    parser.add_argument("--histories", type=int, default=4)
    parser.add_argument("--questions", type=int, default=10, help="of one history")
    parser.add_argument("--concurrency", type=int, default=1, help="questions worked on at a time")
    parser.add_argument("--tracker", choices=["mlflow", "none"], default="mlflow")
    parser.add_argument("--runs", metavar="FOLDER", type=Path, help="keep both runs there; it must be new or empty")
    given = vars(parser.parse_args())
    folder, file = given.pop("runs"), given.pop("json")
    logging.getLogger("sodamem.mlflow_store").setLevel(logging.ERROR)  # of each kill it says that a process died
    with tempfile.TemporaryDirectory() as temporary:
        figures = study((folder or Path(temporary)).absolute(), **given)
    width = max(map(len, figures))
    print("\n".join(f"{name:{width}}  {value}" for name, value in figures.items()))
    common.save([figures], file)


if __name__ == "__main__":
    common.main(script)
