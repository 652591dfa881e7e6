"""The option that only observes must leave every fact alone, in an order that ingest cannot change."""

from __future__ import annotations

from datetime import datetime

from sodamem.currency.observe import ObserveCurrency
from sodamem.types import FactEvent, MessagePiece, Role


def _home(place: str, day: int) -> FactEvent:
    at, text = datetime(2024, 1, day), f"I live in {place}."
    return FactEvent(
        id=place,
        kind="state",
        predicate="lives_in",
        modality="current_state",
        subject="person:ana",
        text=text,
        pieces=(MessagePiece(turn_id=f"t{day}", start=0, end=len(text), text=text),),
        mentioned_at=at,
        order=(at.isoformat(), 0, 0),
        roles=(Role(name="value", entity=f"place:{place.lower()}", words=place),),
    )


def test_conflicting_facts_stand_side_by_side_and_no_edge_is_written() -> None:
    facts = (_home("Leeds", 1), _home("York", 2))
    assert ObserveCurrency().resolve(facts) == (facts, ())


def test_the_order_of_ingest_cannot_matter() -> None:
    facts = (_home("Leeds", 1), _home("York", 2))
    assert ObserveCurrency().resolve(facts[::-1]) == ObserveCurrency().resolve(facts)
