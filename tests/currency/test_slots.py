"""What is true now, as a function of the set of facts: one test for each kind of fault, and the laws."""

from __future__ import annotations

import random
import time
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments import currency_facts
from sodamem.currency import as_of, asserts, current
from sodamem.currency.slots import SlotCurrency
from sodamem.currency.values import refines
from sodamem.errors import ConfigError
from sodamem.types import FactEvent, MessagePiece, Quantity, Role

ROOT = Path(__file__).parents[2]
START = datetime(2024, 1, 1)


CASES = {case["id"]: case for case in currency_facts.cases()}


@cache
def _options() -> dict[str, Any]:
    options = yaml.safe_load((ROOT / "conf" / "currency" / "slots.yaml").read_text(encoding="utf-8"))
    return {key: value for key, value in options.items() if key != "_target_"}


def slots(**changes: object) -> SlotCurrency:
    return SlotCurrency(**{**_options(), **changes})


def fact(predicate: str, value: str = "", day: float = 0, *, of: str = "person:ana", **more: Any) -> FactEvent:
    at = START + timedelta(days=day)
    text = more.pop("words", f"{predicate} {value} on day {day}")
    roles = more.pop("roles", (Role(name="value", entity="", words=value),) if value else ())
    return FactEvent(
        id=more.pop("id", f"{of} {predicate} {value} {day} {more}"),
        kind="fact",
        predicate=predicate,
        modality=more.pop("modality", "current_state"),
        subject=of,
        text=text,
        pieces=(MessagePiece(turn_id=f"t{day}", start=0, end=len(text), text=text),),
        mentioned_at=at,
        order=(at.isoformat(), 0, 0),
        roles=roles,
        **more,
    )


def value(event: FactEvent) -> str:
    return next(role.words for role in event.roles if role.name == "value")


def by_status(facts: tuple[FactEvent, ...], status: str) -> list[str]:
    return [value(event) for event in facts if event.status == status and event.roles]


# --- the fixtures: one kind of fault each -------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_each_known_kind_of_fault_is_absent(name: str) -> None:
    case, currency = CASES[name], slots()
    raw = currency_facts.case_facts(case)
    facts, edges = currency.resolve(raw)
    for asked, row in zip(currency_facts.case_asked(case), case["expect"], strict=True):
        slot = [f for f in facts if (f.subject, f.predicate) == (asked.subject, asked.predicate)]
        slot = [f for f in slot if asked.scope.items() <= {(role.name, role.words) for role in f.roles}]
        now = current(facts, asked.subject, asked.predicate, scope=asked.scope)
        assert sorted(map(value, now)) == sorted(row["now"])
        for status, key in (("superseded", "closed"), ("invalid", "invalid")):
            retired = [f for f in slot if f.status == status and f.polarity and "duplicate" not in f.flags]
            assert sorted(map(value, retired)) == sorted(row.get(key, [])), status
            assert all(any(edge.target == f.id for edge in edges) for f in retired), "retired without a pointer"
        assert sorted(value(f) for f in slot if "possible_conflict" in f.flags) == sorted(row.get("flagged", []))
        assert len(now) == 0 or max(len(f.pieces) for f in now) == row.get("pieces", 1)
        assert sum(edge.kind == "UPDATES" for edge in edges) == row.get("updates", 0)
        known = max(f.mentioned_at for f in facts)
        for when, values in row.get("at", {}).items():
            held = as_of(facts, currency_facts.moment(when), known_by=known)
            assert sorted(value(f) for f in held if _fills(f, asked)) == sorted(values), when
        for when, values in row.get("believed", {}).items():
            moment = currency_facts.moment(when)
            then, _ = currency.resolve([f for f in raw if f.mentioned_at <= moment])
            assert sorted(value(f) for f in as_of(then, moment) if _fills(f, asked)) == sorted(values), when


def _fills(event: FactEvent, asked: Any) -> bool:
    slot = (event.subject, event.predicate) == (asked.subject, asked.predicate)
    return slot and event.polarity and bool(event.roles) and asserts(event)


def test_the_fixtures_are_not_vacuous() -> None:
    assert len(CASES) >= 50
    assert sum(bool(row.get("closed") or row.get("invalid")) for case in CASES.values() for row in case["expect"]) >= 30


# --- laws ---------------------------------------------------------------------------------------------------------

