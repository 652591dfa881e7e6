"""The extractive reader: resolved once, quoted verbatim, of the person asked about, and silent where nothing fits."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from sodamem.build import component
from sodamem.config import compose
from sodamem.errors import ConfigError
from sodamem.reader.extractive import OTHERS, PLANNED, UNKNOWN, ExtractiveReader
from sodamem.types import Answer, Evidence, FactEvent, MessagePiece, Question, Role

CFG = compose()
READER: ExtractiveReader = component(CFG, "reader")
TIMELINE = component(CFG, "timeline")
MARCH_15 = datetime(2023, 3, 15, 10, 30)


def turn(words: str, rank: int = 1, *, speaker: str = "Ann", at: datetime = MARCH_15, **more: object) -> Evidence:
    name = f"D1:{rank}"
    return Evidence(
        id=name,
        kind="turn",
        rank=rank,
        turn_ids=(name,),
        session_id="S1",
        speaker=speaker,
        text=f"{speaker}: {words}",
        at=at,
        confidence=1 - rank / 50,
        awards=(),
        times=TIMELINE.read(words, at),
        quotable=(words,),
        **more,  # type: ignore[arg-type]
    )


def fact(predicate: str, value: str, words: str, rank: int = 1, *, of: str = "Ann", **more: object) -> FactEvent:
    fields = {"modality": "current_state", **more}
    return FactEvent(
        id=f"f{rank}{value}",
        kind="fact",
        predicate=predicate,
        subject=f"person:{of.lower()}",
        text=f"{of} {predicate.replace('_', ' ')} {value}. {words}",
        pieces=(MessagePiece(turn_id=f"D1:{rank}", start=0, end=len(words), text=words),),
        mentioned_at=MARCH_15,
        order=(MARCH_15.isoformat(), rank, 0),
        roles=(Role(name="value", entity=f"place:{value}", words=value),),
        **fields,  # type: ignore[arg-type]
    )


def ask(text: str, *evidence: Evidence, at: datetime = datetime(2023, 9, 1)) -> Answer:
    question = Question(
        id="q", history_id="h", text=text, asked_at=at, category="", category_name="", gold="", gold_turns=()
    )
    return READER.read(question, evidence)


# --- when -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("I went to the vet yesterday.", "14 March 2023"),
        ("I went to the vet in May 2022.", "May 2022"),
        ("I went to the vet last year.", "2022"),
        ("I went to the vet last week.", "the week of 6 March 2023"),
        ("I went to the vet last weekend.", "the weekend of 11 March 2023"),
    ],
)
def test_a_phrase_is_resolved_once_and_worded_in_its_grain(words: str, said: str) -> None:
    answer = ask("When did Ann go to the vet?", turn(words))
    assert answer.text == said
    assert answer.interval is not None
    assert [citation.quote for citation in answer.citations] == [words]


def test_the_time_belongs_to_the_matching_sentence_not_to_its_neighbour() -> None:
    answer = ask(
        "When did Ann go to the vet?", turn("We moved house in 2019. I went to the vet yesterday. Max liked it.")
    )
    assert answer.text == "14 March 2023"


def test_a_report_without_a_time_is_dated_by_the_day_it_was_said() -> None:
    assert ask("When did Ann adopt a cat?", turn("I adopted a cat, she is lovely!")).text == "15 March 2023"


def test_a_plan_does_not_date_what_was_done() -> None:
    answer = ask("When did Ann visit the Lace Museum?", turn("We want to go to the Lace Museum tomorrow."))
    assert answer.abstained


def test_a_plan_dates_what_is_planned() -> None:
    answer = ask("When is Ann going to the Lace Museum?", turn("We want to go to the Lace Museum tomorrow."))
    assert answer.text == "16 March 2023"


def test_the_month_of_the_question_chooses_among_trips() -> None:
    trips = (
        turn("We went camping last week, it rained.", 1, at=datetime(2023, 8, 20)),
        turn("We went camping last week, it was sunny.", 2, at=datetime(2023, 6, 27)),
    )
    assert ask("When did Ann go camping in June?", *trips).text == "the week of 19 June 2023"


def test_a_year_is_answered_when_a_year_is_asked() -> None:
    assert ask("What year did Ann start surfing?", turn("I started surfing five years ago.")).text == "2018"


# --- lengths and counts -----------------------------------------------------------------------------------------------


def test_days_between_two_dated_events_are_counted() -> None:
    answer = ask(
        "How many days passed between Ann visiting the zoo and Ann buying a bike?",
        turn("I visited the zoo yesterday.", 1),
        turn("I bought a bike today.", 2, at=datetime(2023, 3, 24)),
    )
    assert answer.text == "10 days"
    assert {citation.turn_id for citation in answer.citations} == {"D1:1", "D1:2"}


def test_days_are_not_counted_from_a_month() -> None:
    answer = ask(
        "How many days passed between Ann visiting the zoo and Ann buying a bike?",
        turn("I visited the zoo in January.", 1),
        turn("I bought a bike today.", 2),
    )
    assert answer.abstained


def test_how_long_ago_is_counted_from_the_moment_of_asking() -> None:
    answer = ask(
        "How many weeks ago did Ann visit the zoo?", turn("I visited the zoo today."), at=datetime(2023, 3, 29)
    )
    assert answer.text == "2 weeks"


def test_a_length_that_was_stated_is_quoted() -> None:
    answer = ask("How long has Ann known her friends?", turn("I've known my friends for 4 years."))
    assert answer.text.startswith("4 years")


def test_a_stated_count_is_found_before_its_noun() -> None:
    assert ask("How many turtles does Ann have?", turn("I have 2 dogs and three cute turtles.")).text == "three"


def test_things_that_facts_name_are_counted_once_each_and_cited() -> None:
    said = ["I bought a road bike.", "My hybrid bike is great.", "The road bike is fast."]
    values = ["a road bike", "a hybrid bike", "the road bike"]
    evidence = [
        turn(words, rank, facts=(fact("owns", value, words, rank),))
        for rank, (words, value) in enumerate(zip(said, values, strict=True), start=1)
    ]
    answer = ask("How many bikes does Ann own?", *evidence)
    assert answer.text.startswith("2: ")
    assert len(answer.citations) == 2


# --- facts ------------------------------------------------------------------------------------------------------------


def test_what_was_superseded_never_answers_what_is_true_now() -> None:
    old, new = "I live in Leeds.", "I live in York now."
    answer = ask(
        "Where does Ann live now?",
        turn(old, 1, facts=(fact("lives_in", "Leeds", old, 1, status="superseded"),)),
        turn(new, 2, facts=(fact("lives_in", "York", new, 2),)),
    )
    assert answer.text == "York"


def test_what_was_superseded_answers_what_was_true_before() -> None:
    old = "I live in Leeds."
    answer = ask(
        "Where did Ann previously live?", turn(old, 1, facts=(fact("lives_in", "Leeds", old, 1, status="superseded"),))
    )
    assert answer.text == "Leeds"


# --- of whom, and whether at all --------------------------------------------------------------------------------------


def test_what_somebody_else_said_of_themselves_is_no_answer() -> None:
    pool = (
        turn("I ran a charity race and learned that self-care matters.", 1, speaker="Ann"),
        turn("Nice weather today, the garden is green.", 2, speaker="Bea"),
    )
    answer = ask("What did Bea learn from the charity race?", *pool)
    assert answer.abstained
    assert answer.text in (OTHERS, UNKNOWN)


def test_what_a_speaker_tells_of_a_relative_is_not_theirs() -> None:
    pool = (turn("My uncle Oscar visited Tallinn yesterday.", speaker="user"),)
    assert ask("When did I visit Tallinn?", *pool).abstained
    assert ask("When did my uncle visit Tallinn?", *pool).text == "14 March 2023"


def test_a_pool_without_confidence_is_still_read() -> None:
    item = replace(turn("I bought a telescope yesterday."), confidence=0.0)
    assert ask("When did Ann buy a telescope?", item).text == "14 March 2023"


def test_nothing_that_fits_means_silence() -> None:
    assert ask("When did Ann buy a telescope?", turn("The weather is fine.")).abstained
    assert ask("When did Ann buy a telescope?").abstained


def test_a_plan_is_not_a_yes() -> None:
    answer = ask("Did Ann visit the Lace Museum?", turn("We are planning to visit the Lace Museum."))
    assert (answer.abstained, answer.text) == (True, PLANNED)
    assert ask("Did Ann visit the Lace Museum?", turn("We visited the Lace Museum.")).text.startswith("Yes")
    assert ask("Did Ann visit the Lace Museum?", turn("We never visited the Lace Museum.")).text.startswith("No")


# --- things -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "words", "said"),
    [
        ("What book did Ann read?", 'I read a great book, "Becoming Nicole".', "Becoming Nicole"),
        ("Where did Ann travel?", "I travelled to New York with friends.", "New York"),
        ("Who did Ann have dinner with?", "I had dinner with my mom.", "my mom"),
        ("Why did Ann close the account?", "I closed the account because of the fees.", "because of the fees."),
    ],
)
def test_a_short_answer_is_given_where_the_sentence_holds_one(question: str, words: str, said: str) -> None:
    assert ask(question, turn(words)).text == said


def test_an_item_of_a_list_is_found_by_its_place() -> None:
    words = "Some stretches for stiff shoulders:\n1. wall angels\n2. chin tucks\n3. doorway stretch"
    answer = ask("You listed stretches for shoulders, which was the second?", turn(words, speaker="assistant"))
    assert answer.text == "chin tucks"


def test_every_answer_is_cited_word_for_word() -> None:
    words = "Hi!  I love “Dune”, it’s the best book — really."
    answer = ask("What book does Ann love?", turn(words))
    assert answer.status == "ok"
    assert all(citation.quote in words for citation in answer.citations)
    assert answer.citations


@pytest.mark.parametrize(("key", "value"), [("depth", "0"), ("floor", "1.5"), ("quotes", "0"), ("context", "-1")])
def test_values_out_of_range_are_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=rf"reader\.{key} must be"):
        component(compose(f"reader.{key}={value}"), "reader")


# --- states -------------------------------------------------------------------------------------------------


def test_a_state_is_answered_by_the_value_that_holds_whatever_its_words():
    old, new = "We have a flat in Leeds.", "The van took us to York."
    evidence = (
        turn("Leeds is where people live well now.", 1),
        turn(old, 2, facts=(fact("lives_in", "Leeds", old, 2, status="superseded", valid_until=MARCH_15),)),
        turn(new, 3, facts=(fact("lives_in", "York", new, 3),)),
    )
    found = ask("Where does Ann live now?", *evidence)
    assert found.text == "York" and [one.quote for one in found.citations] == [new]
    assert ask("Where did Ann live before?", *evidence).text == "Leeds"


def test_several_values_are_listed_and_counted():
    words = ("I play the banjo.", "I play the lute too.")
    evidence = [
        turn(said, place, facts=(fact("plays_instrument", said.split()[3].strip("."), said, place),))
        for place, said in enumerate(words, start=1)
    ]
    assert ask("Which instruments does Ann play?", *evidence).text == "banjo, lute"
    assert ask("How many instruments does Ann play?", *evidence).text == "2"


def test_what_is_owned_no_more_is_denied():
    had, sold = "I own a canoe.", "I no longer own a canoe."
    first = turn(had, 1, facts=(fact("owns", "canoe", had, 1, status="superseded", valid_until=datetime(2023, 4, 1)),))
    last = fact("owns", "canoe", sold, 2, polarity=False)
    assert ask(
        "Does Ann still own a canoe?",
        first,
        turn(sold, 2, facts=(replace(last, order=("2023-05", 2, 0), mentioned_at=datetime(2023, 5, 1)),)),
    ).text.startswith("No: ")
    own = turn(had, 1, facts=(fact("owns", "canoe", had, 1),))
    assert ask("Does Ann own a canoe?", own).text == f"Yes: {had}"


def test_a_state_of_somebody_else_does_not_answer():
    words = "My brother has a flat in Leeds."
    evidence = turn(words, facts=(fact("lives_in", "Leeds", words, of="Tom"),))
    assert ask("Where does Ann live?", evidence).text != "Leeds"


def test_states_can_be_left_out():
    words = "We have a flat in Leeds."
    evidence = turn(words, facts=(fact("lives_in", "Leeds", words),))
    without = replace(READER, states=False)
    question = Question(
        id="q", history_id="h", text="Where does Ann live?", asked_at=MARCH_15, category="", category_name="", gold=""
    )
    assert READER.read(question, [evidence]).text == "Leeds" and without.read(question, [evidence]).abstained


def test_what_somebody_else_did_does_not_silence_what_was_asked_about():
    """The other's sentence ranks first, and holds no more of the question than that of the person asked about."""
    other = turn("My uncle Oscar met the painter June last winter.", 1)
    own = turn("I met the painter June at a garden party.", 2)
    assert ask("Where did Ann meet the painter June?", other, own).text not in (OTHERS, UNKNOWN)
