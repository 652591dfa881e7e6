"""Sentences about what was said: "forget that", "I meant York", "no, Alex", "Final: Robin".

Paper section 4.4: corrections and retractions speak of words; the slot is that of the words they speak of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sodamem.extractor.contrast import Contrast, remark
from sodamem.extractor.cues import filler, is_name
from sodamem.extractor.entities import entity_id
from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.phrases import Noun, head, quantity, trim
from sodamem.extractor.words import Words
from sodamem.text import words as tokens
from sodamem.types import FactEvent, Quantity, Role

_ENDS = frozenset({",", ".", "!", "?", ";", ":", "not", "that", "when", "as", "but", "and", "rather", "instead"})
_LONGEST = 5  # words of a value that stands alone
_LEADS = frozenset({"by", "in", "at", "on", "to"})
_LETTERS = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Value:
    """A value that stands without its slot: "I meant York"."""

    noun: Noun
    amount: Quantity | None
    bare: bool = False  # nothing but a cue stands before it: "No, Alex"; then a like thing must be meant
    named: bool = True


def takes_back(words: Words, lexicon: Lexicon) -> bool:
    """True for "forget that", "just kidding"; not for "I never forget that"."""
    if lexicon.phrase_keys["retractions"].isdisjoint(words.low):
        return False
    found = lexicon.phrases["retractions"].search(words.text, words.start[0], words.end[-1])
    if found is None:
        return False
    before = (words.low[i] for i in range(len(words)) if words.start[i] < found.start())
    return not any(word in lexicon.negations or word in ("i", "to", "you") for word in before)


def said_instead(words: Words, denial: Contrast, lexicon: Lexicon, *, denies: bool) -> Value | None:
    """The value that a sentence puts in the place of another, without saying of what it is the value.

    denies: the sentence has denied another value, by a contrast or a negated statement.
    """
    text, phrases, start, end = words.text, lexicon.phrases, remark(words, lexicon), words.end[-1]
    opening = next((m for name in ("corrections", "decisions") if (m := phrases[name].match(text, start))), None)
    found = phrases["replacements"].search(text, start, end)
    if found is None and denial.corrects:
        found = phrases["restatements"].search(text, start, end)
    if found is not None and (denies or found.start() <= (opening.end() + 2 if opening else start)):
        begin = next((i for i in range(len(words)) if words.start[i] >= found.end()), len(words))
        value = _value(words, begin, lexicon)
        return None if value and _is_act(words, value.noun, lexicon) else value
    if opening is None or not _LETTERS.search(text, opening.end(), end):
        return None
    skipped = {i for i in range(len(words)) if words.low[i] in _ENDS or i in denial.skipped}
    begin = next((i for i in range(len(words)) if words.start[i] >= opening.end() and i not in skipped), 0)
    value = _value(words, begin, lexicon)
    if value is None or any(
        words.low[i].isalnum() for i in range(value.noun.last, len(words)) if i not in denial.skipped
    ):
        return None  # more than a value: a sentence of its own
    return (
        None
        if _is_act(words, value.noun, lexicon)
        else replace(value, bare=True, named=is_name(words, value.noun, lexicon))
    )


def _is_act(words: Words, noun: Noun, lexicon: Lexicon) -> bool:
    verbs = lexicon.verbs.keys() - lexicon.weak - lexicon.participial
    return not verbs.isdisjoint(words.low[noun.first : noun.last])


def _value(words: Words, begin: int, lexicon: Lexicon) -> Value | None:
    while begin < len(words) and (words.low[begin] in lexicon.adverbs or words.low[begin] in _LEADS):
        begin += 1
    end = next((k for k in range(begin, len(words)) if words.low[k] in _ENDS), len(words))
    amount = quantity(words, begin, end, lexicon, times=True)
    noun = trim(words, begin, end, lexicon)
    if noun is None or noun.last - noun.first > _LONGEST or lexicon.is_class("empty", head(words, noun)):
        return None
    if any(words.low[k] in lexicon.closed for k in range(noun.first, noun.last)) and amount is None:
        return None
    return Value(noun, amount)


def role_for(value: Value, old: Role, words: Words, lexicon: Lexicon, known: frozenset[str]) -> Role | None:
    """The value as a filler of the place that `old` fills; None where the types differ: York cannot replace a job."""
    if not old.entity:
        return Role(name="value", entity="", words=value.amount.words) if value.amount else None
    type_ = old.entity.partition(":")[0]
    new = filler(words, value.noun, "value", type_, lexicon=lexicon, known=known)
    if type_ == "other":  # what somebody is called
        return replace(new, entity=entity_id(type_, new.words)) if value.bare and value.named else None
    if value.bare and not value.named and not _alike(old.words.lower().split(), new.words.lower().split(), lexicon):
        return None
    if value.bare and value.named and type_ == "thing":
        return None
    return new if new.entity.startswith(f"{type_}:") else None


def _alike(old: list[str], new: list[str], lexicon: Lexicon) -> bool:
    """True when some class holds both: "No wait, ramen" after sushi."""
    return any(
        lexicon.is_class(name, old) and lexicon.is_class(name, new) for name in lexicon.classes if name != "empty"
    )


def corrected(
    wrong: str,
    value: Value,
    facts: Iterable[FactEvent],
    words: Words,
    *,
    lexicon: Lexicon,
    known: frozenset[str],
) -> tuple[FactEvent, Role] | None:
    """The first of these facts that the value can replace, with its new filler; the one said to be `wrong`, if any."""
    denied = set(tokens(wrong))
    for fact in facts:
        old = next((role for role in fact.roles if role.name == "value"), None)
        if old is None or fact.predicate not in lexicon.predicates or "retraction" in fact.flags:
            continue
        if denied and not (set(tokens(old.words)) <= denied or denied <= set(tokens(old.words))):
            continue
        new = role_for(value, old, words, lexicon, known)
        if new is not None and new.entity != (old.entity or None):
            return fact, new
        if denied and new is None and value.amount is None and old.entity:
            type_ = old.entity.partition(":")[0]
            return fact, filler(words, value.noun, "value", type_, lexicon=lexicon, known=known)
    return None


def other_roles(fact: FactEvent, wrong: str) -> Sequence[Role]:
    """The roles of a corrected fact beside its value; `from` is the value that was wrong."""
    kept = tuple(role for role in fact.roles if role.name not in ("value", "from", "name"))
    old = next((role.entity for role in fact.roles if role.name == "value"), "")
    return (*kept, Role(name="from", entity=old, words=wrong)) if wrong and old else kept
