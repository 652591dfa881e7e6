"""Words of a sentence with their places: contractions are taken apart, spelling variants made regular."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sodamem.extractor.lexicon import Lexicon

_TOKEN = re.compile(
    r"https?://\S+|[$€£]?\d+(?:[.,:/]\d+)*[^\W\d_]*%?|[^\W\d_]+(?:[.](?=[^\W\d_][.]))*(?:['’\-][^\W_]+)*|[^\w\s]|\w"
)
_ENDINGS = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'s": "'s"}


@dataclass(frozen=True, slots=True)
class Words:
    """Parallel lists: `low` is the regular lower-case form, [start, end) the span in the turn's text."""

    text: str
    low: list[str]
    start: list[int]
    end: list[int]

    def __len__(self) -> int:
        return len(self.low)

    def raw(self, i: int) -> str:
        return self.text[self.start[i] : self.end[i]]

    def span(self, first: int, last: int) -> str:
        """The text of words [first, last), as it was written."""
        return self.text[self.start[first] : self.end[last - 1]]

    def capital(self, i: int) -> bool:
        return self.text[self.start[i]].isupper()


def tokenise(text: str, start: int, end: int, lexicon: Lexicon) -> Words:
    """The words and marks of text[start:end]."""
    words = Words(text, [], [], [])
    for match in _TOKEN.finditer(text, start, end):
        raw = match.group()
        low = raw.lower()
        first, last = match.span()
        if "'" in low or "’" in low:
            _split(words, low.replace("’", "'"), first, last)
        elif low in lexicon.spellings:
            for part in lexicon.spellings[low]:
                _add(words, part, first, last)
        else:
            _add(words, low, first, last)
    return words


def _add(words: Words, low: str, start: int, end: int) -> None:
    words.low.append(low)
    words.start.append(start)
    words.end.append(end)


def _split(words: Words, low: str, start: int, end: int) -> None:
    """Cuts "didn't" into did + not, "sister's" into sister + 's; leaves o'clock alone."""
    if low.endswith("n't") and len(low) > 3:
        stem = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}.get(low[:-3], low[:-3])
        _add(words, stem, start, end - 3)
        _add(words, "not", end - 3, end)
        return
    at = low.rfind("'")
    regular = _ENDINGS.get(low[at:])
    if regular is None or at <= 0:
        _add(words, low, start, end)
        return
    cut = end - (len(low) - at)
    if "'" in low[:at]:  # I'd've
        _split(words, low[:at], start, cut)
    else:
        _add(words, low[:at], start, cut)
    _add(words, regular, cut, end)
