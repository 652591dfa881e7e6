"""What is found out about a chat before anything is spent on it: does it serve, obey and repeat itself?

Each question stands for a run that was lost: another model under the name (vllm-project/vllm#3486), a context that
is not there (olmo-eval#310), guided output that is ignored (vllm#27447), replies that differ (vllm#51187).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sodamem.chat.served import Served, ServedChat
from sodamem.errors import ModelError, ServiceError
from sodamem.types import ChatReply, ChatRequest, Message, Usage

PHASE = "self_test"
SHAPE = {  # without anything that may go on for ever: a small model fills a whole number until its tokens end
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}, "warm": {"type": "boolean"}},
    "required": ["colour", "warm"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class SelfTest:
    """What was found. `distinct` replies came to `times` equal requests sent at once; 1 is reproducible."""

    served: Served
    enforced: bool  # False: a plain server, which is not asked to
    distinct: int
    times: int
    usage: tuple[Usage, ...]

    @property
    def reproducible(self) -> bool:
        return self.distinct == 1

    def __str__(self) -> str:
        engine = f", engine {self.served.engine}" if self.served.engine else ""
        context = f", context {self.served.context}" if self.served.context else ""
        again = "yes" if self.reproducible else f"no ({self.distinct} different replies in {self.times})"
        shapes = "enforced" if self.enforced else "only checked"
        return f"serves {self.served.id}{engine}{context}; structured output {shapes}; reproducible: {again}"


def self_test(chat: ServedChat, *, times: int = 8, max_tokens: int = 512) -> SelfTest:
    """Probe a chat behind its wrappers. Raises ServiceError, naming both sides, when it is not as configured.

    max_tokens: room of one probe's reply; a model that thinks needs some.
    """
    while (inner := getattr(chat, "chat", None)) is not None:
        chat = inner
    found = chat.served()
    wanted = getattr(chat, "context", None)
    if wanted is not None and found.context is not None and wanted > found.context:
        raise ServiceError(
            f"context must be <= the {found.context} tokens that {found.id} is served with, got {wanted}. Set context"
        )
    enforced = getattr(chat, "dialect", "") != "plain"
    # Both prompts ask for something else than the shape allows: obeying them shows that it is not enforced.
    said = "Reply with one short English sentence about the sea. Do not use JSON."
    shaped = _request(said, max_tokens, schema=SHAPE)
    chosen = _request("Reply with the single word perhaps.", max_tokens, choices=("yes", "no"))
    probes = [_probe(chat, request) for request in (shaped, chosen) if enforced]
    asked = _request("Name five rivers, with a few words about each.", max_tokens)
    with ThreadPoolExecutor(times) as pool:
        again = list(pool.map(lambda _: chat.ask(asked), range(times)))
    return SelfTest(
        served=found,
        enforced=enforced,
        distinct=len({(reply.reasoning, reply.text) for reply in again}),
        times=times,
        usage=tuple(usage for reply in (*probes, *again) for usage in reply.usage),
    )


def _probe(chat: ServedChat, request: ChatRequest) -> ChatReply:
    """A reply whose shape the server enforced: right at the first attempt, with nothing around it."""
    what = "a schema" if request.schema is not None else "choices"
    how = f"the server must enforce {what}, and did not. Look at dialect, and at its version"
    try:
        reply = chat.ask(request)
    except ModelError as error:
        raise (ServiceError(f"{how} ({error})") if error.reason == "invalid" else error) from error
    if reply.truncated:
        raise ServiceError(f"a probe must end within {request.max_tokens} tokens, and did not. Raise max_tokens")
    repaired = len(reply.usage) > 1 and reply.usage[-2].completion > 0
    if repaired or (request.schema is not None and not reply.text.startswith("{")):
        raise ServiceError(how)
    return reply


def _request(said: str, max_tokens: int, **shape: object) -> ChatRequest:
    message = Message(role="user", content=said)
    return ChatRequest(phase=PHASE, messages=(message,), max_tokens=max_tokens, seed=0, **shape)  # type: ignore[arg-type]
