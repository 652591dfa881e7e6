"""Rules for times of the day: 5pm, at 17:30, noon, half past six; and the suffixes that add them to a day.

A clock time alone is on the anchor's own day. "9-5" and "3:15" without a cue are not times.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from sodamem.dates import spans
from sodamem.dates.scan import Context, Reading, Rule
from sodamem.dates.words import SMALL, one_of, rx, starting
from sodamem.types import Interval

_HOURS = one_of(SMALL[1:13])
_CLOCK = (
    r"(?:(?P<h>\d{1,2})(?::(?P<min>[0-5]\d))? ?(?P<half>[ap](?:m|\.m\.))(?=\W|$)"
    rf"|(?P<h2>\d{{1,2}}|{_HOURS}) ?o'clock|(?P<h24>[01]?\d|2[0-3]):(?P<min24>[0-5]\d)(?![:\d])"
    rf"|(?P<edge>half past|quarter past|quarter to|quarter after) (?P<h3>\d{{1,2}}|{_HOURS})"
    rf"|(?P<h4>\d{{1,2}}|{_HOURS})(?= (?:in the (?:morning|afternoon|evening)|at night|tonight)\b)"
    r"|(?P<word>noon|midday|midnight))"
)
_EDGES = {"half past": 30, "quarter past": 15, "quarter after": 15, "quarter to": -15}
_CUES = ("at", "by", "until", "till", "around", "from", "before", "after", "since", "about", "to", "between", "and")


def minutes(m: re.Match[str], part: str | None = None) -> int | None:
    """Minutes from midnight that a clock phrase names; None when it is no clock time (13pm, 25:00)."""
    if m["word"]:
        return 0 if m["word"].lower() == "midnight" else 720
    hour = m["h"] or m["h2"] or m["h24"] or m["h3"] or m["h4"]
    value = int(hour) if hour.isdigit() else SMALL.index(hour.lower())
    past = int(m["min"] or m["min24"] or 0) + (_EDGES[" ".join(m["edge"].lower().split())] if m["edge"] else 0)
    if m["half"]:
        if not 1 <= value <= 12:
            return None
        value = value % 12 + (12 if m["half"][0].lower() == "p" else 0)
    elif part in ("afternoon", "evening", "night") and value < 12 and not (part == "night" and value < 5):
        value += 12
    return value * 60 + past if value < 24 else None


def _at(day: Interval, minute: int) -> Interval:
    start = spans.midnight(day.start) + timedelta(minutes=minute)
    return spans.between(start, start + timedelta(minutes=1), "minute")


def clock(ctx: Context, m: re.Match[str]) -> Reading | None:
    """A clock time of the anchor's day, or of the day named right after it ("at 3pm on Friday")."""
    if m["h24"] and not m["at"] and ctx.licence not in _CUES:
        return None
    tail = _PART_TAIL.match(ctx.text, m.end())
    minute = minutes(m, tail["part"].lower().replace("tonight", "night") if tail else None)
    if minute is None:
        return None
    end = tail.end() if tail else m.end()
    day, approximate = spans.day(ctx.at), False
    joint = _JOINT.match(ctx.text, end)
    found = ctx.phrase(joint.end(), "on") if joint else None
    if found and found.interval and found.interval.grain == "day":
        day, end, approximate = found.interval, found.end, found.approximate
    elif m["word"] and not m["at"] and ctx.licence not in _CUES:
        return None  # "noon" alone is a part of the day only when a day or a preposition says so
    return Reading(interval=_at(day, minute), end=end, approximate=approximate)


def part_of_day(ctx: Context, m: re.Match[str]) -> Reading | None:
    """The morning of 5 May, the night before Christmas: see compose for before and after."""
    found = ctx.phrase(m.end(), "on")
    if found is None:
        return None
    if found.interval is None or found.interval.grain != "day":
        return None
    return replace(found, interval=spans.part_of(found.interval, m["part"].lower()))


_PART_TAIL = re.compile(r"\s+(?:in\s+the\s+|at\s+)?(?P<part>morning|afternoon|evening|night|tonight)\b", re.IGNORECASE)
_JOINT = re.compile(r",?\s+(?:on\s+|of\s+)?(?=\w)")
_SUFFIX_PART = rx(r",? (?:in the |around |at )?(?P<part>morning|afternoon|evening|night|lunchtime|dawn)(?!s\b)")
_SUFFIX_CLOCK = rx(rf",? (?:at |around |by |@ ?)?(?P<at>){_CLOCK}")


