import asyncio
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sodamem import endpoint
from sodamem.chat.openai_server import OpenAIChat
from sodamem.errors import ConfigError, ModelError, PromptError, ReplyError, ServiceError
from sodamem.types import Message

SHAPE = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def failure(chat, request, kind=ModelError):
    with pytest.raises(kind) as caught:
        chat.ask(request)
    return caught.value


# --- what comes back ----------------------------------------------------------------------------------------


def test_every_token_count_of_a_reply_is_kept_and_an_absent_one_is_unknown(server, chat, act, request_of):
    reply = chat().ask(request_of())
    assert (reply.text, reply.data, reply.model, reply.truncated) == ("hello", None, "m", False)
    (usage,) = reply.usage
    assert (usage.phase, usage.prompt, usage.cached, usage.completion, usage.reasoning) == ("read", 10, 4, 5, 2)
    assert usage.seconds > 0 and not usage.cache_hit
    server.acts = [act.says(usage=False)]
    (usage,) = chat().ask(request_of()).usage
    assert (usage.prompt, usage.cached, usage.completion, usage.reasoning) == (0, None, 0, None)


def test_the_request_is_sent_as_it_was_made(server, chat, request_of):
    messages = (Message(role="system", content="be brief"), Message(role="user", content="hi"))
    chat(extra={"top_k": 1}, omit=["temperature"]).ask(
        request_of(messages=messages, seed=7, temperature=0.5, schema=None)
    )
    assert server.bodies == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
            "max_tokens": 100,
            "seed": 7,
            "top_k": 1,
        }
    ]


def test_each_dialect_enforces_shapes_in_its_own_way(server, chat, act, request_of):
    server.acts = [act.says("yes")]
    assert chat().ask(request_of(choices=("yes", "no"))).text == "yes"
    server.acts = [act.says('{"choice": "no"}')]
    assert chat(dialect="openai").ask(request_of(choices=("yes", "no"))).text == "no"
    server.acts = [act.says('{"a": 1}')]
    assert chat(dialect="plain").ask(request_of(schema=SHAPE)).data == {"a": 1}
    assert chat().ask(request_of(schema=SHAPE)).data == {"a": 1}
    guided, wrapped, plain, schema = server.bodies
    assert guided["structured_outputs"] == {"choice": ["yes", "no"]}
    assert wrapped["response_format"]["json_schema"]["schema"]["properties"]["choice"]["enum"] == ["yes", "no"]
    assert "response_format" not in plain
    assert schema["response_format"]["json_schema"] == {"name": "reply", "strict": True, "schema": SHAPE}


def test_a_choice_that_is_not_one_of_them_is_refused_even_if_the_server_let_it_pass(server, chat, act, request_of):
    server.acts = [act.says("perhaps")]
    error = failure(chat(), request_of(choices=("yes", "no")), ReplyError)
    assert error.reason == "invalid" and len(error.usage) == 2 == len(server.bodies)
    server.acts = [act.says("perhaps"), act.says("no")]
    assert chat().ask(request_of(choices=("yes", "no"))).text == "no"


def test_one_repair_names_the_fault_and_both_attempts_are_paid_for(server, chat, act, request_of):
    server.acts = [act.says('Sure! {"a": "one"}'), act.says('{"a": 1}')]
    reply = chat().ask(request_of(schema=SHAPE))
    assert reply.data == {"a": 1} and [usage.completion for usage in reply.usage] == [5, 5]
    repair = server.bodies[1]["messages"]
    assert repair[1] == {"role": "assistant", "content": 'Sure! {"a": "one"}'}
    assert "$.a" in repair[2]["content"] and "integer" in repair[2]["content"]


def test_a_reply_that_stays_misshapen_is_a_failure_and_never_an_empty_value(server, chat, act, request_of):
    server.acts = [act.says("[]")]
    error = failure(chat(), request_of(schema=SHAPE), ReplyError)
    assert error.reason == "invalid" and len(error.usage) == 2 == len(server.bodies)


