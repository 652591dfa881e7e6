"""A model as a judge: a rule for each kind of question, the answer fenced off as data, the verdict in its own field.

The six cases are those of LongMemEval (Wu et al. 2025): three that share a rule, time with its tolerance for counts,
knowledge updates, preferences; and abstention, whatever the type. The words are our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sodamem import prompts, text
from sodamem.errors import ConfigError, ModelError
from sodamem.fence import Fence, record
from sodamem.judge.identity import FAILED, Again
from sodamem.protocols import Chat, Judge
from sodamem.types import Answer, ChatReply, ChatRequest, Label, Message, Question, Verdict

SHARED, ABSTENTION, COUNT = "judge_shared", "judge_abstention", "judge_count"
SCHEMA: Mapping[str, object] = {  # reasons first: what is written first decides the rest (getzep/graphiti#1666)
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "maxLength": 1500},
        "verdict": {"type": "string", "enum": ["correct", "incorrect"]},
    },
    "required": ["reasoning", "verdict"],
    "additionalProperties": False,
}
_WORDS: Mapping[str, Label] = {"yes": "correct", "no": "incorrect"}
_COUNTS = re.compile(r"\bhow (?:many|long|much time|old)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class LlmJudge(Judge):
    """Grades by rules in words.

    rules: category -> prompt of its rule; the others, and `judge_abstention` for what cannot be answered, are shared ·
    off_by_one: categories whose counts of time grant one unit, where the question asks for a count · structured: a
    JSON verdict with reasons; without, one word of two · max_tokens: of the reply · salt: see fence.Fence.

    The chat repairs a reply of another shape once; what then is still none, is cut off or refused leaves the answer
    unjudged.
    """

    name: str
    chat: Chat
    rules: Mapping[str, str]
    off_by_one: Sequence[str]
    structured: bool
    max_tokens: int
    salt: str

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ConfigError(f"judge.max_tokens must be >= 1, got {self.max_tokens}")
        known = [name for name in prompts.names() if name.startswith("judge_")]
        if strange := next((rule for rule in self.rules.values() if rule not in known), None):
            raise ConfigError(f"judge.rules must name some of {', '.join(known)}, got {strange!r}")

    @cached_property
    def digest(self) -> str:
        words = prompts.digests("judge")
        knobs = (dict(self.rules), sorted(self.off_by_one), self.structured, self.max_tokens, self.salt)
        return text.digest("llm/1", self.chat.digest, words, SCHEMA, knobs)

    def repeated(self, number: int) -> LlmJudge:
        return replace(self, chat=Again(chat=self.chat, number=number))

    def grade(self, question: Question, answer: Answer) -> Verdict:
        if answer.status == "failed":
            return Verdict(label="unjudged", judge=self.name, reason="the answer failed")
        rule = self.rule(question)
        request = ChatRequest(
            phase="judge",
            messages=self._messages(question, answer, rule),
            max_tokens=self.max_tokens,
            schema=SCHEMA if self.structured else None,
            choices=() if self.structured else tuple(_WORDS),
        )
        try:
            reply = self.chat.ask(request)
        except ModelError as error:
            return Verdict(label="unjudged", judge=self.name, reason=f"{FAILED}{error.reason}", usage=error.usage)
        label, reason = _read(reply)
        said = f"{' + '.join(rule).replace('judge_', '')}: {reason}"
        return Verdict(label=label, judge=self.name, reason=said, raw=reply.text, usage=reply.usage)

    def rule(self, question: Question) -> tuple[str, ...]:
        """The prompts of the rule that a question is judged by."""
        if not question.answerable:
            return (ABSTENTION,)
        rule = self.rules.get(question.category, SHARED)
        counts = question.category in self.off_by_one and _COUNTS.search(question.text)
        return (rule, COUNT) if counts else (rule,)

    def _messages(self, question: Question, answer: Answer, rule: Sequence[str]) -> tuple[Message, Message]:
        data = [
            record("[question]", question.text),
            record("[reference]", question.gold),
            record("[answer]", answer.text or "(nothing)"),
        ]
        fence = Fence.around(self.salt, question.text, answer.text, contents=data)
        asked = "judge_reply_reasoned" if self.structured else "judge_reply_word"
        told = (fence.said, fence.block(data), *(prompts.load(name) for name in (*rule, asked)))
        return (
            Message(role="system", content=prompts.load("judge")),
            Message(role="user", content="\n".join(told)),
        )


def _read(reply: ChatReply) -> tuple[Label, str]:
    """The verdict of a whole reply, taken from its field; anything else is none."""
    if reply.truncated:
        return "unjudged", "the reply was cut off"
    if isinstance(reply.data, Mapping):
        said = reply.data.get("verdict")
        label: Label = "correct" if said == "correct" else "incorrect" if said == "incorrect" else "unjudged"
        return label, str(reply.data.get("reasoning", ""))
    return _WORDS.get(reply.text, "unjudged"), reply.text if reply.text in _WORDS else "the reply is no verdict"
