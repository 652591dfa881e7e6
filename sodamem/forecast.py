"""What a run with a model is about to ask for: calls and tokens by phase, estimated before anything is spent."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

from sodamem import text
from sodamem.metric.cost import Load
from sodamem.protocols import Corpus

_SAMPLE = 3  # histories that are read to know how long a session is
_INSTRUCTIONS = 600  # tokens of a prompt's own words, the longest of ours
_JUDGED = 600  # tokens of a question, its gold, an answer and the rubric around them


def loads(cfg: Mapping[str, Any], asking: Collection[str], corpus: Corpus) -> list[Load]:
    """The load of each phase whose part asks a model. cfg: plain configuration · asking: groups that ask.

    Adjudication is left out: how many pairs the slots select is known only once facts are extracted.
    """
    model = str(cfg["chat"].get("model", "scripted"))
    questions = sum(len(corpus.questions(history)) for history in corpus.history_ids)
    found: list[Load] = []

    def add(phase: str, group: str, calls: int, prompt: int) -> None:
        if group in asking:
            node = cfg[group]
            whole = prompt + _INSTRUCTIONS
            found.append(Load(phase=phase, model=model, calls=calls, prompt=whole, max_tokens=node["max_tokens"]))

    if "extractor" in asking:
        sample = [corpus.history(name) for name in islice(corpus.history_ids, _SAMPLE)]
        lengths = [sum(text.estimate_tokens(turn.text) for turn in s.turns) for h in sample for s in h.sessions]
        node = cfg["extractor"]
        windows = sum(math.ceil(length / node["window_tokens"]) for length in lengths if length)
        share = len(corpus.history_ids) / max(1, len(sample))
        add("extract", "extractor", math.ceil(windows * share), node["window_tokens"] + node["context_tokens"])
    planner, reader = cfg["planner"], cfg["reader"]
    if "planner" in asking:
        add("plan", "planner", questions * planner["max_steps"], planner["shown_tokens"])
    if "reader" in asking:
        add("read", "reader", questions, reader["evidence_tokens"])
    add("judge", "judge", questions, _JUDGED)
    return found