def test_a_reply_that_was_cut_off_is_marked_and_not_asked_for_again(server, chat, act, request_of):
    server.acts = [act.says('{"a": 1', finish="length")]
    reply = chat().ask(request_of(schema=SHAPE))
    assert reply.truncated and reply.data is None and reply.text == '{"a": 1'
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("content", "field", "thoughts"),
    [
        ('<think>{"a": 1}</think>{"a": 2}', {}, '{"a": 1}'),
        ('x</think>{"a": 2}', {}, "x"),
        ('<think>x</think>y</think> {"a": 2}', {}, "x</think>y"),
        ('{"a": 2}', {"reasoning_content": "x"}, "x"),
        ('{"a": 2}', {"reasoning": "x"}, "x"),
    ],
)
def test_thoughts_are_kept_apart_from_the_answer(server, chat, act, request_of, content, field, thoughts):
    server.acts = [act.says(content, **field)]
    reply = chat().ask(request_of(schema=SHAPE))
    assert reply.data == {"a": 2} and reply.reasoning == thoughts


@pytest.mark.parametrize("content", [None, "", " \n", "<think>still at it"])
def test_thoughts_are_never_taken_for_an_answer(server, chat, act, request_of, content):
    server.acts = [act.says(content, reasoning_content='{"a": 2}')]
    error = failure(chat(), request_of(schema=SHAPE), ReplyError)
    assert error.reason == "empty" and "characters of reasoning" in str(error)
    assert len(error.usage) == 1 == len(server.bodies)


def test_a_filtered_reply_is_a_failure(server, chat, act, request_of):
    for filtered in (act.says("", finish="content_filter"), act.says(None, refusal="I cannot help")):
        server.acts = [filtered]
        assert failure(chat(), request_of(), ReplyError).reason == "filtered"


def test_half_a_surrogate_pair_breaks_neither_request_nor_reply(server, chat, act, request_of):
    server.acts = [act.says('{"a": "\\ud83d\\ude42 \\ud83d"}')]
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    reply = chat().ask(request_of("half \ud83d pair", schema=schema))
    assert reply.data == {"a": "\U0001f642 \ufffd"}
    assert server.bodies[0]["messages"][0]["content"] == "half \ufffd pair"


# --- budgets ------------------------------------------------------------------------------------------------


def test_max_tokens_is_cut_to_what_the_context_has_left(server, chat, request_of):
    server.tokens = 4000
    chat().ask(request_of(max_tokens=131072))
    assert server.bodies[0]["max_tokens"] == 96
    assert server.paths == ["/tokenize", "/v1/chat/completions"]


def test_a_prompt_that_surely_fits_is_not_counted(server, chat, request_of):
    chat().ask(request_of("x" * 3000, max_tokens=900))
    assert server.paths == ["/v1/chat/completions"]


def test_a_prompt_too_long_is_never_sent(server, chat, request_of):
    server.tokens = 4096
    error = failure(chat(), request_of("x" * 5000), PromptError)
    assert error.reason == "prompt_too_long" and "4096 tokens of context" in str(error)
    assert server.bodies == []


def test_an_estimate_shortens_a_completion_but_refuses_nothing(server, chat, act, request_of):
    open_ai = chat(dialect="openai")
    open_ai.ask(request_of("x" * 3000, max_tokens=9000))
    assert server.bodies[0]["max_tokens"] == 4096 - 2 * 64 - 1000
    server.acts = [act.refuses(400, "This model's maximum context length is 4096 tokens")]
    assert failure(open_ai, request_of("x" * 30000), PromptError).reason == "prompt_too_long"
    assert len(server.bodies) == 2 and server.bodies[1]["max_tokens"] == 1


# --- faults -------------------------------------------------------------------------------------------------


def test_a_storm_of_429_is_met_by_one_retry_layer(server, chat, act, request_of):
    server.acts = [act.refuses(429, retry_after="0")]
    error = failure(chat(retries=3), request_of())
    assert error.reason == "rate_limited" and "after 4 failed attempts" in str(error)
    assert len(server.bodies) == 1 + 3 == len(error.usage)


def test_retry_after_goes_before_the_back_off(server, chat, act, request_of, monkeypatch):
    asked = []
    monkeypatch.setattr(endpoint, "pause", lambda failures, wait, first: asked.append((failures, wait, first)) or 0.0)
    server.acts = [act.refuses(429, retry_after="7"), act.refuses(500), act.says()]
    assert chat(pause=0.5).ask(request_of()).text == "hello"
    assert asked == [(1, "7", 0.5), (2, None, 0.5)]


