import json

import pytest

from sodamem.chat.cached import CachedChat
from sodamem.chat.scripted import ScriptedChat
from sodamem.chat.selftest import SHAPE, self_test
from sodamem.errors import ConfigError, ServiceError


def obedient(act, again=lambda number: "five rivers"):
    """A server that enforces what it is told to."""
    count = iter(range(1000))

    def reply(body):
        if "response_format" in body:
            assert body["response_format"]["json_schema"]["schema"] == SHAPE
            return act.says(json.dumps({"colour": "red", "warm": True}))(body)
        if "structured_outputs" in body:
            return act.says(body["structured_outputs"]["choice"][1])(body)
        return act.says(again(next(count)))(body)

    return reply


def test_a_server_as_configured_passes_and_says_what_it_is(server, chat, act):
    server.acts = [obedient(act)]
    found = self_test(chat(), times=4)
    assert found.reproducible and (found.served.id, found.served.engine) == ("m", "9.9")
    assert str(found) == "serves m, engine 9.9, context 4096; structured output enforced; reproducible: yes"
    assert len(found.usage) == 2 + 4 == len(server.bodies)


def test_replies_that_differ_are_said_to(server, chat, act):
    server.acts = [obedient(act, lambda number: "abc"[number % 3])]
    found = self_test(chat(), times=6)
    assert not found.reproducible and "reproducible: no (3 different replies in 6)" in str(found)


def test_a_server_that_ignores_shapes_is_found_out(server, chat, act):
    server.acts = [act.says("The sea is wide.")]
    with pytest.raises(ServiceError, match="must enforce a schema, and did not"):
        self_test(chat())
    server.acts = [
        lambda body: act.says("perhaps" if "structured_outputs" in body else '{"colour": "red", "warm": true}')(body)
    ]
    with pytest.raises(ServiceError, match="must enforce choices, and did not"):
        self_test(chat())
    server.acts = [act.says('Here: {"colour": "red", "warm": true}')]
    with pytest.raises(ServiceError, match="must enforce a schema"):
        self_test(chat())


def test_a_repair_does_not_pass_for_enforcement(server, chat, act):
    server.acts = [act.says("The sea."), act.says('{"colour": "red", "warm": true}')]
    with pytest.raises(ServiceError, match="must enforce a schema"):
        self_test(chat())


def test_a_plain_server_is_not_asked_to_enforce(server, chat, act):
    assert not self_test(chat(dialect="plain"), times=2).enforced


def test_a_context_that_is_not_there_is_refused_before_a_call(server, chat):
    with pytest.raises(ServiceError, match=r"context must be <= the 4096 tokens that m is served with, got 9000"):
        self_test(chat(context=9000))
    assert server.bodies == []


def test_a_cache_does_not_hide_the_server(server, chat, act, tmp_path):
    server.acts = [obedient(act)]
    kept = CachedChat(chat=chat(), path=tmp_path / "r.sqlite", mode="use")
    for _ in range(2):
        self_test(kept, times=2)
    assert len(server.bodies) == 2 * (2 + 2)


def test_the_scripted_chat_passes():
    assert self_test(ScriptedChat(model="scripted", rules=[]), times=2).reproducible
    with pytest.raises(ConfigError, match="model must"):
        ScriptedChat(model="", rules=[])
