"""What follows the verb, cut into an object and prepositional phrases, and the noun phrases and amounts in them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.words import Words
from sodamem.types import Quantity

_MARKS = frozenset(',;:.!?…()"“”—–-')
_LONGEST_NOUN = 9  # words
_RECEIVERS = frozenset({"it", "me", "us", "you", "him", "them"})
_QUANTIFIERS = frozenset({"bit", "lot", "lots", "couple", "bunch", "plenty", "number", "kind", "pair", "few"})
_ONCE = (["one", "day"], ["this", "time"])
_NAMING = frozenset({"named", "called"})
_MODIFYING = frozenset({"of", "from", "with", "for", "who", "that"})
_QUOTES = {'"': '"', "“": "”", "‘": "’"}
_MEASURE = re.compile(r"(?P<sign>[$€£])?(?P<number>\d+(?:,\d{3})*(?:\.\d+)?)(?P<unit>[^\W\d_]*%?)$")
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,3}):([0-5]\d)(?:\.\d+)?$")


@dataclass(frozen=True, slots=True)
class Segment:
    """Words [first, last) after a preposition; the empty preposition is the object or complement."""

    preposition: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun phrase without determiners and adverbs: words [first, last), and its amount where it begins with one."""

    first: int
    last: int
    amount: float | None = None


def segments(words: Words, first: int, last: int, masked: frozenset[int], lexicon: Lexicon) -> list[Segment]:
    """Cuts words [first, last) at prepositions; `masked` words belong to time expressions and end a segment."""
    found: list[Segment] = []
    preposition, begin = "", first
    for i in range(first, last):
        word = words.low[i]
        if word == "to" and _is_infinitive(words, i + 1, last, lexicon):
            last = i
            break
        if word in lexicon.prepositions and word != "of" and i not in masked:
            found.append(Segment(preposition, begin, i))
            preposition, begin = word, i + 1
        elif (
            (word in lexicon.subordinators or word in lexicon.wh)
            and i not in masked
            and not (word == "that" and i == begin and _is_noun(words, i + 1, lexicon))
        ):
            last = i
            break
    found.append(Segment(preposition, begin, last))
    return found


def nouns(words: Words, segment: Segment, masked: frozenset[int], lexicon: Lexicon) -> list[Noun]:
    """The noun phrases of a segment: one, or several where they are listed ("sushi, ramen and tacos")."""
    found: list[Noun] = []
    begin = segment.first
    title = _title(words, begin, segment.last)
    if title is not None:
        return [title]
    for i in range(segment.first, segment.last + 1):
        word = words.low[i] if i < segment.last else ""
        if i < segment.last and i not in masked and word not in _MARKS and word not in ("and", "but", "or", "so"):
            continue
        noun = trim(words, begin, i, lexicon)
        if noun is not None:
            named = words.low[noun.first - 1] in lexicon.determiners  # "a kayak" is no verb
            if begin > segment.first and not named and _is_clause(words, noun, lexicon):
                break
            found.append(noun)
        elif word == "," and not found:
            break  # "what we learn, not just …": nothing stands where the object would
        begin = i + 1
        if word and word not in (",", "and", "or"):
            break
    return found[1:] if _is_apposition(words, found) else found


def _is_apposition(words: Words, found: list[Noun]) -> bool:
    """True for "my vehicle, a kayak": the second noun says what the first one is."""
    if len(found) != 2:
        return False
    (first, second), low = found, words.low
    owned = first.first and low[first.first - 1] in ("my", "our", "his", "her")
    return bool(owned) and low[first.last : second.first] in ([",", "a"], [",", "an"], [",", "the"])


