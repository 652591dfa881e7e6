"""Whether the words around a time expression speak of the past or of what is to come.

A bare "on Friday" follows the verb (Duckling's long-standing issue 51); no parser, only the nearest cue of the sentence.
"""

from __future__ import annotations

import re

from sodamem.dates.policy import Direction
from sodamem.dates.words import one_of

_IRREGULAR = (
    "was were did had went got won met saw took made ate came bought ran gave told said felt found left lost thought "
    "brought caught taught wrote drove flew spoke broke began drank sang swam slept spent built sent held heard kept "
    "paid sold stood understood wore woke rode grew knew threw fell led became chose hit cut hurt wasn't weren't didn't "
    "hadn't couldn't saw seen been done gone quit sat bit dug hung hid shot stuck struck swept tore"
).split()
_AHEAD = (
    "will shall won't can could should must might would want wants need needs hope hopes hoping plan plans planning "
    "planned intend intends let's tomorrow upcoming gonna wanna schedule scheduled due until till by expect expecting "
    "looking ready invite invited free available see meet join come is are am i'm we're they're he's she's it's "
    "you're have has start starts begin begins open opens leave leaves get gets"
).split()
_CUE = re.compile(
    r"\b(?:(?P<perfect>(?:have|has|had|i've|we've|they've|you've|'ve|'s)\s+(?:\w+ly\s+|just\s+|already\s+)?(?:been|\w{2,}ed|"
    r"gone|done|seen|met|won|taken|made|had|gotten|got)\b(?!\s+to\b))"
    r"|(?P<ahead>\w+['’]ll|(?:am|is|are|\w+['’](?:m|re|s))\s+(?:(?:so|really|very|super|all|not|still|also)\s+)*"
    r"(?:\w+ing|\w{2,}ed)|going\s+to|(?-i:may)|" + one_of(_AHEAD).replace("'", "['’]?") + r")\b"
    r"|(?P<behind>" + one_of(_IRREGULAR).replace("'", "['’]?") + r"|(?!need|feed|speed|seed|weed|indeed|hundred|sacred|naked)[a-z]{2,}ed)\b)",
    re.IGNORECASE,
)  # fmt: skip
_STOP = re.compile(r"[.!?\n](?=\s|$)")


def tense(text: str, start: int, end: int) -> Direction | None:
    """The direction of the cue nearest before the expression in its sentence, else nearest after it, else None."""
    begin = max((m.end() for m in _STOP.finditer(text, 0, start)), default=0)
    stop = _STOP.search(text, end)
    limit = stop.start() if stop else len(text)
    before = list(_CUE.finditer(text, begin, start))
    found = before[-1] if before else _CUE.search(text, end, limit)
    if found is None:
        return None
    return "future" if found.lastgroup == "ahead" else "past"
