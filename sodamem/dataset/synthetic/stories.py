"""One-clause and many-clause stories: details of one session, counting over sessions, tastes, order in time.

Question types after LongMemEval (arXiv 2410.10813, section 3).
"""

from __future__ import annotations

from sodamem.dataset.synthetic import updates
from sodamem.dataset.synthetic.claims import Claim, Echo, Said
from sodamem.dataset.synthetic.phrases import describe
from sodamem.dataset.synthetic.scribe import Scribe
from sodamem.dataset.synthetic.telling import happen, lately
from sodamem.dataset.synthetic.templates import Happening
from sodamem.types import Grain, Interval

_DAY: frozenset[Grain] = frozenset({"day"})
_ORDINALS = ("first", "second", "third", "fourth", "fifth")


def _event(scribe: Scribe, session: int, grains: frozenset[Grain] | None = None) -> tuple[Happening, str, Said]:
    event, group, value = scribe.fresh_event()
    claim = Claim(predicate=event.predicate, value=value)
    said = scribe.say(session, event.did, claim, phrase=lately(scribe, session, grains))
    scribe.echoes.append(Echo(words=event, group=group, value=value))
    return event, value, said


def _occurred(said: Said) -> Interval:
    assert said.occurred is not None, said
    return said.occurred


# --- single session -----------------------------------------------------------------------------------------


def said_once(scribe: Scribe) -> None:
    state = scribe.states.pop()
    scribe.echoes.append(Echo(words=state))
    (session,) = scribe.sessions(1)
    claim = Claim(predicate=state.predicate, value=scribe.take(state.predicate, state.values))
    said = scribe.say(session, state.state, claim)
    scribe.hold(claim, said.effective_at)
    scribe.ask("single-session-user", scribe.rng.choice(state.now), claim.value, [said])


def detail(scribe: Scribe) -> None:
    """With whom, or where, something happened."""
    event, group, value = scribe.fresh_event()
    (session,) = scribe.sessions(1)
    place = scribe.rng.choice(event.places)
    claim = Claim(predicate=event.predicate, value=value)
    said = scribe.say(session, event.did_at, claim, phrase=lately(scribe, session), words={"place": place})
    scribe.echoes.append(Echo(words=event, group=group, value=value))
    scribe.ask("single-session-user", scribe.rng.choice(event.ask_at).format(value=value), place, [said])


def listing(scribe: Scribe) -> None:
    """The assistant gives a list; asked is one item by its number."""
    listing = scribe.lists.pop()
    (session,) = scribe.sessions(1)
    items = scribe.rng.sample(listing.items, 5)
    said = scribe.list_items(session, listing, items)
    number = scribe.rng.randrange(len(items))
    question = scribe.rng.choice(scribe.lexicon.speech["ask_list"])
    text = question.format(what=listing.what, nth=_ORDINALS[number])
    trap = items[number - 1]
    scribe.ask("single-session-assistant", text, items[number], [said], trap=trap)


def _taste(scribe: Scribe, like: bool, drift: bool) -> None:
    taste = scribe.tastes.pop()
    scribe.echoes.append(Echo(words=taste))
    words, rng = scribe.lexicon.taste_words, scribe.rng
    begin, later = scribe.sessions(2)
    value = scribe.take(taste.name, taste.values)
    claim = Claim(predicate="likes" if like else "dislikes", value=value)
    topic = {"topic": taste.name}
    source = scribe.say(begin, words["like" if like else "dislike"], claim, words=topic)
    gold = f"Suggest {taste.wish} " + (f"that suits a liking for {value}." if like else f"without {value}, a dislike.")
    if drift:
        gone = Claim(predicate="likes", value=value, polarity=False, flags=("drift",))
        since, source = source, scribe.say(later, words["drift"], gone, words=topic)
        scribe.hold(claim, since.effective_at, source.effective_at)
        gold = f"Suggest {taste.wish} without {value}, a former liking that has faded."
    else:
        scribe.hold(claim, source.effective_at)
    trap = value if drift or not like else ""
    scribe.ask("single-session-preference", rng.choice(taste.ask), gold, [source], trap=trap)