_facts = st.builds(
    fact,
    st.sampled_from(["lives_in", "owns", "sold", "likes", "dislikes", "visited", "locker", "favourite", "called"]),
    st.sampled_from(["", "Leeds", "Leeds, UK", "York", "New York", "tea", "spice"]),
    st.integers(0, 9),
    of=st.sampled_from(["person:ana", "person:tom"]),
    polarity=st.booleans(),
    modality=st.sampled_from(["current_state", "past_event", "preference", "future_plan"]),
    flags=st.sets(st.sampled_from(["correction", "retraction", "state_change", "temporary", "quoted"]), max_size=2).map(
        lambda flags: tuple(sorted(flags))
    ),
    valid_from=st.sampled_from([None, START - timedelta(days=3), START + timedelta(days=4)]),
)
_sets = st.lists(_facts, max_size=25, unique_by=lambda event: event.id)


@settings(max_examples=200, deadline=None)
@given(_sets, st.randoms(use_true_random=False))
def test_the_order_of_ingest_cannot_matter(facts: list[FactEvent], rng: random.Random) -> None:
    shuffled = rng.sample(facts, len(facts))
    assert slots().resolve(facts) == slots().resolve(shuffled)


@settings(max_examples=200, deadline=None)
@given(_sets)
def test_resolving_a_resolved_set_changes_nothing(facts: list[FactEvent]) -> None:
    once = slots().resolve(facts)
    assert slots().resolve(once[0]) == once


@settings(max_examples=200, deadline=None)
@given(_sets, st.integers(0, 25))
def test_a_session_that_arrives_later_gives_what_one_ingest_gives(facts: list[FactEvent], first: int) -> None:
    before, _ = slots().resolve(facts[:first])
    assert slots().resolve([*before, *facts[first:]]) == slots().resolve(facts)


@settings(max_examples=200, deadline=None)
@given(_sets)
def test_nothing_is_erased_and_what_is_retired_says_by_whom(facts: list[FactEvent]) -> None:
    resolved, edges = slots().resolve(facts)
    assert {event.id for event in resolved} == {event.id for event in facts}
    targets = {edge.target for edge in edges if edge.kind != "UPDATES"}
    for event in resolved:
        if event.status != "active" and "duplicate" not in event.flags:
            assert event.id in targets
    subjects = {event.id: event.subject for event in resolved}
    assert all(subjects[edge.source] == subjects[edge.target] for edge in edges)


@settings(max_examples=200, deadline=None)
@given(_sets)
def test_a_single_slot_never_holds_two_rival_values(facts: list[FactEvent]) -> None:
    resolved, _ = slots().resolve(facts)
    for subject in ("person:ana", "person:tom"):
        homes = {value(event) for event in current(resolved, subject, "lives_in") if event.roles}
        assert homes <= {"Leeds", "Leeds, UK"} or len(homes) <= 1


def test_the_result_does_not_depend_on_where_the_facts_of_others_are() -> None:
    mine, theirs = (
        [fact("lives_in", "Leeds", 1), fact("lives_in", "York", 2)],
        [fact("lives_in", "Bath", 3, of="person:tom")],
    )
    alone, _ = slots().resolve(mine)
    together, _ = slots().resolve([*mine, *theirs])
    assert alone == tuple(event for event in together if event.subject == "person:ana")


# --- details ------------------------------------------------------------------------------------------------------


def test_one_statement_closes_at_most_one_value_of_a_slot_of_many() -> None:
    things = [fact("owns", f"thing {number}", number) for number in range(50)]
    _, edges = slots().resolve(
        [*things, fact("owns", "thing 7", 60, polarity=False), fact("owns", "", 61, polarity=False)]
    )
    assert len(edges) == 1


def test_the_winner_begins_where_the_loser_ends() -> None:
    old, new = fact("lives_in", "Leeds", 0), fact("lives_in", "York", 9, valid_from=START + timedelta(days=4))
    (leeds, york), (edge,) = slots().resolve([old, new])
    assert leeds.valid_until == york.valid_from == START + timedelta(days=4)
    assert (edge.source, edge.target, edge.kind, edge.label) == (york.id, leeds.id, "SUPERSEDES", "changed")


def test_a_tie_in_time_goes_by_turn_and_leaves_no_empty_interval() -> None:
    since = START - timedelta(days=9)
    facts, _ = slots().resolve([fact("gym", "Pulse", 1, valid_from=since), fact("gym", "Tempo", 2, valid_from=since)])
    assert by_status(facts, "active") == ["Tempo"]
    assert facts[0].valid_until is None


