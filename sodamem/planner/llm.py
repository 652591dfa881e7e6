"""A model plans: step by step it calls tools that grow the evidence pool, until one of three rules stops it.

Algorithm 3 of arXiv 2608.08055 (section 4.6): within T_max steps; it stops when it says so, at the budget, or when its
calls bring nothing new. Content is data to it: only what the model itself replies is ever read as a call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from sodamem import prompts
from sodamem.errors import ConfigError, PromptError, ReplyError
from sodamem.fence import Fence, one_line
from sodamem.planner.pool import Pool
from sodamem.planner.tools import Observation, ToolError, Tools, schema
from sodamem.protocols import Chat, Desk, Planner
from sodamem.rendering import entry, stamp, within
from sodamem.text import estimate_tokens
from sodamem.types import ChatRequest, Evidence, Message, Question


@dataclass(frozen=True, kw_only=True)
class LlmPlanner(Planner):
    """max_steps: T_max · patience: steps in a row that may bring nothing new · head: recalled items that stay before
    those found later · per_search: items that one call may bring · radius: turns that session_expand shows on either
    side · shown_tokens: of the recall, before the first step · item_tokens: shown of one item · prompt_tokens: of a
    whole prompt, beyond which the plan ends (all estimated) · max_tokens: of one reply · layout: `append` lets the
    conversation grow, so that a server can reuse its prefix; `fold` shows the pool and one line a step, and so stays
    short · salt: see fence.Fence.
    """

    chat: Chat
    prompt: str
    max_steps: int
    patience: int
    head: int
    per_search: int
    radius: int
    shown_tokens: int
    item_tokens: int
    prompt_tokens: int
    max_tokens: int
    layout: Literal["append", "fold"]
    salt: str

    def __post_init__(self) -> None:
        least = {"head": 0, "shown_tokens": 0}
        counts = ("max_steps", "patience", "head", "per_search", "radius")
        for name in (*counts, "shown_tokens", "item_tokens", "prompt_tokens", "max_tokens"):
            if getattr(self, name) < least.get(name, 1):
                raise ConfigError(f"planner.{name} must be >= {least.get(name, 1)}, got {getattr(self, name)}")
        if self.layout not in ("append", "fold"):
            raise ConfigError(f"planner.layout must be append or fold, got {self.layout!r}")
        if self.prompt not in prompts.names():
            raise ConfigError(f"planner.prompt must be one of {', '.join(prompts.names())}, got {self.prompt!r}")

    @cached_property
    def _system(self) -> Message:
        return Message(role="system", content=prompts.load(self.prompt))

    def gather(self, question: Question, recall: Desk) -> Sequence[Evidence]:
        """The pool, what was found after the best of the recall. Every step is noted with the ids it brought.

        A reply that cannot be used ends the plan, which is noted; other failures of a model call are raised.
        """
        pool = Pool(recall(question))
        plan = _Plan(question=question, pool=pool, recalled=len(pool))
        tools = Tools(
            question=question,
            desk=recall,
            pool=pool,
            per_search=self.per_search,
            radius=self.radius,
            longest=self.item_tokens,
        )
        reason = "budget"
        for number in range(1, self.max_steps + 1):
            messages = self._messages(plan)
            if sum(estimate_tokens(message.content) for message in messages) > self.prompt_tokens:
                reason = "prompt budget"
                break
            try:
                step = self._next(messages)
            except (ReplyError, PromptError) as error:
                reason = f"unusable: {error.reason}"
                break
            if step["call"]["tool"] == "stop":
                recall.note({"step": number, "reasoning": step["reasoning"], "call": step["call"]})
                reason = "said so"
                break
            observed = _observe(tools, step["call"])
            plan.steps.append((step, observed))
            recall.note(_noted(number, step, observed, pool))
            if plan.idle >= self.patience:
                reason = "nothing new"
                break
        recall.note({"stop": reason, "steps": len(plan.steps), "pool": len(pool)})
        return pool.gathered(self.head)

    def _next(self, messages: tuple[Message, ...]) -> dict[str, Any]:
        request = ChatRequest(phase="plan", messages=messages, max_tokens=self.max_tokens, schema=schema())
        reply = self.chat.ask(request)
        if reply.truncated or not isinstance(reply.data, dict):
            raise ReplyError("a step of the plan was cut off", reason="truncated")
        return reply.data

    # --- the prompt -------------------------------------------------------------------------------------------

    def _messages(self, plan: _Plan) -> tuple[Message, ...]:
        shown = plan.pool.items()[: plan.recalled]
        recalled = [self._entry(label, item) for label, item in shown]
        kept = within([item for _, item in shown], self.shown_tokens, lambda place, _: recalled[place])
        recalled = recalled[: len(kept)] if self.shown_tokens else []
        contents = [*recalled, *(record for _, seen in plan.steps for record in seen.records)]
        seeds = (plan.question.text, plan.question.asked_at.isoformat(), *recalled[:1])
        fence = Fence.around(self.salt, *seeds, contents=contents)
        opening = [fence.said, f"Question, asked on {stamp(plan.question.asked_at)}: {one_line(plan.question.text)}"]
        if self.layout == "fold":
            return self._folded(plan, fence, opening, recalled)
        messages = [self._system, _user(*opening, "Recalled for it:", fence.block(recalled))]
        for step, seen in plan.steps:
            messages.append(Message(role="assistant", content=json.dumps(step, ensure_ascii=False)))
            messages.append(_user(*_told(seen, fence)))
        return tuple(messages)

    def _folded(self, plan: _Plan, fence: Fence, opening: list[str], recalled: list[str]) -> tuple[Message, ...]:
        """One message: what was recalled, what was found since, and a line for each step; the last one in full."""
        found = [self._entry(label, item) for label, item in plan.pool.items()[plan.recalled :]]
        log = [
            f"{n}. {json.dumps(step['call'], ensure_ascii=False)}: {seen.said}"
            for n, (step, seen) in enumerate(plan.steps, 1)
        ]
        parts = [*opening, "Recalled and found for it:", fence.block([*recalled, *found])]
        if plan.steps:
            last = plan.steps[-1][1]
            parts += [
                "Steps so far:",
                *log,
                "The last one:",
                *_told(last if not last.new else Observation(said=last.said), fence),
            ]
        return (self._system, _user(*parts))

    def _entry(self, label: str, item: Evidence) -> str:
        return entry(label, item, longest=self.item_tokens)


@dataclass(kw_only=True)
class _Plan:
    """A plan while it runs: each step as the model said it, and what it was told."""

    question: Question
    pool: Pool
    recalled: int
    steps: list[tuple[Mapping[str, Any], Observation]] = field(default_factory=list)

    @property
    def idle(self) -> int:
        """How many steps in a row, up to the last, brought neither a new item nor an answer not yet given."""
        count, seen = 0, set[tuple[object, ...]]()
        for _, observed in self.steps:
            told = (observed.said, observed.records)
            count = 0 if observed.new or (observed.informs and told not in seen) else count + 1
            seen.add(told)
        return count


def _observe(tools: Tools, call: Mapping[str, Any]) -> Observation:
    try:
        return tools.run(call)
    except ToolError as error:
        return Observation(said=f"This cannot be done: {one_line(str(error))}.")


def _noted(number: int, step: Mapping[str, Any], observed: Observation, pool: Pool) -> dict[str, object]:
    new = [item.id for label, item in pool.items() if label in observed.new]
    return {"step": number, "reasoning": step["reasoning"], "call": step["call"], "said": observed.said, "new": new}


def _told(observed: Observation, fence: Fence) -> tuple[str, ...]:
    return (observed.said, fence.block(observed.records)) if observed.records else (observed.said,)


def _user(*parts: str) -> Message:
    return Message(role="user", content="\n".join(parts))
