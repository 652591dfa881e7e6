"""Sentences, question forms and wording of times, each on its own."""

from __future__ import annotations

from datetime import datetime

import pytest

from sodamem.reader.questions import analyse
from sodamem.reader.sentences import spans
from sodamem.reader.when import distance
from sodamem.reader.wording import show
from sodamem.types import Grain, Interval, Question


def form(text: str) -> str:
    return asked(text).form


def asked(text: str, *speakers: str):  # type: ignore[no-untyped-def]
    question = Question(
        id="", history_id="", text=text, asked_at=datetime(2023, 9, 1), category="", category_name="", gold=""
    )
    return analyse(question, speakers)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When did Ann go?", "when"),
        ("Which month was John in Italy?", "when"),
        ("What year did she start?", "when"),
        ("How long has she played?", "how_long"),
        ("How many weeks passed between A and B?", "between"),
        ("How many cats does she have?", "count"),
        ("How much did it cost?", "count"),
        ("Did she go?", "yes_no"),
        ("Why did she go?", "why"),
        ("Which city did she visit?", "where"),
        ("Who came?", "who"),
        ("What did she buy?", "what"),
    ],
)
def test_a_question_is_read_by_the_form_of_its_answer(text: str, expected: str) -> None:
    assert form(text) == expected


def test_the_people_asked_about_are_those_named_else_the_user() -> None:
    assert asked("When did Ann go?", "Ann", "Bea").people == ("Ann",)
    assert asked("When did I go?", "Maya", "assistant").people == ("Maya",)
    assert asked("What did you tell me about cats?", "Maya", "assistant").people == ("assistant",)
    assert asked("When did Annabel go?", "Ann", "Bea").people == ()


def test_irregular_verbs_meet_their_base() -> None:
    assert asked("When did she buy a car?").terms == asked("She bought a car").terms


def test_the_time_of_a_question_is_not_what_it_is_about() -> None:
    question = asked("What did Ann attend in March 2023?", "Ann")
    assert question.terms == {"attend"}
    assert question.within == Interval(start=datetime(2023, 3, 1), end=datetime(2023, 4, 1), grain="month")


def test_titles_times_and_lists_do_not_end_a_sentence() -> None:
    words = "I saw Dr. Smith at 3 p.m. today. He said: 1. rest 2. tea! Fine?"
    assert [words[start:end] for start, end in spans(words)] == [
        "I saw Dr. Smith at 3 p.m. today.",
        "He said: 1. rest 2. tea!",
        "Fine?",
    ]


def span(first: str, last: str, grain: Grain) -> Interval:
    return Interval(start=datetime.fromisoformat(first), end=datetime.fromisoformat(last), grain=grain)


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        (span("2023-05-07", "2023-05-08", "day"), "7 May 2023"),
        (span("2023-05-01", "2023-06-01", "month"), "May 2023"),
        (span("2023-01-01", "2024-01-01", "year"), "2023"),
        (span("2023-06-01", "2023-09-01", "season"), "summer 2023"),
        (span("2023-05-01", "2023-05-08", "span"), "1 to 7 May 2023"),
        (span("2023-05-30", "2023-06-03", "span"), "30 May 2023 to 2 June 2023"),
        (span("2023-05-07T09:05", "2023-05-07T09:06", "minute"), "7 May 2023, 09:05"),
    ],
)
def test_a_time_is_worded_in_its_grain(interval: Interval, words: str) -> None:
    assert show(interval) == words


def test_a_distance_is_told_no_finer_than_its_ends() -> None:
    day, later = span("2023-03-01", "2023-03-02", "day"), span("2023-03-15", "2023-03-16", "day")
    month = span("2023-05-01", "2023-06-01", "month")
    assert distance(later, day, "day") == "14 days"
    assert distance(day, later, "week") == "2 weeks"
    assert distance(day, month, "day") is None
    assert distance(day, month, "month") == "2 months"
