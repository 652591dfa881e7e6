"""The one who writes a history down: finds free places, says a clause in a turn, and keeps the gold of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random
from typing import TypeVar

from sodamem.dataset.synthetic.chat import Exchange, request
from sodamem.dataset.synthetic.claims import Claim, Echo, Said
from sodamem.dataset.synthetic.clock import Clock
from sodamem.dataset.synthetic.gold import Gold, GoldSlot, GoldStatement, Spell
from sodamem.dataset.synthetic.phrases import Phrase
from sodamem.dataset.synthetic.templates import Group, Happening, Lexicon, Listing, lexicon
from sodamem.errors import ConfigError
from sodamem.types import Interval, Question

T = TypeVar("T")


def turn_id(session: int, index: int) -> str:
    return f"{session_id(session)}:{index}"


def session_id(session: int) -> str:
    return f"s{session + 1}"


@dataclass(kw_only=True)
class Scribe:
    """Mutable state while one history is planned. Its size depends on what is planned, not on the sessions."""

    key: str
    history_id: str
    clock: Clock
    exchanges: int
    hard: bool
    rng: Random
    cells: dict[int, dict[int, Exchange]] = field(default_factory=dict)
    statements: list[GoldStatement] = field(default_factory=list)
    spells: dict[tuple[str, str, str], list[Spell]] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    echoes: list[Echo] = field(default_factory=list)
    silent: set[str] = field(default_factory=set)  # predicates that the user must never claim
    _used: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        people = self.lexicon.people
        self.user: str = self.rng.choice(people["users"])
        self.cast: dict[str, str] = dict(self.rng.sample(sorted(people["cast"].items()), 8))
        self.states = self.shuffled(self.lexicon.states)
        self.holdings = self.shuffled(self.lexicon.holdings)
        self.tastes = self.shuffled(self.lexicon.tastes)
        self.lists = self.shuffled(self.lexicon.lists)
        groups = self.shuffled([(event, group) for event in self.lexicon.happenings for group in event.groups])
        # Counted groups are set apart, so that no other story adds to what is counted.
        self.paid = [pair for pair in groups if pair[1].sum][:2]
        self.counted = [pair for pair in groups if pair not in self.paid][:3]
        self.free = [pair for pair in groups if pair not in self.paid and pair not in self.counted]

    @property
    def lexicon(self) -> Lexicon:
        return lexicon()

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return self.rng.sample(items, len(items))

    # --- places ---------------------------------------------------------------------------------------------

    def sessions(self, count: int) -> list[int]:
        """`count` different sessions that have room, in order of time."""
        total = self.clock.sessions
        for _ in range(20):
            drawn = sorted(self.rng.sample(range(total), min(count, total)))
            if len(drawn) == count and all(len(self.cells.get(s, ())) < self.exchanges for s in drawn):
                return drawn
        free = [s for s in range(total) if len(self.cells.get(s, ())) < self.exchanges]
        if len(free) < count:
            raise ConfigError(
                f"sessions must leave room for every fact, got {total} of {self.exchanges} exchanges. "
                "Raise sessions or turns_per_session, or lower questions_per_history or distractors."
            )
        return sorted(self.rng.sample(free, count))

    def room(self, session: int, after: int = -1) -> list[int]:
        taken = self.cells.get(session, {})
        return [place for place in range(after + 1, self.exchanges) if place not in taken]

    # --- fresh values and people ----------------------------------------------------------------------------

    def fresh(self, pool: str, values: Sequence[str]) -> str | None:
        """A value of `values` that this history has not used in `pool`; None when all are used."""
        used = self._used.setdefault(pool, set())
        left = [value for value in values if value not in used]
        if not left:
            return None
        used.add(chosen := self.rng.choice(left))
        return chosen

    def take(self, pool: str, values: Sequence[str]) -> str:
        value = self.fresh(pool, values)
        if value is None:
            raise ConfigError(f"questions_per_history must not exhaust the values of {pool}, got too many. Lower it.")
        return value

    def fresh_event(self) -> tuple[Happening, Group, str]:
        """An event that has not been used, of a group that nobody counts."""
        for event, group in self.shuffled(self.free):
            if value := self.fresh(group.name, group.values):
                return event, group, value
        raise ConfigError("questions_per_history must not exhaust the events, got too many. Lower it.")

    def somebody(self, predicate: str) -> str | None:
        """A person about whom nothing with this predicate has been said yet."""
        return self.fresh(f"{predicate}/people", sorted(self.cast))

    # --- saying ---------------------------------------------------------------------------------------------

    def say(
        self,
        session: int,
        templates: Sequence[str],
        claim: Claim,
        *,
        phrase: Phrase | None = None,
        effective_at: datetime | None = None,
        after: int = -1,
        lead: str | None = None,
        by_assistant: bool = False,
        words: Mapping[str, str] | None = None,
    ) -> Said:
        """Put one clause in a free exchange of `session`.

        phrase: its time; templates with a place for one are used exactly when it is given. effective_at: when it is
        not the phrase's or the session's. after: an exchange that must come before. words: other places to fill.
        """
        fitting = [text for text in templates if ("{when}" in text or "{When}" in text) == (phrase is not None)]
        place = self.rng.choice(self.room(session, after))
        when = phrase.words if phrase else ""
        who = self._called(claim.subject)
        clause = self.rng.choice(fitting).format(
            value=claim.value,
            name=claim.subject,
            when=when,
            When=_upper(when),
            who=who,
            Who=_upper(who),
            **(words or {}),
        )
        exchange, start = self._answer(clause) if by_assistant else self._remark(clause, lead)
        self.cells.setdefault(session, {})[place] = exchange
        said = Said(
            turn_id=turn_id(session, 2 * place + by_assistant),
            session=session,
            exchange=place,
            effective_at=effective_at or (phrase.interval.start if phrase else self.clock.at(session)),
            occurred=phrase.interval if phrase else None,
        )
        self.statements.append(self._gold(claim, said, start, start + len(clause)))
        return said

    def _gold(self, claim: Claim, said: Said, start: int, end: int) -> GoldStatement:
        predicate = self.lexicon.predicates[claim.predicate]
        return GoldStatement(
            turn_id=said.turn_id,
            start=start,
            end=end,
            subject=claim.subject,
            predicate=claim.predicate,
            value=claim.value,
            kind=claim.kind or predicate.kind,
            modality=claim.modality or predicate.modality,
            polarity=claim.polarity,
            occurred=said.occurred,
            effective_at=said.effective_at,
            scope=claim.scope,
            flags=claim.flags,
        )

    def _called(self, subject: str) -> str:
        relation = self.cast.get(subject)
        return f"{relation} {subject}" if relation and self.rng.random() < 0.6 else subject

    def _remark(self, clause: str, lead: str | None) -> tuple[Exchange, int]:
        """A user turn around the clause, with its answer; and where the clause begins."""
        ask, tip = request(self.rng)
        speech = self.lexicon.speech
        layout = self.rng.random()
        if lead is None and layout < 0.6:
            lead = f"{ask} {self.rng.choice(speech['bridge'])}"
        elif layout < 0.8:
            clause = f"{clause} {ask}"
        lead = lead or ""
        # A clause that follows a comma goes on in lower case, unless it begins with a name or with "I".
        first = clause.split()[0].split("'")[0]
        if lead.rstrip().endswith((",", "but")) and first != "I" and first not in self.cast:
            clause = clause[0].lower() + clause[1:]
        return (f"{lead}{clause}", f"{self.rng.choice(speech['ack'])} {tip}"), len(lead)

    def _answer(self, clause: str) -> tuple[Exchange, int]:
        ask, tip = request(self.rng)
        return (ask, f"{tip} {clause}"), len(tip) + 1

    def list_items(self, session: int, listing: Listing, items: Sequence[str]) -> Said:
        """An exchange in which the assistant gives a numbered list. Advice about nobody: it has no gold statement."""
        place = self.rng.choice(self.room(session))
        lines = [self.rng.choice(self.lexicon.speech["listing"]).format(what=listing.what)]
        lines += [f"{number}. {item}" for number, item in enumerate(items, start=1)]
        self.cells.setdefault(session, {})[place] = (listing.ask, "\n".join(lines))
        at = self.clock.at(session)
        return Said(
            turn_id=turn_id(session, 2 * place + 1), session=session, exchange=place, effective_at=at, occurred=None
        )

    # --- gold -----------------------------------------------------------------------------------------------

    def flag(self, said: Said, flag: str) -> None:
        """Mark the latest statement made at `said`, e.g. as corrected later."""
        at = max(i for i, statement in enumerate(self.statements) if statement.turn_id == said.turn_id)
        self.statements[at] = replace(self.statements[at], flags=(*self.statements[at].flags, flag))

    def hold(self, claim: Claim, since: datetime, until: datetime | None = None) -> None:
        """Write that the claim's value held from `since`; in a single-valued slot call `succession` instead."""
        key = (claim.subject, claim.predicate, claim.scope)
        self.spells.setdefault(key, []).append(Spell(claim.value, since, until))

    def succession(self, claim: Claim, values: Sequence[tuple[str, datetime]]) -> None:
        """Write that one value followed another; each ends where the next begins."""
        ordered = sorted(values, key=lambda pair: pair[1])
        ends = [since for _, since in ordered[1:]]
        for (value, since), until in zip(ordered, [*ends, None], strict=True):
            self.hold(replace(claim, value=value), since, until)

    def gold(self) -> Gold:
        def reading_order(statement: GoldStatement) -> tuple[int, int, int]:
            session, index = statement.turn_id[1:].split(":")
            return int(session), int(index), statement.start

        slots = []
        for (subject, predicate, scope), spells in sorted(self.spells.items()):
            cardinality = self.lexicon.predicates[predicate].cardinality
            assert cardinality != "event", predicate
            timeline = tuple(sorted(spells, key=lambda spell: (spell.valid_from, spell.value)))
            slots.append(
                GoldSlot(subject=subject, predicate=predicate, scope=scope, cardinality=cardinality, timeline=timeline)
            )
        return Gold(statements=tuple(sorted(self.statements, key=reading_order)), slots=tuple(slots))

    # --- questions ------------------------------------------------------------------------------------------

    def ask(
        self,
        category: str,
        text: str,
        gold: str,
        sources: Sequence[Said],
        *,
        trap: str = "",
        interval: Interval | None = None,
        answerable: bool = True,
    ) -> None:
        """Add a question; `sources` are the clauses that one must have read to answer it."""
        number = len(self.questions)
        self.questions.append(
            Question(
                id=f"{self.history_id}-q{number + 1:02d}",
                history_id=self.history_id,
                text=text,
                asked_at=self.clock.asked_at(number),
                category=category,
                category_name=category.replace("-", " "),
                gold=gold,
                gold_turns=tuple(dict.fromkeys(said.turn_id for said in sources)),
                gold_sessions=tuple(dict.fromkeys(session_id(said.session) for said in sources)),
                answerable=answerable,
                trap=trap,
                gold_interval=interval,
            )
        )


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
