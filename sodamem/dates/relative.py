"""Rules for days, weeks, months and years counted from the anchor: yesterday, two weeks ago, next month, last night.

After arXiv 2608.08055, section 4.3. The past is remembered in units ("two weeks ago" is a week), the future is
planned to the day ("in two weeks" is a day).
"""

from __future__ import annotations

import re
from datetime import timedelta

from sodamem.dates import spans
from sodamem.dates.scan import UNRESOLVED, Context, Reading, Rule
from sodamem.dates.words import AMOUNT, LOOSE, NUMBER, SMALL, TENS, UNIT, UNITS, number, one_of, rx, starting
from sodamem.types import Interval

NUMBER_STARTS = starting("# a an half", LOOSE, SMALL[1:], TENS)
# unit -> (the next finer one, how many of it, whether its count is rounded there)
_FINER = {
    "century": ("year", 100, False),
    "decade": ("year", 10, False),
    "year": ("month", 12, True),
    "quarter": ("month", 3, True),
    "month": ("day", 30.4375, True),
    "week": ("day", 7, True),
    "day": ("hour", 24, True),
    "hour": ("minute", 60, True),
}
_DAY_WORDS = {"yesterday": -1, "today": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1, "tmw": 1, "tomorow": 1, "tommorow": 1}


def amount(match: re.Match[str]) -> tuple[str, int, bool]:
    """(unit, count, approximate) of an AMOUNT; a fraction is told in the next finer unit ("half a year": 6 months)."""
    count, loose = number(match["n"])
    name = UNITS[match["unit"].lower()]
    if match["half"]:
        count, loose = count + 0.5, True
    loose = loose or bool(match.groupdict().get("so"))
    if name == "fortnight":
        name, count = "week", count * 2
    while count % 1 and name in _FINER:
        name, factor, whole = _FINER[name]
        count, loose = count * factor, True
        count = round(count) if whole else round(count, 6)
    return name, round(count), loose


_THIS_UNIT = rx(r"the (?P<unit>week|weekend|month|quarter|year|decade|century)(?! (?:of|before|after)\b)")
_DETERMINER = re.compile(r"(?:the\s+)?(?:month\s+of\s+|year\s+(?:of\s+)?)?", re.IGNORECASE)


def inner(ctx: Context, position: int) -> Reading | None:
    """The phrase inside another one: bare months, seasons, years and "the month" count there."""
    found = ctx.phrase(position, "sub")
    lead = _DETERMINER.match(ctx.text, position)
    if found is None and lead and lead.end() > position:
        found = ctx.phrase(lead.end(), "sub")
    if found is not None:
        return found
    m = _THIS_UNIT.match(ctx.text, position)
    if m is None:
        return None
    return Reading(interval=spans.unit(m["unit"].lower(), ctx.at, ctx.policy.week_start), end=m.end())


def day_word(ctx: Context, m: re.Match[str]) -> Reading:
    word = m.group().lower()
    if "before" in word:
        return Reading(interval=spans.day(ctx.at, -2))
    if "after" in word:
        return Reading(interval=spans.day(ctx.at, 2))
    return Reading(interval=spans.day(ctx.at, _DAY_WORDS[word]))


def ago(ctx: Context, m: re.Match[str]) -> Reading | None:
    if m["tail"].lower() == "back" and ctx.tense(m.start(), m.end()) == "future":
        return None
    name, count, loose = amount(m)
    if m["exact"]:
        moved = spans.shift(ctx.at, name, -count)
        return Reading(interval=spans.day(moved, _DAY_WORDS[m["exact"].lower()]), approximate=loose)
    # Whoever says "a year ago" may mean the year or the same month of it; both are kept.
    other = (spans.unit("month", spans.shift(ctx.at, "year", -count), 0),) if name == "year" else ()
    interval = spans.unit(name, spans.shift(ctx.at, name, -count), ctx.policy.week_start)
    return Reading(interval=interval, approximate=loose or bool(m["hedge"]), alternatives=other)


def ahead(ctx: Context, m: re.Match[str]) -> Reading | None:
    name, count, loose = amount(m)
    single = m["n"].lower() in ("a", "an", "one")
    if ctx.tense(m.start(), m.end()) == "past":
        # "finished in two days" is a length, not a date; "not built in a day" is a manner of speaking.
        return None if single else UNRESOLVED
    if name == "minute" and single:
        return None
    if m["within"]:
        return Reading(interval=_stretch(ctx, name, count), approximate=loose or bool(m["hedge"]))
    return _on(ctx, name, count, loose or bool(m["hedge"]))


def from_now(ctx: Context, m: re.Match[str]) -> Reading:
    name, count, loose = amount(m)
    return _on(ctx, name, count, loose)


