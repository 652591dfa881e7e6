"""Any OpenAI-compatible chat endpoint, vLLM first: bounded, retried in one layer, checked, and paid for in the open.

Blocking and thread-safe outside, one asynchronous client inside. What goes wrong is a ModelError with its reason and
with the usage of every attempt; a reply is returned only if it is what was asked for, or is marked as cut off.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeVar, get_args
from urllib.parse import urljoin

from sodamem import endpoint
from sodamem.chat import background, structured, wire
from sodamem.chat.connection import Connection, FaultError
from sodamem.chat.served import Served, ServedChat, listed
from sodamem.chat.vllm import VllmServer
from sodamem.errors import ConfigError, ModelError, PromptError, ReplyError, ServiceError
from sodamem.text import digest
from sodamem.types import ChatReply, ChatRequest, Message, Usage

T = TypeVar("T")
VERSION = "openai-chat/1"  # of how requests are built and replies are read
REPAIR = "Your reply cannot be used: {why}. Give the corrected reply and nothing else."
TEMPLATE = 64  # tokens that a chat template adds around one message, at most
_DATED = re.compile(r"-\d{4}[\d-]*")  # gpt-4o is answered by gpt-4o-2024-08-06


@dataclass(frozen=True, kw_only=True)
class OpenAIChat(ServedChat):
    """A chat model by endpoint and name. Nothing is sent before the first `ask`.

    context: tokens of prompt and completion together · concurrency: requests in flight · timeout: seconds of one
    request · deadline: seconds of one `ask`, pauses and attempts included, from the time it has a slot · retries:
    further requests of one `ask` after failures that another attempt can cure · pause: seconds before the first of
    them · dialect: how shapes are enforced and tokens counted · budget: the parameter that holds max_tokens · omit:
    parameters the endpoint refuses · extra: further ones, as they are · server: how vLLM is started, if it is ours.
    """

    base_url: str
    model: str
    api_key_env: str | None
    context: int
    concurrency: int
    timeout: float
    deadline: float
    retries: int
    pause: float
    dialect: wire.Dialect
    budget: str
    omit: Sequence[str]
    extra: Mapping[str, object]
    server: VllmServer | None

    def __post_init__(self) -> None:
        endpoint.check(self.base_url)
        if self.dialect not in (known := get_args(wire.Dialect)):
            raise ConfigError(f"dialect must be one of {', '.join(known)}, got {self.dialect}")
        for name in ("context", "concurrency"):
            if (value := getattr(self, name)) < 1:
                raise ConfigError(f"{name} must be >= 1, got {value}")
        for name in ("timeout", "deadline"):
            if not (value := getattr(self, name)) > 0:
                raise ConfigError(f"{name} must be > 0 seconds, got {value}")
        for name in ("retries", "pause"):
            if not (value := getattr(self, name)) >= 0:
                raise ConfigError(f"{name} must be >= 0, got {value}")

    @cached_property
    def digest(self) -> str:
        """Of everything that can change a reply; what is served under the name is told by `served`."""
        said = [self.base_url.rstrip("/"), self.model, self.context, self.dialect, list(self.omit), dict(self.extra)]
        return digest(VERSION, REPAIR, *said, self.server.identity if self.server else None)

    def ask(self, request: ChatRequest) -> ChatReply:
        """The reply to one request. Raises ModelError, or a subclass, with the usage of all attempts."""
        return background.wait(self._ask(request))

    async def complete(self, request: ChatRequest) -> ChatReply:
        """`ask` for callers with an event loop of their own."""
        return await asyncio.wrap_future(background.submit(self._ask(request)))

    def served(self) -> Served:
        """What the server says of the model, asked once. Raises ServiceError when it does not serve that name."""
        return self._served

    def close(self) -> None:
        """Close the connections; the next `ask` opens new ones."""
        if found := self.__dict__.pop("_open", None):
            background.wait(found.close())

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}  # connections stay with their process

    # --- one request of a caller --------------------------------------------------------------------------------

    async def _ask(self, request: ChatRequest) -> ChatReply:
        item = _Item(phase=request.phase)
        async with self._connection().slots:
            try:
                async with asyncio.timeout(self.deadline):
                    return await self._converse(item, request)
            except TimeoutError:
                said = f"{self._where} gave no reply within the deadline of {self.deadline:g} s"
                raise ModelError(said, reason="deadline", usage=tuple(item.paid)) from None
            except ModelError as error:
                error.usage = tuple(item.paid)
                raise

    async def _converse(self, item: _Item, request: ChatRequest) -> ChatReply:
        """The reply, repaired at most once; a reply that was cut off is never asked for again unchanged."""
        messages = request.messages
        for last in (False, True):
            found = await self._attempt(item, replace(request, messages=messages))
            text, data, cut = found.text, None, found.finish == "length"
            if not cut:
                try:
                    text, data = self._read(found, request)
                except structured.MisfitError as misfit:
                    if last:
                        raise ReplyError(f"{self._where} was asked twice, and {misfit}", reason="invalid") from None
                    repair = Message(role="user", content=REPAIR.format(why=misfit))
                    messages = (*messages, Message(role="assistant", content=found.text), repair)
                    continue
            return ChatReply(
                text=text,
                data=data,
                model=found.model,
                truncated=cut,
                usage=tuple(item.paid),
                reasoning=found.reasoning,
            )
        raise AssertionError("unreachable: the second round returns or raises")

    def _read(self, found: wire.Completion, request: ChatRequest) -> tuple[str, object | None]:
        """What the reply says, in the shape asked for; thoughts are never taken for an answer."""
        if found.finish in ("content_filter", "refused"):
            raise ReplyError(f"{self._where} refused to answer (finish_reason {found.finish})", reason="filtered")
        if not found.text:
            thoughts = f"{len(found.reasoning)} characters of reasoning" if found.reasoning else "nothing else"
            raise ReplyError(f"{self._where} gave an empty reply beside {thoughts}", reason="empty")
        if request.choices and request.schema is None and self.dialect == "openai":
            _, data = structured.read(found.text, replace(request, schema=wire.wrapped(request.choices)))
            assert isinstance(data, dict)  # so says the schema
            return str(data[wire.CHOICE]), None
        return structured.read(found.text, request)

    async def _attempt(self, item: _Item, request: ChatRequest) -> wire.Completion:
        """One completion that the server stands by, after as many requests as the item has left."""
        told = wire.messages(request.messages)
        body: dict[str, Any] = {"model": self.model, "messages": told, "temperature": request.temperature}
        body[self.budget] = await self._room(item, told, request.max_tokens)
        body |= {"seed": request.seed} if request.seed is not None else {}
        body |= {**wire.constraint(request, self.dialect), **self.extra}
        body = {name: value for name, value in body.items() if name not in self.omit}
        found = await self._insist(item, "chat/completions", wire.completion, body)
        if found.model != self.model and not _DATED.fullmatch(found.model.removeprefix(self.model)):
            raise ModelError(f"{self._where} was answered by {found.model or 'no model'}", reason="wrong_model")
        return found

    async def _room(self, item: _Item, told: list[dict[str, str]], wanted: int) -> int:
        """max_tokens, cut to what the context has left beside the prompt. Raises PromptError if that is nothing.

        No text has more tokens than bytes, so most prompts need no counting. vLLM counts the others; elsewhere the
        count is an estimate, which may shorten a completion but not refuse a prompt.
        """
        size = sum(len(message["content"].encode()) for message in told)
        around = TEMPLATE * (len(told) + 1)
        if size + around + wanted <= self.context:
            return wanted
        if self.dialect != "vllm":
            return max(1, min(wanted, self.context - around - size // 3))
        body = {"model": self.model, "messages": told, **self.extra}
        room = self.context - await self._insist(item, urljoin(self._root, "tokenize"), _token_count, body)
        if room < 1:
            raise PromptError(
                f"{self._where} has {self.context} tokens of context, the prompt alone {self.context - room}",
                reason="prompt_too_long",
            )
        return min(wanted, room)

    # --- one HTTP request ---------------------------------------------------------------------------------------

    async def _insist(self, item: _Item, path: str, read: Callable[[str], T], body: object = None) -> T:
        """What `read` makes of the answer, after at most 1 + retries requests, the item's others included."""
        while True:
            began = time.perf_counter()
            try:
                found = await self._connection().send(path, read, body)
            except FaultError as fault:
                if read is wire.completion:
                    item.pay(self.model, time.perf_counter() - began)
                item.failures += 1
                if not fault.curable or item.failures > self.retries:
                    raise fault.final(self._where, item.failures) from fault.__cause__
                await asyncio.sleep(endpoint.pause(item.failures, fault.retry_after, self.pause))
            except asyncio.CancelledError:  # the deadline: what the server does of it is paid for all the same
                if read is wire.completion:
                    item.pay(self.model, time.perf_counter() - began)
                raise
            else:
                if isinstance(found, wire.Completion):
                    item.pay(found.model or self.model, time.perf_counter() - began, found)
                return found

    # --- the server ---------------------------------------------------------------------------------------------

    @cached_property
    def _served(self) -> Served:
        return background.wait(self._inspect())

    async def _inspect(self) -> Served:
        item = _Item(phase="inspect")
        found = await self._insist(item, "models", lambda body: listed(body, self.model))
        if not isinstance(found, Served):
            names = ", ".join(found[:8]) or "nothing"
            raise ServiceError(f"model must be one that {self.base_url} serves, got {self.model}. It serves {names}")
        engine = ""
        if self.dialect == "vllm":
            engine = await self._insist(
                item, urljoin(self._root, "version"), lambda body: str(json.loads(body)["version"])
            )
        return Served(id=found.id, root=found.root, engine=engine, context=found.context)

    def _connection(self) -> Connection:
        """The connection of this process. Called on the loop alone, so that it is made once."""
        found: Connection | None = self.__dict__.get("_open")
        if found is None or found.loop is not asyncio.get_running_loop():
            found = Connection(self.base_url, self.api_key_env, self.timeout, self.concurrency)
            self.__dict__["_open"] = found
            weakref.finalize(self, _hang_up, found)
        return found

    @property
    def _root(self) -> str:
        """Where vLLM answers what is not part of OpenAI's interface."""
        return self.base_url.rstrip("/").removesuffix("/v1") + "/"

    @property
    def _where(self) -> str:
        return f"model {self.model} at {self.base_url}"


@dataclass(kw_only=True)
class _Item:
    """One `ask` while it runs: what was paid for, and how often it failed."""

    phase: str
    paid: list[Usage] = field(default_factory=list)
    failures: int = 0

    def pay(self, model: str, seconds: float, found: wire.Completion | None = None) -> None:
        self.paid.append(
            Usage(
                phase=self.phase,
                model=model,
                prompt=(found.prompt if found else None) or 0,
                cached=found.cached if found else None,
                completion=(found.completion if found else None) or 0,
                reasoning=found.reasoned if found else None,
                seconds=seconds,
            )
        )


def _hang_up(connection: Connection) -> None:
    """Close a connection whose chat is gone, unless it was another process's."""
    if connection.loop is background.loop():
        background.submit(connection.close())


def _token_count(body: str) -> int:
    try:
        return int(json.loads(body)["count"])
    except (LookupError, TypeError) as error:
        raise ValueError(f"no token count: {body[:80]!r}") from error
