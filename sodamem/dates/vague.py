"""Rules for words about time that name no date: recently, the other day, ages ago, when I was 12, the following day.

A wide approximate stretch where the policy gives one, else unresolved: the words are kept, no date is guessed.
"""

from __future__ import annotations

import re

from sodamem.dates import spans
from sodamem.dates.scan import UNRESOLVED, Context, Reading, Rule
from sodamem.dates.words import SMALL, UNITS, one_of, rx, starting

# How far back "the other day/week/month" reaches, in units of a day.
_OTHER = {"day": 7, "night": 7, "evening": 7, "morning": 7, "afternoon": 7, "week": 28, "weekend": 28, "month": 120}


def recently(ctx: Context, m: re.Match[str]) -> Reading:
    today = spans.day(ctx.at)
    return Reading(
        interval=spans.between(today.start - ctx.policy.recent_days * spans.ONE_DAY, today.end), approximate=True
    )


def other_day(ctx: Context, m: re.Match[str]) -> Reading:
    today = spans.day(ctx.at).start
    return Reading(interval=spans.between(today - _OTHER[m["unit"].lower()] * spans.ONE_DAY, today), approximate=True)


def unresolved(ctx: Context, m: re.Match[str]) -> Reading:
    return UNRESOLVED


def long_ago(ctx: Context, m: re.Match[str]) -> Reading | None:
    """Ages ago, some time ago; "how long ago" asks instead of telling."""
    return None if _ASKED.search(ctx.text, max(0, m.start() - 10), m.start()) else UNRESOLVED


def the_weekend(ctx: Context, m: re.Match[str]) -> Reading:
    """Over the weekend: the one just over or the one to come, by the tense; on a weekend it may be this one."""
    here = ctx.at.weekday() >= 5
    if here or ctx.side(m.start(), m.end()) == "future":
        return Reading(interval=spans.weekend(ctx.at), alternatives=(spans.weekend(ctx.at, -1),) if here else ())
    return Reading(interval=spans.weekend(ctx.at, -1))


_ASKED = re.compile(r"\bhow\s+(?:many\s+)?$", re.IGNORECASE)


_LONG = one_of(starting("ages years months weeks days decades centuries"))
_PARTS = one_of(starting("morning afternoon evening night day"))
_PERIODS = one_of(
    starting("day days week weekend month year summer winter spring fall morning afternoon evening night")
)
_PERIOD = one_of(starting("day week weekend month year summer winter morning afternoon evening night"))
_AFTER_THAT = (
    r"(?=[.,;!?)]|$| (?:was|were|is|and|when|we|i|he|she|they|it|with|in|at|to|for|because|so|but|after|before)\b)"
)
_YOUNG = (
    r"(?:(?:an? |in )?(?:little |young |small )?(?:kid|child|boy|girl|teen|teenager|baby|toddler|student)s?"
    r"|(?:very )?(?:young|younger|little|small)|in (?:college|school|high school|kindergarten|my \w+))"
)
RULES = (
    Rule(
        "recently",
        starting("recently lately of these nowadays"),
        rx(r"recently|lately|of late(?=[.,;!?]|$)|these days|nowadays"),
        recently,
    ),
    Rule("other_day", starting("the"), rx(rf"the other (?P<unit>{one_of(_OTHER)})"), other_day),
    Rule(
        "long_ago",
        starting("ages long years months weeks days decades centuries a some quite many not so"),
        rx(
            rf"(?:(?:many |some |so many )?{_LONG}(?: and {_LONG})?|(?:a )?long(?: time| while)?"
            r"|not (?:so |too |that )?long|(?:quite )?a (?:little |short |good )?while|some time|a (?:little )?bit)"
            r" (?:ago|back(?! (?:to|in|at|home|from)\b))"
        ),
        long_ago,
    ),
    Rule(
        "the_weekend",
        starting("over during on at for"),
        rx(r"(?:over|during|on|at|for) (?:the|my|our) weekend(?! (?:of|before|after)\b)"),
        the_weekend,
    ),
    Rule(
        "told_elsewhere",
        starting("the that those"),
        rx(
            rf"the (?:following|next|previous|preceding) {_PARTS}|the (?:very )?same {_PERIODS}"
            rf"|the {_PERIODS} (?:before|after)(?=[.,;!?)]|$)|that {_PERIOD}{_AFTER_THAT}"
            r"|those (?:days|weeks|months|years)(?=[ .,;!?)]|$)"
        ),
        unresolved,
    ),
    Rule(
        "at_an_age",
        starting("when since as at back"),
        rx(
            r"(?:when|since) (?:i|we|he|she|they|my \w+) (?:was|were) (?:(?:about|around|only|just|still) )*"
            rf"(?:\d{{1,2}}|{_YOUNG}|{one_of(SMALL[1:])}|twenty)(?: years old)?"
            r"|as an? (?:little |young |small )?(?:kid|child|teen|teenager|boy|girl)"
            r"|at (?:the age of|age) (?:\d{1,2}|\w+)|back in (?:the day|college|school|high school)|since then"
        ),
        unresolved,
    ),
    Rule(
        "recurring",
        starting("every each"),
        rx(
            r"(?:every|each)(?: other| single| few| two| three| \d+)? "
            rf"(?:{_PERIODS}|{one_of(UNITS)}|autumn|christmas)s?"
        ),
        unresolved,
    ),
)
