"""Stories of change: values that follow one another, told in any order, corrected, ended or only seemingly changed.

The cases are those in which memories were seen to go wrong: late back-dated news, corrections, plans and temporary
states taken for moves, and a new instrument that threw out the old one.
"""

from __future__ import annotations

from datetime import timedelta

from sodamem.dataset.synthetic.claims import Claim, Echo, Said
from sodamem.dataset.synthetic.phrases import pick, spoken
from sodamem.dataset.synthetic.scribe import Scribe
from sodamem.dataset.synthetic.telling import decoy, end, gain, since
from sodamem.dataset.synthetic.templates import Holding, State

CATEGORY = "knowledge-update"


def _change(scribe: Scribe, state: State, session: int, value: str, previous: Said) -> Said:
    """A new value; its date, if one is told, lies after the previous value was said to hold."""
    claim = Claim(predicate=state.predicate, value=value, flags=("change",))
    return scribe.say(session, state.change, claim, phrase=since(scribe, session, previous))


def _chain(scribe: Scribe, length: int) -> tuple[State, list[str], list[Said]]:
    """`length` values of one slot, told in the order in which they held."""
    state = scribe.states.pop()
    scribe.echoes.append(Echo(words=state))
    sessions = scribe.sessions(length)
    values = [scribe.take(state.predicate, state.values) for _ in sessions]
    told = [scribe.say(sessions[0], state.state, Claim(predicate=state.predicate, value=values[0]))]
    for session, value in zip(sessions[1:], values[1:], strict=True):
        told.append(_change(scribe, state, session, value, told[-1]))
    _succeed(scribe, state, values, told)
    return state, values, told


def _succeed(scribe: Scribe, state: State, values: list[str], told: list[Said]) -> None:
    dates = [said.effective_at for said in told]
    scribe.succession(Claim(predicate=state.predicate, value=""), list(zip(values, dates, strict=True)))


def _length(scribe: Scribe, least: int) -> int:
    return least + (1 if scribe.hard else scribe.rng.randrange(2))


def now(scribe: Scribe) -> None:
    state, values, told = _chain(scribe, _length(scribe, 2))
    scribe.ask(CATEGORY, scribe.rng.choice(state.now), values[-1], told[-1:], trap=values[-2])


def before(scribe: Scribe) -> None:
    state, values, told = _chain(scribe, _length(scribe, 2))
    scribe.ask(CATEGORY, scribe.rng.choice(state.before), values[-2], told[-2:], trap=values[-1])


def first(scribe: Scribe) -> None:
    state, values, told = _chain(scribe, _length(scribe, 2))
    scribe.ask(CATEGORY, scribe.rng.choice(state.first), values[0], told[:1], trap=values[-1])


def as_of(scribe: Scribe) -> None:
    """What held on a date half-way through the spell of the last value but one."""
    state, values, told = _chain(scribe, _length(scribe, 2))
    start, stop = told[-2].effective_at, told[-1].effective_at
    if stop - start < timedelta(days=4):  # no day lies clearly inside
        scribe.ask(CATEGORY, scribe.rng.choice(state.before), values[-2], told[-2:], trap=values[-1])
        return
    day = (start + (stop - start) / 2).date()
    question = scribe.rng.choice(state.at).format(date=spoken(day))
    scribe.ask(CATEGORY, question, values[-2], told[-2:], trap=values[-1])


def told_late(scribe: Scribe) -> None:
    """The last value is told first, the one in between afterwards, with its earlier date."""
    state = scribe.states.pop()
    scribe.echoes.append(Echo(words=state))
    begin, middle, later = scribe.sessions(3)
    old, between, new = (scribe.take(state.predicate, state.values) for _ in range(3))
    first = scribe.say(begin, state.state, Claim(predicate=state.predicate, value=old))
    clock, rng = scribe.clock, scribe.rng
    half = clock.at(begin) + (clock.at(middle) - clock.at(begin)) / 2
    flags = ("change", "told_late")
    last = scribe.say(
        middle,
        state.change,
        Claim(predicate=state.predicate, value=new, flags=flags[:1]),
        phrase=pick(rng, clock.at(middle), half, clock.at(middle)),
    )
    when = pick(rng, clock.at(later), clock.at(begin), last.effective_at)
    told = [first, last]
    values = [old, new]
    if when:
        dated = [text for text in state.change if not any(word in text for word in (" now", "these days", "just"))]
        claim = Claim(predicate=state.predicate, value=between, flags=flags)
        told.append(scribe.say(later, dated, claim, phrase=when, lead=rng.choice(scribe.lexicon.speech["late"])))
        values.append(between)
    _succeed(scribe, state, values, told)
    scribe.ask(CATEGORY, rng.choice(state.now), new, [last], trap=values[-1] if when else old)


