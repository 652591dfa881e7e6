"""Reading a resolved set of facts: what holds now, and what held at an earlier moment.

Three time axes (paper section 3.2): `mentioned_at` bounds what may be known, validity says what held.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from sodamem.types import FactEvent

SAYS = frozenset({"past_event", "current_state", "preference"})  # modalities that state something about the world
UNSAID = frozenset({"quoted", "hypothetical"})  # flags of words that their speaker does not stand by


def effective(fact: FactEvent) -> datetime:
    """The moment a fact counts from: start of validity, else of occurrence, else when it was said."""
    if fact.valid_from is not None:
        return fact.valid_from
    return fact.occurred.start if fact.occurred is not None else fact.mentioned_at


def asserts(fact: FactEvent) -> bool:
    """True when the speaker states it as so: not a plan, question, hypothesis, advice or quotation."""
    return fact.modality in SAYS and UNSAID.isdisjoint(fact.flags)


def holds_at(fact: FactEvent, when: datetime) -> bool:
    """True unless the fact was taken back, had not begun (its effective time), or had ended by `when`."""
    if fact.status == "invalid" or (fact.status == "superseded" and fact.valid_until is None):
        return False
    return effective(fact) <= when and (fact.valid_until is None or when < fact.valid_until)


def as_of(facts: Iterable[FactEvent], when: datetime, *, known_by: datetime | None = None) -> tuple[FactEvent, ...]:
    """Facts that held at `when` among those said by `known_by` (default: `when` itself), latest last.

    The statuses are those of the whole set. To ask what was believed at `when`, resolve only the facts said by then.
    """
    known = when if known_by is None else known_by
    held = (fact for fact in facts if fact.mentioned_at <= known and holds_at(fact, when))
    return tuple(sorted(held, key=lambda fact: (effective(fact), fact.order, fact.id)))


def current(
    facts: Iterable[FactEvent],
    subject: str,
    predicate: str,
    *,
    scope: Mapping[str, str] | None = None,
    at: datetime | None = None,
) -> tuple[FactEvent, ...]:
    """The positive facts of one slot that hold now, latest last; empty when nothing is known to hold.

    `scope` maps role names to an entity id or to words, e.g. {"category": "food"}. With `at`, temporary states count
    while they last and later ones are not seen; without it, only states with an open end count.
    """
    wanted = {(name, value.casefold()) for name, value in (scope or {}).items()}
    found = [
        fact
        for fact in facts
        if (fact.subject, fact.predicate, fact.status) == (subject, predicate, "active")
        and fact.polarity
        and asserts(fact)
        and "retraction" not in fact.flags
        and wanted <= {(role.name, text.casefold()) for role in fact.roles for text in _names(role.entity, role.words)}
        and (fact.valid_until is None if at is None else fact.mentioned_at <= at and holds_at(fact, at))
    ]
    return tuple(sorted(found, key=lambda fact: (effective(fact), fact.order, fact.id)))


def _names(entity: str, words: str) -> tuple[str, str, str]:
    return entity, words, entity.rpartition(":")[2]
