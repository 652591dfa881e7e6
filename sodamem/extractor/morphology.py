"""Verb forms: from any form to its lemma, by a table of irregular verbs and the spelling rules of English."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

Form = Literal["base", "s", "past", "participle", "ing"]
Forms = Mapping[str, Mapping[Form, str]]  # "left" -> {"past": "leave", "participle": "leave"}

_VOWELS = "aeiou"


def derive(irregular: Mapping[str, str], regular: Iterable[str], doubling: frozenset[str]) -> Forms:
    """Every form of every listed verb. `doubling` names long verbs that double their last letter (preferred)."""
    forms: dict[str, dict[Form, str]] = {}

    def add(word: str, form: Form, lemma: str) -> None:
        forms.setdefault(word, {}).setdefault(form, lemma)

    for lemma, pasts in irregular.items():
        past, participle = pasts.split()
        add(past, "past", lemma)
        add(participle, "participle", lemma)
    for lemma in (*irregular, *regular):
        stem = _stem(lemma, lemma in doubling)
        add(lemma, "base", lemma)
        add(_third_person(lemma), "s", lemma)
        add("dying" if lemma == "die" else "lying" if lemma == "lie" else f"{stem}ing", "ing", lemma)
        if lemma not in irregular or lemma in ("learn", "burn", "dream", "spill"):
            ed = lemma[:-1] + "ied" if _consonant_y(lemma) else f"{stem}ed"
            add(ed, "past", lemma)
            add(ed, "participle", lemma)
    return forms


def guess(word: str) -> Mapping[Form, str]:
    """The forms an unlisted word may be, by its ending; only for places where a verb must stand."""
    if not word.isalpha() or len(word) < 3:
        return {}
    if word.endswith("ied"):
        return {"past": word[:-3] + "y", "participle": word[:-3] + "y"}
    if word.endswith("ed") and len(word) > 4:
        return {"past": _unstem(word[:-2]), "participle": _unstem(word[:-2])}
    if word.endswith("ing") and len(word) > 5:
        return {"ing": _unstem(word[:-3])}
    if word.endswith("s") and not word.endswith("ss"):
        return {"s": word[:-1]}
    return {"base": word}


def _unstem(stem: str) -> str:
    """The likelier lemma of what stands before -ed and -ing: "jogg" -> jog, "juggl" -> juggle, "film" -> film."""
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    ends_open = stem[-1] in "cgvuz" or (stem[-1] == "s" and stem[-2:-1] != "s")
    ends_open = ends_open or (stem[-1] == "l" and stem[-2:-1] not in (*_VOWELS, "l"))
    return f"{stem}e" if ends_open and not stem.endswith("ng") else stem


def _stem(lemma: str, doubles: bool) -> str:
    """The lemma before -ed and -ing."""
    if lemma.endswith("e") and not lemma.endswith(("ee", "ye", "oe")) and lemma != "be":
        return lemma[:-1]
    one_syllable = sum(letter in _VOWELS for letter in lemma) == 1
    closed = len(lemma) > 2 and lemma[-1] not in _VOWELS + "wxy" and lemma[-2] in _VOWELS and one_syllable
    return lemma + lemma[-1] if doubles or closed or lemma in ("quit", "equip") else lemma


def _third_person(lemma: str) -> str:
    if lemma in ("be", "have", "do", "go"):
        return {"be": "is", "have": "has", "do": "does", "go": "goes"}[lemma]
    if _consonant_y(lemma):
        return lemma[:-1] + "ies"
    return lemma + ("es" if lemma.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _consonant_y(lemma: str) -> bool:
    return lemma.endswith("y") and lemma[-2] not in _VOWELS
