"""Tunnels over one plain signal each: who spoke, when, whether a time is stated, whether anything is stated."""

from datetime import datetime

import pytest

from sodamem.errors import ConfigError
from sodamem.timeline.none import NoTimeline
from sodamem.tunnel.speaker import SpeakerTunnel
from sodamem.tunnel.statement import StatementTunnel
from sodamem.tunnel.time import TimeTunnel
from sodamem.tunnel.when import WhenTunnel
from sodamem.types import Interval, TimeValue, Window


def scores(tunnel, snapshot, query):
    found = tunnel.open(snapshot).search(query)
    assert found.direct.all() and found.head.tolist() == list(range(1, len(found) + 1))
    return dict(zip(found.item.tolist(), found.score.tolist(), strict=True))


def window(start, end):
    return Window(interval=Interval(start=datetime.fromisoformat(start), end=datetime.fromisoformat(end), grain="span"))


@pytest.fixture(scope="module")
def snapshot(talk, remember):
    def times(words, at):
        if "on" not in words.split():
            return ()
        day = Interval(start=datetime(2024, 1, 1), end=datetime(2024, 1, 2), grain="day")
        interval = None if "once" in words else day
        return (TimeValue(words="on", start=0, end=2, anchor=at, interval=interval, rule="r", version="1"),)

    history = talk(
        {
            "a 2024-05-01T10:00": ["Ann: I left on Monday.", "Bob: Why?  ", "Bob: Tell me", "Ann: He was on once"],
            "b 2024-05-11T10:00": ["Bob: 何ですか？", "Ann: So."],
        }
    )
    return remember(history, times=times)


@pytest.fixture(scope="module")
def empty(talk, remember):
    return remember(talk({}))


ALL = [
    SpeakerTunnel(strength="weak", reply=0.5),
    StatementTunnel(strength="weak"),
    TimeTunnel(strength="weak", after=20, before=3),
    WhenTunnel(strength="weak"),
]


@pytest.mark.parametrize("tunnel", ALL, ids=lambda tunnel: type(tunnel).__name__)
def test_an_empty_memory_can_be_searched(empty, asking, tunnel):
    query = asking("When did Ann leave?", speakers=("Ann",), window=window("2024-01-01", "2024-02-01"))
    assert scores(tunnel, empty, query) == {}


# --- speaker ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reply", "expected"), [(0.0, {0: 1, 3: 1, 5: 1}), (0.4, {0: 1, 3: 1, 5: 1, 1: 0.4})])
def test_turns_of_the_one_who_is_asked_about(snapshot, asking, reply, expected):
    # Turn 1 answers Ann; turn 4 follows her in the rows, but begins another session.
    assert scores(SpeakerTunnel(strength="weak", reply=reply), snapshot, asking(speakers=("Ann",))) == expected


@pytest.mark.parametrize("speakers", [(), ("Ann", "Bob"), ("Zoe",)])
def test_naming_nobody_or_everybody_is_no_signal(snapshot, asking, speakers):
    assert scores(SpeakerTunnel(strength="weak", reply=0.4), snapshot, asking(speakers=speakers)) == {}


# --- statement ----------------------------------------------------------------------------------------------


def test_turns_that_only_ask_are_no_statements(snapshot, asking):
    assert scores(StatementTunnel(strength="weak"), snapshot, asking()) == {0: 1, 2: 1, 3: 1, 5: 1}


# --- when ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", ["When did Ann leave?", "Which month was it?", "how long ago", "How many days, then?"]
)
def test_a_question_for_a_time_finds_turns_that_state_one(snapshot, asking, words):
    assert scores(WhenTunnel(strength="weak"), snapshot, asking(words)) == {0: 1}  # turn 3's is unresolved


@pytest.mark.parametrize("words", ["Where did Ann go when young?", "What is whenever?", ""])
def test_another_question_finds_nothing(snapshot, asking, words):
    assert scores(WhenTunnel(strength="weak"), snapshot, asking(words)) == {}


def test_without_a_timeline_no_turn_states_a_time(talk, remember, asking):
    memory = remember(talk({"a 2024-01-01": ["Ann: on 5 May"]}), times=NoTimeline().read)
    assert scores(WhenTunnel(strength="weak"), memory, asking("When?")) == {}


# --- time ---------------------------------------------------------------------------------------------------


def test_nearness_falls_off_behind_the_window_and_ahead_of_it(snapshot, asking):
    tunnel = TimeTunnel(strength="weak", after=20, before=4)
    inside = scores(tunnel, snapshot, asking(window=window("2024-05-01", "2024-05-02")))
    days = 9 + 10 / 24  # from midnight of the 2nd to 10:00 on the 11th
    assert inside == pytest.approx({0: 1, 1: 1, 2: 1, 3: 1, 4: 1 - days / 20, 5: 1 - days / 20}, abs=1e-6)
    ahead = scores(tunnel, snapshot, asking(window=window("2024-05-12T10:00", "2024-05-13")))
    assert ahead == pytest.approx({4: 1 - 1 / 4, 5: 1 - 1 / 4})


def test_a_window_is_half_open(snapshot, asking):
    sharp = TimeTunnel(strength="weak", after=0, before=0)
    assert set(scores(sharp, snapshot, asking(window=window("2024-05-01T10:00", "2024-05-02")))) == {0, 1, 2, 3}
    assert scores(sharp, snapshot, asking(window=window("2024-04-01", "2024-05-01T10:00"))) == {}


def test_no_window_no_hits(snapshot, asking):
    assert scores(TimeTunnel(strength="weak", after=20, before=3), snapshot, asking()) == {}


# --- as-of --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tunnel", ALL, ids=lambda tunnel: type(tunnel).__name__)
def test_nothing_said_later_is_seen(snapshot, asking, tunnel):
    query = asking(
        "When did Ann leave?",
        speakers=("Ann",),
        window=window("2024-05-01", "2024-06-01"),
        as_of=datetime(2024, 5, 2),
    )
    found = scores(tunnel, snapshot, query)
    assert found and set(found) <= {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SpeakerTunnel(strength="weak", reply=1.5), r"speaker\.reply must be between 0 and 1, got 1\.5"),
        (lambda: TimeTunnel(strength="weak", after=-1, before=0), r"time\.after must be >= 0 days, got -1"),
        (lambda: TimeTunnel(strength="weak", after=0, before=float("nan")), r"time\.before must be >= 0 days, got nan"),
        (lambda: WhenTunnel(strength=""), r"tunnel\.strength must be strong or weak, got ''"),
        (lambda: StatementTunnel(strength="x"), r"tunnel\.strength must be strong or weak, got 'x'"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(make, said):
    with pytest.raises(ConfigError, match=said):
        make()
