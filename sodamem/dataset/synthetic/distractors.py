"""Words that resemble a story and change nothing in it: other people, plans, advice; in hard mode near-duplicates."""

from __future__ import annotations

from sodamem.dataset.synthetic.claims import Claim, Echo
from sodamem.dataset.synthetic.scribe import Scribe
from sodamem.dataset.synthetic.telling import decoy, happen, lately, other, unreal
from sodamem.dataset.synthetic.templates import Happening, Holding, State, Taste


def distract(scribe: Scribe, echo: Echo, turn: int) -> None:
    """Place the `turn`-th distractor of one story, if values and people are left for it."""
    match echo.words:
        case State() as state:
            _about_state(scribe, state, turn)
        case Holding() as holding:
            _about_holding(scribe, holding, turn)
        case Happening():
            _about_event(scribe, echo, turn)
        case Taste() as taste:
            _about_taste(scribe, taste)


def _session(scribe: Scribe) -> int:
    return scribe.sessions(1)[0]


def _about_state(scribe: Scribe, state: State, turn: int) -> None:
    if scribe.hard and state.twin and turn == 0 and state.predicate not in scribe.silent:
        scope, values, said = state.twin
        claim = Claim(predicate=state.predicate, value=scribe.take(f"{state.predicate}/{scope}", values), scope=scope)
        scribe.hold(claim, scribe.say(_session(scribe), said, claim).effective_at)
    elif turn % 3 == 2 or scribe.rng.random() < 0.3:
        decoy(scribe, state, _session(scribe))
    elif value := scribe.fresh(state.predicate, state.values):
        other(scribe, state, _session(scribe), value, changed=scribe.rng.random() < 0.5)


def _about_holding(scribe: Scribe, holding: Holding, turn: int) -> None:
    value = scribe.fresh(holding.predicate, holding.values)
    if value and turn % 2 == 0:
        other(scribe, holding, _session(scribe), value)
    elif value:
        unreal(scribe, holding, _session(scribe), value, scribe.rng.choice(("plan", "maybe", "advice")))


def _about_event(scribe: Scribe, echo: Echo, turn: int) -> None:
    event, group = echo.words, echo.group
    assert isinstance(event, Happening)
    assert group is not None
    session = _session(scribe)
    if scribe.hard and turn == 0 and (event, group) in scribe.free:
        # Almost the same sentence of the user, about another thing on another day.
        happen(scribe, event, group, session)
    elif turn % 2 == 1 and (value := scribe.fresh(group.name, group.values)):
        unreal(scribe, event, session, value, scribe.rng.choice(("plan", "maybe", "advice")))
    else:
        # In hard mode somebody else did the very same thing, at another time.
        value = echo.value if scribe.hard and echo.value else scribe.fresh(group.name, group.values)
        if value:
            name = scribe.rng.choice(sorted(scribe.cast))
            claim = Claim(predicate=event.predicate, value=value, subject=name)
            scribe.say(session, event.other, claim, phrase=lately(scribe, session))


def _about_taste(scribe: Scribe, taste: Taste) -> None:
    like = scribe.rng.random() < 0.5
    predicate = "likes" if like else "dislikes"
    value, name = scribe.fresh(taste.name, taste.values), scribe.somebody(predicate)
    if value and name:
        claim = Claim(predicate=predicate, value=value, subject=name)
        said = scribe.say(
            _session(scribe), scribe.lexicon.taste_words["other_like" if like else "other_dislike"], claim
        )
        scribe.hold(claim, said.effective_at)
