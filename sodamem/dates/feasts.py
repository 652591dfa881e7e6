"""Rules for feast days: Christmas, the eve of a holiday, last Thanksgiving, Mother's Day 2022, two Easters ago.

Dates of public holidays come from the `holidays` package for the policy's country; days that no calendar of public
holidays lists (Halloween, Mother's Day) are in the table below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from dateutil.easter import easter

from sodamem.dates import spans
from sodamem.dates.relative import NUMBER_STARTS
from sodamem.dates.scan import UNRESOLVED, Context, Reading, Rule
from sodamem.dates.words import NUMBER, YEAR, number, rx
from sodamem.dates.yearly import OF_YEAR, WHICH, OfYear, named_yearly, yearly, years_ago
from sodamem.types import Interval

# (month, day), or (month, nth, weekday) with -1 for the last, or ("easter", days after Easter Sunday).
Feast = tuple[int, int] | tuple[int, int, int] | tuple[str, int]
FEASTS: Mapping[str, Feast] = {
    "new year's eve": (12, 31), "new year eve": (12, 31), "new year's day": (1, 1), "new year's": (1, 1),
    "new year": (1, 1), "groundhog day": (2, 2), "valentine's day": (2, 14), "valentine's": (2, 14),
    "valentine day": (2, 14),
    "st. patrick's day": (3, 17), "st patrick's day": (3, 17), "saint patrick's day": (3, 17), "pi day": (3, 14),
    "april fools' day": (4, 1), "april fool's day": (4, 1), "april fools'": (4, 1), "earth day": (4, 22),
    "may day": (5, 1), "cinco de mayo": (5, 5), "star wars day": (5, 4), "juneteenth": (6, 19), "bastille day": (7, 14),
    "fourth of july": (7, 4), "4th of july": (7, 4), "july 4th": (7, 4), "july fourth": (7, 4), "halloween": (10, 31),
    "all saints' day": (11, 1), "all souls' day": (11, 2), "guy fawkes night": (11, 5), "bonfire night": (11, 5),
    "veterans' day": (11, 11), "veteran's day": (11, 11), "armistice day": (11, 11),
    "christmas": (12, 25), "christmas day": (12, 25), "xmas": (12, 25), "xmas day": (12, 25), "boxing day": (12, 26),
    "international women's day": (3, 8), "women's day": (3, 8), "independence day": (7, 4), "canada day": (7, 1),
    "mother's day": (5, 2, 6), "mothers' day": (5, 2, 6), "father's day": (6, 3, 6), "fathers' day": (6, 3, 6),
    "memorial day": (5, -1, 0), "labor day": (9, 1, 0), "labour day": (9, 1, 0), "columbus day": (10, 2, 0),
    "martin luther king day": (1, 3, 0), "mlk day": (1, 3, 0), "presidents' day": (2, 3, 0),
    "president's day": (2, 3, 0), "martin luther king jr. day": (1, 3, 0),
    "thanksgiving": (11, 4, 3), "thanksgiving day": (11, 4, 3), "easter": ("easter", 0), "easter sunday": ("easter", 0),
    "easter monday": ("easter", 1), "good friday": ("easter", -2), "maundy thursday": ("easter", -3),
    "holy thursday": ("easter", -3), "palm sunday": ("easter", -7), "ash wednesday": ("easter", -46),
    "mardi gras": ("easter", -47), "shrove tuesday": ("easter", -47), "pancake day": ("easter", -47),
    "fat tuesday": ("easter", -47), "ascension day": ("easter", 39), "whit monday": ("easter", 50),
    "pentecost": ("easter", 49), "corpus christi": ("easter", 60),
}  # fmt: skip
# Counted in days from Thanksgiving.
_AFTER_THANKSGIVING = {"black friday": 1, "cyber monday": 4, "small business saturday": 2, "giving tuesday": 5}
# Where a country keeps a feast of the table on another day.
_ABROAD: Mapping[tuple[str, str], Feast] = {
    ("CA", "thanksgiving"): (10, 2, 0),
    ("GB", "mother's day"): ("easter", -21),
    ("IE", "mother's day"): ("easter", -21),
    ("AU", "father's day"): (9, 1, 6),
    ("NZ", "father's day"): (9, 1, 6),
}
# Feasts that only calendars of public holidays date: (country, or "" for the policy's own, and the name there).
_LISTED = {
    "chinese new year": ("SG", "chinese new year"), "lunar new year": ("SG", "chinese new year"),
    "diwali": ("SG", "diwali"), "deepavali": ("SG", "diwali"), "eid al-fitr": ("SG", "eid al-fitr"),
    "eid al-adha": ("SG", "eid al-adha"), "holi": ("IN", "holi"), "australia day": ("AU", "australia day"),
    "anzac day": ("AU", "anzac day"), "rosh hashanah": ("IL", "rosh hashanah"), "yom kippur": ("IL", "yom kippur"),
    "passover": ("IL", "pesach"), "sukkot": ("IL", "sukkot"), "shavuot": ("IL", "shavuot"),
    **{name: ("", name) for name in ("independence day", "republic day", "national day", "victoria day", "king's day",
       "constitution day", "remembrance day", "spring bank holiday", "unity day", "family day")},
}  # fmt: skip
# Feasts of many days or of no fixed table: the words are kept, no date is guessed.
_UNDATED = ("hanukkah", "chanukah", "kwanzaa", "ramadan", "lent", "advent")
_NOUNS = re.compile(
    r"\s+(?:tree|trees|gift|gifts|present|presents|card|cards|party|parties|costume|costumes|cookies?|lights?|movies?|films?|songs?|"
    r"music|carols?|decorations?|decor|shopping|sales?|market|dinner|lunch|feast|spirit|cheer|story|special|album|candy|egg|eggs|"
    r"bunny|parade|break|wreath|stocking|stockings|sweater|sweaters|themed?|vibes?|wishes|pudding|turkey|resolutions?|list)\b",
    re.IGNORECASE,
)
_SAID_OF = re.compile(r"\s+(?:was|were|went|is\s+coming|will\s+be|is\s+(?:in|on))\b", re.IGNORECASE)
_PART = re.compile(r"\s+(?:morning|afternoon|evening|night)\b", re.IGNORECASE)
_GREETING = re.compile(r"\b(?:happy|merry|jolly)\s+$", re.IGNORECASE)
_IN = frozenset(
    [
        "in",
        "on",
        "at",
        "for",
        "over",
        "since",
        "before",
        "after",
        "by",
        "until",
        "till",
        "during",
        "around",
        "through",
        "from",
        "of",
        "sub",
        "than",
        "between",
        "to",
        "and",
        "up",
        "each",
    ]
)


@lru_cache(maxsize=512)
def public_holidays(country: str, year: int) -> Mapping[str, datetime]:
    """Lower-case English name -> first day of the feast, of one country and year."""
    import holidays  # heavy: about a third of a second, paid only by those who name such a feast

    known = holidays.country_holidays(country)
    language = "en_US" if "en_US" in known.supported_languages else None
    found: dict[str, datetime] = {}
    for when, names in sorted(holidays.country_holidays(country, years=year, language=language).items()):
        for name in names.split("; "):
            plain = name.lower().replace("\u2019", "'").removesuffix(" (estimated)")
            found.setdefault(plain, datetime(when.year, when.month, when.day))
    return found


def feast(name: str, country: str, year: int) -> Interval:
    """The day of a feast in a year; raises ValueError where no table dates it."""
    if name in _AFTER_THANKSGIVING:
        return spans.day(feast("thanksgiving", country, year).start, _AFTER_THANKSGIVING[name])
    if name in _LISTED:
        where, listed = _LISTED[name]
        day = public_holidays(where or country, year).get(listed)
        if day is not None:
            return spans.day(day)
    rule = _ABROAD.get((country, name.removesuffix(" day") if name == "thanksgiving day" else name), FEASTS.get(name))
    if rule is None:
        raise ValueError(f"no table dates {name} in {country} {year}")
    if rule[0] == "easter":
        return spans.day(datetime.combine(easter(year), datetime.min.time()), rule[1])
    month = int(rule[0])
    if len(rule) == 3:
        return spans.nth_weekday(spans.month(year, month), rule[2], rule[1])
    return spans.date(year, month, rule[1])


def _of_year(ctx: Context, m: re.Match[str]) -> OfYear:
    name = " ".join(m["name"].lower().replace("\u2019", "'").split())
    name = name if name in _NAMES else _PLAIN[_plain(name)]
    steps = -1 if m["eve"] or m["eve_of"] else 0
    return lambda year: spans.day(feast(name, ctx.policy.country, year).start, steps)


def named_feast(ctx: Context, m: re.Match[str]) -> Reading | None:
    """A feast with or without year, eve, last or next; alone it needs a preposition, for it may be a mere adjective."""
    plain = _plain(m["name"])
    if _GREETING.search(ctx.text, max(0, m.start() - 12), m.start()):
        return None
    if plain in _UNDATED:
        return UNRESOLVED if ctx.licence in _IN else None
    of_year = _of_year(ctx, m)
    if m["year"]:
        return Reading(interval=of_year(int(m["year"])))
    if OF_YEAR.match(ctx.text, m.end()) or _PART.match(ctx.text, m.end()):
        return yearly(ctx, m.start(), m.end(), of_year)
    marked = (
        m["eve"]
        or m["eve_of"]
        or m["which"]
        or re.search(r"\b(?:day|eve|friday|monday|sunday|tuesday|wednesday|thursday)$", m["name"].lower())
    )
    loose = plain in ("newyear", "newyears", "easter", "holi", "eid")
    if (_NOUNS.match(ctx.text, m.end()) and plain not in _SALES) or not (
        marked or ctx.licence in _IN or (not loose and _SAID_OF.match(ctx.text, m.end()))
    ):
        return None
    if plain == "newyear" and m["the"]:
        return None
    if m["which"]:
        return named_yearly(ctx, m["which"].lower(), of_year, m.start(), m.end())
    return yearly(ctx, m.start(), m.end(), of_year)


def feasts_ago(ctx: Context, m: re.Match[str]) -> Reading:
    count, loose = number(m["n"])
    name = m["name"].lower()
    return Reading(
        interval=years_ago(ctx, int(count), lambda year: feast(name, ctx.policy.country, year)), approximate=loose
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


_NAMES = {*FEASTS, *_AFTER_THANKSGIVING, *_LISTED, *_UNDATED}
_WITH = rx(r" (?P<unit>weekend|week)")


def add_weekend(ctx: Context, base: Reading, start: int) -> Reading | None:
    """Labor Day + weekend: the weekend that it touches, or the nearest one; Christmas + week."""
    m = _WITH.match(ctx.text, base.end) if base.rule in ("feast", "of_year") and base.interval else None
    if m is None or base.interval is None or base.interval.grain != "day":
        return None
    day = base.interval.start
    if m["unit"].lower() == "week":
        return replace(base, interval=spans.week(day, ctx.policy.week_start), end=m.end(), alternatives=())
    # Of a Monday or Tuesday it is the weekend before.
    return replace(base, interval=spans.weekend(day, -1 if day.weekday() < 2 else 0), end=m.end(), alternatives=())


SUFFIXES = (add_weekend,)
_SALES = frozenset(map(_plain, _AFTER_THANKSGIVING))  # "the Black Friday sale" is held on the day
_PLAIN = {_plain(name): name for name in sorted(_NAMES)}
_ANY = "|".join(re.escape(name).replace("\\ ", " ") for name in sorted(_NAMES, key=lambda n: (-len(n), n)))
RULES = (
    Rule(
        "feast",
        frozenset(
            {"#", "the", "this", "last", "next", "past", "coming", "upcoming", "previous", "eve"}
            | {name.replace(".", "").split()[0].split("'")[0] for name in _NAMES}
        ),
        rx(
            rf"(?P<the>the (?=eve|new))?(?:this (?=past|coming))?(?:(?P<which>{WHICH}) )?(?P<eve_of>(?:the )?eve of )?"
            rf"(?P<name>{_ANY})(?P<eve> ?eve)?(?:,?(?: of| in)? (?P<year>{YEAR}))?"
        ),
        named_feast,
    ),
    Rule(
        "feasts_ago",
        NUMBER_STARTS,
        rx(rf"(?P<n>{NUMBER}) (?P<name>christmas|thanksgiving|easter|halloween)(?:e?s)? ago"),
        feasts_ago,
    ),
)
