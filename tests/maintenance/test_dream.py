"""A profile says what holds and nothing else, cites what it says, and keeps the times of what it was told."""

import dataclasses
import itertools
import random
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.build import component, pipeline
from sodamem.errors import ConfigError
from sodamem.maintenance.dream import DreamMaintenance
from sodamem.store.sqlite import SqliteStore
from sodamem.types import Interval, Role

KNOBS = {
    "subjects": ["person", "place"],
    "hub": 1.0,
    "kinds": ["profile", "state", "preference"],
    "min_facts": 2,
    "max_facts": 6,
    "per_predicate": 3,
    "max_words": 40,
}


def dream(facts, **knobs):
    return DreamMaintenance(**{**KNOBS, **knobs}).dream(facts)


def current(profiles):
    return {profile.subject: profile for profile in profiles if profile.status == "active"}


def edges_of(edges, kind):
    return {(edge.source, edge.target) for edge in edges if edge.kind == kind}


@pytest.fixture(scope="module")
def history(talk):
    return talk(
        {
            "a 2023-01-10T09:00": ["Ann: I live in Bergen.", "Ann: I like jazz.", "Bob: I like tea.", "Bob: I ski."],
            "b 2023-02-10T09:00": ["Ann: I like chess.", "Ann: Jazz, always.", "Ann: I moved to Oslo."],
            "c 2023-03-10T09:00": ["Ann: I play the harp.", "Bob: I have a dog."],
        }
    )


@pytest.fixture(scope="module")
def told(history, fact):
    """told("a:1", "likes", "jazz", …) -> the state that this turn tells of its speaker."""
    turns = {turn.id: turn for session in history.sessions for turn in session.turns}

    def make(turn, predicate, value, **fields):
        roles = (Role(name="value", entity=f"thing:{value}", words=value),)
        given = {"kind": "state", "predicate": predicate, "roles": roles, **fields}
        return fact(f"f-{turn}-{predicate}", turns[turn], **given)

    return make


@pytest.fixture(scope="module")
def facts(told):
    return [
        told("a:0", "lives_in", "Bergen", status="superseded", valid_until=datetime(2023, 2, 10, 9)),
        told("a:1", "likes", "jazz"),
        told("a:2", "likes", "tea"),
        told("a:3", "does", "skiing"),
        told("b:0", "likes", "chess"),
        told("b:1", "likes", "Jazz"),
        told("b:2", "lives_in", "Oslo", valid_from=datetime(2023, 2, 9)),
    ]


# --- what is on the card ------------------------------------------------------------------------------------


def test_the_card_lists_what_holds_by_predicate_the_most_supported_and_newest_first(facts):
    profiles = current(dream(facts)[0])
    assert profiles["person:ann"].text == "Ann: likes Jazz, chess; lives in Oslo (since 2023-02-09)."
    assert profiles["person:bob"].text == "Bob: does skiing; likes tea."


def test_every_statement_cites_the_words_and_the_fact_where_it_was_last_made(facts):
    profiles, edges = dream(facts)
    ann = current(profiles)["person:ann"]
    assert [piece.turn_id for piece in ann.pieces] == ["b:1", "b:2", "b:0"]
    cited = {target for source, target in edges_of(edges, "DERIVED_FROM") if source == ann.id}
    assert cited == {"f-b:1-likes", "f-b:2-lives_in", "f-b:0-likes"}


@pytest.mark.parametrize(
    "change",
    [
        {"status": "superseded"},
        {"status": "invalid"},
        {"valid_until": datetime(2023, 3, 1)},
        {"polarity": False},
        {"modality": "future_plan"},
        {"modality": "question"},
        {"modality": "advice"},
        {"flags": ("hypothetical",)},
        {"flags": ("quoted",)},
        {"kind": "event"},
    ],
)
def test_what_does_not_hold_is_on_no_profile(facts, told, change):
    gone = told("c:0", "plays", "harp", **change)
    profiles, edges = dream([*facts, gone])
    assert not any("harp" in profile.text for profile in profiles)
    assert gone.id not in {edge.target for edge in edges}


def test_the_value_that_a_change_left_behind_is_not_told_as_current(told):
    old = Role(name="from", entity="place:bergen", words="Bergen")
    moved = told("b:2", "lives_in", "Oslo")
    moved = dataclasses.replace(moved, roles=(*moved.roles, old))
    assert "Bergen" not in dream([moved], min_facts=1)[0][0].text


def test_other_roles_are_named_and_a_fact_without_roles_speaks_in_its_own_words(told):
    pet = told("c:1", "has_pet", "dog")
    pet = dataclasses.replace(pet, roles=(*pet.roles, Role(name="name", entity="thing:rex", words="Rex")))
    plain = dataclasses.replace(told("a:3", "does", "x"), roles=())
    assert dream([pet, plain])[0][0].text == "Bob: has pet dog (name Rex); does I ski."


