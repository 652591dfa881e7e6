"""Whether the words around a time expression speak of the past or of what is to come.

A bare "on Friday" follows the verb (a lesson of Duckling's users); no parser, only the nearest cue of the sentence.
"""

from __future__ import annotations

import re

from sodamem.dates.policy import Direction
from sodamem.dates.words import one_of, starting

_PAST = starting(
    "was were did had went got won met saw took made ate came bought ran gave told said felt found left lost thought "
    "brought caught taught wrote drove flew spoke broke began drank sang swam slept spent built sent held heard kept "
    "paid sold stood understood wore woke rode grew knew threw fell led became chose hit cut hurt wasn't weren't "
    "hadn't couldn't seen been done gone quit sat bit dug hung hid shot stuck struck swept tore "
    "shook woke froze stole swung swore bore bent bled bred clung crept dealt dreamt fled flung forgot forgave knelt "
    "laid leapt learnt lent lit meant overcame rang rose sank shone shrank slid sought sped sprang stung swelled "
    "undertook wept withdrew wound wove"
)
_FUTURE = starting(
    "will shall won't can could should must might would want wants need needs hope hopes hoping planning "
    "planned intend intends let's tomorrow upcoming gonna wanna schedule scheduled until till expect expecting "
    "is are am i'm we're they're he's she's it's you're have has starts begins opens leaves"
)
# -ed without a verb; the -ed of a copula ("I'm excited") is read with the copula.
_NOT_A_VERB = starting("need feed speed seed weed indeed hundred sacred naked exceed proceed succeed")
_CUE = re.compile(
    r"\b(?:"
    r"(?P<asked>did(?:n['\u2019]?t)?(?:\s+[\w'\u2019]+){1,2})"
    r"|(?P<perfect>(?:have|has|had|\w+['\u2019](?:ve|s|d))\s+(?:\w+ly\s+|just\s+|already\s+)?"
    r"(?:been|\w{2,}ed|gone|done|seen|met|won|taken|made|had|gotten|got)\b(?!\s+to\b))"
    # "By Friday" looks ahead, "by bus" does not.
    r"|(?P<ahead>\w+['\u2019]ll|by(?=\s+(?:the\s+)?$)"
    # A noun's possessive is no verb: "Priya's wedding" announces nothing.
    r"|(?:am|is|are|\w+['\u2019](?:m|re)|(?:he|she|it|that|there|who|what|everyone)['\u2019]s)\s+"
    r"(?:(?:so|really|very|super|all|not|still|also)\s+)*(?:\w+ing|\w{2,}ed)|going\s+to|(?-i:may)"
    r"|(?:i|you|we|they|to)\s+plan|(?:he|she)\s+plans|see\s+you|meet\s+(?:me|us|up)|join\s+(?:me|us)|come\s+(?:over|to|by)|"
    + one_of(_FUTURE).replace("'", "['\u2019]?")
    + r")|(?P<behind>"
    + one_of(_PAST).replace("'", "['\u2019]?")
    + rf"|(?:i|we|he|she|they)\s+(?:set|put|beat|let)"
    rf"|(?!{one_of(_NOT_A_VERB)}\b)[a-z]{{2,}}ed))\b",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?](?=\s|$)|[;\n]")
_CLAUSE_BEGINS = re.compile(
    r"(?:^|[,:\u2014-]|\b(?:and|but|so|then|because|while))\s+(?:(?:on|in|by|at|over|since|until|the)\s+){0,2}$",
    re.IGNORECASE,
)


def tense(text: str, start: int, end: int) -> Direction | None:
    """The direction of the nearest cue of the sentence: before the expression, or after it when it opens a clause."""
    begin = max((m.end() for m in _STOP.finditer(text, 0, start)), default=0)
    stop = _STOP.search(text, end)
    before = list(_CUE.finditer(text, begin, start))
    after = _CUE.search(text, end, stop.start() if stop else len(text))
    found = before[-1] if before else after
    if before and after and _CLAUSE_BEGINS.search(text[begin:start]):
        found = after
    if found is None:
        return None
    return "future" if found.lastgroup == "ahead" else "past"
