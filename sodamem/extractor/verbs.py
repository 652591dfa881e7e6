"""Reads a verb group: auxiliaries, negation and adverbs, the main verb, and the verbs that govern it.

Grammar by place and form: what may follow a subject, and what may follow each auxiliary. The tables know the words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.morphology import Form, guess
from sodamem.extractor.words import Words

SubjectKind = Literal["speaker", "addressee", "pronoun", "name", "owned", "thing", "elided"]

_PAST_AUXILIARIES = ("was", "were", "had", "did")
_BY_MEANS = (["by"], [","], ["."])  # "getting to work by bike": a place, not what is done
_ON_FOOT = ["on", "foot"]
_DEEPEST_CHAIN = 3  # "am going to try to start running"


@dataclass(frozen=True, slots=True)
class Verb:
    """The verb group: `at` is the main verb's place, `after` the first word of what follows it."""

    at: int
    after: int
    lemma: str
    form: Form
    aux: tuple[str, ...] = ()
    adverbs: tuple[str, ...] = ()
    negated: bool = False
    passive: bool = False
    outer: str = ""  # lemma of the verb that governs it: "want" in "want to go"
    effects: tuple[str, ...] = ()  # what the governing verbs make of it, see tables/modality.yaml

    @property
    def past(self) -> bool:
        return self.form == "past" or any(word in _PAST_AUXILIARIES for word in self.aux)

    @property
    def perfect(self) -> bool:
        return self.form == "participle" and not self.passive

    @property
    def progressive(self) -> bool:
        return self.form == "ing" and bool(self.aux)


def read_verb(words: Words, i: int, kind: SubjectKind, aux: tuple[str, ...], lexicon: Lexicon) -> Verb | None:
    """The verb group that begins at word i, after a subject of this kind and the auxiliary of a question, if any."""
    low, size = words.low, len(words)
    adverbs: list[str] = []
    seen, negated, last_aux = list(aux), False, i
    while i < size:
        word = "is" if low[i] == "'s" else low[i]
        if word in lexicon.auxiliaries:
            seen.append(word)
            last_aux = i
        elif word in lexicon.negations:
            negated = True
        elif word == "no" and low[i + 1 : i + 2] == ["longer"]:
            negated, i = True, i + 1
        elif _is_adverb(low, i, kind, bool(seen), lexicon):
            adverbs.append(word)
        else:
            break
        i += 1
    main = _main(low, i, kind, aux=seen, last_aux=last_aux, lexicon=lexicon)
    if main is None or main[0] >= size:
        return None
    at, lemma, form, passive = main
    own = tuple(seen[:-1] if at == last_aux < i else seen)  # an auxiliary may be the main verb: "I am at home"
    after = max(i, at + 1)
    while after < size and low[after] in lexicon.negations:
        negated, after = True, after + 1
    return _governed(low, Verb(at, after, lemma, form, own, tuple(adverbs), negated, passive), lexicon)


def _is_adverb(low: list[str], i: int, kind: SubjectKind, auxiliary: bool, lexicon: Lexicon) -> bool:
    word = low[i]
    if word in lexicon.adverbs or (word.endswith("ly") and word not in lexicon.verbs):
        return True
    if kind != "speaker" or auxiliary or word in lexicon.verbs or not word.isalpha() or "past" in guess(word):
        return False
    following = lexicon.verbs.get(low[i + 1], {}) if i + 1 < len(low) else {}
    return "base" in following or "past" in following  # "I absolutley love it": nothing else can stand there


def _main(
    low: list[str], i: int, kind: SubjectKind, *, aux: list[str], last_aux: int, lexicon: Lexicon
) -> tuple[int, str, Form, bool] | None:
    """(place, lemma, form, passive) of the main verb, given the auxiliaries before it."""
    word = low[i] if i < len(low) else ""
    forms: Mapping[Form, str] = lexicon.verbs.get(word, {})
    governs = lexicon.auxiliaries[aux[-1]] if aux else ""
    if governs == "do" and lexicon.auxiliaries.get(aux[-2] if len(aux) > 1 else "") in ("do", "modal"):
        return last_aux, "do", "base", False  # "I don't do yoga"
    must_be_verb = governs != "do" or len(aux) > 1 or last_aux + 1 < i  # "I don't foo", but not "I do yoga"
    if (
        not forms
        and must_be_verb
        and kind in ("speaker", "pronoun", "addressee", "name")
        and word not in lexicon.closed
    ):
        forms = guess(word)
    if governs == "be":
        if word not in lexicon.participial and "ing" in forms:
            return i, forms["ing"], "ing", False
        if word not in lexicon.participial and "participle" in forms and "base" not in forms:
            return i, forms["participle"], "participle", True
        form: Form = "past" if aux[-1] in ("was", "were") else "participle" if aux[-1] == "been" else "base"
        return last_aux, "be", form, False
    if governs == "have":
        if word == "got" and "just" not in low[last_aux:i]:  # "I've got a dog" is having one
            return i, "have", "base", False
        if "participle" in forms:
            return i, forms["participle"], "participle", False
        return last_aux, "have", "past" if aux[-1] == "had" else "base", False
    if governs:  # do or a modal
        if "base" in forms:
            return i, forms["base"], "base", False
        if aux[-1] == "would" and "participle" in forms:  # "I'd gone"
            return i, forms["participle"], "participle", False
        if governs == "do" and (word not in lexicon.closed or word in lexicon.determiners):
            return last_aux, "do", "past" if aux[-1] == "did" else "base", False
        return None
    third_person = kind in ("name", "owned", "thing")
    finite: tuple[Form, ...] = ("past", "s") if third_person else ("past", "s", "base")
    return next(((i, forms[form], form, False) for form in finite if form in forms), None)


def _governed(low: list[str], verb: Verb, lexicon: Lexicon) -> Verb:
    """Follows "want to", "started -ing", "going to", "got -ed" down to the verb that names what is done."""
    if verb.lemma == "get" and verb.after < len(low):
        done = low[verb.after]
        forms = lexicon.verbs.get(done, {})
        if "participle" in forms and "base" not in forms and done not in lexicon.participial:
            return replace(verb, at=verb.after, after=verb.after + 1, lemma=forms["participle"], passive=True)
    for _ in range(_DEEPEST_CHAIN):
        inner = _next_in_chain(low, verb, lexicon)
        if inner is None:
            break
        verb = inner
    return verb


def _next_in_chain(low: list[str], verb: Verb, lexicon: Lexicon) -> Verb | None:
    chain = lexicon.chains.get(verb.lemma)
    if chain is None or verb.after >= len(low) or (verb.lemma == "use" and verb.form != "past"):
        return None
    link, at = low[verb.after], verb.after
    form: Form = "base" if link == "to" else "ing"
    if link in chain.links:
        at += 1
        while at < len(low) and (low[at] in lexicon.adverbs or low[at] in lexicon.negations):
            at += 1
    elif "ing" not in chain.links:
        return None
    lemma = lexicon.verbs.get(low[at], {}).get(form) if at < len(low) else None
    if lemma is None or (low[at] == "work" and (low[at + 1 : at + 2] in _BY_MEANS or low[at + 1 : at + 3] == _ON_FOOT)):
        return None
    effect = chain.effect
    if effect == "go":  # "going to swim" is a plan, "went swimming" and "went to see" are done
        effect = "future_plan" if link == "to" and verb.progressive else "none"
    return replace(verb, at=at, after=at + 1, lemma=lemma, outer=verb.lemma, effects=(*verb.effects, effect))
