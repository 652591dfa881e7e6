"""Which LoCoMo dates does the timeline recover from the evidence turns? Ours beside dateparser, counted the same way.

Golds of category 2 that name an interval; errata of the audit counted and left out. LoCoMo: Maharana et al., ACL 2024.
`exact`: an expression meets the gold in the gold's grain. `with_turn_day`: where no expression names a date, the day of
the turn is the reading ("I just opened my store"). `told`: with that, a finer reading inside a gold month, season or
year counts too. `floor`: share of the dated expressions that meet the gold at all; turns speak of other times as well,
so it bounds precision from below.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from experiments.common import Cell, arguments, main, save, show
from sodamem import build
from sodamem.config import compose
from sodamem.dates import agrees, parse_gold, spans
from sodamem.protocols import Timeline
from sodamem.types import Interval, Question, TimeValue, Turn

Read = Callable[[str, datetime], tuple[TimeValue, ...]]
VAGUE = ("recently", "other_day")  # rules whose wide stretch names no date
COLUMNS = ("setting", "split", "errata", "n", "exact", "primary", "with_turn_day", "told", "floor", "expressions")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One gold with its evidence turns."""

    question: Question
    gold: Interval
    turns: tuple[Turn, ...]

    def readings(self, read: Read) -> list[TimeValue]:
        return [value for turn in self.turns for value in read(turn.text, turn.at)]


def dateparser_reader() -> Read:
    """The search of dateparser with the turn as its base; its period is the grain, as its documentation defines it."""
    from dateparser.date import DateDataParser
    from dateparser.search import search_dates

    def read(text: str, at: datetime) -> tuple[TimeValue, ...]:
        settings = {"RELATIVE_BASE": at}
        parser = DateDataParser(languages=["en"], settings=settings)
        values = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for words, moment in search_dates(text, languages=["en"], settings=settings) or []:
                period = parser.get_date_data(words).period or "day"
                whole = spans.unit("day" if period == "time" else period, moment.replace(tzinfo=None), 0)
                start = text.find(words)
                value = TimeValue(
                    words=words,
                    start=start,
                    end=start + len(words),
                    anchor=at,
                    interval=whole,
                    rule=period,
                    version="dateparser",
                )
                values.append(value)
        return tuple(values)

    return read


def load(split: str) -> tuple[list[Case], list[Question]]:
    """The golds that name an interval, with their evidence, and the questions whose golds do not."""
    audit = Path(os.environ.get("SODAMEM_DATA", "data")) / "locomo_audit" / "errors.json"
    errata = [f"dataset.errata_path={audit}"] if audit.is_file() else []
    cfg = compose("dataset=locomo", "dataset.categories=[2]", f"dataset.split={split}", *errata)
    corpus = build.component(cfg, "dataset").open()
    cases, open_golds = [], []
    for history_id in corpus.history_ids:
        turns = {turn.id: turn for session in corpus.history(history_id).sessions for turn in session.turns}
        for question in corpus.questions(history_id):
            evidence = tuple(turns[turn] for turn in question.gold_turns if turn in turns)
            gold = parse_gold(question.gold, evidence[0].at.year if evidence else None)
            if gold is None or not evidence:
                open_golds.append(question)
            else:
                cases.append(Case(question=question, gold=gold, turns=evidence))
    return cases, open_golds


def score(cases: Sequence[Case], read: Read) -> dict[str, Cell]:
    """Shares of the cases recovered under each count; see the head of this file."""
    exact = primary = day = told = met = total = 0
    for case in cases:
        dated = [value for value in case.readings(read) if value.interval and value.rule not in VAGUE]
        days: list[TimeValue | Interval] = [] if dated else [spans.day(turn.at) for turn in case.turns]
        hit = any(agrees(value, case.gold) for value in dated)
        exact += hit
        primary += any(agrees(value.interval, case.gold) for value in dated)
        day += hit or any(agrees(found, case.gold) for found in days)
        told += any(agrees(found, case.gold, finer=True) for found in [*days, *dated])
        total += len(dated)
        met += sum(value.interval.meets(case.gold) for value in dated if value.interval)
    n = len(cases)
    if not n:
        return {"n": 0}
    shares = {"exact": exact, "primary": primary, "with_turn_day": day, "told": told}
    return {
        "n": n,
        **{name: count / n for name, count in shares.items()},
        "floor": met / total if total else None,
        "expressions": total,
    }


def cause(case: Case, values: Sequence[TimeValue]) -> str:
    """Why a case is not told, in one line."""
    dated = [value for value in values if value.interval and value.rule not in VAGUE]
    if case.question.erratum:
        return f"erratum {case.question.erratum.split(':')[0].lower()}"
    if not dated and any(value.interval is None for value in values):
        return "unresolved: " + ", ".join(repr(value.words) for value in values if value.interval is None)
    if not dated:
        return "no expression in the evidence names a date"
    if any(value.interval.meets(case.gold) for value in dated if value.interval):
        return "other grain: " + ", ".join(f"{v.words!r} is a {v.interval.grain}" for v in dated if v.interval)
    return "other date: " + ", ".join(f"{v.words!r} from {v.interval.start:%d %b %Y}" for v in dated if v.interval)


def misses(cases: Sequence[Case], read: Read) -> None:
    for case in cases:
        values = case.readings(read)
        dated = [value for value in values if value.interval and value.rule not in VAGUE]
        if not any(agrees(value, case.gold) for value in dated):
            days: list[TimeValue | Interval] = [] if dated else [spans.day(turn.at) for turn in case.turns]
            told = any(agrees(found, case.gold, finer=True) for found in [*days, *dated])
            print(f"  {'told  ' if told else 'missed'}  {case.question.gold!r:40}  {cause(case, values)}")


def run() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--misses", action="store_true", help="list the golds without interval and the misses' causes")
    given = parser.parse_args()
    timeline: Timeline = build.component(compose("timeline=calendar"), "timeline")
    readers: Mapping[str, Read] = {"sodamem": timeline.read, "dateparser": dateparser_reader()}
    rows: list[dict[str, Cell]] = []
    for split in given.split:
        cases, open_golds = load(split)
        kept = [case for case in cases if not case.question.erratum]
        print(f"{split}: {len(cases)} of {len(cases) + len(open_golds)} golds name an interval", end="; ")
        print(f"{len(cases) - len(kept)} of these are disputed by the audit")
        for name, read in readers.items():
            for errata, chosen in (("with", cases), ("without", kept)):
                rows.append({"setting": name, "split": split, "errata": errata, **score(chosen, read)})
        if given.misses:
            print("  golds without an interval: " + " | ".join(question.gold for question in open_golds))
            misses(cases, timeline.read)
    show(rows, COLUMNS)
    save(rows, given.json)


if __name__ == "__main__":
    main(run)
