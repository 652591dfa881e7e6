"""Ways of telling that several stories share: a dated event, a gain, an end, and words that make nothing true."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sodamem.dataset.synthetic.claims import Claim, Said
from sodamem.dataset.synthetic.phrases import Phrase, pick
from sodamem.dataset.synthetic.scribe import Scribe
from sodamem.dataset.synthetic.templates import Group, Happening, Holding, State, Wordings
from sodamem.types import Grain, Modality

_MOODS: dict[str, tuple[Modality, tuple[str, ...]]] = {
    "plan": ("future_plan", ()),
    "maybe": ("intent", ("hypothetical",)),
    "advice": ("advice", ()),
    "temporary": ("current_state", ("temporary",)),
}
_MONTHS = timedelta(days=120)


def lately(scribe: Scribe, session: int, grains: frozenset[Grain] | None = None) -> Phrase:
    """A time within the four months before the session."""
    now = scribe.clock.at(session)
    while (phrase := pick(scribe.rng, now, now - _MONTHS, now, grains)) is None:
        pass  # every draw has a fair chance: a calendar date of any grain asked for always fits
    return phrase


def since(scribe: Scribe, session: int, previous: Said) -> Phrase | None:
    """Sometimes a time after the session of `previous`, so that the story stays true to what was said there."""
    if scribe.rng.random() < 0.4:
        return None
    now = scribe.clock.at(session)
    return pick(scribe.rng, now, max(previous.effective_at, scribe.clock.at(previous.session)), now)


def happen(
    scribe: Scribe,
    event: Happening,
    group: Group,
    session: int,
    *,
    grains: frozenset[Grain] | None = None,
    templates: tuple[str, ...] | None = None,
    words: Mapping[str, str] | None = None,
) -> tuple[str, Said] | None:
    """The user tells of a dated event. None when the values of the group are used up."""
    value = scribe.fresh(group.name, group.values)
    if value is None:
        return None
    claim = Claim(predicate=event.predicate, value=value)
    said = scribe.say(session, templates or event.did, claim, phrase=lately(scribe, session, grains), words=words)
    return value, said


def gain(scribe: Scribe, holding: Holding, session: int, value: str, previous: Said) -> Said:
    claim = Claim(predicate=holding.predicate, value=value, flags=("change",))
    return scribe.say(session, holding.gain, claim, phrase=since(scribe, session, previous))


def end(scribe: Scribe, holding: Holding, session: int, value: str, previous: Said) -> Said:
    claim = Claim(predicate=holding.predicate, value=value, polarity=False, flags=("ended",))
    return scribe.say(session, holding.ended, claim, phrase=since(scribe, session, previous))


def unreal(scribe: Scribe, words: Wordings, session: int, value: str, mood: str) -> Said:
    """Say `value` as a plan, a hypothesis (maybe), advice of the assistant, or a temporary state."""
    modality, flags = _MOODS[mood]
    claim = Claim(predicate=words.predicate, value=value, modality=modality, flags=flags)
    return scribe.say(session, getattr(words, mood), claim, by_assistant=mood == "advice")


def decoy(scribe: Scribe, state: State, session: int) -> str | None:
    """Another value in words that do not make it true. None when no value is left."""
    value = scribe.fresh(state.predicate, state.values)
    if value:
        moods = ["plan", "maybe", "advice"]
        if state.temporary and state.predicate not in scribe.silent:
            moods.append("temporary")
        unreal(scribe, state, session, value, scribe.rng.choice(moods))
    return value


def other(scribe: Scribe, words: State | Holding, session: int, value: str, changed: bool = False) -> str | None:
    """The same predicate of somebody else. Returns the name; None when everybody has one already."""
    name = scribe.somebody(words.predicate)
    if name is None:
        return None
    claim = Claim(predicate=words.predicate, value=value, subject=name)
    if changed and isinstance(words, State):
        said = scribe.say(session, words.other_change, claim, phrase=lately(scribe, session))
    else:
        said = scribe.say(session, words.other, claim)
    scribe.hold(claim, said.effective_at)
    return name