@pytest.mark.parametrize(
    ("failures", "header", "seconds"),
    [
        (1, None, 1),
        (2, None, 2),
        (3, "soon", 4),
        (1, "7", 7),
        (1, "0", 0),
        (1, "86400", 60),
        (9, None, 60),
        (2, "nan", 2),
        (2, "-3", 2),
    ],
)
def test_pauses_double_and_are_bounded(failures, header, seconds):
    assert endpoint.pause(failures, header) == seconds


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_refusal_is_not_repeated(server, chat, act, request_of, status):
    server.acts = [act.refuses(status)]
    error = failure(chat(), request_of())
    assert error.reason == "refused" and str(status) in str(error) and "\n" not in str(error)
    assert len(server.bodies) == 1 == len(error.usage)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cuts", "unreachable"),
        ("garbage", "malformed"),
        ("hollow", "malformed"),
        ("html", "malformed"),
        ("error", "server_error"),
    ],
)
def test_what_another_attempt_can_cure_is_tried_again(server, chat, act, request_of, name, reason):
    fault = {
        "cuts": act.cuts(),
        "garbage": act.raw(b'{"choices": ['),
        "hollow": act.raw({"choices": []}),
        "html": act.raw(b"<html>busy</html>", **{"content-type": "text/html"}),
        "error": act.refuses(503),
    }[name]
    server.acts = [fault, act.says()]
    reply = chat().ask(request_of())
    assert reply.text == "hello" and [usage.completion for usage in reply.usage] == [0, 5]
    server.acts, server.bodies = [fault], []
    assert failure(chat(), request_of()).reason == reason
    assert len(server.bodies) == 1 + 2


def test_a_call_that_is_never_answered_ends_and_is_counted(server, chat, act, request_of):
    server.acts = [act.hangs()]
    error = failure(chat(timeout=0.1, retries=1), request_of())
    assert error.reason == "timeout" and len(error.usage) == 2


def test_pauses_and_attempts_together_end_at_the_deadline(server, chat, act, request_of):
    server.acts = [act.hangs()]
    began = time.monotonic()
    error = failure(chat(timeout=10.0, deadline=0.2), request_of())
    assert error.reason == "deadline" and len(error.usage) == 1 and time.monotonic() - began < 5
    server.acts = [act.refuses(429, retry_after="50")]
    assert failure(chat(deadline=0.2), request_of()).reason == "deadline"


def test_another_model_under_the_name_is_refused_and_a_dated_one_is_not(server, chat, act, request_of):
    server.acts = [act.says(model="m-mini")]
    assert failure(chat(), request_of()).reason == "wrong_model"
    server.acts = [act.says(model="m-2024-08-06")]
    assert chat().ask(request_of()).model == "m-2024-08-06"


def test_a_server_that_is_not_there_gives_one_line(options, request_of):
    absent = OpenAIChat(**options(retries=1))
    error = failure(absent, request_of())
    assert error.reason == "unreachable" and "Is the server up?" in str(error)
    absent.close()


def test_no_key_is_printed(server, chat, act, request_of, monkeypatch):
    monkeypatch.setenv("TEST_KEY", "sk-canary-4711")
    server.acts = [act.refuses(401, "bad key sk-canary-4711")]
    named = chat(api_key_env="TEST_KEY")
    assert "sk-canary" not in str(failure(named, request_of())) + repr(named) + named.digest


