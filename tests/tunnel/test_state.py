"""The state tunnel finds what shares no word with the question, and the value that holds before those that did."""

from datetime import datetime

import pytest

from sodamem.errors import ConfigError
from sodamem.tunnel.state import StateTunnel
from sodamem.types import Interval, Role, Window


@pytest.fixture(scope="module")
def snapshot(talk, fact, remember):
    history = talk(
        {"a 2024-01-01": ["Ann: We have a flat in Leeds."], "b 2024-05-01": ["Ann: The van took us to York."]}
    )
    may = datetime(2024, 5, 1)

    def lives(id, turn, place, **more):
        return fact(id, turn, predicate="lives_in", roles=(Role(name="value", entity=place, words=place),), **more)

    facts = (
        lives("leeds", history.sessions[0].turns[0], "Leeds", status="superseded", valid_until=may),
        lives("york", history.sessions[1].turns[0], "York", valid_from=may),
    )
    return remember(history, facts=facts)


def found(snapshot, asking, question, rest=0.5, **fields):
    hits = (
        StateTunnel(strength="strong", rest=rest).open(snapshot).search(asking(question, speakers=("Ann",), **fields))
    )
    return {snapshot.ids[row]: score for row, score in zip(hits.item.tolist(), hits.score.tolist(), strict=True)}


def test_the_value_that_holds_scores_above_those_that_did(snapshot, asking):
    assert found(snapshot, asking, "Where do I live now?") == {"york": 1.0, "leeds": 0.5}
    assert found(snapshot, asking, "Where do I live now?", rest=0) == {"york": 1.0}


def test_a_past_time_turns_it_round(snapshot, asking):
    march = Interval(start=datetime(2024, 3, 1), end=datetime(2024, 4, 1), grain="month")
    asked = found(snapshot, asking, "Where did I live in March 2024?", window=Window(interval=march))
    assert asked == {"leeds": 1.0, "york": 0.5}


def test_nothing_said_later_is_seen(snapshot, asking):
    assert "york" not in found(snapshot, asking, "Where do I live?", as_of=datetime(2024, 2, 1))


def test_other_questions_find_nothing(snapshot, asking):
    assert found(snapshot, asking, "What did I buy?") == {} == found(snapshot, asking, "Who is my boss?")


def test_the_range_of_rest_is_checked():
    with pytest.raises(ConfigError, match=r"state\.rest must be between 0 and 1, got 2"):
        StateTunnel(strength="strong", rest=2)
