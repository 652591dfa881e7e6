"""The whole grammar in one place: every rule of every module, the suffixes, and the quick test for texts without times."""

from __future__ import annotations

import re

from sodamem.dates import absolute, clock, compose, feasts, periods, ranges, relative, vague, weekdays, yearly
from sodamem.dates.scan import grammar
from sodamem.dates.words import MONTHS, SEASONS, UNITS, WEEKDAYS, one_of

# A text without any of these holds no time expression; almost all sentences of a chat stop here.
HINT = re.compile(
    rf"\b(?:{one_of({*MONTHS, *WEEKDAYS, *SEASONS} - {'may', 'sat', 'sun', 'fall', 'mar', 'march', 'spring'})}\b|{one_of(UNITS)}\b"
    r"|(?:in|since|early|late|mid|of|last|until|this|next|the|during|by|to|over|from|before|after)[\s-](?:the\s)?(?:may|march|fall|spring|mar)\b|(?:Sat|Sun|May|March|Fall|Spring|Mar)\b|on\s(?:Sat|Sun)"
    r"|today|tonight|tonite|yesterday|tomorrow|tomorow|tommorow|tmrw|tmr|tmw|ago|recently|lately|nowadays|noon|midday|midnight|morning|evening|afternoon|night"
    r"|when\s(?:i|we|he|she|they|my)|as\sa|at\s(?:the\s)?age|eve\b|christmas|xmas|halloween|thanksgiving|easter|valentine|new\syear|ramadan|hanukkah|diwali|holi|eid|"
    r"pentecost|lent|advent|mardi|cinco|juneteenth|passover|yom|rosh|back\sin|century|centuries|back\b)"
    r"|days?\b|\d\s?[ap]\.?m|(?:1[89]|20)\d\d|\d:\d\d|\d/\d|\b[qh][1-4]\b|\d0s\b|\d(?:st|nd|rd|th)\b|o['\u2019]clock|ties\b",
    re.IGNORECASE,
)
GRAMMAR = grammar(
    (
        *feasts.RULES,
        *compose.RULES,
        *ranges.RULES,
        *absolute.RULES,
        *periods.RULES,
        *weekdays.RULES,
        *relative.RULES,
        *clock.RULES,
        *vague.RULES,
    ),
    (*yearly.SUFFIXES, *absolute.SUFFIXES, *clock.SUFFIXES, *ranges.SUFFIXES),
    HINT,
)
