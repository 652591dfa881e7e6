"""Slots told by their names, by idioms and by corrections: whatever the order of words, the value reaches its slot."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.currency import Tally, check
from experiments.currency_facts import fixtures, synthetic
from sodamem.build import component
from sodamem.config import compose
from sodamem.extractor.lexicon import load
from sodamem.types import FactEvent, History, Session, Turn

FIRST = datetime(2023, 6, 9, 10, 0)
CUES = sorted(
    {word for table in (load().verbs, load().auxiliaries, load().frames) for word in table}
    | {word for names in (load().nouns, load().carriers, load().holders) for name in names for word in name.split()}
    | {word for name in ("people", "places", "closed", "determiners") for word in getattr(load(), name)}
)
OTHERS = [
    "I",
    "my",
    "me",
    "Tom's",
    "sister",
    "Leeds",
    ",",
    ".",
    "!",
    "?",
    "…",
    ";",
    ":",
    "—",
    "(",
    "“",
    "”",
    "'",
    "'s",
    "🙂",
    "猫",
    "é",
    "25:50",
    "5K",
    "$3",
    "500",
    "Mbps",
    "Sorry,",
    "meant",
    "have",
]


@pytest.fixture(scope="module")
def told(timeline, extractor):
    """told(what earlier sessions said, ..., what the last said) -> the facts of the last; ten days lie between two."""

    def run(*said: str) -> list[FactEvent]:
        turns = [
            Turn(
                id=f"t{number}",
                session_id=f"s{number}",
                index=0,
                role="user",
                speaker="Ana",
                text=text,
                at=FIRST + timedelta(days=10 * number),
            )
            for number, text in enumerate(said)
        ]
        sessions = tuple(Session(id=turn.session_id, at=turn.at, turns=(turn,)) for turn in turns)
        history = History(id="h", sessions=sessions, digest="", user="Ana", speakers=("Ana",))
        return list(extractor.extract(sessions[-1], history, timeline).facts)

    return run


def roles(fact: FactEvent) -> dict[str, str]:
    return {role.name: role.words for role in fact.roles}


# --- scopes and refinements -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I've run the 10K in 58:05, my best so far.", {"value": "58:05", "event": "10k"}),
        ("My internet at home runs at 500 Mbps.", {"value": "500 Mbps"}),  # home is what goes without saying
        ("I get 1 Gbps on the office connection.", {"value": "1 Gbps", "place": "office"}),
        ("My work phone is on the 25 GB plan.", {"value": "25 GB plan", "phone": "work phone"}),
        ("My phone is on the 5 GB plan.", {"value": "5 GB plan"}),
        ("My favourite dish is ramen.", {"value": "ramen", "category": "food"}),
        ("My favorite color is teal.", {"value": "teal", "category": "colour"}),
        ("I always order laksa, my favourite.", {"value": "laksa", "category": "food"}),
        ("I live in Leeds, UK.", {"value": "Leeds, UK"}),
        ("I live in Headingley, Leeds.", {"value": "Headingley, Leeds"}),
        ("I live in Leeds, Tom.", {"value": "Leeds"}),
    ],
)
def test_slots_of_one_predicate_are_told_apart_and_places_kept_whole(told, said, expected):
    found = [roles(fact) for fact in told(said) if fact.predicate not in ("finished", "bought")]
    assert found == [expected]


def test_what_was_moved_from_tells_which_slot_changes(told):
    (fact,) = told("I work on Project Apollo.", "I moved from Apollo to Gemini.")
    assert (fact.predicate, roles(fact)) == ("assigned_to", {"value": "Gemini", "from": "Apollo"})
    (fact,) = told("I moved from Leeds to York.")
    assert fact.predicate == "lives_in"


# --- corrections ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "Sorry, I meant York, not Leeds.",
        "Wait, it's York, not Leeds.",
        "It's York, not Leeds.",
        "I made a mistake, it was York, not Leeds.",
        "Leeds was a typo, I meant York.",
        "I said Leeds, but it should be York.",
        "Sorry, not Leeds but York.",
        "By the way, sorry, I meant York, not Leeds, when I told you where I live.",
        "Correction about where I live, I said Leeds but it should be York.",
    ],
)
def test_a_correction_reaches_back_over_sessions(told, said):
    (fact,) = [fact for fact in told("I moved to Leeds in May.", "I like tea.", said) if fact.predicate == "lives_in"]
    assert (fact.flags, fact.modality, fact.polarity) == (("correction",), "current_state", True)
    assert roles(fact) == {"value": "York", "from": "Leeds"}


def test_a_correction_that_names_nothing_takes_the_last_of_its_kind(told):
    (fact,) = told("I started at Acme in May. I moved to Leeds in May.", "Sorry, I meant York, and it was in January.")
    assert (fact.predicate, fact.flags) == ("lives_in", ("correction",))
    assert fact.valid_from == datetime(2023, 1, 1)


def test_changes_of_mind_within_a_session(hear):
    sam, alex, robin = hear("Call me Sam.", "No, Alex.", "Final: Robin.").facts
    assert [roles(fact)["value"] for fact in (sam, alex, robin)] == ["Sam", "Alex", "Robin"]
    assert ["correction" in fact.flags for fact in (sam, alex, robin)] == [False, True, False]


@pytest.mark.parametrize(
    "said",
    [
        "No, thanks.", "No way!", "No, Friday.", "Sorry, I'm late.", "It was awesome!", "I mean, it's complicated.",
        "Sorry, it was raining.", "I said hello but nobody heard.", "No, that's wrong.", "Actually, yes.",
    ],
)  # fmt: skip
def test_talk_that_only_sounds_like_a_correction_corrects_nothing(told, said):
    assert [fact.predicate for fact in told("I live in Leeds. I like tea. Call me Sam.", said)] == []


def test_one_more_is_no_correction(told):
    (fact,) = told("I own a bike.", "Actually, I also own a canoe.")
    assert fact.flags == ()


# --- what is not said as a fact ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "Tell me, suppose I became divorced, who would I have to notify?",
        "By the way, if laksa were my favourite food, I'd be happy.",
        "Would it matter if my gym were Ironworks?",
        "Which of these is my favourite food?",
    ],
)
def test_suppositions_after_a_lead_in_stay_suppositions(told, said):
    assert [fact for fact in told(said) if fact.modality in ("current_state", "preference", "past_event")] == []


def test_a_proposal_after_a_comma_is_no_second_object(told):
    (fact,) = told("I love spicy food, let's celebrate at the Thai place next Friday.")
    assert (fact.predicate, roles(fact), fact.modality) == ("likes", {"value": "spicy food"}, "preference")


# --- figures, robustness, speed ---------------------------------------------------------------------------------


@pytest.mark.parametrize("problems", [fixtures, synthetic], ids=["fixtures", "synthetic_hard"])
def test_what_is_true_now_is_read_from_dialogues(problems):
    currency, tally = component(compose("currency=slots"), "currency"), Tally()
    for problem in problems("rule"):
        check(problem, currency, tally)
    assert tally.of["current"] > 50
    assert tally.rate("current") >= 0.98, tally.faults
    assert tally.rate("stale") <= 0.01, tally.faults
    assert tally.rate("wrongly_closed") <= 0.005, tally.faults
    assert tally.rate("as_of") >= 0.97, tally.faults


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.one_of(st.sampled_from(CUES), st.sampled_from(OTHERS)), max_size=20), st.sampled_from([" ", "", "\n"])
)
def test_no_salad_of_cue_words_breaks_it(told, tokens, between):
    text = between.join(tokens)
    for fact in told("I live in Leeds. I work on Project Apollo.", text):
        assert all(text[piece.start : piece.end] == piece.text for piece in fact.pieces)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["and then I bought apples for my sister yesterday ", "Tom ", "“", "my ", "I'm, "])
def test_time_grows_with_the_length_of_a_turn_and_no_faster(told, part):
    def seconds(size: int) -> float:
        text = part * (size // len(part))
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            told(text)
            best = min(best, time.process_time() - began)
        return best

    told("I live in Leeds.")
    assert seconds(64_000) < 10 * seconds(16_000) + 0.05
