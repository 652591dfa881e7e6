"""What a question asks for: a time, a length, a count, yes or no, a reason, a place, a person, or a thing; and of whom.

Answer forms after Li and Roth's coarse question classes (COLING 2002), cut down to those a quotation can fill.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sodamem import text
from sodamem.dates import Policy, read
from sodamem.types import Interval, Question, TimeValue

Form = Literal["when", "how_long", "between", "count", "yes_no", "why", "where", "who", "what"]


def rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_UNIT = r"(?P<unit>day|week|weekend|month|year|hour|minute)s?"
_OTHERWISE: Form = "what"
_PLACES = "city|country|state|town|place|area|location"
# The first pattern that fits decides.
_FORMS: Mapping[Form, re.Pattern[str]] = {
    "between": rx(rf"\bhow (?:many {_UNIT}|long)\b.*\b(?:between|passed|e?lapsed|gone by|since|after|before|ago)\b"),
    "how_long": rx(rf"^\W*(?:for |after )?how (?:long|many {_UNIT})\b"),
    "when": rx(
        r"^\W*when\b|^\W*in which month\b"
        r"|^\W*(?:in |on |around |by |since )?(?:what|which) (?:date|day|week|weekend|month|year|time)\b"
    ),
    "count": rx(r"\bhow (?:many|much|often)\b"),
    "why": rx(r"^\W*(?:why|for what reason|what (?:motivat|inspir)\w+|how come)\b"),
    "where": rx(rf"^\W*(?:in |from |to )?(?:where|(?:what|which) (?:{_PLACES})s?)\b"),
    "who": rx(r"^\W*(?:with |to |for )?who(?:m|se)?\b"),
    "yes_no": rx(r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|am)\b"),
}
_AHEAD = re.compile(
    r"\b(?:plan\w*|going to|will|intend\w*|hop(?:e|es|ing) to|upcoming|next|scheduled)\b"
    r"|^\W*when (?:is|are|does)\b",
    re.IGNORECASE,
)
_DONE = re.compile(r"^\W*(?:has|have|had|was|were)\b|\bdid\b(?!.*\bplan\w*\b)", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:used to|originally|previous(?:ly)?|former(?:ly)?|at first|initial(?:ly)?|back then|no longer|before|old)\b",
    re.IGNORECASE,
)
_PLURAL = re.compile(
    r"^\W*(?:what|which)(?: (?:kinds?|types?|sorts?) of)?(?: [\w'-]+){0,3}? (?P<noun>[a-z]{3,}s)\b", re.IGNORECASE
)
_NOT_PLURAL = frozenset(text.words("does was has is this his gives us yes business process focus its dress always"))
_FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself", "i'm", "i've", "i'd", "i'll", "we", "our", "us"})
_TOLD = re.compile(
    r"\b(?:you|your)\b.*\b(?:t(?:old|ell)|said|say|suggest|recommend|mention|gave|give|list|provid|advis|explain)",
    re.IGNORECASE,
)
# Words that say what form the answer has, not what it is about.
_FORM_WORDS = frozenset(
    text.terms(
        "many much often long date day week month year time kind type sort name mention say tell describe ago pass "
        "elapse lapse"
    )
)
_POLICY = Policy(
    week_start=0, weekday="nearest", untensed="past", day_month_order="month_first", country="US", recent_days=30
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question, taken apart.

    terms: stemmed words it is about · people: participants it names, spelt as in the evidence · unit: of a length of
    time · within: the time it limits itself to · ahead: asks for a plan · done: whether or when a thing happened ·
    past: for what was before · many: for several things.
    """

    form: Form
    text: str
    at: datetime
    terms: frozenset[str]
    people: tuple[str, ...]
    unit: str
    within: Interval | None
    ahead: bool
    done: bool
    past: bool
    many: bool


def analyse(question: Question, speakers: Sequence[str]) -> Asked:
    """Takes a question apart; `speakers` are those whose words are in the evidence."""
    words = question.text
    fits = ((form, match) for form, pattern in _FORMS.items() if (match := pattern.search(words)))
    form, match = next(fits, (_OTHERWISE, None))
    people = named(words, speakers)
    names = {text.stem(word) for person in people for word in text.words(person)}
    times = read(words, question.asked_at, _POLICY)
    # The time a question names limits where to look; its words ("in March") are not what it is about.
    terms = frozenset(base(word) for word in text.terms(_without(words, times))) - names - _FORM_WORDS
    return Asked(
        form=form,
        text=words,
        at=question.asked_at,
        terms=terms or frozenset(base(word) for word in text.terms(words)),
        people=people,
        unit=(match.groupdict().get("unit") or "").lower() if match else "",
        within=next((value.interval for value in times if value.interval and value.rule != "recently"), None),
        ahead=bool(_AHEAD.search(words)),
        done=bool(_DONE.search(words)),
        past=bool(_PAST.search(words)),
        many=_asks_many(words),
    )


def named(words: str, speakers: Sequence[str]) -> tuple[str, ...]:
    """Speakers that a question names, else the user for "I" and the assistant for "you told me"."""
    found = f" {' '.join(text.words(words))} "
    people = [who for who in dict.fromkeys(speakers) if who and f" {' '.join(text.words(who))} " in found]
    people = [who for who in people if who.lower() not in ("user", "assistant")]
    if people:
        return tuple(people)
    # A memory has one user: whoever speaks and is not the assistant.
    helper = tuple(who for who in speakers if who.lower() == "assistant")
    if _TOLD.search(words):
        return helper
    users = tuple(who for who in speakers if who not in helper)
    return users if len(users) == 1 and _FIRST_PERSON & set(text.words(words)) else ()


def _without(words: str, times: Sequence[TimeValue]) -> str:
    for value in reversed(times):
        words = f"{words[: value.start]} {words[value.end :]}"
    return words


def _asks_many(words: str) -> bool:
    match = _PLURAL.match(words)
    return bool(match) and match["noun"].lower() not in _NOT_PLURAL  # type: ignore[index]


# Past forms that no stemmer reaches, so that "went" answers "when did she go".
_PAST_FORMS = (
    "go went gone,buy bought,get got gotten,win won,run ran,meet met,make made,take took taken,see saw seen,"
    "give gave given,come came,find found,feel felt,lose lost,think thought,bring brought,catch caught,teach taught,"
    "write wrote written,drive drove driven,fly flew flown,speak spoke spoken,break broke broken,begin began begun,"
    "sing sang sung,swim swam swum,sleep slept,spend spent,build built,send sent,hear heard,keep kept,pay paid,"
    "sell sold,eat ate eaten,know knew known,grow grew grown,fall fell fallen,lead led,choose chose chosen,hold held,"
    "leave left,tell told,ride rode ridden,wear wore worn,draw drew drawn,throw threw thrown,child children,"
    "mother mom mum,father dad,grandmother grandma granny,grandfather grandpa,photo picture pic photograph"
)
_BASE = {text.stem(form): text.stem(group.split()[0]) for group in _PAST_FORMS.split(",") for form in group.split()}


def base(stem: str) -> str:
    """The stem of a word's base form."""
    return _BASE.get(stem, stem)
