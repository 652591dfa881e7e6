"""Cuts a turn into sentences, with exact spans in code points of its text.

Own rules for chat: lines and list items end a sentence; abbreviations, decimals, URLs and initials do not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from sodamem.extractor.lexicon import Lexicon

_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_ITEM = re.compile(r"\s*(?:[-*•–+]|\(?\d{1,3}[.)])\s+")
_END = re.compile(r"[.!?…]+[\"'”’)\]*]*(?=\s)|[。！？]+[」』”]*")
_LETTER = re.compile(r"[^\W_]")
_LONGEST = 1000  # characters; a longer sentence is a list or has no marks, and is cut so that no stage has to bear it
_LAST_WORD = re.compile(r"[^\s(\[\"“]+$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A span of the turn; `recalled` where the text repeats an earlier memory, a log or somebody's code."""

    start: int
    end: int
    recalled: bool = False


def split(text: str, lexicon: Lexicon) -> list[Sentence]:
    """The sentences of a text, in order, without the white space and list markers between them."""
    fences = [match.span() for match in lexicon.fence.finditer(text)]
    ends = [end for _, end in fences]
    found = []
    for line in _LINE.finditer(text):
        marker = _ITEM.match(text, *line.span())
        spans = _spans(text, marker.end() if marker else line.start(), line.end(), lexicon)
        for start, end in (short for long in spans for short in _cut(text, *long)):
            nearest = bisect_right(ends, start)  # the first fence that ends after the sentence begins
            found.append(Sentence(start, end, nearest < len(fences) and fences[nearest][0] < end))
    return found


def _spans(text: str, start: int, end: int, lexicon: Lexicon) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for stop in _END.finditer(text, start, end):
        if _ends_sentence(text, start, stop, end, lexicon):
            _append(spans, text, start, stop.end())
            start = stop.end()
    _append(spans, text, start, end)
    return spans


def _cut(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Pieces of at most `_LONGEST` characters, cut after a comma, else at white space, else anywhere."""
    cut: list[tuple[int, int]] = []
    while end - start > _LONGEST:
        stop = start + _LONGEST
        at = max(text.rfind(mark, start + _LONGEST // 2, stop) for mark in "\t ")
        comma = max(text.rfind(mark, start + _LONGEST // 2, stop) for mark in (", ", "; "))
        at = comma + 1 if comma > 0 else at if at > 0 else stop
        _append(cut, text, start, at)
        start = at
    _append(cut, text, start, end)
    return cut


def _ends_sentence(text: str, start: int, stop: re.Match[str], end: int, lexicon: Lexicon) -> bool:
    mark = stop.group().rstrip("\"'”’)]*")
    if mark[0] not in ".…":
        return True
    following = text[stop.end() : end].lstrip()[:1]
    if len(mark) > 1 or mark == "…":  # an ellipsis ends a sentence only when the next one begins like one
        return not following.islower()
    word = _LAST_WORD.search(text, start, stop.start())
    if word is None:
        return True
    last = word.group().lower()
    if last in lexicon.titles or (len(last) == 1 and last.isalpha() and last != "i"):
        return False
    return following.isupper() if last in lexicon.abbreviations else True


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    """Adds the trimmed span; one without a letter or digit (an emoji, a dash) belongs to the sentence before it."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start == end:
        return
    if spans and not _LETTER.search(text, start, end):
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((start, end))
