"""Verdicts of a model: on the pairs that the slots select and no others; what fails keeps both facts and says so."""

from dataclasses import replace

import pytest

from sodamem import build, config
from sodamem.currency.llm import LlmCurrency
from sodamem.errors import ConfigError, ModelError, PromptError, ReplyError
from sodamem.types import Role


@pytest.fixture(scope="module")
def slots():
    return build.component(config.compose("currency=slots"), "currency")


@pytest.fixture
def currency(option, slots):
    return lambda chat: LlmCurrency(chat=chat, rules=slots, **option("currency/llm"))


@pytest.fixture
def stated(talk, fact):
    """stated("lives_in Leeds 2024-01-01", …) -> facts of Ann, one session each."""

    def make(*rows):
        found = []
        for number, row in enumerate(rows):
            predicate, value, at, *more = row.split()
            source = talk({f"s{number} {at}": [f"Ann: {predicate} {value} ({number})."]}).sessions[0].turns[0]
            role = Role(name="value", entity=f"thing:{value.lower()}", words=value)
            kind = "past_event" if "event" in more else "current_state"
            found.append(
                fact(
                    f"f{number}",
                    source,
                    predicate=predicate,
                    roles=(role,),
                    modality=kind,
                    flags=tuple(set(more) - {"event"}),
                )
            )
        return found

    return make


def verdict(said):
    return {"reasoning": "r", "verdict": said}


def by_id(resolved):
    return {fact.id: fact for fact in resolved[0]}


def edges(resolved):
    return {(edge.kind, edge.source, edge.target) for edge in resolved[1]}


MOVED = ("lives_in Leeds 2024-01-01", "lives_in York 2024-05-01")
UNKNOWN = ("juggles apples 2024-01-01", "juggles knives 2024-05-01")


def test_only_the_pairs_that_the_slots_select_are_asked_about(currency, stated, saying):
    chat = saying()
    resolved = currency(chat).resolve(
        stated(
            "likes tea 2024-01-01", "likes coffee 2024-02-01", "visited Rome 2024-03-01", "lives_in Leeds 2024-03-01"
        )
    )
    assert not chat.asked and all(fact.status == "active" for fact in resolved[0])


@pytest.mark.parametrize("said", ["replaces", "same"])
def test_a_model_that_agrees_changes_nothing(currency, slots, stated, saying, said):
    assert currency(saying(verdict(said))).resolve(stated(*MOVED)) == slots.resolve(stated(*MOVED))


@pytest.mark.parametrize(
    ("said", "status", "kinds"),
    [
        ("both_hold", "active", set()),
        ("refines", "active", {("UPDATES", "f1", "f0")}),
        ("corrects", "invalid", {("CONTRADICTS", "f1", "f0")}),
    ],
)
def test_a_verdict_overrules_the_slots(currency, stated, saying, said, status, kinds):
    resolved = currency(saying(verdict(said))).resolve(stated(*MOVED))
    facts = by_id(resolved)
    assert (facts["f0"].status, facts["f0"].valid_until) == (status, None) and facts["f1"].status == "active"
    assert {edge for edge in edges(resolved) if edge[0] != "UPDATES" or said == "refines"} == kinds


@pytest.mark.parametrize(
    "failure", [ReplyError("x", reason="invalid"), PromptError("x", reason="prompt_too_long"), None]
)
@pytest.mark.parametrize("rows", [MOVED, UNKNOWN])
def test_a_verdict_that_cannot_be_had_keeps_both_and_flags_them(currency, stated, saying, cut_off, failure, rows):
    facts = by_id(currency(saying(failure or cut_off('{"rea'))).resolve(stated(*rows)))
    assert all(fact.status == "active" and "possible_conflict" in fact.flags for fact in facts.values())


def test_an_outage_decides_nothing(currency, stated, saying):
    with pytest.raises(ModelError):
        currency(saying(ModelError("gone", reason="unreachable"))).resolve(stated(*MOVED))


def test_what_sold_closes_is_what_is_owned(currency, stated, saying):
    """graphiti#1666: one owns a thing, then it is sold; the model sees both, reasons first."""
    chat = saying(verdict("replaces"))
    facts = by_id(currency(chat).resolve(stated("owns van 2024-01-01", "sold van 2024-05-01 event state_change")))
    assert facts["f0"].status == "superseded" and facts["f1"].status == "active"
    assert "owns" in chat.prompts[0] and "sold" in chat.prompts[0]
    assert list(chat.asked[0].schema["properties"]) == ["reasoning", "verdict"]


@pytest.mark.parametrize(
    ("said", "status", "flagged", "kind"),
    [
        ("replaces", "superseded", False, "SUPERSEDES"),
        ("corrects", "invalid", False, "CONTRADICTS"),
        ("refines", "active", False, "UPDATES"),
        ("both_hold", "active", False, None),
        ("same", "active", False, None),
    ],
)
def test_an_unknown_slot_is_settled_by_the_model(currency, stated, saying, said, status, flagged, kind):
    resolved = currency(saying(verdict(said))).resolve(stated(*UNKNOWN))
    facts = by_id(resolved)
    assert facts["f0"].status == status and facts["f1"].status == "active"
    assert all(("possible_conflict" in fact.flags) == flagged for fact in facts.values())
    assert edges(resolved) == ({(kind, "f1", "f0")} if kind else set())
    if said == "replaces":
        assert facts["f0"].valid_until == facts["f1"].mentioned_at


def test_of_many_only_neighbours_in_time_are_asked_about(currency, stated, saying):
    rows = [f"juggles x{n} 2024-0{n + 1}-01" for n in range(5)]
    chat = saying(*[verdict("both_hold")] * 4)
    currency(chat).resolve(stated(*rows))
    assert len(chat.asked) == 4


def test_the_order_of_arrival_changes_neither_questions_nor_answers(currency, stated, saying):
    rows = (*MOVED, "lives_in Rome 2024-07-01", *UNKNOWN)
    results = []
    for facts in (stated(*rows), stated(*rows)[::-1]):
        chat = saying(*[verdict("replaces")] * 3)
        results.append((currency(chat).resolve(facts), chat.prompts))
    assert results[0] == results[1]


def test_resolving_again_starts_from_what_was_extracted(currency, stated, saying):
    once = currency(saying(verdict("both_hold"))).resolve(stated(*MOVED))
    again = currency(saying(verdict("replaces"))).resolve(once[0])
    assert by_id(again)["f0"].status == "superseded"


def test_equal_pairs_are_one_question(currency, stated, saying):
    """The prompt holds no ids, so the reply is found again under its content."""
    facts = stated(*MOVED)
    one, two = saying(verdict("same")), saying(verdict("same"))
    currency(one).resolve(facts)
    currency(two).resolve([replace(fact, id=f"other-{fact.id}") for fact in facts])
    assert one.asked == two.asked


def test_a_wrong_value_is_named(slots, option, saying):
    with pytest.raises(ConfigError, match=r"currency\.max_tokens must be >= 1, got 0"):
        LlmCurrency(chat=saying(), rules=slots, **{**option("currency/llm"), "max_tokens": 0})
