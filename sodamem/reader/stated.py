"""Answers that are states: the value of the slot a question asks for, at the time it asks about (paper section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sodamem import text
from sodamem.reader.questions import Asked
from sodamem.reader.sentences import Sentence, sentences
from sodamem.states import StateAsked, answering, of_slot, subjects
from sodamem.types import Evidence, FactEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class Stated:
    """What the facts of a slot say, and the sentences that say it."""

    words: str
    support: tuple[Sentence, ...]


def stated(asked: Asked, state: StateAsked, evidence: Sequence[Evidence]) -> Stated | None:
    """The state as the facts of the evidence have it; None where they tell nothing of it."""
    held: dict[str, tuple[FactEvent, Sentence]] = {}
    for item in evidence:
        for sentence in sentences(item):
            for fact in sentence.facts:
                held.setdefault(fact.id, (fact, sentence))
    facts = [fact for fact, _ in held.values()]
    about = subjects(asked.text, asked.people, {fact.subject for fact in facts})
    if asked.form == "yes_no":
        return _confirmed(of_slot(facts, state, about), held) if state.value else None
    values: dict[str, tuple[str, Sentence]] = {}
    for fact in answering(facts, state, about, asked.at):
        if value := _value(fact):
            values[" ".join(text.terms(value)) or value] = (value, held[fact.id][1])
    if not values:
        return None
    support = tuple(sentence for _, sentence in values.values())
    if asked.form == "count" and "how many" in asked.text.lower():
        return Stated(words=str(len(values)), support=support)
    return Stated(words=", ".join(value for value, _ in values.values()), support=support)


def _confirmed(slot: Sequence[FactEvent], held: dict[str, tuple[FactEvent, Sentence]]) -> Stated | None:
    """Yes or no by the last thing said of the value asked about."""
    if not slot:
        return None
    last = slot[-1]
    sentence = held[last.id][1]
    true = last.polarity and last.status == "active" and "retraction" not in last.flags
    return Stated(words=f"{'Yes' if true else 'No'}: {sentence.quote}", support=(sentence,))


def _value(fact: FactEvent) -> str:
    said = next((role.words for role in fact.roles if role.name == "value" and role.words), "")
    return said or (fact.quantity.words if fact.quantity else "")
