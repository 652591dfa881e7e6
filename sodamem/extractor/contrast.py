"""Reads what a speaker takes back while correcting it: "…, not Leeds", "I said Leeds", "Leeds was a slip".

Paper section 4.4: a correction names the value that was never true, so that it can be found and set aside.
"""

from __future__ import annotations

from dataclasses import dataclass

from sodamem.extractor.clauses import BREAKS, STOPS
from sodamem.extractor.lexicon import Lexicon
from sodamem.extractor.words import Words

_LONGEST = 5  # words of a value
_JOINTS = frozenset({",", "and", "but", "—", "–", "-", "it", "'s", "is"})
_PLACES = frozenset({"to", "in", "at", "on", "by", "for"})


@dataclass(frozen=True, slots=True)
class Contrast:
    """corrects: the sentence sets something right · wrong: words [first, last) of the value it denies, (0, 0) for none.

    skipped: the denial with its marker · whole: all of the sentence corrects, not only its first clause.
    """

    corrects: bool
    wrong: tuple[int, int] = (0, 0)
    skipped: range = range(0)

    @property
    def whole(self) -> bool:
        return self.corrects and self.wrong != (0, 0)


def contrast(words: Words, lexicon: Lexicon) -> Contrast:
    """What a sentence sets right, read from its cues alone."""
    start, end = remark(words, lexicon), words.end[-1]
    opens = any(lexicon.phrases[name].match(words.text, start) for name in ("corrections", "replacements"))
    opens = opens or _contradicts(words, start, lexicon)
    slips = not lexicon.phrase_keys["mistakes"].isdisjoint(words.low)
    slips = slips and lexicon.phrases["mistakes"].search(words.text, start, end) is not None
    slip = None if lexicon.slips.isdisjoint(words.low) else _before_slip(words, lexicon)
    if not (opens or slips or slip):
        return Contrast(False)
    if not slips and lexicon.phrases["additions"].search(words.text, start, end) is not None:
        return Contrast(False)  # "Actually, I also have a dog"
    return slip or _after_marker(words, lexicon) or Contrast(True)


def _contradicts(words: Words, start: int, lexicon: Lexicon) -> bool:
    """ "It's York, not Leeds", "I said Leeds, but it's York": no word says sorry."""
    low = words.low
    if "not" in low and lexicon.phrases["restatements"].match(words.text, start) is not None:
        return any(low[i : i + 2] == [",", "not"] for i in range(len(low)))
    said = next((i for i in range(len(low) - 1) if low[i : i + 2] == ["i", "said"]), None)
    return said is not None and "but" in low[said:]


def remark(words: Words, lexicon: Lexicon) -> int:
    """Where the sentence begins to say something: after "by the way,", "oh, and before I forget,"."""
    start, end = words.start[0], words.end[-1]
    while (lead := lexicon.phrases["leads"].match(words.text, start, end)) is not None:
        start = lead.end()
        while start < end and words.text[start] in " ,:;–—-":
            start += 1
    return start


def _after_marker(words: Words, lexicon: Lexicon) -> Contrast | None:
    low = words.low
    for i in range(len(low)):
        size = next((len(mark) for mark in lexicon.contrasts if tuple(low[i : i + len(mark)]) == mark), 0)
        if low[i] == "not" and i and low[i - 1] in _JOINTS:
            size = 1
        if not size:
            continue
        first = i + size
        while first < len(low) and low[first] in _PLACES:
            first += 1
        last = first
        while last < min(len(low), first + _LONGEST) and _goes_on(low[last], lexicon):
            last += 1
        while last > first and low[last - 1] in lexicon.trailing:
            last -= 1
        if first < last:
            return Contrast(True, (first, last), range(i, last))
    return None


def _before_slip(words: Words, lexicon: Lexicon) -> Contrast | None:
    """ "Married was a slip", "paella was a typo"."""
    low = words.low
    for i in range(1, len(low) - 1):
        if low[i] not in ("was", "is"):
            continue
        at = i + 1 + (low[i + 1] in ("a", "just", "my"))
        if at < len(low) and low[at] in lexicon.slips:
            first = i
            while first > max(0, i - _LONGEST) and _goes_on(low[first - 1], lexicon):
                first -= 1
            if first < i:
                return Contrast(True, (first, i), range(first, at + 1))
    return None


def _goes_on(word: str, lexicon: Lexicon) -> bool:
    inside = word not in BREAKS and word not in STOPS and word not in lexicon.conjunctions
    return inside and word not in lexicon.subordinators and word not in ("it", "that", "i", "when", "as")
