"""Which layout of a prompt lets a server reuse most? Prompt tokens, those it had cached, and answers, for each layout.

Asks a running vLLM (its `cached_tokens`; Kwon et al., SOSP 2023, for the prefix cache) over synthetic questions. Every
layout starts on a cold prefix cache, by a `cache_salt` of its own, and without our cache of replies.

Give it the server as any run is given it: `python -m experiments.prompt_layouts chat=vllm_small chat.model=…`.

Unless `--free`, each step of a plan is enforced word by word, the same under every layout: a model that plans otherwise
under another layout would be measured besides. Cached tokens come in whole blocks of the server's.
"""

from __future__ import annotations

import argparse
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from experiments import common
from sodamem import build, config
from sodamem.chat.openai_server import OpenAIChat
from sodamem.errors import ConfigError
from sodamem.evaluate import Result, results
from sodamem.planner.heuristic import queries
from sodamem.protocols import Chat, Desk, Planner
from sodamem.types import ChatReply, ChatRequest, Evidence, Question, Usage

BASE = (
    "dataset=synthetic",
    "dataset.split=all",
    "dataset.histories=1",
    "dataset.questions_per_history=10",
    "recall.top_k=20",
    "planner=llm",
    "reader=llm",
    "planner.patience=6",  # a scripted step may bring nothing: all are made under every layout
    "tracker=none",
    "replies=none",
)
# One change at a time: the plan does not depend on the reader's layout, nor the reading on the planner's.
LAYOUTS = {
    "append, ranked": ("planner.layout=append", "reader.layout=ranked"),
    "fold, ranked": ("planner.layout=fold", "reader.layout=ranked"),
    "append, folded": ("planner.layout=append", "reader.layout=folded"),
}
COLUMNS = ("layout", "phase", "calls", "prompt", "cached", "share", "fresh", "completion", "seconds")
TOTALS = ("layout", "n", "accuracy", "failed", "prompt", "cached", "share", "fresh", "completion", "wall")


@dataclass(kw_only=True)
class Scripted(Chat):
    """The chat, whose next steps of a plan are said beforehand: the server may write nothing else."""

    chat: Chat
    steps: list[dict[str, Any]] = field(default_factory=list)

    @property
    def digest(self) -> str:
        return self.chat.digest

    def ask(self, request: ChatRequest) -> ChatReply:
        if request.phase == "plan" and self.steps:
            request = replace(request, schema={"const": self.steps.pop(0)})
        return self.chat.ask(request)


@dataclass(frozen=True, kw_only=True)
class ScriptedPlanner(Planner):
    """The planner, which looks around what was recalled first, searches for other words, and stops at its last step."""

    planner: Planner
    chat: Scripted
    steps: int

    def gather(self, question: Question, recall: Desk) -> Sequence[Evidence]:
        asked = queries(question.text, recall.read(question.text, question.asked_at))
        searched = [{"tool": "search", "query": words, "since": None, "until": None} for words in asked]
        around = [{"tool": "session_expand", "id": f"e{label}"} for label in range(1, self.steps)]
        calls = [call for pair in zip_longest(around, searched) for call in pair if call]
        calls = [*calls[: self.steps - 1], {"tool": "stop"}]
        self.chat.steps = [{"reasoning": "Something may be missing still.", "call": call} for call in calls]
        return self.planner.gather(question, recall)


def asked(name: str, overrides: Sequence[str], questions: int, steps: int | None) -> tuple[list[Result], float]:
    """The first questions under one layout, one after the other, and the seconds that they took."""
    cfg = config.compose(*BASE, *overrides, *LAYOUTS[name])
    plain = build.component(cfg, "chat")
    if not isinstance(plain, OpenAIChat) or plain.dialect != "vllm":
        raise ConfigError(
            "chat must be a vLLM server: no other starts a layout on a cold cache. Choose chat=vllm_small"
        )
    chat = Scripted(chat=replace(plain, extra={**plain.extra, "cache_salt": secrets.token_hex(8)}))
    pipeline = build.pipeline(cfg, chat)
    if steps is not None:
        pipeline = replace(pipeline, planner=ScriptedPlanner(planner=pipeline.planner, chat=chat, steps=steps))
    corpus, judge = build.component(cfg, "dataset").open(), build.component(cfg, "judge")
    began = time.perf_counter()
    found = list(islice(results(pipeline, corpus, judge), questions))
    return found, time.perf_counter() - began


def tokens(usages: Sequence[Usage]) -> dict[str, common.Cell]:
    """Sums over attempts. Raises ConfigError where the server does not say what it had cached."""
    known = [usage.cached for usage in usages if usage.cached is not None]
    if len(known) < len(usages):
        raise ConfigError("chat must report cached tokens. Start vLLM with --enable-prompt-tokens-details")
    prompt, cached = sum(usage.prompt for usage in usages), sum(known)
    return {
        "calls": len(usages),
        "prompt": prompt,
        "cached": cached,
        "share": cached / prompt if prompt else None,
        "fresh": prompt - cached,
        "completion": sum(usage.completion for usage in usages),
        "seconds": sum(usage.seconds for usage in usages),
    }


def rows(name: str, found: Sequence[Result]) -> list[dict[str, common.Cell]]:
    """By phase; the first call of a question shares with others no more than the instructions."""
    calls: dict[str, list[Usage]] = {}
    for result in found:
        for phase in ("plan", "read"):
            paid = [usage for usage in result.answer.usage if usage.phase == phase]
            calls.setdefault(f"{phase}, first", []).extend(paid[:1])
            calls.setdefault(f"{phase}, later", []).extend(paid[1:])
    return [{"layout": name, "phase": phase, **tokens(usages)} for phase, usages in calls.items() if usages]


def total(name: str, found: Sequence[Result], wall: float) -> dict[str, common.Cell]:
    right = sum(result.verdict.label == "correct" for result in found)
    return {
        "layout": name,
        "n": len(found),
        "accuracy": right / len(found),
        "failed": sum(result.answer.status == "failed" for result in found),
        **tokens([usage for result in found for usage in result.answer.usage]),
        "wall": wall,
    }


def script() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("overrides", nargs="+", help="chat=vllm_small chat.base_url=…, and further ones, as of a run")
    parser.add_argument("--questions", type=int, default=4, help="of each layout (default 4, of at most 10)")
    parser.add_argument("--steps", type=int, default=6, help="of each plan, the last of which stops (default 6)")
    parser.add_argument("--free", action="store_true", help="let the model plan as it likes")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows of the tables to FILE as well")
    given = parser.parse_args()
    parts, totals = list[dict[str, common.Cell]](), list[dict[str, common.Cell]]()
    for name in LAYOUTS:
        found, wall = asked(name, given.overrides, given.questions, None if given.free else given.steps)
        parts += rows(name, found)
        totals.append(total(name, found, wall))
    common.show(parts, COLUMNS)
    print()
    common.show(totals, TOTALS)
    common.save([*parts, *totals], given.json)


if __name__ == "__main__":
    common.main(script)