def test_requests_and_reasons_stay_bounded_under_all_faults_at_once(server, chat, act, request_of):
    faults = [
        act.refuses(429, retry_after="0"),
        act.refuses(500),
        act.cuts(),
        act.raw(b"{"),
        act.says("x", model="other"),
    ]
    faults += [
        act.says("", reasoning_content="r"),
        act.says("[", finish="length"),
        act.says("<think>a</think>[]"),
        act.hangs(),
    ]
    turns = threading.Lock()
    count = iter(range(10**6))

    def any_fault(body):
        with turns:
            place = next(count)
        return (act.says('{"a": 1}') if place % 3 == 0 else faults[place % len(faults)])(body)

    server.acts = [any_fault]
    asked, retries = 60, 2
    stormy = chat(retries=retries, timeout=0.2, concurrency=16)

    def one(number):
        try:
            reply = stormy.ask(request_of(f"question {number}", schema=SHAPE))
        except ModelError as error:
            return error.reason
        return "truncated" if reply.truncated else reply.data

    with ThreadPoolExecutor(32) as pool:
        ends = list(pool.map(one, range(asked)))
    known = {
        "rate_limited",
        "server_error",
        "unreachable",
        "malformed",
        "timeout",
        "wrong_model",
        "empty",
        "invalid",
        "truncated",
    }
    assert all(end == {"a": 1} or end in known for end in ends) and len(ends) == asked
    assert len(server.bodies) <= asked * (1 + retries + 1)  # + one repair


# --- concurrency --------------------------------------------------------------------------------------------


def test_no_more_requests_are_in_flight_than_allowed(server, chat, act, request_of):
    flying, most, lock = 0, 0, threading.Lock()

    def watch(body):
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
        time.sleep(0.01)
        with lock:
            flying -= 1
        return act.says()(body)

    server.acts = [watch]
    bounded = chat(concurrency=3)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: bounded.ask(request_of()), range(30)))
    assert most == 3


def test_one_failure_loses_no_other_reply(server, chat, act, request_of):
    server.acts = [lambda body: (act.refuses(400) if "bad" in body["messages"][0]["content"] else act.says())(body)]
    shared = chat()

    async def gather():
        asked = [request_of("bad" if number == 5 else "good") for number in range(20)]
        return await asyncio.gather(*map(shared.complete, asked), return_exceptions=True)

    ends = asyncio.run(gather())
    assert [number for number, end in enumerate(ends) if isinstance(end, ModelError)] == [5]
    assert sum(getattr(end, "text", "") == "hello" for end in ends) == 19


def test_a_chat_that_was_used_can_still_be_sent_to_another_process(chat, request_of):
    used = chat()
    used.ask(request_of())
    copy = pickle.loads(pickle.dumps(used))
    assert copy == used and copy.digest == used.digest
    assert copy.ask(request_of()).text == "hello"
    copy.close()


# --- identity -----------------------------------------------------------------------------------------------


def test_the_server_says_what_it_serves(server, chat):
    found = chat().served()
    assert (found.id, found.root, found.engine, found.context) == ("m", "weights/m", "9.9", 4096)


def test_a_name_that_is_not_served_is_refused_with_both_names(server, chat):
    server.models = ("Qwen/other",)
    with pytest.raises(ServiceError, match=r"got m\. It serves Qwen/other"):
        chat().served()


def test_the_digest_changes_with_what_changes_replies_and_not_with_patience(options):
    def digest(**changes):
        return OpenAIChat(**options(**changes)).digest

    same = {"concurrency": 1, "timeout": 1.0, "deadline": 1.0, "retries": 9, "pause": 9.0}
    assert all(digest(**{name: value}) == digest() for name, value in same.items())
    other = {
        "model": "n",
        "base_url": "http://127.0.0.1:10/v1",
        "context": 1,
        "dialect": "plain",
        "omit": ["seed"],
        "extra": {"top_k": 1},
    }
    assert len({digest(**{name: value}) for name, value in other.items()} | {digest()}) == len(other) + 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base_url": "127.0.0.1/v1"}, "base_url must be an http or https URL"),
        ({"base_url": "http://user:secret@host/v1"}, "base_url must hold no user or password"),
        ({"dialect": "other"}, "dialect must be one of vllm, openai, plain, got other"),
        ({"context": 0}, "context must be >= 1, got 0"),
        ({"concurrency": 0}, "concurrency must be >= 1, got 0"),
        ({"timeout": 0.0}, "timeout must be > 0 seconds, got 0.0"),
        ({"deadline": float("nan")}, "deadline must be > 0 seconds, got nan"),
        ({"retries": -1}, "retries must be >= 0, got -1"),
        ({"pause": -1.0}, "pause must be >= 0, got -1.0"),
    ],
)
def test_bad_options_are_named(options, change, message):
    with pytest.raises(ConfigError, match=message):
        OpenAIChat(**options(**change))
