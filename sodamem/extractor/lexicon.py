"""The declared tables of the rule extractor, read once and turned into dictionaries.

Every word list, cue and predicate name lives in `tables/*.yaml`; the code knows grammar, the tables know words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

import yaml

from sodamem.extractor.morphology import Forms, derive
from sodamem.types import Kind, Modality

_CLOSED = ("adverbs", "prepositions", "conjunctions", "subordinators", "determiners", "wh", "negations", "not_names")
_TABLES = Path(__file__).parent / "tables"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same language, ten times as fast where libyaml is there


@dataclass(frozen=True, kw_only=True, slots=True)
class Cue:
    """One way to say a predicate: what the clause must look like (fields as in tables/predicates.yaml)."""

    predicate: str
    value: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    fill: str = ""
    unit: str = ""
    tense: str = ""
    name: bool = False
    or_name: bool = False
    modified: bool = False
    near: bool = False
    passive: bool = False
    receiver: bool = False
    could: bool = False
    alone: bool = False
    still: bool = False
    kind: str = ""
    within: tuple[str, ...] = ()
    scope: str = ""
    negated: bool = False
    says: tuple[str, ...] = ()
    change: bool = False
    ends: bool = False
    roles: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """An idiom that says a predicate (tables/frames.yaml). `pattern` runs over the sentence's words with single spaces.

    Its groups: value, or amount · scope: the word that tells which slot. fits: classes one of which the value is in.
    """

    predicate: str
    pattern: re.Pattern[str]
    fits: tuple[str, ...] = ()
    change: bool = False
    supposed: bool = False  # its own "if" is part of the idiom


@dataclass(frozen=True, kw_only=True, slots=True)
class Predicate:
    name: str
    kind: Kind
    say: str
    type: str
    many: bool = False
    scope: str = ""
    modality: Modality | None = None  # whatever the words: a wish is an intent
    past: Literal["event", "former", "lasting"] = "event"  # what a plain past tense makes of a state
    quantity: bool = False
    units: tuple[str, ...] = ()
    fits: tuple[str, ...] = ()  # classes of values that a carrier of the slot tells
    by_value: tuple[str, ...] = ()  # classes of values that name the scope
    doing: bool = False  # the value may be something one does: "my hobby is juggling"
    nearby: bool = False  # the scope may be an event named elsewhere in the sentence
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # scope -> words that tell it
    same: Mapping[str, str] = field(default_factory=dict)  # word of a scope -> the normal one


@dataclass(frozen=True, kw_only=True, slots=True)
class Chain:
    """A verb that takes another verb: by which links, and what it makes of the inner clause."""

    links: frozenset[str]
    effect: str


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """All tables as look-ups. Words are lower case, with plain apostrophes."""

    # Plain word lists, named as in the tables.
    titles: frozenset[str]
    abbreviations: frozenset[str]
    weak: frozenset[str]
    hollow: frozenset[str]
    telling: frozenset[str]
    report: frozenset[str]
    opinion: frozenset[str]
    negations: frozenset[str]
    adverbs: frozenset[str]
    particles: frozenset[str]
    prepositions: frozenset[str]
    participial: frozenset[str]
    introducers: frozenset[str]
    modals: frozenset[str]
    doubts: frozenset[str]
    habitual: frozenset[str]
    slips: frozenset[str]
    topics: frozenset[str]
    wh: frozenset[str]
    conjunctions: frozenset[str]
    subordinators: frozenset[str]
    relations: frozenset[str]
    relation_adjectives: frozenset[str]
    slot_adjectives: frozenset[str]
    female: frozenset[str]
    male: frozenset[str]
    organisation_words: frozenset[str]
    organisations: frozenset[str]
    determiners: frozenset[str]
    trailing: frozenset[str]
    people: frozenset[str]
    places: frozenset[str]
    not_names: frozenset[str]
    closed: frozenset[str]  # words of closed classes: neither names nor verbs
    joins: frozenset[str]  # words that begin a clause

    classes: Mapping[str, frozenset[str]]  # nouns and adjectives by class
    verbs: Forms
    auxiliaries: Mapping[str, str]  # "was" -> "be"
    spellings: Mapping[str, tuple[str, ...]]  # "dont" -> do, not
    chains: Mapping[str, Chain]
    cues: Mapping[str, tuple[Cue, ...]]
    nouns: Mapping[str, str]  # "hometown" -> predicate
    carriers: Mapping[str, str]  # "phone" -> predicate, told only with a value that fits
    holders: Mapping[str, tuple[str, str]]  # "desk" -> predicate, and the preposition before the value: "my desk at …"
    asking_slots: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]  # "where" -> ("live",), predicate
    scoped_nouns: tuple[tuple[str, str, str], ...]  # (before, after, predicate): "favourite *"
    predicates: Mapping[str, Predicate]
    units: Mapping[str, tuple[str, float]]
    numbers: Mapping[str, float]
    multipliers: Mapping[str, float]
    currencies: Mapping[str, str]
    fence: re.Pattern[str]
    phrases: Mapping[str, re.Pattern[str]]  # cue phrases, whole words
    phrase_keys: Mapping[str, frozenset[str]]  # a word of each phrase, by list: where none is said, no phrase is
    contrasts: tuple[tuple[str, ...], ...]  # words before a value that is denied
    frames: Mapping[str, tuple[Frame, ...]]  # by a word that they hold

    def is_class(self, name: str, words: list[str]) -> bool:
        """True when the last word, or the last two words, belong to a class; a plural counts as its singular."""
        members = self.classes[name]
        if not words:
            return False
        last = words[-1]
        return (
            last in members
            or (last.endswith("s") and last[:-1] in members)
            or (len(words) > 1 and " ".join(words[-2:]) in members)
        )


_LISTS = tuple(f.name for f in fields(Lexicon) if f.type == "frozenset[str]" and f.name not in ("closed", "joins"))


@lru_cache(maxsize=1)
def load() -> Lexicon:
    """The lexicon of the tables that ship with the package."""
    verbs, nouns, modality = _read("verbs"), _read("nouns"), _read("modality")
    names, units, sentences = _read("names"), _read("units"), _read("sentences")
    table = _read("predicates") | _read("predicates_doings")
    predicates, cues, plain, scoped = _predicates(table)
    lists = {**verbs, **nouns, **names, **sentences, **modality, **modality["hypothetical"]}
    return Lexicon(
        **{name: frozenset(lists[name]) for name in _LISTS},
        closed=frozenset(word for name in _CLOSED for word in lists[name]) | frozenset(verbs["pronouns"]),
        joins=frozenset(lists["conjunctions"] + lists["subordinators"]),
        classes={name: frozenset(words) for name, words in nouns["classes"].items()},
        verbs=derive(verbs["irregular"], verbs["regular"], frozenset(verbs["doubling"])),
        auxiliaries={form: name for name, forms in verbs["auxiliaries"].items() for form in forms},
        spellings={word: tuple(spelt.split()) for word, spelt in verbs["spellings"].items()},
        chains={
            verb: Chain(links=frozenset(row["form"]), effect=row["effect"]) for verb, row in modality["chains"].items()
        },
        cues=cues,
        nouns=plain,
        carriers={noun: name for name, row in table.items() for noun in row.get("carriers", ())},
        holders={
            noun: (name, preposition)
            for name, row in table.items()
            for preposition, listed in row.get("holders", {}).items()
            for noun in listed
        },
        asking_slots=_asking(table),
        scoped_nouns=scoped,
        predicates=predicates,
        units={unit: (name, float(factor)) for unit, (name, factor) in units["units"].items()},
        numbers={word: float(number) for word, number in units["numbers"].items()},
        multipliers={word: float(number) for word, number in units["multipliers"].items()},
        currencies=units["currencies"],
        fence=re.compile("|".join(sentences["fences"]), re.IGNORECASE | re.MULTILINE),
        phrases={name: _phrases(modality[name]) for name in modality["phrase_lists"]},
        phrase_keys={name: frozenset(map(_longest, modality[name])) for name in modality["phrase_lists"]},
        contrasts=tuple(tuple(phrase.split()) for phrase in modality["contrasts"]),
        frames=_frames(_read("frames"), nouns["classes"], lists["prepositions"] + lists["subordinators"]),
    )


def _read(name: str) -> dict[str, Any]:
    with (_TABLES / f"{name}.yaml").open(encoding="utf-8") as file:
        return cast("dict[str, Any]", yaml.load(file, Loader=_LOADER))


def _phrases(listed: list[str]) -> re.Pattern[str]:
    longest_first = sorted(listed, key=len, reverse=True)
    either = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in longest_first)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


def _longest(phrase: str) -> str:
    """The longest word of a phrase that stays whole when words are cut: "said" in "i shouldn't have said"."""
    return max((word for word in phrase.lower().replace(":", "").split() if "'" not in word), key=len, default="")


def _predicates(
    table: dict[str, Any],
) -> tuple[dict[str, Predicate], dict[str, tuple[Cue, ...]], dict[str, str], tuple[tuple[str, str, str], ...]]:
    predicates, plain, scoped = {}, {}, []
    cues: dict[str, list[Cue]] = {}
    for name, row in table.items():
        predicates[name] = _predicate(name, row)
        for cue in row.get("cues", ()):
            for verb in cue["verb"].split():
                cues.setdefault(verb, []).append(_cue(name, cue))
        for noun in row.get("nouns", ()):
            if "*" in noun:
                before, after = noun.split("*")
                scoped.append((before, after, name))
            else:
                plain[noun] = name
    return predicates, {verb: tuple(found) for verb, found in cues.items()}, plain, tuple(scoped)


def _predicate(name: str, row: dict[str, Any]) -> Predicate:
    tuples = ("units", "fits", "by_value")
    plain: dict[str, Any] = {
        key: row[key] for key in row.keys() - {"cues", "nouns", "carriers", "holders", "asked", "marks", *tuples}
    }
    marks = {scope: tuple(words) for scope, words in row.get("marks", {}).items()}
    plain.update((key, tuple(row.get(key, ()))) for key in tuples)
    return Predicate(name=name, marks=marks, **plain)


def _asking(table: dict[str, Any]) -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name, row in table.items():
        for phrase in row.get("asked", ()):
            opener, *rest = phrase.split()
            found.setdefault(opener, []).append((tuple(rest), name))
    return {opener: tuple(sorted(rows, key=lambda row: -len(row[0]))) for opener, rows in found.items()}


def _frames(table: dict[str, Any], classes: dict[str, list[str]], closed: list[str]) -> dict[str, tuple[Frame, ...]]:
    found: dict[str, list[Frame]] = {}
    ends = "|".join(re.escape(word) for word in sorted({*closed, "every", "and", "but", "or"} - {"of"}))
    word = r"[^ .,;:!?]+"
    for name, rows in table.items():
        for row in rows:
            said = row["say"]
            for class_ in set(re.findall(r"(?<!P)<(\w+)>", said)) - {"value", "amount"}:
                said = said.replace(f"<{class_}>", f"(?:{'|'.join(map(re.escape, classes[class_]))})")
            if said.endswith("<value>"):
                said += rf"(?= (?:[.,;:!?()…—]|(?:{ends}) )| ?$)"
            said = said.replace("<value>", f"(?P<value>{word}(?: {word}){{0,6}}?)").replace(
                "<amount>", r"(?P<amount>\S+)"
            )
            fits = tuple(row.get("fits", "").split())
            frame = Frame(
                predicate=name,
                pattern=re.compile(f"(?<= ){said}(?= |$)"),
                fits=fits,
                change=row.get("change", False),
                supposed="if" in row["key"].split(),
            )
            for key in row["key"].split():
                found.setdefault(key, []).append(frame)
    return {key: tuple(frames) for key, frames in found.items()}


def _cue(predicate: str, row: dict[str, Any]) -> Cue:
    lists = {
        "value": "value",
        "class": "classes",
        "not": "excluded",
        "object": "objects",
        "words": "words",
        "says": "says",
        "within": "within",
    }
    fields: dict[str, Any] = {lists[key]: tuple(row[key].split()) for key in lists.keys() & row.keys()}
    fields["roles"] = tuple((role, tuple(where.split())) for role, where in row.get("roles", {}).items())
    fields.update((key, row[key]) for key in row.keys() - lists.keys() - {"verb", "roles"})
    return Cue(predicate=predicate, **fields)
