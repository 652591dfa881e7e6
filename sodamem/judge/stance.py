"""What a text commits to: the stretches of it that it asserts, that it denies, and that it leaves open.

Cues with scopes after NegEx (Chapman et al., J. Biomed. Inform. 34, 2001): most rule forward to the end of their
clause, some rule what stands before them, and look-alikes ("not only") rule nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from itertools import groupby
from typing import Literal

import yaml

from sodamem.judge.words import DENIED, canonical

Stance = Literal["asserted", "denied", "guessed", "open", "cue"]
Span = tuple[int, int]

# A sentence does not end after an initial ("R. Martin") nor where the next word is small.
_SENTENCE = re.compile(r"(?:[^.;!?\n]|(?<=\b[A-Z])[.]|[.](?=\S|\s+[a-z]))+[.;!?\n]*")
_SUBJECT = r"(?:it|he|she|they|you|i|we|this|that|there|these|those|the answer)(?:'\w+)?\b"
_CONTRAST = (
    r"[:()]|\s[-–—]+\s|,?\s(?:but|because|since|until|although|though|while|whereas|however|unless|instead(?! of)|"
    rf"rather(?! than))\b|,\s(?:and |so )?(?={_SUBJECT})"
)
_CLAUSE = _CONTRAST + r"|,|\sfor (?=\S+ (?:day|week|month|year|hour|minute)s?\b)"
# Where the scope of a denial ends, by kind of its cue.
_ENDS = {
    kind: re.compile(pattern, re.IGNORECASE)
    for kind, pattern in {
        "ahead": _CLAUSE,
        "pronoun": _CLAUSE,
        "without": _CLAUSE + r"|\sand\b",
        "listing": _CONTRAST.replace(r"\s[-–—]+\s", rf"\s[-–—]+\s(?={_SUBJECT})") + r"|,\s(?=not\b)",
    }.items()
}
_GOES_ON = r"(?!\s*[,.;!?]|\s*$)"  # "No, it was Rome": nothing is denied by such a word
_FLIPS = re.compile(r"(?:not|never|without|\w+n't)", re.IGNORECASE)
_LEFT_OPEN: tuple[tuple[str, Stance], ...] = (("guess", "guessed"), ("doubt", "open"))
_NO_MORE = {"guess": re.compile(r"\W*\Z"), "doubt": re.compile(r"\W*(?:\w+\W*)?\Z")}  # "I am not sure which."
_HEAD = re.compile(r"\W*(?:(?:and|but|though|although|I|I'm|am|it|it's|is|honestly|still)\b\W*)*", re.IGNORECASE)

# Of what is doubted, only this: "I am not sure about the hour, but it was on Monday".
_OBJECT = re.compile(r"\s+(?:about|of|how|why|who|where|what|when)\b[^,;]*", re.IGNORECASE)
_OR = re.compile(
    r"\bor\b(?! (?:so|more|less|not|both|otherwise|later|earlier|older|younger|rather|thereabouts)\b)", re.I
)
_STATEMENT = re.compile(r"[.;:!?()\n](?!\d)|\bbut\b|\bwhether\b", re.IGNORECASE)
_ARM = 4  # words
_FAR = 400  # characters that a cue reaches at most, so that no answer takes long to read


@lru_cache(maxsize=1)
def cues() -> Mapping[str, Sequence[str]]:
    """The table of cues, by kind."""
    table: Mapping[str, Sequence[str]] = yaml.safe_load(
        (resources.files("sodamem.judge") / "cues.yaml").read_text(encoding="utf-8")
    )
    return table


@lru_cache(maxsize=1)
def _cue() -> re.Pattern[str]:
    """All cues as one pattern, a group for each kind."""
    kinds = (
        rf"(?P<{kind}>\b(?:{'|'.join(patterns)})(?!\w){_GOES_ON if kind in ('pronoun', 'ahead', 'without') else ''})"
        for kind, patterns in cues().items()
    )
    return re.compile("|".join(kinds), re.IGNORECASE)


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
    found = list(_cue().finditer(value, start, end))
    reach = start  # of the denial that is going on
    for cue in found:
        kind = cue.lastgroup
        if kind == "before":
            _write(stances, (_clause(value, start, cue.start()), cue.start()), "denied")
            _write(stances, cue.span(), "cue")
        elif kind in _ENDS:
            far = min(end, cue.end() + _FAR)
            stop = _ENDS[kind].search(value, cue.end() + 1, far)  # what follows at once is denied: "not because …"
            scope = (cue.end(), stop.start() if stop else far)
            # A denial within a denial asserts ("not without sugar"); one beside it does not ("neither … nor").
            beside = value[max(0, cue.start() - 2) : cue.start()].rstrip().endswith(",")
            nested = cue.start() < reach and not beside and bool(_FLIPS.fullmatch(cue[0]))
            _write(stances, scope, "asserted" if nested else "denied")
            _write(stances, cue.span(), "asserted" if kind == "pronoun" else "cue")
            reach = max(reach, scope[1])
    for kind, stance in _LEFT_OPEN:
        for cue in (cue for cue in found if cue.lastgroup == kind):
            if not stances[cue.start()] == stances[end - 1] == stance:  # else it is part of a doubt already
                _write(stances, _doubted(value, cue, sentence, previous), stance)
    if value[start:end].rstrip().endswith("?"):
        _write(stances, sentence, "open")


def _doubted(value: str, cue: re.Match[str], sentence: Span, previous: Span) -> Span:
    """What a doubt is about: what follows it, or where nothing does, its sentence, or the one before."""
    start, end = sentence
    if _NO_MORE[str(cue.lastgroup)].match(value, cue.end(), end):
        alone = bool(_HEAD.fullmatch(value, start, cue.start()))
        return (previous[0] if alone else start, end)
    about = _OBJECT.match(value, cue.end(), end)
    return about.span() if about else (cue.start(), end)


def _clause(value: str, start: int, place: int) -> int:
    """Where the clause that holds `place` begins."""
    start = max(start, place - _FAR)
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
            left, right = (
                statement[max(0, match.start() - _FAR) : match.start()],
                statement[match.end() : match.end() + _FAR],
            )
            near = left.split(",")[-1].split()[-_ARM:] or left.split()[-2 * _ARM :]  # the latter: "A, B, or C"
            yield " ".join(near), " ".join(right.split(",")[0].split()[:_ARM])
