"""How many sentences a second does the timeline read? Ours beside dateparser's search, one thread, on LoCoMo."""

from __future__ import annotations

import re
import time

from experiments.common import Cell, arguments, main, save, show
from experiments.timeline_locomo import Read, dateparser_reader
from sodamem import build
from sodamem.config import compose

SAMPLE = 40  # dateparser reads every 40th sentence: it is some hundred times slower


def run() -> None:
    given = arguments(__doc__).parse_args()
    timeline = build.component(compose("timeline=calendar"), "timeline")
    rows: list[dict[str, Cell]] = []
    for split in given.split:
        corpus = build.component(compose("dataset=locomo", f"dataset.split={split}"), "dataset").open()
        sentences = [
            (sentence, turn.at)
            for history_id in corpus.history_ids
            for session in corpus.history(history_id).sessions
            for turn in session.turns
            for sentence in re.split(r"(?<=[.!?])\s+", turn.text)
        ]
        readers: dict[str, tuple[Read, int]] = {
            "sodamem": (timeline.read, 1),
            "dateparser": (dateparser_reader(), SAMPLE),
        }
        rates = {}
        for name, (read, step) in readers.items():
            chosen = sentences[::step]
            read("We met yesterday.", chosen[0][1])  # the first call loads tables
            begin = time.perf_counter()
            found = sum(len(read(text, at)) for text, at in chosen)
            rates[name] = len(chosen) / (time.perf_counter() - begin)
            row: dict[str, Cell] = {"setting": name, "split": split, "n": len(chosen), "expressions": found}
            rows.append({**row, "sentences/s": rates[name], "ratio": rates[name] / rates["sodamem"]})
    show(rows, ("setting", "split", "n", "expressions", "sentences/s", "ratio"))
    save(rows, given.json)


if __name__ == "__main__":
    main(run)
