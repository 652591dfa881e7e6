"""What every client of a model server shares: its address, its key by name, errors in one line, one retry rule.

Exponential back-off, and the server's own Retry-After before it (RFC 9110, section 10.2.3). A client that retries by
itself must have that switched off, else the attempts multiply.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from sodamem.errors import ConfigError, MissingExtra

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds
TRANSIENT = frozenset({408, 429})  # client errors that another attempt can cure; so can any 5xx


def check(base_url: str) -> None:
    """Raises ConfigError unless this is an http or https URL that holds no secret."""
    url = urlsplit(base_url)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ConfigError(f"base_url must be an http or https URL, got {base_url}")
    if url.username or url.password:
        raise ConfigError("base_url must hold no user or password. Name the variable with the key in api_key_env")


def key(api_key_env: str | None) -> str:
    """The key in the variable of this name; a placeholder for a server without one, since the client insists."""
    if api_key_env is None:
        return "none"
    if not (found := os.environ.get(api_key_env, "")):
        raise ConfigError(f"api_key_env must name a variable that is set, got {api_key_env}. Export it, or use null")
    return found


def line(error: BaseException, api_key_env: str | None) -> str:
    """An error as one short line without the key."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    secret = os.environ.get(api_key_env, "") if api_key_env else ""
    return (said.replace(secret, "***") if secret else said)[:200]


def sdk() -> Any:
    """The `openai` package, imported when it is first needed."""
    try:
        import openai
    except ImportError as error:
        raise MissingExtra('a model server needs the openai client. pip install "sodamem[server]"') from error
    return openai


def curable(status: int) -> bool:
    """Whether a request that was answered with this HTTP status may succeed unchanged."""
    return status >= 500 or status in TRANSIENT


def pause(failures: int, retry_after: str | None = None, first: float = FIRST_PAUSE) -> float:
    """Seconds to wait after so many failures (from 1): what the server asks for, else `first`, doubled each time.

    Retry-After in its form as a date is not read, since no clock is.
    """
    backoff: float = first * 2 ** (failures - 1)
    try:
        asked = float(retry_after or "")
    except ValueError:
        asked = backoff
    return min(asked if asked >= 0 else backoff, LONGEST_PAUSE)
