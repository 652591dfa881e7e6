"""Finds the words that name a slot of somebody: "my favourite food", "Tom's gym", "the fastest 5K I've ever run".

Paper section 3.2: a fact fills a slot (subject, predicate, scope); these are its names in a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.subject import Context, Person, owned
from sodamem.extractor.words import Words

_MINE = frozenset({"my", "our"})
_OWNERS = _MINE | {"his", "her"}
_LONGEST_NAME = 8  # words of a phrase that names a slot
_OF = frozenset({"speed", "name", "size", "title", "value"})  # "the speed of my home internet" is the slot itself
_FRESH = frozenset({"new", "latest", "newest"})
_DESCRIBES = _FRESH | {"i", "we", "he", "she", "at"}  # one of these stands near "the" where it begins such a phrase
_FORMER = frozenset({"old", "previous", "former"})
_OPENERS = _OWNERS | {"the", "a", "an", "home", "'s"}
_EXTREME = frozenset({"most", "best"})


@dataclass(frozen=True, slots=True)
class Mention:
    """Words [first, last) of the sentence that name a slot.

    scope: the words that tell slots of one predicate apart, "" where none does · carrier: "phone" tells a plan only
    with a value that fits · fresh: the words say that its value is new · asks: "where I live" names the slot as a
    question does.
    """

    person: Person | None  # None: whoever the clause is about, as in "she set a new record"
    predicate: str
    scope: str
    first: int
    last: int
    carrier: bool = False
    fresh: bool = False
    asks: bool = False
    old: bool = False  # "my old 5K time": what it held is past
    held_by: str = ""  # the preposition before the value: "my desk at …"


def mentions(words: Words, masked: frozenset[int], context: Context, lexicon: Lexicon) -> list[Mention]:
    """The slots named in a sentence, from left to right, without overlaps. `masked`: words of time expressions."""
    found: list[Mention] = []
    if _OPENERS.isdisjoint(words.low) and lexicon.asking_slots.keys().isdisjoint(words.low):
        return found
    i = 0
    while i < len(words):
        mention = next(_at(words, i, context, lexicon), None) if i not in masked else None
        if mention is not None:
            found.append(mention)
        i = mention.last if mention else i + 1
    return found


def _at(words: Words, i: int, context: Context, lexicon: Lexicon) -> Iterator[Mention | None]:
    low = words.low
    if low[i] in _OWNERS or (words.capital(i) and "'s" in low[i + 1 : i + 4]):
        yield from _possessed(words, i, context, lexicon)
    elif low[i] in ("the", "a", "an") and i + 1 < len(words):
        yield from _described(words, i, context, lexicon)
    elif low[i] in lexicon.asking_slots:
        yield from _asking(words, i, context, lexicon)
    elif low[i] == "home" and (i == 0 or low[i - 1] in lexicon.auxiliaries or low[i - 1] in (",", "'s", "still")):
        yield Mention(context.speaker, "lives_in", "", i, _past_for_me(low, i + 1), carrier=True)


def _possessed(words: Words, i: int, context: Context, lexicon: Lexicon) -> Iterator[Mention]:
    """ "My favourite food", "my sister Nina's phone", "the speed of our broadband"."""
    low = words.low
    end = next((k for k in range(i, min(len(words), i + _LONGEST_NAME + 4)) if not _may_name(low[k])), None)
    end = end or min(len(words), i + _LONGEST_NAME + 4)
    if low[i] not in _OWNERS:
        owner = next((k for k in range(i + 1, end) if low[k] == "'s"), None)
        if owner is None or low[i] in lexicon.closed or slot(low, owner + 1, end, lexicon) is None:
            return
    subject = owned(i, end, words, context, lexicon)
    if subject is None or subject.noun == (0, 0):
        return
    at, name = subject.noun[0], slot(low, subject.noun[0], end, lexicon)
    if name is None or (name.predicate == "called" and low[i] in ("his", "her")):
        return
    first = i
    if i > 2 and low[i - 1] == "of" and low[i - 2] in _OF:
        first = i - 3 if low[i - 3] == "the" else i - 2
    elif i > 1 and low[i - 1] == "of" and low[i - 2] in lexicon.numbers:  # "one of my hobbies"
        first = i - 2
    last = _placed(low, name.last, lexicon)
    fresh = not _FRESH.isdisjoint(low[at : name.last])
    old = not _FORMER.isdisjoint(low[at : name.last])
    held_by = name.held_by
    yield Mention(
        subject.person, name.predicate, name.scope, first, last, name.carrier, fresh, old=old, held_by=held_by
    )


def _described(words: Words, i: int, context: Context, lexicon: Lexicon) -> Iterator[Mention]:
    """ "The dish I like best", "the phone plan she has", "the fastest 5K I've ever run", "a new hobby"."""
    low, size = words.low, len(words)
    if _DESCRIBES.isdisjoint(low[i + 1 : i + 6]):
        return
    name = slot(low, i + 1, min(size, i + _LONGEST_NAME), lexicon)
    if name is not None and not _FRESH.isdisjoint(low[i + 1 : name.last]):
        yield Mention(None, name.predicate, name.scope, i, name.last, name.carrier, True)
        return
    if name is not None and (last := _placed(low, name.last, lexicon)) > name.last and not name.carrier:
        yield Mention(context.speaker, name.predicate, name.scope, i, last)
        return
    who = next((k for k in range(i + 2, min(size, i + 5)) if low[k] in ("i", "we", "he", "she")), 0)
    if not who:
        return
    person = context.speaker if low[who] in ("i", "we") else context.follow(low[who])
    ends = [k for k in range(who + 1, min(size, who + 5)) if low[k] in lexicon.verbs or low[k] in lexicon.auxiliaries]
    end = next((k for k in ends if low[k] not in lexicon.auxiliaries), ends[0] if ends else 0)
    if person is None or not end:
        return
    described = "that" in low[who - 1 : who]
    noun = low[i + 1 : who - described]
    if not noun:
        return
    last = end + 1
    liked = lexicon.verbs.get(low[end], {}).get("base", "") in ("like", "love", "enjoy", "prefer")
    if liked and low[last : last + 1] and low[last] in _EXTREME:
        yield Mention(person, "favourite", " ".join(noun), i, last + 1)
    elif noun[0] in ("fastest", "best", "quickest") and len(noun) > 1:
        yield Mention(person, "best_time", " ".join(noun[1:]), i, last)
    elif name is not None and name.last == who - described:
        yield Mention(person, name.predicate, name.scope, i, last, name.carrier)


def _asking(words: Words, i: int, context: Context, lexicon: Lexicon) -> Iterator[Mention]:
    """ "Where I live", "how I get to work": the slot as a question would name it."""
    low = words.low
    person = context.speaker if low[i + 1 : i + 2] in (["i"], ["we"]) else None
    if person is None:
        return
    for phrase, predicate in lexicon.asking_slots[low[i]]:
        if low[i + 2 : i + 2 + len(phrase)] == list(phrase):
            yield Mention(person, predicate, "", i, i + 2 + len(phrase), asks=True)
            return


@dataclass(frozen=True, slots=True)
class _Name:
    predicate: str
    scope: str
    last: int
    carrier: bool
    held_by: str = ""


def slot(low: list[str], first: int, end: int, lexicon: Lexicon) -> _Name | None:
    """The longest name of a slot that begins at word `first`, with what it is for: "best time for the 5K"."""
    while first < end and low[first] in lexicon.slot_adjectives:
        first += 1
    nouns = first
    while nouns < end and (_is_noun(low[nouns], nouns > first, lexicon) or low[nouns : nouns + 2] == ["to", "work"]):
        nouns += 1
    for last in range(min(nouns, first + 5), first, -1):
        phrase = " ".join(low[first:last])
        if phrase in lexicon.nouns:
            return _scoped(low, lexicon.nouns[phrase], "", last, end=end, lexicon=lexicon)
        for before, after, predicate in lexicon.scoped_nouns:
            inner = len(phrase) - len(before) - len(after)
            if inner > 0 and phrase.startswith(before) and phrase.endswith(after):
                return _scoped(
                    low, predicate, phrase[len(before) : len(before) + inner].strip(), last, end=end, lexicon=lexicon
                )
        if phrase in lexicon.carriers:
            return _Name(lexicon.carriers[phrase], "", last, True)
        if phrase in lexicon.holders:
            predicate, preposition = lexicon.holders[phrase]
            return _Name(predicate, "", last, True, preposition)
    return None


def _scoped(low: list[str], predicate: str, scope: str, last: int, *, end: int, lexicon: Lexicon) -> _Name:
    """Takes in "for the 5K" after the noun, where the predicate has such a scope."""
    if lexicon.predicates[predicate].nearby and low[last : last + 1] and low[last] in ("for", "in", "over", "on"):
        at = last + 1
        while at < end and low[at] in lexicon.determiners:
            at += 1
        if at < end and is_event(low[at], lexicon):
            return _Name(predicate, scope or low[at], at + 1, False)
    return _Name(predicate, scope, last, False)


def is_event(word: str, lexicon: Lexicon) -> bool:
    """True for what one has a best time in: "10k", "marathon"."""
    return lexicon.is_class("race", [word]) or (word[0].isdigit() and word[-1] in "km" and ":" not in word)


def _placed(low: list[str], last: int, lexicon: Lexicon) -> int:
    """Takes in "at home", "at my place" after a noun: "my internet at home runs at …"."""
    if low[last : last + 2] in (["at", "home"], ["at", "work"]):
        return last + 2
    owner = low[last : last + 1] == ["at"] and low[last + 1 : last + 2] and low[last + 1] in _OWNERS
    return last + 3 if owner and low[last + 2 : last + 3] and low[last + 2] in ("office", "place", "house") else last


def _past_for_me(low: list[str], last: int) -> int:
    return last + 2 if low[last : last + 2] in (["for", "me"], ["for", "us"]) else last


def _may_name(word: str) -> bool:
    return word.replace("-", "").isalnum() or word == "'s"


def _is_noun(word: str, inside: bool, lexicon: Lexicon) -> bool:
    """True for a word that a noun phrase may begin or go on with: no verb, no word of a closed class."""
    if word in lexicon.auxiliaries or word == "'s":
        return False
    if not inside:
        return True
    forms = lexicon.verbs.get(word, {})
    return (word not in lexicon.closed or word == "one") and not (
        ("past" in forms and "base" not in forms) or "s" in forms
    )