def add_part(ctx: Context, base: Reading, start: int) -> Reading | None:
    """Friday + afternoon, yesterday + morning."""
    if (
        base.interval is None
        or base.interval.grain != "day"
        or base.interval.end - base.interval.start != spans.ONE_DAY
    ):
        return None
    m = _SUFFIX_PART.match(ctx.text, base.end)
    if m is None:
        return None
    part = m["part"].lower()
    others = tuple(spans.part_of(other, part) for other in base.alternatives if other.grain == "day")
    return replace(base, interval=spans.part_of(base.interval, part), end=m.end(), alternatives=others)


def add_clock(ctx: Context, base: Reading, start: int) -> Reading | None:
    """Friday afternoon + at 3, 5 May + 17:30."""
    if base.interval is None or base.interval.grain != "day":
        return None
    m = _SUFFIX_CLOCK.match(ctx.text, base.end)
    minute = minutes(m) if m else None
    if m is None or minute is None:
        return None
    others = tuple(_at(other, minute) for other in base.alternatives if other.grain == "day")
    return replace(base, interval=_at(base.interval, minute), end=m.end(), alternatives=others)


def add_hour(ctx: Context, base: Reading, start: int) -> Reading | None:
    """Tomorrow + at 7: the part of the day tells which seven, else the waking hour first, the other as alternative."""
    if base.interval is None or base.interval.grain != "day":
        return None
    m = _SUFFIX_HOUR.match(ctx.text, base.end)
    hour = int(m["hour"]) if m else 0
    if m is None or not 1 <= hour <= 12:
        return None
    minute = hour % 12 * 60 + int(m["min"] or 0)
    whole = base.interval
    choices = [c for c in (_at(whole, minute + 720), _at(whole, minute)) if whole.meets(c)]
    if whole.end - whole.start == spans.ONE_DAY and 8 <= hour < 12:
        choices.reverse()
    return replace(base, interval=choices[0], end=m.end(), alternatives=tuple(choices[1:])) if choices else None


_SUFFIX_HOUR = re.compile(
    r",?\s+(?:at|around|by)\s+(?P<hour>\d{1,2})(?::(?P<min>[0-5]\d))?"
    r"(?=\s*(?:[.,;!?)]|$)|\s+(?:and|for|to|with|in|on|so|but)\b)",
    re.IGNORECASE,
)
SUFFIXES = (add_part, add_hour, add_clock)


def clock_range(ctx: Context, m: re.Match[str]) -> Reading | None:
    """3-5 pm, from 3 to 5pm on Friday: the half of the day said once holds for both ends."""
    last = minutes(m)
    first = int(m["first"]) * 60 + int(m["first_min"] or 0)
    if last is None or not 1 <= int(m["first"]) <= 12 or not m["half"]:
        return None
    half = (m["first_half"] or m["half"])[0].lower()
    begin = first % 720 + (720 if half == "p" else 0)
    day, end = spans.day(ctx.at), m.end()
    joint = _JOINT.match(ctx.text, end)
    found = ctx.phrase(joint.end(), "on") if joint else None
    if found and found.interval and found.interval.grain == "day":
        day, end = found.interval, found.end
    start = _at(day, begin).start
    return Reading(interval=spans.between(start, _at(day, last + (1440 if last < begin else 0)).start), end=end)


RULES = (
    Rule(
        "clock_range",
        starting("from between #"),
        rx(
            r"(?:(?:from|between) )?(?P<first>\d{1,2})(?::(?P<first_min>[0-5]\d))? ?(?P<first_half>[ap](?:m|\.m\.))?"
            rf"(?: (?:to|and|until|till) | ?[-\u2013] ?){_CLOCK}"
        ),
        clock_range,
    ),
    Rule(
        "clock",
        starting("at # half quarter noon midday midnight", SMALL[1:13]),
        rx(rf"(?P<at>at (?:about |around )?)?{_CLOCK}"),
        clock,
    ),
    Rule(
        "part_of_day",
        starting("the morning afternoon evening night"),
        rx(r"(?:the )?(?P<part>morning|afternoon|evening|night) of (?=\w)"),
        part_of_day,
    ),
)
