"""The whole grammar: every rule of every module, the suffixes, and the quick test for texts without times.

After arXiv 2608.08055, section 4.3.
"""

from __future__ import annotations

from sodamem.dates import absolute, clock, compose, feasts, periods, ranges, relative, vague, weekdays, yearly
from sodamem.dates.periods import DECADES
from sodamem.dates.scan import grammar
from sodamem.dates.words import FULL_WEEKDAYS, MONTHS, SEASONS, UNITS, WEEKDAYS, starting

# A text without any of these holds no time expression; almost all sentences of a chat stop here.
# A text with none of these words and no digit holds no time expression; most sentences of a chat stop here.
CUES = starting(
    "today tonight tonite yesterday tomorrow tomorow tommorow tmrw tmr tmw ago recently lately nowadays noon midday "
    "midnight morning evening afternoon eve christmas xmas halloween thanksgiving easter valentine valentines ramadan "
    "hanukkah chanukah kwanzaa diwali deepavali holi eid pentecost lent advent mardi cinco juneteenth passover sukkot "
    "shavuot yom rosh corpus back when then kid child teen teenager boy girl age pi new veterans clock past",
    MONTHS,
    WEEKDAYS,
    (f"{day}s" for day in FULL_WEEKDAYS),
    SEASONS,
    (f"{season}s" for season in SEASONS),
    UNITS,
    DECADES,
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
    (*yearly.SUFFIXES, *feasts.SUFFIXES, *absolute.SUFFIXES, *clock.SUFFIXES, *ranges.SUFFIXES),
    CUES,
)