def liked(scribe: Scribe) -> None:
    _taste(scribe, like=True, drift=False)


def disliked(scribe: Scribe) -> None:
    _taste(scribe, like=False, drift=False)


def drifted(scribe: Scribe) -> None:
    _taste(scribe, like=True, drift=True)


# --- many sessions ------------------------------------------------------------------------------------------


def count_events(scribe: Scribe) -> None:
    event, group = scribe.counted.pop()
    sessions = scribe.sessions(scribe.rng.randint(2, 4))
    sources = [told[1] for session in sessions if (told := happen(scribe, event, group, session))]
    scribe.echoes.append(Echo(words=event, group=group))
    scribe.ask("multi-session", scribe.rng.choice(group.count), str(len(sources)), sources)


def sum_prices(scribe: Scribe) -> None:
    event, group = scribe.paid.pop()
    prices = [scribe.rng.randrange(15, 240) for _ in range(scribe.rng.randint(2, 4))]
    sources = []
    for session, price in zip(scribe.sessions(len(prices)), prices, strict=True):
        told = happen(scribe, event, group, session, templates=event.price, words={"price": str(price)})
        assert told, group
        sources.append(told[1])
    scribe.echoes.append(Echo(words=event, group=group))
    scribe.ask("multi-session", scribe.rng.choice(group.sum), f"{sum(prices)} pounds", sources)


def count_things(scribe: Scribe) -> None:
    holding, values, told = updates.collection(scribe)
    scribe.ask("multi-session", scribe.rng.choice(holding.count), str(len(values)), told)


# --- time ---------------------------------------------------------------------------------------------------


def when(scribe: Scribe) -> None:
    (session,) = scribe.sessions(1)
    event, value, said = _event(scribe, session)
    verb = event.verb.format(value=value)
    question = scribe.rng.choice(scribe.lexicon.speech["ask_event_when"]).format(verb=verb)
    interval = _occurred(said)
    scribe.ask("temporal-reasoning", question, describe(interval), [said], interval=interval)


def since(scribe: Scribe) -> None:
    (session,) = scribe.sessions(1)
    event, value, said = _event(scribe, session, _DAY)
    verb = event.verb.format(value=value)
    question = scribe.rng.choice(scribe.lexicon.speech["ask_since"]).format(verb=verb)
    asked = scribe.clock.asked_at(len(scribe.questions))
    scribe.ask("temporal-reasoning", question, _days((asked.date() - _occurred(said).start.date()).days), [said])


def between(scribe: Scribe) -> None:
    _pair(scribe, "ask_between")


def order(scribe: Scribe) -> None:
    _pair(scribe, "ask_order")


def _pair(scribe: Scribe, form: str) -> None:
    """Two events on different days: the days between them, or which came first."""
    sessions = scribe.sessions(2)
    told = [_event(scribe, session, _DAY) for session in sessions]
    while _occurred(told[0][2]) == _occurred(told[1][2]):
        told[1] = _event(scribe, scribe.sessions(1)[0], _DAY)
    nouns = [event.noun.format(value=value) for event, value, _ in told]
    starts = [_occurred(said).start for _, _, said in told]
    sources = [said for _, _, said in told]
    named = scribe.shuffled(nouns)  # the order of naming must not give the answer away
    question = scribe.rng.choice(scribe.lexicon.speech[form]).format(first=named[0], second=named[1])
    if form == "ask_between":
        scribe.ask("temporal-reasoning", question, _days(abs((starts[0] - starts[1]).days)), sources)
    else:
        early, late = nouns if starts[0] < starts[1] else nouns[::-1]
        scribe.ask("temporal-reasoning", question, early, sources, trap=late)


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"


VARIANTS = {
    "single-session-user": (said_once, detail),
    "single-session-assistant": (listing,),
    "single-session-preference": (liked, drifted, disliked),
    "multi-session": (count_events, count_things, sum_prices),
    "temporal-reasoning": (when, between, order, since),
}
