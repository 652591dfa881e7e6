"""What a text commits to: the stretches of it that it asserts, that it denies, and that it leaves open.

Cues with scopes after NegEx (Chapman et al., J. Biomed. Inform. 34, 2001): most rule forward to the end of their
clause, some rule what stands before them, and look-alikes ("not only") rule nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Literal

from sodamem.judge.words import DENIED, canonical

Stance = Literal["asserted", "denied", "guessed", "open", "cue"]
Span = tuple[int, int]

_GUESS = (
    r"\b(?:maybe|perhaps|possibly|(?:might|may|could)(?: well| also)? (?:be|have)|I (?:guess|suppose)|"
    r"(?:I'm|I am|just) guessing|had to guess)\b"
)
_DOUBT = (
    r"\b(?:unsure|uncertain|unclear|no idea|who knows|hard to (?:say|tell)|either(?! way| of| side)|"
    r"(?:not|\w+n't|never)(?: \w+)? (?:sure|certain|clear)|"
    r"(?:can't|cannot|can not|do not|don't) (?:be sure|remember|recall|decide|tell which|say which))\b"
)
# Of what is doubted, only this: "I am not sure about the hour, but it was on Monday".
_OBJECT = re.compile(r"\s+(?:about|of|how|why|who|where|what|when)\b[^,;]*", re.IGNORECASE)
_LOOKALIKE = (
    r"\b(?:not (?:only|just|merely|simply|until|least|to mention|long (?:ago|after|before))|(?:no|without an?y?) doubt|"
    r"no (?:less|more|fewer|later|earlier|sooner|matter|wonder|problem|question)|nothing but|none other than|"
    r"nothing other than|why not|(?:can't|couldn't|cannot) (?:wait|help|be \w+er))\b"
)
_BEFORE = (
    r"\b(?:(?:(?:is|was|are|were|be|seems?)(?: \w+)? not|isn't|wasn't|aren't|weren't) (?:\w+ly )?"
    r"(?:right|correct|true|it|so|the (?:right |correct )?(?:answer|case|one))(?=\s*(?:[.,;!]|$))|"
    r"(?:is|was|are|were|be) (?:\w+ly )?(?:wrong|incorrect|false|untrue|mistaken)\b|"
    r"(?:not any ?more|no longer|not)(?=\s*(?:[.,;!]|$)))"
)
_LISTING = r"\b(?:(?:is|was|are|were|be|been|'s|'re)(?: \w+)? not|isn't|wasn't|aren't|weren't|anything but)\b"
_AHEAD = (
    r"\b(?:not|no longer|never|none of|neither|nor|hardly|except(?: for)?|other than|rather than|"
    r"instead of|as opposed to|far from|by no means|unlike|excluding|cannot|\w+n't|ruled? out|"
    r"(?:doubt|doubtful|unlikely|false|untrue|wrong|incorrect|deny|denies|denied)(?: to say)? that)"
)
_WITHOUT = r"\b(?:no|without)"
_PRONOUN = r"\b(?:nobody|nothing|no one)"  # an answer of its own: "nobody" to "Who came?"
_GOES_ON = r"\b(?!\s*[,.;!?]|\s*$)"  # "No, it was Rome": nothing is denied by such a word
_CUE = re.compile(
    f"(?P<guess>{_GUESS})|(?P<doubt>{_DOUBT})|(?P<lookalike>{_LOOKALIKE})|(?P<before>{_BEFORE})|(?P<listing>{_LISTING})|"
    f"(?P<pronoun>{_PRONOUN}{_GOES_ON})|(?P<ahead>{_AHEAD}{_GOES_ON})|(?P<without>{_WITHOUT}{_GOES_ON})",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.;!?\n]*(?:[.](?!\s|$)[^.;!?\n]*)*[.;!?\n]*")
_SUBJECT = r"(?:it|he|she|they|you|i|we|this|that|there|these|those|the answer)(?:'\w+)?\b"
# Where a clause ends. A list that is denied whole ("it is not A, B or C") goes on over its commas.
_CONTRAST = (
    r"[:()]|\s[-–—]+\s|,?\s(?:but|because|since|until|although|though|while|whereas|however|unless|instead(?! of)|"
    r"rather(?! than))\b|\sfor (?=\S+ (?:day|week|month|year|hour|minute)s?\b)|,\s(?:and |so )?(?=" + _SUBJECT + ")"
)
_ENDS = {
    "ahead": re.compile(_CONTRAST + "|,", re.IGNORECASE),
    "pronoun": re.compile(_CONTRAST + "|,", re.IGNORECASE),
    "listing": re.compile(_CONTRAST + r"|,\s(?=not\b)", re.IGNORECASE),
    "without": re.compile(_CONTRAST + r"|,|\sand\b", re.IGNORECASE),
}
_FLIPS = re.compile(r"(?:not|never|without|\w+n't)", re.IGNORECASE)
_LEFT_OPEN: tuple[tuple[str, Stance], ...] = (("guess", "guessed"), ("doubt", "open"))
_TAIL = re.compile(r"\W*(?:\w+\W*)?\Z")  # at most one word: "I am not sure which."
_HEAD = re.compile(r"\W*(?:(?:and|but|though|although|I|I'm|am|it|it's|is|honestly|still)\b\W*)*", re.IGNORECASE)

_OR = re.compile(
    r"\bor\b(?! (?:so|more|less|not|both|otherwise|later|earlier|older|younger|rather|thereabouts)\b)", re.I
)
_STATEMENT = re.compile(r"[.;:!?()\n](?!\d)|\bbut\b|\bwhether\b", re.IGNORECASE)
_ARM = 4  # words


def stretches(value: str) -> list[tuple[str, Stance]]:
    """The text cut where its stance changes, in order; cues are stretches of their own."""
    value = value.replace("’", "'")
    stances: list[Stance] = ["asserted"] * len(value)
    previous: Span = (0, 0)
    for match in _SENTENCE.finditer(value):
        if match[0].strip():
            _judge(value, match.span(), previous, stances)
            previous = match.span()
    cut = groupby(range(len(value)), key=stances.__getitem__)
    return [("".join(value[place] for place in places), stance) for stance, places in cut]


def _judge(value: str, sentence: Span, previous: Span, stances: list[Stance]) -> None:
    """Write the stances of one sentence; a doubt that is a sentence of its own is about the one before."""
    start, end = sentence
    cues = list(_CUE.finditer(value, start, end))
    reach = start  # of the denial that is going on
    for cue in cues:
        kind = cue.lastgroup
        if kind == "before":
            _write(stances, (_clause(value, start, cue.start()), cue.start()), "denied")
            _write(stances, cue.span(), "cue")
        elif kind in _ENDS:
            stop = _ENDS[kind].search(value, cue.end() + 1, end)  # what follows at once is denied: "not because …"
            scope = (cue.end(), stop.start() if stop else end)
            # A denial within a denial asserts ("not without sugar"); one beside it does not ("neither … nor").
            beside = value[: cue.start()].rstrip().endswith(",")
            nested = cue.start() < reach and not beside and bool(_FLIPS.fullmatch(cue[0]))
            _write(stances, scope, "asserted" if nested else "denied")
            _write(stances, cue.span(), "asserted" if kind == "pronoun" else "cue")
            reach = max(reach, scope[1])
    for kind, stance in _LEFT_OPEN:
        for cue in (cue for cue in cues if cue.lastgroup == kind):
            _write(stances, _doubted(value, cue, sentence, previous), stance)
    if value[start:end].rstrip().endswith("?"):
        _write(stances, sentence, "open")


def _doubted(value: str, cue: re.Match[str], sentence: Span, previous: Span) -> Span:
    """What a doubt is about: what follows it, or where nothing does, its sentence, or the one before."""
    start, end = sentence
    if _TAIL.match(value, cue.end(), end):
        alone = bool(_HEAD.fullmatch(value, start, cue.start()))
        return (previous[0] if alone else start, end)
    about = _OBJECT.match(value, cue.end(), end)
    return about.span() if about else (cue.start(), end)


def _clause(value: str, start: int, place: int) -> int:
    """Where the clause that holds `place` begins."""
    ends = [match.end() for match in _ENDS["ahead"].finditer(value, start, place)]
    return ends[-1] if ends and value[ends[-1] : place].strip() else start


def _write(stances: list[Stance], span: Span, stance: Stance) -> None:
    stances[span[0] : span[1]] = [stance] * (span[1] - span[0])


def asserted(value: str, kept: Collection[Stance]) -> str:
    """The text without the stretches of other stances than those kept."""
    cut = stretches(value)
    if all(stance in kept for _, stance in cut):
        return value
    return " ; ".join(stretch.strip(" ,.") for stretch, stance in cut if stance in kept and stretch.strip(" ,.;"))


def signed(value: str, kept: Collection[Stance]) -> list[str]:
    """Canonical words in order; those denied are marked, so that they are other words than the same ones asserted."""
    found = []
    for stretch, stance in stretches(value):
        if stance in kept or stance == "denied":
            found += [DENIED + token if stance == "denied" else token for token in canonical(stretch)]
    return found


def opposite(token: str) -> str:
    """The signed word with the other sign."""
    return token.removeprefix(DENIED) if token.startswith(DENIED) else DENIED + token


def alternatives(value: str) -> Iterator[tuple[str, str]]:
    """What stands on either side of each "or", within its clause and a few words of it."""
    for statement in _STATEMENT.split(value):
        for match in _OR.finditer(statement):
            left, right = statement[: match.start()], statement[match.end() :]
            near = left.split(",")[-1].split()[-_ARM:] or left.split()[-2 * _ARM :]  # the latter: "A, B, or C"
            yield " ".join(near), " ".join(right.split(",")[0].split()[:_ARM])
