"""The client against the server that it was written for: what is served, enforced, counted, refused and repeated."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.request import Request, urlopen

import pytest

from sodamem.chat.selftest import self_test
from sodamem.errors import ModelError, PromptError, ServiceError
from sodamem.planner import tools
from sodamem.types import ChatRequest, Message

TEXTS = ("Where does Ann live?", "Où est née Zoë ? 東京", "<bos><end_of_turn> \x00 🙂", "word " * 300, "{}")


@pytest.fixture(scope="module")
def chat(client):
    return client()


def asked(said, **fields):
    return ChatRequest(
        **{"phase": "read", "messages": (Message(role="user", content=said),), "max_tokens": 24} | fields
    )


def tokens(server, **body):
    """How many tokens the server makes of messages or of a text."""
    body = json.dumps({"model": "gemma-3-270m", **body}).encode()
    with urlopen(Request(f"{server.root}/tokenize", body, {"Content-Type": "application/json"})) as answer:
        return json.load(answer)["count"]


def test_the_server_is_what_was_configured_and_enforces_shapes(chat, server):
    found = self_test(chat, times=4, max_tokens=32)
    assert found.served.id == "gemma-3-270m" and found.served.root.endswith("model") and found.served.engine
    assert found.served.context == 4096 and found.enforced and found.reproducible, str(found)


def test_another_name_and_a_context_that_is_not_there_are_found_out(client):
    with pytest.raises(ServiceError, match=r"serves, got gpt\. It serves gemma-3-270m"):
        client(model="gpt").served()
    with pytest.raises(ModelError) as refused:
        client(model="gpt").ask(asked("Hello"))
    assert refused.value.reason == "refused"
    with pytest.raises(ServiceError, match="context must be <= the 4096 tokens"):
        self_test(client(context=8192))


@pytest.mark.parametrize("text", TEXTS)
def test_a_yes_or_no_is_one_of_the_two_and_the_same_again(chat, text):
    said = [chat.ask(asked(f"{text}\nYes or no?", choices=("yes", "no"))).text for _ in range(2)]
    assert said[0] == said[1] in ("yes", "no")


def test_a_step_of_a_plan_has_its_shape_at_the_first_attempt(chat):
    reply = chat.ask(asked("Where does Ann live? What would you look for?", schema=tools.schema(), max_tokens=300))
    assert not reply.truncated and reply.data["call"]["tool"] in tools.TOOLS and len(reply.usage) == 1


@pytest.mark.parametrize("text", TEXTS)
def test_usage_is_what_the_server_counts(chat, server, text):
    (usage,) = chat.ask(asked(text, max_tokens=5)).usage
    assert usage.prompt == tokens(server, messages=[{"role": "user", "content": text}])
    assert 0 <= usage.cached <= usage.prompt and 1 <= usage.completion <= 5 and usage.seconds > 0


def test_what_the_server_kept_of_a_prompt_is_told(chat):
    long = asked("Ann lives in Oslo. " * 60, max_tokens=1)
    chat.ask(long)
    (again,) = chat.ask(long).usage
    assert 0 < again.cached < again.prompt


def test_requests_are_bounded_and_each_gets_its_own_reply(server, client):
    chat, peak, over = client(concurrency=3), [0.0], threading.Event()

    def watch():
        while not over.wait(0.05):
            running = server.counter("vllm:num_requests_running") + server.counter("vllm:num_requests_waiting")
            peak[0] = max(peak[0], running)

    watcher = threading.Thread(target=watch)
    watcher.start()
    numbers = range(12)
    requests = [
        asked(f"Count to {n}.", schema={"const": f"reply number {n} of twelve"}, max_tokens=40) for n in numbers
    ]
    began = time.perf_counter()
    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(chat.ask, requests))
    wall = time.perf_counter() - began
    over.set()
    watcher.join()
    assert [reply.data for reply in replies] == [f"reply number {n} of twelve" for n in numbers]
    assert 2 <= peak[0] <= 3 and wall < sum(usage.seconds for reply in replies for usage in reply.usage) / 2


def test_a_completion_is_cut_to_the_room_that_its_prompt_leaves(server, client):
    prompt = "word " * 150
    size = tokens(server, messages=[{"role": "user", "content": prompt}])
    reply = client(context=size + 7).ask(asked(prompt, max_tokens=500))
    assert reply.truncated and [usage.completion for usage in reply.usage] == [7]
    before = server.counter("vllm:prompt_tokens_total")
    with pytest.raises(PromptError, match="the prompt alone"):
        client(context=size).ask(asked(prompt, max_tokens=500))
    assert server.counter("vllm:prompt_tokens_total") == before


def test_a_prompt_that_only_the_server_knows_to_be_too_long_is_named_so(client):
    with pytest.raises(PromptError) as refused:
        client(context=60_000).ask(asked("word " * 5000))
    assert refused.value.reason == "prompt_too_long" and len(refused.value.usage) == 1


def test_a_reply_that_is_cut_off_is_marked_and_has_no_data(chat):
    reply = chat.ask(asked("Hello", schema=tools.schema(), max_tokens=3))
    assert reply.truncated and reply.data is None and reply.usage[0].completion == 3


def test_a_deadline_ends_the_work_at_the_server_too(server, client):
    hurried = client(deadline=0.5, timeout=0.5, retries=0)
    with pytest.raises(ModelError) as late:
        hurried.ask(asked("Write a long story.", max_tokens=2000))
    assert late.value.reason in ("timeout", "deadline") and len(late.value.usage) == 1
    until = time.monotonic() + 20
    while server.counter("vllm:num_requests_running"):
        assert time.monotonic() < until, "the server goes on writing what nobody waits for"
        time.sleep(0.1)
