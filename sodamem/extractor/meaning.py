"""How a clause is meant: done, so now, planned, wished, asked, supposed, over.

After arXiv 2608.08055 section 3.2: the modality of a statement decides whether it may change what is true now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sodamem.extractor.clauses import Clause
from sodamem.extractor.cues import Match
from sodamem.extractor.lexicon import Lexicon, Predicate
from sodamem.extractor.verbs import Verb
from sodamem.extractor.words import Words
from sodamem.types import Kind, Modality

_EFFECTS: Mapping[str, Modality] = {"intent": "intent", "future_plan": "future_plan"}
_TAGS = frozenset({"right", "eh", "huh", "yeah", "no", "correct", "ok", "okay", "remember"})
_WISHES = frozenset({"love", "like", "want", "rather"})


@dataclass(frozen=True, slots=True)
class Meaning:
    kind: Kind
    modality: Modality
    polarity: bool
    flags: tuple[str, ...]
    former: bool  # a state told in the past tense, as in "I lived in Leeds": it no longer holds

    @property
    def change(self) -> bool:
        return "state_change" in self.flags


def asked(clause: Clause, words: Words, is_last: bool, lexicon: Lexicon) -> bool:
    """True for a question; "…, right?" and "…, isn't it?" are statements with a tag."""
    if clause.inverted:
        return True
    if clause.introducer in lexicon.introducers:
        return False  # "If I moved, would …?" asks about something else
    if "?" not in words.low[-3:]:  # an emoji may follow
        return False
    if words.low[-3:-2] == [","] and words.low[-2] in _TAGS:
        return False
    opener = words.low[clause.first]
    return (opener in lexicon.wh and opener not in ("when", "where")) or (
        is_last and "?" in words.low[clause.last : clause.last + 1]
    )


def meaning(match: Match, clause: Clause, text: str, lexicon: Lexicon, *, question: bool, future: bool) -> Meaning:
    """The meaning of a matched clause. `future`: its time lies after the mention; `text`: the words it is cited in."""
    declared = lexicon.predicates.get(match.predicate)
    verb = clause.verb
    over = bool(lexicon.phrases["ended"].search(text)) or not {"end", "former"}.isdisjoint(verb.effects)
    now = "now" in verb.adverbs and declared is not None and declared.kind in ("state", "preference")
    now = now and not lexicon.phrases["not_now"].search(text)
    change = match.change or match.ends or over or now or "begin" in verb.effects
    supposed = _supposed(clause, lexicon) and not match.real
    future = future and lexicon.habitual.isdisjoint(verb.adverbs)
    modality = _modality(declared, verb, question=question, future=future, change=change, supposed=supposed)
    done = modality == "past_event"
    kind: Kind = declared.kind if declared else "event" if done and not change else "fact"
    lasting = kind in ("state", "profile") or (declared is None and change)
    plain = done and lasting and not change and not verb.perfect and not match.still  # "I lived in Leeds"
    former = plain and declared is not None and declared.past == "former"
    if plain and declared is not None and declared.past == "event":
        kind = "event"
    elif lasting and done and not former:
        modality = "current_state"
    flags = [
        name
        for name, raised in (
            ("state_change", change),
            ("hypothetical", supposed),
            ("temporary", kind != "event" and _passes(verb, change, text, lexicon)),
        )
        if raised
    ]
    polarity = not (match.ends or over or (verb.negated and not match.neutral))
    return Meaning(kind, modality, polarity, tuple(flags), former)


def _supposed(clause: Clause, lexicon: Lexicon) -> bool:
    verb = clause.verb
    wished = "would" in verb.aux and not _WISHES.isdisjoint({verb.outer, verb.lemma, *verb.adverbs})
    return (
        clause.introducer in lexicon.introducers
        or (any(word in lexicon.modals for word in verb.aux) and not wished)
        or any(word in lexicon.doubts for word in verb.adverbs)
    )


def _passes(verb: Verb, change: bool, text: str, lexicon: Lexicon) -> bool:
    """True for a state that is said to end by itself."""
    if lexicon.phrases["temporary"].search(text):
        return True
    goes_on = not (verb.past or verb.perfect or change or "been" in verb.aux)
    return goes_on and bool(lexicon.phrases["passing"].search(text))


def _modality(
    declared: Predicate | None, verb: Verb, *, question: bool, future: bool, change: bool, supposed: bool
) -> Modality:
    if question:
        return "question"
    if declared and declared.modality:
        return declared.modality
    for effect in verb.effects:
        if effect in _EFFECTS:
            return _EFFECTS[effect]
    if "will" in verb.aux or "shall" in verb.aux:
        return "future_plan"
    if ("would" in verb.aux and "rather" not in verb.adverbs) or supposed:
        return "intent"
    kind = declared.kind if declared else "fact"
    under_way = verb.progressive and "been" not in verb.aux and not verb.effects
    # "I'm moving", "I'm going to a concert" tell plans; "I'm going off jazz" does not.
    coming = future or (under_way and (kind == "event" or (change and kind != "preference")))
    if coming and not verb.past and not verb.perfect:
        return "future_plan"
    if "preference" in verb.effects or kind == "preference":
        return "preference"
    return "past_event" if verb.past or verb.perfect else "current_state"
