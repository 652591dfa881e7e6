"""A model reads: it composes an answer from the evidence it is given, and what it cites is checked against that.

Paper section 4.6: a prompt of its own, mandatory citations. Labels that do not exist are sent back once; an answer that
still rests on nothing is kept and marked `uncited`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

from sodamem import prompts
from sodamem.errors import ConfigError, ReplyError
from sodamem.fence import Fence, one_line
from sodamem.protocols import Chat, Reader
from sodamem.reader.citations import verified
from sodamem.rendering import entry, stamp, within
from sodamem.types import Answer, ChatRequest, Citation, Evidence, Message, Question

UNKNOWN = "I do not know: the memory holds nothing about this."


@dataclass(frozen=True, kw_only=True)
class LlmReader(Reader):
    """evidence_tokens: of all records, the best first; the rest is left out · item_tokens: of one of them, beyond which
    it is cut (both estimated) · max_tokens: of the reply · reasoning: whether reasons are asked for before the answer ·
    layout: `ranked` gives the best first; `folded` goes in order of time, and gives each moment once ·
    salt: see fence.Fence.

    The instructions come first and never change, so that a server can keep them; the question follows the evidence.
    """

    chat: Chat
    prompt: str
    evidence_tokens: int
    item_tokens: int
    max_tokens: int
    reasoning: bool
    layout: Literal["ranked", "folded"]
    salt: str

    def __post_init__(self) -> None:
        for name in ("evidence_tokens", "item_tokens", "max_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(f"reader.{name} must be >= 1, got {getattr(self, name)}")
        if self.layout not in ("ranked", "folded"):
            raise ConfigError(f"reader.layout must be ranked or folded, got {self.layout!r}")
        if self.prompt not in prompts.names():
            raise ConfigError(f"reader.prompt must be one of {', '.join(prompts.names())}, got {self.prompt!r}")

    @cached_property
    def _system(self) -> Message:
        return Message(role="system", content=prompts.load(self.prompt))

    def read(self, question: Question, evidence: Sequence[Evidence]) -> Answer:
        """The model's answer; where there is no evidence it abstains unasked. Raises ModelError when a call fails."""
        if not evidence:
            return Answer(text=UNKNOWN, abstained=True)
        pool = within(evidence, self.evidence_tokens, lambda place, item: self._entry(f"e{place + 1}", item))
        labelled = {f"e{place}": item for place, item in enumerate(pool, start=1)}
        messages = [self._system, self._asking(question, labelled)]
        said = self._ask(messages)
        fault = _fault(said, labelled)
        if fault:
            again = prompts.load("read_repair", fault=fault)
            messages += [_message("assistant", said["raw"]), _message("user", again)]
            said = self._ask(messages)
        answer = Answer(
            text=said["text"].strip(),
            citations=tuple(_citation(labelled[label]) for label in _labels(said) if label in labelled),
            abstained=said["abstained"],
            trace=({"read": len(pool), "left_out": len(evidence) - len(pool), "repaired": fault},),
        )
        return verified(answer, evidence)

    def _ask(self, messages: Sequence[Message]) -> dict[str, Any]:
        reply = self.chat.ask(
            ChatRequest(
                phase="read", messages=tuple(messages), max_tokens=self.max_tokens, schema=schema(self.reasoning)
            )
        )
        if reply.truncated or not isinstance(reply.data, dict):
            said = f"model {reply.model} was cut off at {self.max_tokens} tokens before its answer was whole"
            raise ReplyError(f"{said}. Raise reader.max_tokens", reason="truncated")
        return {**reply.data, "raw": reply.text}

    # --- the prompt -------------------------------------------------------------------------------------------

    def _asking(self, question: Question, labelled: Mapping[str, Evidence]) -> Message:
        records = self._folded(labelled) if self.layout == "folded" else [self._entry(*one) for one in labelled.items()]
        fence = Fence.around(self.salt, question.text, records[0], contents=records)
        asked = f"Question, asked on {stamp(question.asked_at)}: {one_line(question.text)}"
        return _message("user", "\n".join((fence.said, fence.block(records), asked)))

    def _folded(self, labelled: Mapping[str, Evidence]) -> list[str]:
        """A line for each moment of saying, and under it what was said then, in the order in which it was said."""
        ordered = sorted(
            labelled.items(), key=lambda pair: (pair[1].at, pair[1].session_id, _place(pair[1]), pair[1].rank)
        )
        records = []
        for moment, items in groupby(ordered, key=lambda pair: pair[1].at):
            records.append(f"{stamp(moment)}:")
            records += [self._entry(label, item, stamped=False) for label, item in items]
        return records

    def _entry(self, label: str, item: Evidence, stamped: bool = True) -> str:
        return entry(label, item, longest=self.item_tokens, stamped=stamped)


def schema(reasoning: bool) -> dict[str, object]:
    """What an answer must look like; reasons, if any, come first, since what is written first decides the rest."""
    properties: dict[str, object] = {"reasoning": {"type": "string"}} if reasoning else {}
    properties |= {
        "text": {"type": "string"},
        "citations": {"type": "array", "items": {"type": "string", "pattern": "^e[0-9]{1,4}$"}, "maxItems": 30},
        "abstained": {"type": "boolean"},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _labels(said: Mapping[str, Any]) -> list[str]:
    return [] if said["abstained"] else list(dict.fromkeys(said["citations"]))


def _fault(said: Mapping[str, Any], labelled: Mapping[str, Evidence]) -> str:
    """What is wrong with an answer, in words for the model; empty when nothing is."""
    labels = _labels(said)
    if strange := [label for label in labels if label not in labelled]:
        return f"there is no record {', '.join(strange)}"
    if not said["text"].strip():
        return "it is empty"
    return "it cites no record" if not labels and not said["abstained"] else ""


def _citation(item: Evidence) -> Citation:
    """The words of the item that stand in the memory: what a fact quotes, a piece as it is, else the whole turn."""
    if item.fact is not None:
        piece = item.fact.pieces[0]
        return Citation(evidence_id=item.id, turn_id=piece.turn_id, quote=piece.text)
    words = item.text.removeprefix(f"{item.speaker}: ")
    return Citation(
        evidence_id=item.id, turn_id=item.turn_ids[0], quote=words if words in item.quotable[0] else item.quotable[0]
    )


def _place(item: Evidence) -> tuple[int, str]:
    """Where in its session an item was said; facts know, turns are told by the number that ends their id."""
    if item.fact is not None:
        return item.fact.order[1], item.id
    number = item.turn_ids[0].rpartition(":")[2]
    return (int(number) if number.isdecimal() else 0), item.id


def _message(role: Literal["user", "assistant"], content: str) -> Message:
    return Message(role=role, content=content)
