"""The forms answers and golds come in: where a long answer states its result, and golds that name a second reading.

LongMemEval's golds may end in "... is also acceptable"; answers of reasoning readers end in "Answer: ...".
"""

from __future__ import annotations

import re

_MARKER = re.compile(r"\b(?:final )?answer\W{0,6}:\W{0,4}(?=\w|[$€£\"'])", re.IGNORECASE)
_EMPHASIS = re.compile(r"\*\*|__|`")
_ALSO = re.compile(
    r"^(?P<first>.+?)[.;,]\s+(?P<second>[^.;]+?)\s*(?:\([^)]*\)\s*)?(?:is|are|would be) also acceptable\.?(?:\s.*)?$",
    re.IGNORECASE | re.DOTALL,
)
_LONG = 60  # words: shorter answers are all result


def conclusion(answer: str) -> str:
    """What an answer states in the end: after its last "Answer:", else the last paragraph of a long one, else all."""
    plain = _EMPHASIS.sub("", answer).strip()
    marked = [match.end() for match in _MARKER.finditer(plain)]
    if marked and (stated := plain[marked[-1] :].strip()):
        return stated
    paragraphs = [part.strip() for part in plain.split("\n\n") if part.strip()]
    return paragraphs[-1] if len(plain.split()) > _LONG and len(paragraphs) > 1 else plain


def readings(gold: str) -> tuple[str, ...]:
    """The gold, or both of "4 hours. 5 hours (with breaks) is also acceptable"."""
    match = _ALSO.match(gold.strip())
    return (match["first"], match["second"]) if match else (gold,)
