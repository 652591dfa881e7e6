"""Short answers inside a sentence: a title, a place, a person, a reason, an amount, or the value of a fact."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sodamem import text
from sodamem.reader.questions import Asked, base
from sodamem.reader.sentences import Sentence, words_of
from sodamem.reader.wording import MONTHS
from sodamem.types import FactEvent

_TITLED = re.compile(
    r"\b(?:books?|movies?|films?|songs?|games?|series|albums?|shows?|novels?|titles?|projects?|called|names?|bands?)\b",
    re.IGNORECASE,
)
_TITLE = re.compile(r"[\"“]([^\"“”]{2,80})[\"”]|(?<=\s)['‘]([A-Z][^'‘’]{1,60})['’](?=[\s.,!?]|$)")
_PLACE = re.compile(
    r"\b(?:in|at|to|from|near|around|visit(?:ed|ing)?) "
    r"((?:the )?[A-Z](?:[\w'’-]|\.(?= [A-Z]))+(?:,? (?:of |the )?[A-Z][\w'’-]+)*)"
)
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]+(?: [A-Z][a-z]+)*\b")
_KIN = re.compile(
    r"\bmy (?:\w+ )?(?:mom|mother|dad|father|sister|brother|wife|husband|grandm\w+|grandfather|grandpa|aunt|uncle|"
    r"cousin|friends?|family|son|daughter|kids|partner|girlfriend|boyfriend|boss|colleagues?|"
    r"neighbou?rs?|teammates?|coach)\b",
    re.IGNORECASE,
)
_REASON = re.compile(r"\b(?:because|since|so that|in order to|due to|thanks to)\b.*", re.IGNORECASE | re.DOTALL)
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NTH = re.compile(rf"\b(?:{'|'.join(_PLACES)})\b", re.IGNORECASE)
_ITEM = re.compile(r"(?:^|\s)(?P<number>\d{1,2})[.)] (?P<item>.+?)(?=[;,]?\s+\d{1,2}[.)] |\n|$)")
_NO_NAMES = frozenset({*MONTHS, "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "I"})
_REAL = frozenset({"past_event", "current_state", "preference"})
_PLANNED = frozenset({"future_plan", "intent"})
_KINDS = {"where": ("place", "organisation"), "who": ("person",)}  # of the entities that can answer
_SAID = frozenset({"value", "name", "place", "employer"})  # roles that may fill an answer


def short(asked: Asked, sentence: Sentence) -> str | None:
    """The words of the sentence that answer, verbatim, or None when no pattern gives any."""
    if asked.form == "why":
        match = _REASON.search(sentence.quote)
        return match[0] if match else None
    if asked.form == "where":
        return _fresh(asked, (m[1] for m in _PLACE.finditer(sentence.quote)))
    if asked.form == "who":
        names = [m[0] for m in _NAME.finditer(sentence.quote) if m[0] not in _NO_NAMES]
        return _fresh(asked, [*(m[0] for m in _KIN.finditer(sentence.quote)), *names])
    if asked.form == "what" and _TITLED.search(asked.text):
        titles = [m[1] or m[2] for m in _TITLE.finditer(sentence.quote)]
        return _fresh(asked, titles)
    return None


def listed(question: str, turn: str) -> str | None:
    """The item of a numbered list that the question asks for by its place ("the third one")."""
    place = _NTH.search(question)
    if not place:
        return None
    number = _PLACES.index(place[0].lower()) + 1
    return next((m["item"].strip() for m in _ITEM.finditer(turn) if int(m["number"]) == number), None)


def _fresh(asked: Asked, phrases: Iterator[str] | list[str]) -> str | None:
    """The first phrase that the question does not hold already."""
    known = {base(term) for term in text.terms(asked.text)}
    return next((phrase for phrase in phrases if not words_of(phrase) <= known), None)


def value(asked: Asked, fact: FactEvent) -> str | None:
    """The value of a fact, when it is news to the question; what it denies, plans or imagines is no value."""
    wanted = _REAL | _PLANNED if asked.ahead else _REAL
    if not fact.polarity or fact.modality not in wanted or "hypothetical" in fact.flags:
        return None
    if asked.form == "count":
        return fact.quantity.words if fact.quantity else None
    kinds = _KINDS.get(asked.form)
    said = [r.words for r in fact.roles if r.name in _SAID and (kinds is None or r.entity.partition(":")[0] in kinds)]
    return _fresh(asked, said)


def headline(fact: FactEvent) -> str:
    """The card of a fact without the words it quotes: who, what, and the scope."""
    return fact.text.replace(fact.pieces[0].text, " ")
