"""Rules for days of the week: last Friday, next Saturday, on Monday, two Fridays ago, Tuesday of next week.

Nearest occurrence by default: next = first strictly after, last = last strictly before, this = the coming one, where
today counts; the calendar-week reading is an alternative where it differs (parsers and speakers are split here).
"""

from __future__ import annotations

import re

from sodamem.dates import spans
from sodamem.dates.absolute import END_OF_PHRASE
from sodamem.dates.relative import NUMBER_STARTS
from sodamem.dates.scan import UNRESOLVED, Context, Reading, Rule
from sodamem.dates.words import FULL_WEEKDAYS, NUMBER, WEEKDAY, WEEKDAYS, number, one_of, rx, weekday_number
from sodamem.types import Interval

_ENGLISH_WORDS = ("sat", "sun", "mon", "wed")  # also words or names: only with a capital
_NAMES_A_DAY = (
    "on",
    "by",
    "until",
    "till",
    "since",
    "from",
    "before",
    "after",
    "every",
    "each",
    "between",
    "through",
    "to",
)
_CLOCK_NEXT = re.compile(
    r",?\s+(?:at\s+)?(?:\d{1,2}(?::\d\d)?\s?[ap]\.?m|morning|afternoon|evening|night|noon)", re.IGNORECASE
)
_NAME_NEXT = re.compile(r"\s+(?:[A-Z][a-z]+)")
_LEAD = re.compile(
    r"\b(?:(?P<greeting>(?i:happy))|(?P<any>an?|any|some|one)|(?P<whose>(?i:the|my|our|his|her|their|your|busy))"
    r"|(?<=[a-z,] )(?P<name>[A-Z][a-z]+))\s+$"
)
_PLURAL_PART = re.compile(r"\s+(?:mornings|afternoons|evenings|nights)\b", re.IGNORECASE)
_TIMELY = re.compile(
    r"\s+(?:(?:Morning|Afternoon|Evening|Night)\b(?!\s+[A-Z])|I\b|January|February|March|April|May|June|July|August|Sept|Oct|Nov|Dec)"
)


def _calendar_week(ctx: Context, weekday: int, steps: int) -> Interval:
    week = spans.week(ctx.at, ctx.policy.week_start, steps)
    return spans.weekday_after(week.start, weekday, today=True)


def _proper(word: str) -> bool:
    return word.lower().rstrip(".") not in _ENGLISH_WORDS or word[0].isupper()


def named_weekday(ctx: Context, m: re.Match[str]) -> Reading | None:
    which, weekday = m["which"].lower(), weekday_number(m["day"])
    if not _proper(m["day"]):
        return None
    if which in ("following", "previous", "that"):
        return UNRESOLVED
    if which in ("last", "past"):
        near, week = spans.weekday_before(ctx.at, weekday), _calendar_week(ctx, weekday, -1)
    elif which in ("next", "coming", "upcoming"):
        near, week = spans.weekday_after(ctx.at, weekday), _calendar_week(ctx, weekday, 1)
    else:
        coming = spans.weekday_after(ctx.at, weekday, today=True)
        if ctx.tense(m.start(), m.end()) == "past" and weekday != ctx.at.weekday():
            return Reading(interval=spans.weekday_before(ctx.at, weekday), alternatives=(coming,))
        return Reading(interval=coming)
    if which not in ("last", "next") or near == week:
        return Reading(interval=near)
    if ctx.policy.weekday == "calendar":
        return Reading(interval=week, alternatives=(near,))
    return Reading(interval=near, alternatives=(week,))


def bare_weekday(ctx: Context, m: re.Match[str]) -> Reading | None:
    """A weekday alone follows the tense; an abbreviation needs a capital and a preposition or a clock beside it."""
    word, after = m["day"], m.end()
    if word.lower().rstrip(".") not in FULL_WEEKDAYS:
        licensed = ctx.licence in _NAMES_A_DAY or _CLOCK_NEXT.match(ctx.text, after)
        if not (word[0].isupper() and licensed):
            return None
    elif not ctx.licence and _NAME_NEXT.match(ctx.text, after) and not _TIMELY.match(ctx.text, after):
        return None  # Wednesday Addams, Friday Night Lights
    lead = _LEAD.search(ctx.text, max(0, m.start() - 24), m.start())
    if lead and (lead["greeting"] or lead["name"] or (lead["whose"] and not END_OF_PHRASE.match(ctx.text, after))):
        return None  # Happy Monday, Ruby Tuesday, the Sunday paper
    if (lead and lead["any"]) or _PLURAL_PART.match(ctx.text, after):
        return UNRESOLVED  # on a Saturday, Friday nights
    weekday = weekday_number(word)
    past, coming = spans.weekday_before(ctx.at, weekday), spans.weekday_after(ctx.at, weekday)
    if ctx.licence in ("until", "till", "by"):
        return Reading(interval=coming)
    if ctx.licence == "since":
        return Reading(interval=past)
    told = ctx.tense(m.start(), m.end())
    if told:
        return Reading(interval=past if told == "past" else coming)
    if ctx.policy.untensed == "past":
        return Reading(interval=past, alternatives=(coming,))
    return Reading(interval=coming, alternatives=(past,))


