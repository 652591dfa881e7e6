"""What the client costs: calls a second through `OpenAIChat.ask`, beside a bare asyncio loop over the same server.

The server stands on loopback in a process of its own and takes a fixed time for a reply. The baseline is the `openai`
client without retries, checks or accounts, as many requests in flight. Rounds alternate; the ratio is of the medians.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import median

from experiments import common
from sodamem import endpoint
from sodamem.chat.openai_server import OpenAIChat
from sodamem.types import ChatRequest, Message

MODEL, WORDS = "bench", "what did Ann say of the trip? " * 20


def reply(said: str, prompt: int, completion: int) -> bytes:
    """A whole HTTP response with one completion in it."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    head = {"id": "x", "object": "chat.completion", "created": 0, "model": MODEL}
    body = json.dumps({**head, "choices": [choice], "usage": usage}).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


def server(pipe: Connection, latency: float, answered: bytes) -> None:
    """Answer every request in the same words after `latency` seconds, on a port that is sent through the pipe."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.split(b":")[1]))
                await asyncio.sleep(latency)
                writer.write(answered)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        listening = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
        pipe.send(listening.sockets[0].getsockname()[1])
        await listening.serve_forever()

    asyncio.run(run())


@contextmanager
def serving(latency: float, answered: bytes) -> Iterator[str]:
    """The base URL of a server in a process of its own."""
    spawn = get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=server, args=(there, latency, answered), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def bare(url: str, calls: int, concurrency: int) -> float:
    """Seconds for `calls` completions with nothing around the client but a semaphore."""

    async def run() -> float:
        client = endpoint.sdk().AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
        slots = asyncio.Semaphore(concurrency)

        async def one(number: int) -> str:
            async with slots:
                messages = [{"role": "user", "content": f"{WORDS}{number}"}]
                reply = await client.chat.completions.create(model=MODEL, messages=messages, max_tokens=64)
            return str(reply.choices[0].message.content)

        began = time.perf_counter()
        await asyncio.gather(*map(one, range(calls)))
        took = time.perf_counter() - began
        await client.close()
        return took

    return asyncio.run(run())


def ours(url: str, calls: int, concurrency: int) -> float:
    """Seconds for as many through blocking `ask`, from one thread for each request in flight."""
    chat = OpenAIChat(
        base_url=url,
        model=MODEL,
        api_key_env=None,
        context=8192,
        concurrency=concurrency,
        timeout=60.0,
        deadline=60.0,
        retries=0,
        pause=1.0,
        dialect="vllm",
        budget="max_tokens",
        omit=[],
        extra={},
        server=None,
    )

    def one(number: int) -> str:
        message = Message(role="user", content=f"{WORDS}{number}")
        return chat.ask(ChatRequest(phase="read", messages=(message,), max_tokens=64)).text

    with ThreadPoolExecutor(concurrency) as pool:
        began = time.perf_counter()
        list(pool.map(one, range(calls)))
        took = time.perf_counter() - began
    chat.close()
    return took


def script() -> None:
    options = common.arguments(__doc__)
    options.add_argument("--calls", type=int, default=1024, help="completions in one round")
    options.add_argument("--concurrency", type=int, default=64, help="requests in flight")
    options.add_argument("--latency", type=float, default=0.5, help="seconds the server takes for a reply")
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    rates: dict[str, list[float]] = {"bare": [], "ours": []}
    with serving(given.latency, reply("She liked it.", 150, 5)) as url:
        for way in (bare, ours):  # warm-up: imports, connections
            way(url, given.concurrency, given.concurrency)
        for _ in range(given.rounds):
            for way in (bare, ours):
                rates[way.__name__].append(given.calls / way(url, given.calls, given.concurrency))
    theirs, mine = median(rates["bare"]), median(rates["ours"])
    print(
        f"chat client, {given.concurrency} in flight, {given.latency:g} s a reply: {mine:.1f} calls/s, bare asyncio "
        f"{theirs:.1f} (at most {given.concurrency / given.latency:.1f}); ratio {mine / theirs:.3f}"
    )
    rows: list[dict[str, common.Cell]] = [
        {"way": way, "round": place, "calls_per_second": rate} for way in rates for place, rate in enumerate(rates[way])
    ]
    common.save([*rows, {"way": "ratio", "round": None, "calls_per_second": mine / theirs}], given.json)


if __name__ == "__main__":
    common.main(script)