def corrected(scribe: Scribe) -> None:
    """The second value was a slip, put right in the same session or in a later one; the slip never held."""
    state = scribe.states.pop()
    scribe.echoes.append(Echo(words=state))
    begin, middle, later = scribe.sessions(3)
    old, slip, right = (scribe.take(state.predicate, state.values) for _ in range(3))
    first = scribe.say(begin, state.state, Claim(predicate=state.predicate, value=old))
    wrong = _change(scribe, state, middle, slip, first)
    scribe.flag(wrong, "corrected")
    at_once = scribe.rng.random() < 0.5 and bool(scribe.room(middle, wrong.exchange))
    session, after = (middle, wrong.exchange) if at_once else (later, -1)
    redated = any("{when}" in text for text in state.fix) and scribe.rng.random() < 0.5
    now = scribe.clock.at(session)
    phrase = pick(scribe.rng, now, first.effective_at, now) if redated else None  # the right date, told at last
    fixed = scribe.say(
        session,
        state.fix,
        Claim(predicate=state.predicate, value=right, flags=("correction",)),
        phrase=phrase,
        effective_at=None if phrase else wrong.effective_at,
        after=after,
        words={"wrong": slip},
    )
    _succeed(scribe, state, [old, right], [first, fixed])
    scribe.ask(CATEGORY, scribe.rng.choice(state.now), right, [fixed], trap=slip)


def unmoved(scribe: Scribe) -> None:
    """The value is said once; the temporary state, plan, hypothesis or advice that follows changes nothing."""
    state = scribe.states.pop()
    scribe.echoes.append(Echo(words=state))
    begin, later = scribe.sessions(2)
    value = scribe.take(state.predicate, state.values)
    said = scribe.say(begin, state.state, Claim(predicate=state.predicate, value=value))
    _succeed(scribe, state, [value], [said])
    trap = decoy(scribe, state, later)
    scribe.ask(CATEGORY, scribe.rng.choice(state.now), value, [said], trap=trap or "")


def still(scribe: Scribe) -> None:
    """Of two things held together one may go; the arrival of the second does not end the first."""
    holding = scribe.holdings.pop()
    scribe.echoes.append(Echo(words=holding))
    sessions = scribe.sessions(3)
    old, new = (scribe.take(holding.predicate, holding.values) for _ in range(2))
    kept = Claim(predicate=holding.predicate, value=old)
    first = scribe.say(sessions[0], holding.state, kept)
    added = gain(scribe, holding, sessions[1], new, first)
    until = None
    sources = [first]
    if scribe.rng.random() < 0.5:
        gone = end(scribe, holding, sessions[2], old, first)
        until, sources = gone.effective_at, [gone]
    scribe.hold(kept, first.effective_at, until)
    scribe.hold(Claim(predicate=holding.predicate, value=new), added.effective_at)
    question = scribe.rng.choice(holding.still).format(value=old)
    scribe.ask(CATEGORY, question, "No, not any more." if until else "Yes.", sources, trap="Yes." if until else "No.")


def listed(scribe: Scribe) -> None:
    holding, values, told = collection(scribe)
    question = scribe.rng.choice(holding.list)
    scribe.ask(CATEGORY, question, " and ".join(sorted(values)), told)


def collection(scribe: Scribe) -> tuple[Holding, list[str], list[Said]]:
    """Two or three things held, one of which may go again: what is left, and the clauses that tell."""
    holding = scribe.holdings.pop()
    scribe.echoes.append(Echo(words=holding))
    sessions = scribe.sessions(4)
    values = [scribe.take(holding.predicate, holding.values) for _ in range(scribe.rng.randint(2, 3))]
    told = [scribe.say(sessions[0], holding.state, Claim(predicate=holding.predicate, value=values[0]))]
    told += [gain(scribe, holding, s, v, told[0]) for s, v in zip(sessions[1:], values[1:], strict=False)]
    until = None
    if len(values) == 3:
        told.append(end(scribe, holding, sessions[3], values[1], told[1]))
        until = told[-1].effective_at
    for value, said in zip(values, told, strict=False):
        claim = Claim(predicate=holding.predicate, value=value)
        scribe.hold(claim, said.effective_at, until if value == values[1] else None)
    left = [value for value in values if until is None or value != values[1]]
    return holding, left, told


VARIANTS = (now, corrected, unmoved, still, told_late, before, as_of, listed, first)
