"""What a question is understood to be about: whom it names, what it asks of, which words are left."""

from datetime import datetime

import numpy as np
import pytest

from sodamem.query import Names, analyse
from sodamem.types import Entity, Interval, Question, Window


class Clock:
    """A timeline that knows one month."""

    def read(self, text, at):
        return ()

    def window(self, question, asked_at):
        may = Interval(start=datetime(2024, 5, 1), end=datetime(2024, 6, 1), grain="month")
        return Window(interval=may if "May" in question else None)


def encode(words):
    seen.append(words)
    return np.array([1, 0], dtype=np.float32)


seen: list[str] = []


@pytest.fixture(scope="module")
def names(talk, remember):
    """Two people talk; the memory knows them, a dog, New York and York."""
    history = talk({"a 2024-01-01": ["Ann: Hi.", "Bob: Hi.", "Mary Ann: Hey."]})
    entities = [
        Entity(id="person:ann", type="person", surfaces=("Ann",)),
        Entity(id="animal:biscuit", type="thing", surfaces=("Biscuit", "the puppy")),
        Entity(id="place:new_york", type="place", surfaces=("New York",)),
        Entity(id="place:york", type="place", surfaces=("York",)),
        Entity(id="thing:it", type="thing", surfaces=("it", "🙂")),
    ]
    return Names(remember(history, entities=entities), "user")


@pytest.fixture(scope="module")
def assisted(talk, remember):
    return Names(remember(talk({"a 2024-01-01": ["user: Hi.", "assistant: Hello."]})), "user")


def ask(names, words, keep_names=True):
    seen.clear()
    question = Question(
        id="q", history_id="h", text=words, asked_at=datetime(2024, 6, 1), category="c", category_name="C", gold="GOLD"
    )
    return analyse(question, names, Clock(), encode, keep_names=keep_names)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Does Biscuit like New York?", ("animal:biscuit", "place:new_york")),  # not York within it
        ("york, then ANN's puppies", ("place:york", "person:ann")),
        ("Is the puppy fine?", ("animal:biscuit",)),
        ("Is it fine?", ()),  # a pronoun names nothing
        ("", ()),
    ],
)
def test_entities_are_found_by_their_names_longest_first(names, words, expected):
    assert ask(names, words).entities == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("What did Ann buy?", ("Ann",)),
        ("What did ann's friend Bob buy?", ("Ann", "Bob")),
        ("Who is Annette?", ()),
        ("What is my name?", ()),  # there is no user in this dialogue
    ],
)
def test_participants_are_found_by_name(names, words, expected):
    assert ask(names, words).speakers == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Where did I go?", ("user",)),
        ("What is my dog's name?", ("user",)),
        ("What book did you recommend?", ("assistant",)),
        ("Remind me of the recipe", ("assistant",)),
        ("In our previous conversation, what was it?", ("assistant",)),
        ("How long is a marathon?", ()),
    ],
)
def test_i_is_the_user_and_what_you_said_the_assistant(assisted, words, expected):
    assert ask(assisted, words).speakers == expected


def test_names_of_participants_are_left_out_where_they_do_not_help(names):
    query = ask(names, "What did Ann’s dog tell Bob?", keep_names=False)
    assert query.terms == ("dog", "tell") and seen == ["What did   dog tell  ?"]
    assert query.speakers == ("Ann", "Bob")  # who is meant stays known
    assert ask(names, "What did Ann's dog tell Bob?").terms == ("ann", "dog", "tell", "bob")


def test_a_question_that_is_only_a_name_keeps_it(names):
    assert ask(names, "Ann", keep_names=False).terms == ("ann",)


@pytest.mark.parametrize(
    ("words", "past"),
    [
        ("Where did I used to live?", True),
        ("Who was my previous boss?", True),
        ("What did Ann originally plan?", True),
        ("Where did I live before I moved?", True),
        ("Where do I live?", False),
        ("What did I eat before lunch?", False),
    ],
)
def test_cues_that_a_superseded_value_is_asked_for(names, words, past):
    assert ask(names, words).about_past is past


def test_the_window_and_the_asking_time_come_with_the_question(names):
    query = ask(names, "What happened in May?")
    assert query.window.interval and query.asked_at == datetime(2024, 6, 1) and query.as_of is None
    assert ask(names, "What happened?").window.interval is None


def test_the_question_is_encoded_once(names):
    ask(names, "What happened?")
    assert seen == ["What happened?"]


def test_no_gold_is_in_a_query(names):
    assert "GOLD" not in repr(ask(names, "What happened?"))


@pytest.mark.parametrize("words", ["", "🙂", "?", "我", "a" * 5000])
def test_any_words_can_be_analysed(names, words):
    assert ask(names, words, keep_names=False).text == words


def test_a_name_with_signs_of_a_pattern_is_a_name(talk, remember):
    names = Names(remember(talk({"a 2024-01-01": ["A.J. (Al): Hi.", "C++: Hi."]})), "user")
    assert ask(names, "What does AxJ. like?", keep_names=False).terms == tuple(ask(names, "What does AxJ. like?").terms)
