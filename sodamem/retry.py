"""When another attempt at a server makes sense, and how long to wait for it: one rule for every client.

Exponential back-off, and the server's own Retry-After before it (RFC 9110, section 10.2.3). Clients that retry by
themselves must have that switched off, else the attempts multiply.
"""

from __future__ import annotations

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds
TRANSIENT = frozenset({408, 429})  # client errors that another attempt can cure; so can any 5xx


def curable(status: int) -> bool:
    """Whether a request that was answered with this HTTP status may succeed unchanged."""
    return status >= 500 or status in TRANSIENT


def pause(failures: int, retry_after: str | None = None, first: float = FIRST_PAUSE) -> float:
    """Seconds to wait after so many failures (from 1): what the server asks for, else `first`, doubled each time.

    Retry-After in its form as a date is not read, since no clock is.
    """
    backoff: float = first * 2 ** (failures - 1)
    try:
        wait = max(float(retry_after or ""), 0.0)
    except ValueError:
        wait = backoff
    return min(wait if wait == wait else backoff, LONGEST_PAUSE)