def later(ctx: Context, m: re.Match[str]) -> Reading:
    """Counted from the talk when something is planned; in a story, from an event that only the story knows."""
    name, count, loose = amount(m)
    if ctx.tense(m.start(), m.end()) == "past":
        return UNRESOLVED
    return _on(ctx, name, count, loose)


def _on(ctx: Context, name: str, count: int, loose: bool) -> Reading:
    if name == "weekend":
        # The coming weekend may or may not be counted as the first.
        coming = 0 if ctx.at.weekday() < 5 else 1
        first = spans.weekend(ctx.at, coming + count - 1)
        return Reading(interval=first, alternatives=(spans.weekend(ctx.at, coming + count),), approximate=loose)
    moved = spans.shift(ctx.at, name, count)
    grain = name if name in ("minute", "hour") else "day"
    return Reading(
        interval=spans.unit(grain, moved, ctx.policy.week_start),
        approximate=loose or name in ("month", "year", "decade", "century"),
    )


def named_unit(ctx: Context, m: re.Match[str]) -> Reading | None:
    """last, this, next + week, weekend, month, quarter, year ..."""
    which, name = m["which"].lower().split()[-1], UNITS[m["unit"].lower()]
    article = (m["the"] or "").lower().strip()
    steps = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0}.get(which, 1)
    if name == "weekend":
        return _named_weekend(ctx, m, steps)
    if name == "day" or (
        article == "the" and which in ("previous", "following", "next") and ctx.licence not in _DURING
    ):
        return UNRESOLVED if article == "the" else None
    if name in ("minute", "hour"):
        return None
    if name == "fortnight":
        return Reading(interval=_stretch(ctx, "week", 2 * steps))
    if name == "quarter" and (article == "the" or ctx.text[: m.start()].lower().endswith("the ")):
        return None  # of a game
    if which == "past" or (article == "the" and which in ("last", "next")):
        grain = spans.unit(name, ctx.at, 0).grain
        stretch = _stretch(ctx, name, steps)
        return Reading(interval=spans.between(stretch.start, stretch.end, grain))
    return Reading(interval=spans.unit(name, ctx.at, ctx.policy.week_start, steps))


_DURING = ("in", "during", "over", "for", "within", "through", "throughout")


def _named_weekend(ctx: Context, m: re.Match[str], steps: int) -> Reading:
    weekday = ctx.at.weekday()
    if steps < 0 or (steps == 0 and weekday < 4 and ctx.tense(m.start(), m.end()) == "past"):
        return Reading(interval=spans.weekend(ctx.at, -1))
    if steps == 0 or m["which"].lower() in ("coming", "upcoming"):
        return Reading(interval=spans.weekend(ctx.at, 1 if steps and weekday >= 5 else 0))
    coming, calendar = spans.weekend(ctx.at, 0 if weekday < 5 else 1), spans.weekend(ctx.at, 1)
    if ctx.policy.weekday == "calendar":
        return Reading(interval=calendar, alternatives=(coming,))
    return Reading(interval=coming, alternatives=(calendar,))


def _stretch(ctx: Context, name: str, count: int) -> Interval:
    """From now to so many units away; the anchor's own day belongs to it."""
    if name in ("minute", "hour"):
        now = ctx.at.replace(second=0, microsecond=0)
        moved = spans.shift(now, name, count)
        return spans.between(min(now, moved), max(now, moved))
    today = spans.day(ctx.at)
    if count < 0:
        return spans.between(spans.shift(today.start, name, count), today.end)
    return spans.between(today.start, spans.shift(today.end, name, count))


def past_units(ctx: Context, m: re.Match[str]) -> Reading | None:
    """The last two weeks, the next few days, the past year and a half: a stretch that touches the anchor."""
    begins = ctx.text[: m.start()].rstrip()[-1:] in ("", *".,;:!?(")
    if m["which"].lower() == "last" and not (m["the"] or begins or ctx.licence in _DURING):
        return None  # "classes last 60 minutes"
    name, count, loose = amount(m)
    sign = -1 if m["which"].lower() in ("last", "past", "previous") else 1
    return Reading(interval=_stretch(ctx, name, sign * count), approximate=loose)


def before_last(ctx: Context, m: re.Match[str]) -> Reading:
    steps = -2 if m["which"].lower() == "before last" else 2
    name = UNITS[m["unit"].lower()]
    if name == "weekend":
        base = 0 if steps < 0 or ctx.at.weekday() >= 5 else -1
        return Reading(interval=spans.weekend(ctx.at, base + steps))
    if name == "day":
        return Reading(interval=spans.part_of(spans.day(ctx.at, steps), "night"))
    return Reading(interval=spans.unit(name, ctx.at, ctx.policy.week_start, steps))


