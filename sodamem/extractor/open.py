"""Facts beyond the declared predicates: the verb itself is the predicate, its object or first phrase the value.

Recall gains from any "somebody did something" (paper section 4.2 extracts free events); the tables say which verbs
are too hollow to mean anything, so that precision does not pay for it.
"""

from __future__ import annotations

from sodamem.extractor.clauses import GERUND
from sodamem.extractor.cues import Complement, Match
from sodamem.extractor.phrases import head, quantity
from sodamem.types import Role

# Where the value is looked for when there is no object, and the role that each further phrase gets.
_PLACES = ("object", "to", "at", "in", "on", "into", "with", "for", "about", "from", "by", "over", "around", "through")
_ROLES = {"at": "place", "in": "place", "to": "to", "with": "with", "from": "from"}
_TYPES = {"place": "place", "with": "person"}  # a thing where it is not listed


def open_match(complement: Complement) -> list[Match]:
    """At most one match, whose predicate is the lemma of the verb; none for hollow verbs and empty objects."""
    verb, lexicon = complement.clause.verb, complement.lexicon
    told = verb.past or verb.perfect
    if complement.clause.introducer in lexicon.introducers or complement.clause.introducer == GERUND:
        return []
    if any(word in lexicon.modals or word == "can" for word in verb.aux) and not verb.effects:
        return []  # what one can or might do is no event
    if complement.particle:
        complement = complement.after_particle()
    if verb.lemma in lexicon.hollow and not (verb.lemma in lexicon.telling and told and not verb.passive):
        return []
    value = next(complement.at(_PLACES), None)
    if value is None or lexicon.is_class("empty", head(complement.words, value)):
        dated = complement.dated and (told or verb.progressive) and not verb.negated
        bare = dated and verb.lemma not in lexicon.hollow  # "I graduated last week"
        return [Match(verb.lemma, Role(name="value", entity="", words=""))] if bare else []
    if verb.lemma in lexicon.hollow and value.first > complement.first + 3:
        return []
    roles = tuple(
        complement.role(name, noun, _TYPES.get(name, "thing"))
        for place, name in _ROLES.items()
        for noun in list(complement.at((place,)))[:1]
        if noun.first != value.first
        and not lexicon.is_class("empty", head(complement.words, noun))
        and (complement.is_name(noun) or name in ("with", "from"))
    )
    amount = quantity(complement.words, complement.first, complement.clause.last, lexicon)
    return [Match(verb.lemma, complement.role("value", value, "thing"), roles, amount)]