@pytest.mark.parametrize(
    ("knobs", "listed"),
    [
        ({"max_facts": 2}, ["b:1", "b:2"]),
        ({"per_predicate": 1}, ["b:1", "b:2"]),
        ({"max_words": 6}, ["b:1", "b:0"]),  # the home has too many words and is passed over
        ({"max_words": 2, "min_facts": 1}, []),
        ({"min_facts": 4}, []),
        ({"subjects": ["place"]}, []),
        ({"kinds": ["preference"]}, []),
        ({"hub": 0.7}, []),  # five of seven facts are about Ann
        ({"hub": 5 / 7}, ["b:1", "b:2", "b:0"]),
    ],
)
def test_the_bounds_bound(facts, knobs, listed):
    ann = current(dream(facts, **knobs)[0]).get("person:ann")
    assert [piece.turn_id for piece in ann.pieces] == listed if ann else not listed


# --- times --------------------------------------------------------------------------------------------------


def test_old_content_is_not_given_a_new_date(told):
    summer = Interval(start=datetime(2022, 6, 1), end=datetime(2022, 9, 1), grain="season")
    day = Interval(start=datetime(2022, 12, 24), end=datetime(2022, 12, 25), grain="day")
    known = {"valid_from": datetime(2022, 6, 1)}
    facts = [told("a:0", "lives_in", "Bergen", occurred=summer, **known), told("a:1", "likes", "jazz", occurred=day)]
    profile = dream(facts)[0][0]
    assert profile.mentioned_at == datetime(2023, 1, 10, 9) and profile.order == facts[1].order
    assert profile.occurred == Interval(start=summer.start, end=day.end, grain="span")
    assert profile.valid_from is None  # since when Ann likes jazz was not said
    later = dataclasses.replace(facts[1], valid_from=datetime(2022, 12, 24))
    assert dream([facts[0], later])[0][0].valid_from == datetime(2022, 6, 1)


def test_no_occurrence_is_made_up_and_a_common_one_keeps_its_grain(told):
    day = Interval(start=datetime(2022, 12, 24), end=datetime(2022, 12, 25), grain="day")
    facts = [told("a:0", "lives_in", "Bergen"), told("a:1", "likes", "jazz")]
    assert dream(facts)[0][0].occurred is None
    assert dream([dataclasses.replace(fact, occurred=day) for fact in facts])[0][0].occurred == day


# --- rebuilding ---------------------------------------------------------------------------------------------


def test_dreaming_again_over_the_same_facts_changes_nothing(facts):
    once, edges = dream(facts)
    assert dream([*facts, *once]) == (once, edges)


def test_news_of_one_entity_leaves_the_profile_of_another_alone(facts, told):
    before = current(dream(facts)[0])
    profiles, edges = dream([*facts, told("c:0", "plays", "harp"), *before.values()])
    after = current(profiles)
    assert after["person:bob"] == before["person:bob"]
    closed = next(profile for profile in profiles if profile.id == before["person:ann"].id)
    assert after["person:ann"].id != closed.id and "harp" in after["person:ann"].text
    assert edges_of(edges, "SUPERSEDES") == {(after["person:ann"].id, closed.id)}
    assert (closed.status, closed.valid_until) == ("superseded", datetime(2023, 3, 10, 9))
    assert closed.text == before["person:ann"].text


def test_a_profile_that_an_older_session_changes_never_held(facts, told):
    late, rest = facts[1], [fact for fact in facts if fact.predicate == "likes" and fact.id != "f-a:1-likes"]
    before = current(dream(rest)[0])
    profiles, _ = dream([*rest, late, *before.values()])
    assert current(profiles)["person:ann"].mentioned_at == before["person:ann"].mentioned_at
    # Support rose from one turn to two, the card and what it cites did not: it stays.
    assert current(profiles)["person:ann"] == before["person:ann"]
    older = told("a:0", "has_pet", "cat")
    closed = next(p for p in dream([*rest, older, *before.values()])[0] if p.status == "superseded")
    assert closed.valid_until is None


def test_a_profile_of_what_was_never_true_is_never_true_again(facts, told):
    harp = told("c:0", "plays", "harp")
    before = current(dream([*facts, harp])[0])["person:ann"]
    taken_back = dataclasses.replace(harp, status="invalid")
    profiles, _ = dream([*facts, taken_back, before])
    assert {profile.id: profile.status for profile in profiles}[before.id] == "invalid"


def test_a_view_that_returns_is_the_same_profile_and_supersedes_nothing_in_a_circle(facts, told):
    first = current(dream(facts)[0])["person:ann"]
    harp = told("c:0", "plays", "harp")
    second, _ = dream([*facts, harp, first])
    third, edges = dream([*facts, dataclasses.replace(harp, status="superseded"), *second])
    assert current(third)["person:ann"] == first
    assert edges_of(edges, "SUPERSEDES") == {(first.id, current(second)["person:ann"].id)}


