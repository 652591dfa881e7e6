"""Questions about what was never said, beside words that invite a wrong answer.

Abstention after LongMemEval (arXiv 2410.10813); the traps are other people's facts and plans that stayed plans.
"""

from __future__ import annotations

from sodamem.dataset.synthetic.claims import Claim, Echo
from sodamem.dataset.synthetic.phrases import describe
from sodamem.dataset.synthetic.scribe import Scribe
from sodamem.dataset.synthetic.telling import lately, other, unreal

CATEGORY = "abstention"
UNKNOWN = "You have not told me that."


def _unknown(scribe: Scribe, question: str, trap: str = "") -> None:
    scribe.ask(CATEGORY, question, UNKNOWN, (), trap=trap, answerable=False)


def only_somebody_else(scribe: Scribe) -> None:
    """Asked is the user's value; only another person's was ever told."""
    state = scribe.states.pop()
    scribe.silent.add(state.predicate)
    value = scribe.take(state.predicate, state.values)
    other(scribe, state, scribe.sessions(1)[0], value)
    scribe.echoes.append(Echo(words=state))
    _unknown(scribe, scribe.rng.choice(state.now), value)


def only_the_user(scribe: Scribe) -> None:
    """Asked is another person's value; only the user's was ever told."""
    state = scribe.states.pop()
    claim = Claim(predicate=state.predicate, value=scribe.take(state.predicate, state.values))
    said = scribe.say(scribe.sessions(1)[0], state.state, claim)
    scribe.hold(claim, said.effective_at)
    scribe.echoes.append(Echo(words=state))
    name = scribe.somebody(state.predicate)  # taken here, so that no distractor gives this person a value
    assert name, state.predicate
    _unknown(scribe, scribe.rng.choice(state.whose).format(name=name), claim.value)


def only_planned(scribe: Scribe) -> None:
    """Asked is when the user did it; it was only ever a plan."""
    event, group, value = scribe.fresh_event()
    unreal(scribe, event, scribe.sessions(1)[0], value, "plan")
    scribe.echoes.append(Echo(words=event, group=group))
    question = scribe.rng.choice(scribe.lexicon.speech["ask_did"])
    _unknown(scribe, question.format(verb=event.verb.format(value=value)))


def somebody_else_did(scribe: Scribe) -> None:
    """Asked is when the user did it; somebody else did."""
    event, group, value = scribe.fresh_event()
    name = scribe.rng.choice(sorted(scribe.cast))
    session = scribe.sessions(1)[0]
    phrase = lately(scribe, session)
    scribe.say(session, event.other, Claim(predicate=event.predicate, value=value, subject=name), phrase=phrase)
    scribe.echoes.append(Echo(words=event, group=group))
    question = scribe.rng.choice(scribe.lexicon.speech["ask_did"])
    _unknown(scribe, question.format(verb=event.verb.format(value=value)), describe(phrase.interval))


VARIANTS = (only_somebody_else, somebody_else_did, only_the_user, only_planned)
