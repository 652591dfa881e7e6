"""Rules for words that are about time but name no date: recently, the other day, ages ago, when I was 12, the following day.

A wide approximate stretch where the policy gives one, else unresolved: the words are kept, no date is guessed.
"""

from __future__ import annotations

import re

from sodamem.dates import spans
from sodamem.dates.scan import UNRESOLVED, Context, Reading, Rule
from sodamem.dates.words import rx

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
    """ages ago, some time ago; "how long ago" asks instead of telling."""
    return None if _ASKED.search(ctx.text, max(0, m.start() - 10), m.start()) else UNRESOLVED


def the_weekend(ctx: Context, m: re.Match[str]) -> Reading:
    """over the weekend: the one just over or the one to come, by the tense; on a weekend it may be this one."""
    here = ctx.at.weekday() >= 5
    if here or ctx.side(m.start(), m.end()) == "future":
        return Reading(interval=spans.weekend(ctx.at), alternatives=(spans.weekend(ctx.at, -1),) if here else ())
    return Reading(interval=spans.weekend(ctx.at, -1))


_ASKED = re.compile(r"\bhow\s+(?:many\s+)?$", re.IGNORECASE)


RULES = (
    Rule(
        "recently",
        frozenset("recently lately of these nowadays".split()),
        rx(r"recently|lately|of late|these (?:days|past few days)|nowadays"),
        recently,
    ),
    Rule("other_day", frozenset({"the"}), rx(rf"the other (?P<unit>{'|'.join(_OTHER)})"), other_day),
    Rule(
        "long_ago",
        frozenset("ages long years months weeks days decades centuries moments a some quite many not so".split()),
        rx(
            r"(?:(?:many |some |so many )?(?:ages|years|months|weeks|days|decades|centuries)(?: and (?:years|months|weeks|days))?|(?:a )?long(?: time| while)?"
            r"|not (?:so |too |that )?long|(?:quite )?a (?:little |short |good )?while|some time|a (?:little )?bit) (?:ago|back(?! (?:to|in|at|home|from)\b))"
        ),
        long_ago,
    ),
    Rule(
        "the_weekend",
        frozenset({"over", "during", "on", "at", "for"}),
        rx(r"(?:over|during|on|at|for) (?:the|my|our) weekend(?! (?:of|before|after)\b)"),
        the_weekend,
    ),
    Rule(
        "told_elsewhere",
        frozenset("the that those".split()),
        rx(
            r"(?:the (?:following|next|previous|preceding) (?:day|morning|night|evening|afternoon)|the (?:same|very same) (?:day|week|month|year|weekend)"
            r"|the (?:day|week|month|year|weekend|night) (?:before|after)(?=[.,;!?)]|$)|(?:that|those) (?:days?|week|weekend|month|summer|winter|spring|year|evening|afternoon|morning|night)(?= |[.,;!?)]|$))"
        ),
        unresolved,
    ),
    Rule(
        "at_an_age",
        frozenset("when since as at back".split()),
        rx(
            r"(?:when|since) (?:i|we|he|she|they|my \w+) (?:was|were) (?:(?:about|around|only|just|still) )*(?:\d{1,2}|(?:a |an |in )?(?:little |young |small )?"
            r"(?:kid|child|boy|girl|teen|teenager|baby|toddler|student)s?|(?:very )?(?:young|younger|little|small)|in (?:college|school|high school|kindergarten|my \w+)|"
            r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty))(?: years old)?"
            r"|as an? (?:little |young |small )?(?:kid|child|teen|teenager|boy|girl)|at (?:the age of|age) (?:\d{1,2}|\w+)|back in (?:the day|college|school|high school)|since then"
        ),
        unresolved,
    ),
    Rule(
        "recurring",
        frozenset("every each".split()),
        rx(
            r"(?:every|each)(?: other| single| few| two| three| \d+)? (?:day|night|morning|evening|afternoon|week|weekend|month|year|summer|winter|spring|fall|autumn|christmas)s?"
        ),
        unresolved,
    ),
)