def test_an_entity_of_which_nothing_holds_any_more_has_no_current_profile(facts):
    before = current(dream(facts)[0])["person:bob"]
    ended = [dataclasses.replace(fact, status="superseded") for fact in facts]
    profiles, edges = dream([*ended, before])
    assert current(profiles) == {} and profiles[0].text == before.text and edges == ()


@given(seed=st.integers(0, 10_000))
def test_the_order_of_facts_does_not_matter(facts, seed):
    shuffled = random.Random(seed).sample(facts, len(facts))
    assert dream(shuffled)[0] == dream(facts)[0] and set(dream(shuffled)[1]) == set(dream(facts)[1])


# --- in the pipeline ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dialogue(talk):
    return talk(
        {
            "a 2023-01-10T09:00": [
                "Ann: I live in Bergen.",
                "Ann: I love jazz.",
                "Bob: I love tea.",
                "Bob: I play chess.",
            ],
            "b 2023-02-10T09:00": ["Ann: I love hiking.", "Ann: I moved to Oslo."],
            "c 2023-03-10T09:00": ["Ann: I play the harp.", "Ann: I have a dog."],
        }
    )


@pytest.fixture
def remembered(compose, tmp_path):
    """remembered(history, "name") -> its snapshot, from a store of that name that grows from call to call."""
    parts = pipeline(compose("extractor=rule", "currency=slots", "maintenance=dream"))

    def make(history, name="one"):
        store = SqliteStore(folder=str(tmp_path / name), frozen=False)
        with dataclasses.replace(parts, store=store).open(history) as memory:
            return memory.snapshot

    return make


def up_to(history, count):
    return dataclasses.replace(history, sessions=history.sessions[:count])


def test_one_dream_at_the_end_is_the_same_whatever_came_first(dialogue, remembered):
    orders = itertools.permutations(dialogue.sessions)
    prints = {
        remembered(dataclasses.replace(dialogue, sessions=order), f"{number}").fingerprint
        for number, order in enumerate(orders)
    }
    assert len(prints) == 1


def test_dreams_between_sessions_end_in_the_same_current_view(dialogue, remembered):
    whole = remembered(dialogue, "whole")
    first = remembered(up_to(dialogue, 1), "grown")
    remembered(up_to(dialogue, 2), "grown")
    grown = remembered(dialogue, "grown")
    now = {p.id: p for p in grown.facts if p.id.startswith("profile:") and p.status == "active"}
    assert now == {p.id: p for p in whole.facts if p.id.startswith("profile:")}
    started = [p for p in first.facts if p.id.startswith("profile:")]
    assert [p.subject for p in started] == ["person:ann", "person:bob"]
    assert started[1].id in now and grown.fact(grown.row[started[0].id]).status == "superseded"
    sources = {edge.source for edge in grown.edges if edge.kind == "DERIVED_FROM"}
    assert sources == {p.id for p in grown.facts if p.id.startswith("profile:")}  # closed ones still say what they cite


def test_opening_a_finished_memory_does_not_dream(dialogue, remembered, monkeypatch):
    before = remembered(dialogue).fingerprint

    def never(*_):
        raise AssertionError("dreamt on the read path")

    monkeypatch.setattr(DreamMaintenance, "dream", never)
    assert remembered(dialogue).fingerprint == before


def test_a_profile_stands_for_the_turns_of_its_pieces_and_is_known_from_the_last(dialogue, remembered):
    memory = remembered(dialogue)
    row = next(memory.row[p.id] for p in memory.facts if p.id.startswith("profile:") and p.subject == "person:ann")
    assert {memory.turns[turn].id for turn in memory.sources(row)} == {"a:1", "b:0", "b:1", "c:0", "c:1"}
    assert memory.sources(row)[0] == memory.turn[row]
    assert memory.said[row].astype(datetime) == datetime(2023, 3, 10, 9)


# --- configuration ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"subjects": []}, r"maintenance\.subjects must name entity types, got \[\]\. Use maintenance=none"),
        ({"hub": 0}, r"maintenance\.hub must be above 0 and at most 1, got 0"),
        ({"hub": 1.5}, r"maintenance\.hub must be above 0 and at most 1, got 1\.5"),
        ({"kinds": ["trait"]}, r"maintenance\.kinds must be some of fact, event, .*, got \['trait'\]"),
        ({"min_facts": 0}, r"maintenance\.min_facts must be >= 1, got 0"),
        ({"per_predicate": 0}, r"maintenance\.per_predicate must be >= 1, got 0"),
        ({"max_words": 0}, r"maintenance\.max_words must be >= 1, got 0"),
        ({"max_facts": 1}, r"maintenance\.max_facts must be >= min_facts, got 1 < 2"),
    ],
)
def test_values_out_of_range_are_refused(knobs, message):
    with pytest.raises(ConfigError, match=message):
        DreamMaintenance(**{**KNOBS, **knobs})


def test_the_option_builds(compose):
    assert isinstance(component(compose("maintenance=dream"), "maintenance"), DreamMaintenance)
