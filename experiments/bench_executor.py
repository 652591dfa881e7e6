"""What an executor buys: histories a second beside one after the other, results compared to the byte.

First without a model, ingest and answers of many synthetic histories, where processes pay; then with a model behind
HTTP and one question to a history, as LongMemEval has it, where threads do. Stores are filled anew in every round of
the first part and lie ready in the second. Rounds alternate; ratios are of the medians.
"""

from __future__ import annotations

import json
import time
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from experiments import common
from experiments.bench_chat import MODEL, reply, serving
from sodamem import build, config, report
from sodamem.errors import SodamemError
from sodamem.evaluate import Result, results

SAID = json.dumps({"reasoning": "It was said.", "text": "She liked it.", "citations": [], "abstained": False})


def answers(overrides: list[str], runs: Path) -> tuple[float, list[str]]:
    """Seconds for all histories, from the first that is opened to the last result; and the results as they are kept."""
    cfg = config.compose("tracker=none", *overrides, f"runs={runs}")
    pipeline, corpus, judge = build.pipeline(cfg), build.component(cfg, "dataset").open(), build.component(cfg, "judge")
    began = time.perf_counter()
    found = [report.line(_row(one)) for one in results(pipeline, corpus, judge, spread=build.spread(cfg))]
    return time.perf_counter() - began, found


def _row(result: Result) -> dict[str, object]:
    """A result without what a clock measured."""
    row: dict[str, object] = json.loads(report.line(report.row(result, 10)))
    return {**row, "answer": {**row["answer"], "usage": None}}  # type: ignore[dict-item]


def compare(
    ways: dict[str, list[str]], shared: list[str], histories: int, rounds: int, runs: Path | None
) -> list[dict[str, common.Cell]]:
    """A row for each way, the first one being the baseline. runs: folder of stores that lie ready, else new ones."""
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    expected: list[str] | None = None
    for _ in range(rounds):
        for way, overrides in ways.items():
            with TemporaryDirectory() as fresh:
                took, found = answers([*shared, *overrides], runs or Path(fresh))
            expected = expected or found
            if found != expected:
                raise SodamemError(f"{way} must give what {next(iter(ways))} gives, and does not")
            seconds[way].append(took)
    rates = {way: histories / median(times) for way, times in seconds.items()}
    base = next(iter(rates.values()))
    return [{"executor": way, "histories_per_second": rate, "ratio": rate / base} for way, rate in rates.items()]


def script() -> None:
    options = common.arguments(__doc__)
    options.add_argument("--histories", type=int, default=20, help="of the first part")
    options.add_argument("--questions", type=int, default=24, help="of the second part, each of its own history")
    options.add_argument("--latency", type=float, default=0.25, help="seconds the server takes for a reply")
    options.add_argument("--jobs", type=int, default=2, help="processes")
    options.add_argument("--threads", type=int, default=16)
    options.add_argument("--rounds", type=int, default=2)
    given = options.parse_args()

    ways = {"serial": ["executor=serial"], "loky": ["executor=loky", f"executor.jobs={given.jobs}"]}
    if find_spec("ray"):
        ways["ray"] = ["executor=ray", f"executor.jobs={given.jobs}"]
    data = ["dataset=synthetic_many", "dataset.split=all"]
    with TemporaryDirectory() as folder:  # workers start, import and build
        starting = {way: answers([*data, "dataset.histories=2", *more], Path(folder))[0] for way, more in ways.items()}
    found = compare(ways, [*data, f"dataset.histories={given.histories}"], given.histories, given.rounds, None)
    for row in found:
        row["start_seconds"] = starting[str(row["executor"])]
    print(f"no model: ingest and answers of {given.histories} histories, {given.jobs} processes")
    common.show(found, ["executor", "histories_per_second", "ratio", "start_seconds"])

    asking = ["reader=llm", "chat=openai", f"chat.model={MODEL}", "chat.api_key_env=null", "replies=none"]
    asking += [*data, f"dataset.histories={given.questions}", "dataset.questions_per_history=1"]
    ways = {"serial": ["executor=serial"], "threads": ["executor=threads", f"executor.jobs={given.threads}"]}
    with serving(given.latency, reply(SAID, 900, 20)) as url, TemporaryDirectory() as folder:
        asking += [f"chat.base_url={url}", f"chat.concurrency={given.threads}"]
        answers([*asking, *ways["threads"]], Path(folder))  # fills the stores, opens connections
        there = compare(ways, asking, given.questions, given.rounds, Path(folder))
    print(
        f"\na model that takes {given.latency:g} s: {given.questions} one-question histories, {given.threads} threads"
    )
    common.show(there, ["executor", "histories_per_second", "ratio"])
    common.save([{"part": "rules", **row} for row in found] + [{"part": "model", **row} for row in there], given.json)


if __name__ == "__main__":
    common.main(script)
