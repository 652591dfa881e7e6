"""Tokenising, normalising and hashing: pure functions shared by every lexical component.

Token rules follow what dialogue needs: numbers, clock times and dates stay whole, one-character tokens count,
and scripts written without spaces (CJK) are cut into characters. Stemming is Snowball English (PyStemmer).
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from functools import lru_cache
from typing import Any

import Stemmer

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_CJK}]|\d+(?:[.,:/\-]\d+)+|(?:(?![{_CJK}])[^\W_])+(?:['’](?:(?![{_CJK}])[^\W_])+)*")
_SNOWBALL = Stemmer.Stemmer("english")

# Function words that carry no topic. Kept short: names of months, numbers and negations stay searchable.
STOP_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers herself
    him himself his how i if in into is it its itself just me more most my myself nor of off on once only or other our
    ours ourselves out over own same she should so some such than that the their theirs them themselves then there
    these they this those through to too under until up very was we were what when where which while who whom why will
    with would you your yours yourself yourselves
    i'm i've i'd i'll you're you've you'd you'll he'd he'll she'd she'll we're we've we'd we'll
    they're they've they'd they'll""".split()  # noqa: SIM905 - a paragraph is read, a list of 140 strings is not
)


def normalise(text: str) -> str:
    """NFKC, case-folded, typographic apostrophes made plain, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).replace("’", "'").casefold().split())


def words(text: str) -> list[str]:
    """All tokens of a text in order, normalised, unstemmed; a possessive 's is dropped."""
    return [token.removesuffix("'s") for token in _TOKEN.findall(normalise(text))]


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    return str(_SNOWBALL.stemWord(word))


def terms(text: str) -> list[str]:
    """Stemmed content words, in order, with repetition: what lexical indexes store and queries ask for."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def estimate_tokens(text: str) -> int:
    """Number of words and punctuation marks: a model-free estimate, for budgets that name no model."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def digest(*parts: Any) -> str:
    """SHA-256 (hex) of JSON-able parts in canonical form: the same on any machine and under any hash seed."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()
