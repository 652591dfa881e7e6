"""Profiles: what holds of an entity now, on one short card that cites the facts it was built from.

Dreaming, paper section 4.4: profiles of entities whose facts changed are rebuilt between sessions, never on the read
path. A profile inherits the times of its facts, so what was said long ago stays old whenever it is summed up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sodamem import text
from sodamem.errors import ConfigError
from sodamem.protocols import Maintenance
from sodamem.types import KINDS, Edge, FactEvent, Interval, MessagePiece, Status

PREDICATE = "profile"
_PREFIX = "profile:"  # of ids: facts of kind profile are also extracted, from words such as "I am from Leeds"
_SAYS = frozenset({"past_event", "current_state", "preference"})  # a plan or a question does not describe anybody
_UNSAID = frozenset({"quoted", "hypothetical", "retraction"})
_FORMER = "from"  # the role of what a change left behind


@dataclass(frozen=True, kw_only=True)
class DreamMaintenance(Maintenance):
    """One profile for each entity that enough is known of.

    subjects: entity types that get one · hub: nor does an entity that more than this share of all facts are about ·
    kinds: which facts are listed · min_facts, max_facts: statements on a card, each cites one piece, so that a profile
    counts for few turns · per_predicate: statements of one predicate, so that a card of many likes still names the
    home · max_words: length of the card; a statement that does not fit is passed over.
    """

    subjects: Sequence[str]
    hub: float
    kinds: Sequence[str]
    min_facts: int
    max_facts: int
    per_predicate: int
    max_words: int

    def __post_init__(self) -> None:
        if not self.subjects:
            raise ConfigError(
                "maintenance.subjects must name entity types, got []. Use maintenance=none for no profiles"
            )
        if not 0 < self.hub <= 1:
            raise ConfigError(f"maintenance.hub must be above 0 and at most 1, got {self.hub}. 1 excludes nobody")
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise ConfigError(f"maintenance.kinds must be some of {', '.join(KINDS)}, got {list(self.kinds)}")
        for name in ("min_facts", "per_predicate", "max_words"):
            if getattr(self, name) < 1:
                raise ConfigError(f"maintenance.{name} must be >= 1, got {getattr(self, name)}")
        if self.max_facts < self.min_facts:
            raise ConfigError(f"maintenance.max_facts must be >= min_facts, got {self.max_facts} < {self.min_facts}")

    def dream(self, facts: Sequence[FactEvent]) -> tuple[tuple[FactEvent, ...], tuple[Edge, ...]]:
        """All profiles, current and closed, with DERIVED_FROM edges of the current ones and SUPERSEDES between them.

        `facts` are as currency settled them, and may include the profiles of earlier calls: one that would come out
        the same is kept under its id, any other is closed and, where its entity still has one, superseded.
        """
        about: defaultdict[str, list[FactEvent]] = defaultdict(list)
        earlier: defaultdict[str, list[FactEvent]] = defaultdict(list)
        for fact in facts:
            (earlier if fact.id.startswith(_PREFIX) else about)[fact.subject].append(fact)
        most = self.hub * sum(map(len, about.values()))
        profiles: list[FactEvent] = []
        edges: list[Edge] = []
        for subject in sorted({*about, *earlier}):
            told = about[subject]
            listed = self._listed(subject, told) if len(told) <= most else []
            current = _profile(subject, listed) if len(listed) >= self.min_facts else None
            old = [_closed(profile, told) for profile in earlier[subject] if not current or profile.id != current.id]
            profiles += old
            if current:
                profiles.append(current)
                edges += [Edge(source=current.id, target=fact.id, kind="DERIVED_FROM") for fact in listed]
                edges += [Edge(source=current.id, target=it.id, kind="SUPERSEDES", label="rebuilt") for it in old]
        return tuple(sorted(profiles, key=lambda profile: (profile.order, profile.id))), tuple(edges)

    def _listed(self, subject: str, facts: Iterable[FactEvent]) -> list[FactEvent]:
        """The facts on the card, the most supported first, then the newest; a statement made again counts as one."""
        if subject.partition(":")[0] not in self.subjects:
            return []
        alike: defaultdict[tuple[str, str], list[FactEvent]] = defaultdict(list)
        for fact in facts:
            if fact.kind in self.kinds and _holds(fact):
                alike[fact.predicate, text.normalise(_value(fact))].append(fact)
        groups = [sorted(group, key=_newness) for group in alike.values()]
        listed: list[FactEvent] = []
        taken: Counter[str] = Counter()
        for group in sorted(groups, key=lambda group: (_support(group), _newness(group[-1])), reverse=True):
            fact = group[-1]
            if taken[fact.predicate] == self.per_predicate:
                continue
            if len(_card(subject, [*listed, fact]).split()) <= self.max_words:
                listed.append(fact)
                taken[fact.predicate] += 1
            if len(listed) == self.max_facts:
                break
        return listed


def _holds(fact: FactEvent) -> bool:
    """True for what was stated as so and is not known to have ended: the open end is what makes it current."""
    stated = fact.polarity and fact.modality in _SAYS and _UNSAID.isdisjoint(fact.flags)
    return stated and fact.status == "active" and fact.valid_until is None


def _newness(fact: FactEvent) -> tuple[tuple[str, int, int], str]:
    return fact.order, fact.id


def _support(facts: Iterable[FactEvent]) -> int:
    """How many turns say it."""
    return len({piece.turn_id for fact in facts for piece in fact.pieces})


# --- one profile --------------------------------------------------------------------------------------------


def _profile(subject: str, facts: Sequence[FactEvent]) -> FactEvent:
    """The profile of these facts. Its id is a hash of what it says and cites, so that equal facts give the same one."""
    card = _card(subject, facts)
    pieces = tuple(dict.fromkeys(fact.pieces[0] for fact in facts))
    starts = [fact.valid_from for fact in facts if fact.valid_from]
    profile = FactEvent(
        id="",
        kind="profile",
        predicate=PREDICATE,
        modality="current_state",
        subject=subject,
        text=card,
        pieces=pieces,
        mentioned_at=max(fact.mentioned_at for fact in facts),
        order=max(fact.order for fact in facts),
        speaker=facts[0].speaker if len({fact.speaker for fact in facts}) == 1 else "",
        occurred=_hull([fact.occurred for fact in facts if fact.occurred]),
        valid_from=min(starts) if len(starts) == len(facts) else None,  # one unknown start leaves the whole unknown
    )
    times = profile.mentioned_at, profile.occurred, profile.valid_from
    key = text.digest(subject, card, [fact.id for fact in facts], [piece.id for piece in pieces], times)
    return replace(profile, id=f"{_PREFIX}{key[:20]}")


def _hull(intervals: Sequence[Interval]) -> Interval | None:
    """The shortest interval that holds them all."""
    if len(set(intervals)) < 2:
        return intervals[0] if intervals else None
    return Interval(start=min(i.start for i in intervals), end=max(i.end for i in intervals), grain="span")


def _closed(profile: FactEvent, told: Sequence[FactEvent]) -> FactEvent:
    """An earlier profile as it is kept: it held until the last its entity was spoken of.

    One that cites words now known to be untrue was never true itself, and must not bring them back.
    """
    untrue: set[MessagePiece] = {piece for fact in told if fact.status == "invalid" for piece in fact.pieces}
    until = profile.valid_until
    if profile.status == "active":
        heard = max((fact.mentioned_at for fact in told), default=profile.mentioned_at)
        until = heard if _effective(profile) < heard else None  # an interval that would be empty is not written
    status: Status = "superseded" if untrue.isdisjoint(profile.pieces) else "invalid"
    return replace(profile, status=status, valid_until=until)


def _effective(fact: FactEvent) -> datetime:
    return fact.valid_from or (fact.occurred.start if fact.occurred else fact.mentioned_at)


# --- the card -----------------------------------------------------------------------------------------------


def _card(subject: str, facts: Sequence[FactEvent]) -> str:
    """ "Ann: lives in Leeds (since 2023-05-01); likes jazz, long walks." """
    said: dict[str, list[str]] = {}
    for fact in facts:
        since = f" (since {fact.valid_from.date().isoformat()})" if fact.valid_from else ""
        said.setdefault(fact.predicate.replace("_", " "), []).append(f"{_value(fact)}{since}")
    statements = "; ".join(f"{predicate} {', '.join(values)}" for predicate, values in said.items())
    return f"{_name(subject, facts)}: {statements}."


def _value(fact: FactEvent) -> str:
    """What fills the predicate, with its other roles in brackets; the words themselves where no role was read."""
    value = " ".join(role.words for role in fact.roles if role.name == "value" and role.words)
    others = [f"{role.name} {role.words}" for role in fact.roles if role.name not in ("value", _FORMER) and role.words]
    said = f"{value} ({', '.join(others)})" if value and others else value or ", ".join(others)
    return said or fact.pieces[0].text.strip().rstrip(".!")


def _name(subject: str, facts: Iterable[FactEvent]) -> str:
    """The name of an entity: as its owner signs, else the words of its id."""
    name = subject.partition(":")[2] or subject
    return next((fact.speaker for fact in facts if text.normalise(fact.speaker) == name), name)