def recurring(ctx: Context, m: re.Match[str]) -> Reading | None:
    """Every Friday, on Tuesdays: a habit has no one date."""
    return UNRESOLVED if _proper(m["day"]) else None


def weekdays_ago(ctx: Context, m: re.Match[str]) -> Reading | None:
    if not _proper(m["day"]):
        return None
    count, loose = number(m["n"])
    last = spans.weekday_before(ctx.at, weekday_number(m["day"]))
    return Reading(interval=spans.day(last.start, -7 * (int(count) - 1)), approximate=loose)


def week_ago_weekday(ctx: Context, m: re.Match[str]) -> Reading:
    """A week ago Friday: so many weeks before the latest Friday; a week on Friday: so many after the coming one."""
    count, loose = number(m["n"])
    weekday = weekday_number(m["day"])
    if m["where"].lower() == "ago":
        found = spans.day(spans.weekday_before(ctx.at, weekday).start, -7 * int(count))
    else:
        found = spans.day(spans.weekday_after(ctx.at, weekday).start, 7 * int(count))
    return Reading(interval=found, approximate=loose)


def weekday_before_last(ctx: Context, m: re.Match[str]) -> Reading:
    weekday = weekday_number(m["day"])
    if m["which"].lower() == "before last":
        return Reading(interval=spans.day(spans.weekday_before(ctx.at, weekday).start, -7))
    return Reading(interval=spans.day(spans.weekday_after(ctx.at, weekday).start, 7))


def weekday_of_week(ctx: Context, m: re.Match[str]) -> Reading | None:
    """Friday of next week, Tuesday last week, next week on Monday."""
    steps = {"last": -1, "this": 0, "next": 1}[(m["which"] or m["which2"]).lower()]
    return Reading(interval=_calendar_week(ctx, weekday_number(m["day"] or m["day2"]), steps))


_STARTS = frozenset(WEEKDAYS)
RULES = (
    Rule(
        "named_weekday",
        frozenset(["the", "this", "last", "past", "next", "coming", "upcoming", "following", "previous", "that"]),
        rx(
            rf"(?:the |this )?(?P<which>last|past|next|coming|upcoming|following|previous|this|that) (?P<day>{WEEKDAY})"
        ),
        named_weekday,
    ),
    Rule("bare_weekday", _STARTS, rx(rf"(?P<day>{WEEKDAY})"), bare_weekday),
    Rule(
        "recurring_weekday",
        _STARTS | {"every", "each"},
        rx(rf"(?:every|each)(?: other| single| second)? (?P<day>{WEEKDAY})s?(?: (?:morning|afternoon|evening|night))?"),
        recurring,
    ),
    Rule(
        "recurring_weekday",
        frozenset(f"{name}s" for name in FULL_WEEKDAYS),
        rx(r"(?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s"),
        lambda ctx, m: UNRESOLVED,
    ),
    Rule("weekdays_ago", NUMBER_STARTS, rx(rf"(?P<n>{NUMBER}) (?P<day>{WEEKDAY})s? ago"), weekdays_ago),
    Rule(
        "week_ago_weekday",
        NUMBER_STARTS,
        rx(rf"(?P<n>{NUMBER}) weeks? (?P<where>ago|on)(?: on)? (?P<day>{one_of(FULL_WEEKDAYS)})"),
        week_ago_weekday,
    ),
    Rule(
        "weekday_before_last",
        _STARTS | {"the"},
        rx(rf"(?:the )?(?P<day>{WEEKDAY}) (?P<which>before last|after next)"),
        weekday_before_last,
    ),
    Rule(
        "weekday_of_week",
        _STARTS | {"the", "last", "this", "next"},
        rx(
            rf"(?:the )?(?P<day>{WEEKDAY})(?: of)? (?P<which>last|this|next) week"
            rf"|(?P<which2>last|this|next) week(?:'?s)?(?: on)?,? (?P<day2>{WEEKDAY})"
        ),
        weekday_of_week,
    ),
)
