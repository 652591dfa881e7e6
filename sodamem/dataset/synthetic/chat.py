"""Small talk that carries no facts: requests, answers, and whole exchanges made on demand from a seed."""

from __future__ import annotations

from random import Random

from sodamem.dataset.synthetic.templates import lexicon

Exchange = tuple[str, str]  # what the user says, what the assistant says


def request(rng: Random) -> Exchange:
    """A request on some topic, and an answer of one sentence."""
    topic = rng.choice(lexicon().topics)
    item = rng.choice(topic.items)
    return rng.choice(topic.ask).format(item=item), rng.choice(topic.tips).format(item=item)


def filler(key: str, session: int, exchange: int) -> Exchange:
    """The exchange that fills an unplanned place; most stay on the topic of their session. O(1)."""
    topics = lexicon().topics
    session_rng = Random(f"{key}/topic/{session}")
    topic, item = topics[session_rng.randrange(len(topics))], session_rng.random()
    rng = Random(f"{key}/chat/{session}/{exchange}")
    if rng.random() < 0.3:
        topic, item = rng.choice(topics), rng.random()
    thing = topic.items[int(item * len(topic.items))]
    ask = " ".join(text.format(item=thing) for text in rng.sample(topic.ask, rng.randint(1, 2)))
    return ask, " ".join(text.format(item=thing) for text in rng.sample(topic.tips, rng.randint(2, 4)))
