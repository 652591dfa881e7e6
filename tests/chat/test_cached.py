from dataclasses import dataclass, field, replace

import pytest

from sodamem.chat.cached import CachedChat, key
from sodamem.chat.served import Served
from sodamem.errors import ConfigError, ModelError, StoreError
from sodamem.types import ChatReply, Message, Usage


@dataclass(kw_only=True)
class Counting:
    """A chat that numbers its replies."""

    digest: str = "d"
    model: str = "m"
    truncated: bool = False
    fails: bool = False
    asked: list = field(default_factory=list)

    def served(self):
        return Served(id=self.model)

    def ask(self, request):
        self.asked.append(request)
        if self.fails:
            raise ModelError("no", reason="refused")
        usage = (Usage(phase=request.phase, model=self.model, prompt=3, cached=1, completion=2, seconds=1.5),)
        return ChatReply(
            text=str(len(self.asked)), data={"a": ["é", 1.5]}, model=self.model, truncated=self.truncated, usage=usage
        )


@pytest.fixture
def cached(tmp_path):
    return lambda chat, mode="use": CachedChat(chat=chat, path=tmp_path / "replies.sqlite", mode=mode)


def test_a_reply_is_paid_for_once_and_then_counted_as_a_hit(cached, request_of):
    chat = Counting()
    first, again = cached(chat).ask(request_of()), cached(chat).ask(request_of())
    assert len(chat.asked) == 1
    assert replace(again, usage=first.usage) == first
    assert again.usage == (replace(first.usage[0], cache_hit=True, seconds=0.0),)
    assert not first.usage[0].cache_hit


CHANGES = [
    {"phase": "judge"},
    {"messages": (Message(role="system", content="hello?"),)},
    {"messages": (Message(role="user", content="hello!"),)},
    {"max_tokens": 101},
    {"temperature": 1.0},
    {"seed": 0},
    {"seed": 1},
    {"schema": {}},
    {"schema": {"properties": {"a": {}, "b": {}}}},
    {"schema": {"properties": {"b": {}, "a": {}}}},  # the order of fields is the order in which a model thinks
    {"choices": ("a", "b")},
    {"choices": ("b", "a")},
    {"repeat": 1},
]


def test_whatever_can_change_a_reply_is_in_its_key(request_of):
    served = Served(id="m")
    keys = [key(request_of(**change), "d", served) for change in ({}, *CHANGES)]
    keys += [key(request_of(), "e", served)]
    keys += [
        key(request_of(), "d", other)
        for other in (Served(id="n"), Served(id="m", root="w"), Served(id="m", engine="2"))
    ]
    assert len(set(keys)) == len(keys) == 18
    assert key(request_of(), "d", Served(id="m", context=5)) == keys[0]


def test_failures_and_truncated_replies_are_asked_for_again(cached, request_of):
    for chat in (Counting(truncated=True), Counting(fails=True)):
        for _ in range(2):
            try:
                assert not cached(chat).ask(request_of()).usage[0].cache_hit
            except ModelError as error:
                assert error.reason == "refused"
        assert len(chat.asked) == 2


def test_a_replay_needs_no_server_and_makes_no_call(cached, request_of, monkeypatch):
    chat = Counting()
    first = cached(chat).ask(request_of())
    monkeypatch.setattr(Counting, "served", lambda self: pytest.fail("a replay asked the server"))
    replay = cached(chat, "replay")
    assert replay.ask(request_of()).text == first.text
    with pytest.raises(ModelError, match="lacks one of phase judge"):
        replay.ask(request_of(phase="judge"))
    with pytest.raises(ModelError, match="holds none"):
        cached(Counting(digest="never seen"), "replay").ask(request_of())
    assert len(chat.asked) == 1


def test_a_lone_surrogate_can_be_kept(cached, request_of):
    asked = request_of("half \ud83d")
    assert cached(Counting()).ask(asked).text == cached(Counting()).ask(asked).text


def test_a_damaged_cache_is_one_line_and_not_a_silent_miss(cached, request_of, tmp_path):
    (tmp_path / "replies.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match=r"reply cache .* is damaged"):
        cached(Counting()).ask(request_of())


def test_bad_options_are_named(cached):
    with pytest.raises(ConfigError, match="mode must be use or replay, got maybe"):
        cached(Counting(), "maybe")