def part_of_today(ctx: Context, m: re.Match[str]) -> Reading:
    """This morning, tonight, last night; just after midnight "last night" is the night that is ending."""
    words = m.group().lower()
    today = spans.day(ctx.at)
    if words.startswith("last"):
        return Reading(interval=spans.part_of(spans.day(ctx.at, -1), "evening" if "evening" in words else "night"))
    part = "night" if words.startswith("to") else m["part"].lower()
    here = spans.part_of(today, part)
    if part == "night" and ctx.at.hour < 5:
        return Reading(interval=here, alternatives=(spans.part_of(spans.day(ctx.at, -1), part),))
    return Reading(interval=here)


def within(ctx: Context, m: re.Match[str]) -> Reading | None:
    """Earlier this week, later today: the side of the unit that lies before or after the anchor."""
    found = inner(ctx, m.end())
    if found is None or found.interval is None or not found.interval.holds(ctx.at):
        return None
    today, whole = spans.day(ctx.at), found.interval
    if whole.grain == "day":
        return Reading(interval=whole, end=found.end, approximate=True)
    if m["side"].lower() == "earlier":
        start, end = whole.start, max(today.start, whole.start + timedelta(days=1))
    else:
        start, end = min(today.end, whole.end - timedelta(days=1)), whole.end
    return Reading(interval=spans.between(start, end), end=found.end, approximate=True)


def this_time(ctx: Context, m: re.Match[str]) -> Reading:
    name = UNITS[m["unit"].lower()]
    moved = spans.shift(ctx.at, name, -1 if m["which"].lower() == "last" else 1)
    return Reading(interval=spans.day(moved), approximate=name != "day")


HEDGE = (
    r"(?P<hedge>(?:about|around|roughly|approximately|almost|nearly|over|just over|just under|under|maybe|like|some|"
    r"at least|more than|less than|close to) )?"
)
HEDGE_STARTS = starting(
    "about around roughly approximately almost nearly over just under maybe like some at more less close"
)
_WHICH = "last|past|previous|next|coming|upcoming|following|this|current"
_NAMED = one_of(
    ["weekend", "week", "fortnight", "month", "quarter", "year", "decade", "century", "day", "minute", "hour"]
)
_BACK = r"back(?! (?:in|to|at|home|from|for|on|into)\b)"
RULES = (
    Rule(
        "day_word",
        starting("the day", _DAY_WORDS),
        rx(r"(?:the )?day before yesterday|(?:the )?day after tomorrow|" + one_of(_DAY_WORDS)),
        day_word,
    ),
    Rule(
        "ago",
        NUMBER_STARTS | HEDGE_STARTS,
        rx(rf"{HEDGE}{AMOUNT} (?P<tail>ago|{_BACK})(?: (?P<exact>today|yesterday|tomorrow))?"),
        ago,
    ),
    Rule(
        "ahead",
        starting("in within"),
        rx(rf"(?:in|(?P<within>within)) (?:another )?{HEDGE}{AMOUNT}(?:'?s? time)?(?! (?:of|row)\b)"),
        ahead,
    ),
    Rule("from_now", NUMBER_STARTS | HEDGE_STARTS, rx(rf"{HEDGE}{AMOUNT} (?:from now|hence)"), from_now),
    Rule("later", NUMBER_STARTS, rx(rf"{AMOUNT} later(?! than\b)"), later),
    Rule(
        "named_unit",
        starting("the these this", _WHICH.split("|")),
        rx(rf"(?P<the>the |these |this )?(?P<which>{_WHICH}) (?P<unit>{_NAMED})"),
        named_unit,
    ),
    Rule(
        "past_units",
        starting("the these this last past previous next coming"),
        rx(
            r"(?P<the>the |these |this )?(?P<which>last|past|previous|next|coming) "
            rf"(?P<n>{NUMBER}) (?P<unit>{UNIT})(?P<half> and a half)?"
        ),
        past_units,
    ),
    Rule(
        "before_last",
        starting("the week weekend month quarter year night"),
        rx(r"(?:the )?(?P<unit>weekend|week|month|quarter|year|night) (?P<which>before last|after next)"),
        before_last,
    ),
    Rule(
        "part_of_today",
        starting("this last tonight tonite"),
        rx(r"this (?P<part>morning|afternoon|evening)|tonight(?! show\b)|tonite|last (?:night|evening)"),
        part_of_today,
    ),
    Rule("within", starting("earlier later"), rx(r"(?P<side>earlier|later) (?:(?:in|on) )?(?=\w)"), within),
    Rule("this_time", starting("this"), rx(r"this time (?P<which>last|next) (?P<unit>week|month|year)"), this_time),
)
