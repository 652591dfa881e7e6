"""The exception tree. Everything a user can cause derives from SodamemError and prints as one line.

SodamemError
├── ConfigError        an option, key, type or range in the configuration is wrong
├── DataError          a data file is missing, damaged or not what it claims to be
│   └── ProvenanceError    quoted words do not occur in their source turn
├── StoreError         a store cannot be opened, is of another configuration, or would be written on a read path
├── MissingExtra       an optional dependency is not installed (the message names the pip line)
└── ServiceError       something outside this process (a hub, a server, a database) did not do its part
    └── ModelError         a model call failed; `reason` says how in one word, `usage` what it cost all the same
        ├── PromptError        the prompt leaves no room for a reply in the model's context
        └── ReplyError         what the model said cannot be used: empty, filtered, of another shape than asked for
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sodamem.types import Usage


class SodamemError(Exception):
    """Base of every error that a user can cause; its message is one line: what, where, what to do."""


class ConfigError(SodamemError):
    """A configuration names an unknown option, has a wrong type, or a value outside its range."""


class DataError(SodamemError):
    """A data file is missing, damaged, or not of the expected shape."""


class ProvenanceError(DataError):
    """A fact quotes words that do not occur, exactly once, in its source turn."""


class StoreError(SodamemError):
    """A store cannot be opened, belongs to another configuration, or is read-only."""


class MissingExtra(SodamemError):  # noqa: N818 - it names what is missing
    """An optional dependency is needed; the message names the pip line that installs it."""


class ServiceError(SodamemError):
    """A hub, server or database outside this process did not answer as needed."""


class ModelError(ServiceError):
    """A model call failed. `reason` is a slug for ledgers and counts; `usage` has every attempt that was made."""

    def __init__(self, message: str, *, reason: str, usage: tuple[Usage, ...] = ()) -> None:
        super().__init__(message)
        self.reason, self.usage = reason, usage


class PromptError(ModelError):
    """The prompt alone fills the model's context; another attempt cannot help."""


class ReplyError(ModelError):
    """The model answered, but nothing that may be used: empty, filtered, cut off in thought, or misshapen."""
