"""What a stretch of work costs: every attempt, failed ones too, of this thread alone."""

import threading

import pytest

from sodamem.chat.metered import MeteredChat, meter
from sodamem.chat.none import NoChat
from sodamem.errors import ConfigError, ModelError
from sodamem.types import Usage


def test_an_attempt_counts_whether_it_succeeds_or_not(saying, request_of):
    lost = Usage(phase="read", model="m", prompt=7)
    chat = MeteredChat(chat=saying({}, ModelError("gone", reason="timeout", usage=(lost, lost))))
    with meter() as paid:
        chat.ask(request_of())
        with pytest.raises(ModelError):
            chat.ask(request_of())
    assert [usage.prompt for usage in paid] == [10, 7, 7]


def test_an_inner_meter_has_its_attempts_to_itself_and_none_is_needed(saying, request_of):
    chat = MeteredChat(chat=saying({}, {}, {}))
    with meter() as outer:
        chat.ask(request_of())
        with meter() as inner:
            chat.ask(request_of())
    chat.ask(request_of())
    assert len(outer) == len(inner) == 1


def test_threads_do_not_pay_for_each_other(saying, request_of):
    chat = MeteredChat(chat=saying({}, {}))
    with meter() as mine:
        other = threading.Thread(target=lambda: chat.ask(request_of()))
        other.start()
        other.join()
        chat.ask(request_of())
    assert len(mine) == 1


def test_it_is_the_chat_that_it_meters(saying):
    assert MeteredChat(chat=saying()).digest == "saying"


def test_no_model_says_how_to_get_one(request_of):
    with pytest.raises(ConfigError, match=r"phase read needs a chat, got none\. Choose one with chat="):
        NoChat().ask(request_of())
