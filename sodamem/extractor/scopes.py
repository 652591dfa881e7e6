"""The role that tells slots of one predicate apart: favourite food or colour, the 5K or the 10K, home or office.

Paper section 4.4: slots are (subject, predicate, scope); what the words leave out, the value or the clause tells.
"""

from __future__ import annotations

from sodamem.extractor.entities import entity_id
from sodamem.extractor.lexicon import Lexicon, Predicate
from sodamem.extractor.mentions import is_event
from sodamem.extractor.words import Words
from sodamem.types import Role


def scope_role(declared: Predicate, told: str, value: Role, words: Words, *, lexicon: Lexicon) -> Role | None:
    """The scope role in normal words, or None where the predicate has no scope or nothing tells it."""
    if not declared.scope:
        return None
    told = told or _compared(words.low)
    scope = declared.same.get(told, told) or _by_value(declared, value, lexicon)
    if not scope and declared.nearby:
        scope = next((word for word in words.low if is_event(word, lexicon) and word not in lexicon.verbs), "")
    if not scope:
        said = f" {' '.join(words.low)} "
        scope = next((name for name, cues in declared.marks.items() if any(f" {cue} " in said for cue in cues)), "")
    return Role(name=declared.scope, entity=entity_id("thing", scope), words=scope) if scope else None


def _by_value(declared: Predicate, value: Role, lexicon: Lexicon) -> str:
    """The class that the value is in, among those that scope this predicate: teal is a colour."""
    said = value.words.lower().split()
    return next((name for name in declared.by_value if lexicon.is_class(name, said)), "")


def _compared(low: list[str]) -> str:
    """What a value is compared with: "more than any other dish", "best of all colours"."""
    for i in range(len(low) - 2):
        if low[i : i + 2] in (["any", "other"], ["of", "all"]) and low[i + 2].isalpha():
            return (
                low[i + 2].removesuffix("s")
                if not low[i + 2].endswith("es") or low[i + 2][-3] == "h"
                else low[i + 2][:-1]
            )
    return ""