def test_a_predicate_of_another_name_fills_the_same_slot() -> None:
    facts, _ = slots().resolve([fact("lives_in", "London", 0), fact("moved_to", "Paris", 9)])
    assert by_status(facts, "active") == ["Paris"]


def test_an_end_that_names_nothing_closes_no_slot_when_several_could_be_meant() -> None:
    facts, _ = slots().resolve([fact("works_at", "Acme"), fact("gym", "Pulse"), fact("quit", "", 9)])
    assert by_status(facts, "superseded") == []
    facts, _ = slots().resolve([fact("works_at", "Acme"), fact("gym", "Pulse"), fact("quit", "Pulse", 9)])
    assert by_status(facts, "superseded") == ["Pulse"]


def test_equal_amounts_in_other_words_are_one_value() -> None:
    amount = Quantity(value=1550, unit="second", words="25:50")
    other = Quantity(value=1550, unit="second", words="25 minutes 50 seconds")
    event = Role(name="event", entity="", words="5K")
    run = fact("best_time", "25:50", 0, quantity=amount, roles=(Role(name="value", entity="", words="25:50"), event))
    again = fact("best_time", "", 5, quantity=other, roles=(event,))
    assert [f.status for f in slots().resolve([run, again])[0]] == ["active", "active"]


@pytest.mark.parametrize(
    ("one", "other", "compatible"),
    [
        ((("leed",),), (("leed",), ("uk",)), True),
        ((("headingley",), ("leed",)), (("leed",), ("uk",)), True),
        ((("york",),), (("new", "york"),), False),
        ((("leed",), ("uk",)), (("york",), ("uk",)), False),
        ((("leed",),), (("leed",),), False),
    ],
)
def test_only_added_parts_refine(one: Any, other: Any, compatible: bool) -> None:
    assert refines(one, other) is refines(other, one) is compatible


def test_as_of_never_sees_what_was_said_later() -> None:
    facts, _ = slots().resolve([fact("lives_in", "Leeds", 9, valid_from=START)])
    assert as_of(facts, START + timedelta(days=5)) == ()
    assert [value(event) for event in as_of(facts, START + timedelta(days=5), known_by=START + timedelta(days=9))] == [
        "Leeds"
    ]


def test_current_counts_temporary_states_only_while_they_last() -> None:
    facts, _ = slots().resolve([fact("lives_in", "Leeds"), fact("lives_in", "York", 5, flags=("temporary",))])
    assert [value(event) for event in current(facts, "person:ana", "lives_in")] == ["Leeds"]
    during, after = START + timedelta(days=6), START + timedelta(days=60)
    assert [value(event) for event in current(facts, "person:ana", "lives_in", at=during)] == ["Leeds", "York"]
    assert [value(event) for event in current(facts, "person:ana", "lives_in", at=after)] == ["Leeds"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temporary_days": 0}, "currency.temporary_days must be > 0, got 0"),
        ({"sitting_hours": -1}, "currency.sitting_hours must be > 0, got -1"),
        ({"slots": {"lives_in": {"holds": "one"}}, "aliases": {}}, "currency.slots.lives_in.holds must be one of"),
        ({"slots": {"lives_in": {"hold": "single"}}, "aliases": {}}, "currency.slots.lives_in must only have the keys"),
        ({"aliases": {"dwells_in": "dwelling"}}, "currency.aliases.dwells_in must stand for a predicate"),
        ({"aliases": {"lives_in": "works_at"}}, "currency.aliases.lives_in must stand for a predicate"),
    ],
)
def test_a_wrong_table_is_refused_in_one_line(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace(".", r"\.")):
        slots(**changes)


@pytest.mark.slow
def test_time_per_fact_does_not_grow_with_the_facts_of_one_slot() -> None:
    def seconds(count: int) -> float:
        facts = [fact("owns", f"thing {day % 500}", day, id=str(day), polarity=day % 3 > 0) for day in range(count)]
        currency, best = slots(), float("inf")
        for _ in range(3):
            began = time.process_time()
            currency.resolve(facts)
            best = min(best, time.process_time() - began)
        return best / count

    assert seconds(20_000) < 4 * seconds(2_000)  # a scan of the slot for each fact would make it about 10