def trim(words: Words, first: int, last: int, lexicon: Lexicon) -> Noun | None:
    """Without leading determiners, adverbs and numerals, and without trailing adverbs; None when nothing is left."""
    if any(word in lexicon.auxiliaries for word in words.low[first:last]):
        return None  # a clause: "I know the dog is old"
    if first < last and words.low[first] in lexicon.negations:
        return None
    for i in range(first + 1, last):  # "yoga every morning", "a marathon one day"
        if words.low[i] == "of" and words.low[i + 2 : i + 3] == ["own"] and i + 3 >= last:
            last = i  # "a red hatchback of my own"
            break
        compares = words.low[i] in ("best", "most") and words.low[i + 1 : i + 2] == ["of"]
        if compares or words.low[i] in ("every", "each") or words.low[i : i + 2] in _ONCE:
            last = i
            break
    begin = first
    first, amount = _skip_determiners(words.low, first, last, lexicon)
    while last > first and (words.low[last - 1] in lexicon.trailing or words.low[last - 1] in _MARKS):
        if words.low[last - 1] == "home" and last - 2 >= begin and words.low[last - 2] in ("a", "new", "good"):
            break  # "found a new home", but "took the dog home"
        last -= 1
    ditransitive = words.low[first] in _RECEIVERS and last - first > 1 if first < last else False  # "made me proud"
    return Noun(first, last, amount) if 0 < last - first <= _LONGEST_NOUN and not ditransitive else None


def _skip_determiners(low: list[str], first: int, last: int, lexicon: Lexicon) -> tuple[int, float | None]:
    """Where the noun phrase proper begins, and the amount it began with."""
    amount: float | None = None
    while first < last:
        word, following = low[first], low[first + 1] if first + 1 < last else ""
        if following in lexicon.units:
            break  # "30 GB plan" is a name, not thirty of something
        if word in _QUANTIFIERS and following == "of":
            first += 1
        elif word in lexicon.numbers and word not in ("a", "an", "half"):
            amount = lexicon.numbers[word]
        elif word.isdigit() and following:
            amount = float(word)
        elif (
            word not in lexicon.determiners
            and word not in lexicon.adverbs
            and word not in _MARKS
            and word != "of"  # "some of my old letters"
            and not (word in _RECEIVERS and following in lexicon.determiners)  # "gave me a bonus"
        ):
            break
        first += 1
    return first, amount


def noun_before(words: Words, end: int, masked: frozenset[int], lexicon: Lexicon) -> int:
    """Where the noun phrase that ends before word `end` begins, without its determiner."""
    begin = end
    while begin > 0:
        word, forms = words.low[begin - 1], lexicon.verbs.get(words.low[begin - 1], {})
        verb = not {"past", "s", "participle"}.isdisjoint(forms) and word not in lexicon.participial
        apart = word in _MARKS or word == "'s" or word in lexicon.auxiliaries or begin - 1 in masked
        ahead = words.low[begin - 2] if begin > 1 else ""
        acts = word in lexicon.weak and (ahead in lexicon.adverbs or ahead in ("i", "we", "they", "to"))
        if apart or acts or word in lexicon.closed or (verb and word not in lexicon.weak):
            break
        begin -= 1
    return begin


def head(words: Words, noun: Noun) -> list[str]:
    """The words up to the head noun: "dog" in "dog named Rex", "cup" in "cup of tea"."""
    for i in range(noun.first, noun.last):
        if i > noun.first and (words.low[i] in _NAMING or words.low[i] in _MODIFYING):
            return words.low[noun.first : i]
    return words.low[noun.first : noun.last]


def naming(words: Words, noun: Noun) -> int:
    """Place of "named" in "a dog named Rex", or the end of the noun phrase where nothing is named."""
    return next((i for i in range(noun.first + 1, noun.last) if words.low[i] in _NAMING), noun.last)


def quantity(words: Words, first: int, last: int, lexicon: Lexicon, times: bool = False) -> Quantity | None:
    """The first amount with a unit in words [first, last). `times`: read "25:50" as minutes and seconds."""
    for i in range(first, last):
        found = _duration(words, i, last, lexicon) or _measure(words, i, last, lexicon)
        if found is None and times:
            found = _clock(words, i)
        if found is not None:
            return found
    return None


def _clock(words: Words, i: int) -> Quantity | None:
    match = _CLOCK.match(words.low[i])
    if not match:
        return None
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return Quantity(value=float(hours * 3600 + minutes * 60 + seconds), unit="second", words=words.raw(i))


def _duration(words: Words, i: int, last: int, lexicon: Lexicon) -> Quantity | None:
    """The sum of the parts of "25 minutes and 50 seconds", "an hour and a half"."""
    total, end, at = 0.0, i, i
    while at + 1 < last:
        number = _number(words, at, lexicon)
        if words.low[at] == "half" and words.low[at + 1] in ("a", "an") and at + 2 < last:
            at += 1
        unit = lexicon.units.get(words.low[at + 1].rstrip("."))
        if number is None or unit is None or unit[0] != "second":
            break
        total, end = total + number * unit[1], at + 2
        if words.low[end : end + 3] == ["and", "a", "half"]:
            total, end = total + unit[1] / 2, end + 3
        at = end + 1 if end < last and words.low[end] in ("and", ",") else end
    return Quantity(value=total, unit="second", words=words.span(i, end)) if end > i else None


def _measure(words: Words, i: int, last: int, lexicon: Lexicon) -> Quantity | None:
    match = _MEASURE.match(words.low[i])
    number = float(match["number"].replace(",", "")) if match else _number(words, i, lexicon)
    if number is None:
        return None
    suffix = match["unit"] if match else ""
    end = i + 1
    follows = words.low[end] if end < last else ""
    if match and match["sign"]:
        factor = lexicon.multipliers.get(suffix) or lexicon.multipliers.get(follows, 1.0)
        end += follows in lexicon.multipliers
        return Quantity(value=number * factor, unit=lexicon.currencies[match["sign"]], words=words.span(i, end))
    if suffix:
        unit = lexicon.units.get(suffix)
        return Quantity(value=number * unit[1], unit=unit[0], words=words.raw(i)) if unit else None
    if follows in ("year", "years") and end + 1 < last and words.low[end + 1] == "old":
        return Quantity(value=number, unit="year", words=words.span(i, end + 2))
    unit = lexicon.units.get(follows)
    if unit and (match or follows != "m"):
        return Quantity(value=number * unit[1], unit=unit[0], words=words.span(i, end + 1))
    return None


def _number(words: Words, i: int, lexicon: Lexicon) -> float | None:
    word = words.low[i]
    if word in lexicon.numbers:
        return lexicon.numbers[word]
    try:
        return float(word.replace(",", "")) if word[0].isdigit() else None
    except ValueError:
        return None


def _title(words: Words, first: int, last: int) -> Noun | None:
    """The words between quotation marks where an object opens with one: "I watched “Little Women”"."""
    close = _QUOTES.get(words.low[first]) if first < last else None
    end = next((i for i in range(first + 1, len(words)) if words.low[i] == close), 0) if close else 0
    return Noun(first + 1, end) if first + 1 < end <= first + 9 else None


def _is_noun(words: Words, i: int, lexicon: Lexicon) -> bool:
    """True where "that" stands before a noun ("that painting"), not before a clause ("that I left")."""
    word = words.low[i] if i < len(words) else "."
    verb = word in lexicon.auxiliaries or (word in lexicon.verbs and word not in lexicon.weak)
    return word.isalnum() and word not in lexicon.closed and not verb


def _is_infinitive(words: Words, i: int, last: int, lexicon: Lexicon) -> bool:
    """True for "to see"; false for "to work" at the end of a phrase, where it is a place or a noun."""
    word = words.low[i] if i < last else ""
    if "base" not in lexicon.verbs.get(word, {}):
        return False
    following = words.low[i + 1] if i + 1 < last else ""
    if lexicon.is_class("occupation", [following]):
        return False  # "promoted to travel writer"
    noun_like = word in lexicon.weak and (not following.isalnum() or following in lexicon.prepositions)
    return not noun_like


def _is_clause(words: Words, noun: Noun, lexicon: Lexicon) -> bool:
    """True when a listed "noun" is really a new verb phrase: it opens with a verb or holds a pronoun."""
    opener = words.low[noun.first]
    forms = lexicon.verbs.get(opener, {})
    return (bool(forms) and opener not in lexicon.weak) or any(
        word in ("i", "we", "he", "she", "it", "they", "you", "is", "was", "are", "am")
        for word in words.low[noun.first : noun.last]
    )
