"""One HTTP request to a model server: its time-out, and what went wrong in one word and one line.

Facts about the client: its own retries are off, and `cast_to=str` hands out bodies as they came.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any, TypeVar

from sodamem import endpoint
from sodamem.errors import ModelError, PromptError

T = TypeVar("T")
_TOO_LONG = re.compile(r"context[ _]length|max_model_len|prompt is too long", re.IGNORECASE)


class FaultError(Exception):
    """A request that failed: `reason` is a slug, `curable` says whether another one can help."""

    def __init__(self, reason: str, said: str, curable: bool = True, retry_after: str | None = None) -> None:
        super().__init__(said)
        self.reason, self.curable, self.retry_after = reason, curable, retry_after

    def final(self, where: str, failures: int) -> ModelError:
        """The error for the user, once no further request is made."""
        kind = PromptError if self.reason == "prompt_too_long" else ModelError
        counted = f", after {failures} failed attempts. Is the server up?" if self.curable else ""
        return kind(f"{where} {self}{counted}", reason=self.reason)


class Connection:
    """A client and the slots for requests on it; made and used on one event loop only."""

    def __init__(self, base_url: str, api_key_env: str | None, timeout: float, concurrency: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.slots = asyncio.Semaphore(concurrency)
        self._api_key_env, self._timeout = api_key_env, timeout
        self._client: Any = endpoint.sdk().AsyncOpenAI(
            base_url=base_url, api_key=endpoint.key(api_key_env), timeout=timeout, max_retries=0
        )

    async def send(self, path: str, read: Callable[[str], T], body: object = None) -> T:
        """What `read` makes of the answer to a GET, or to a POST of `body`; it raises ValueError for what it is not.

        `path` is relative to the base URL, or a URL. Raises FaultError.
        """
        openai = endpoint.sdk()
        try:
            async with asyncio.timeout(self._timeout):
                if body is None:
                    answer = await self._client.get(path, cast_to=str)
                else:
                    answer = await self._client.post(path, cast_to=str, body=body)
            return read(answer)
        except openai.APIStatusError as error:
            raise self._status(error) from error
        except (TimeoutError, openai.APITimeoutError) as error:
            raise FaultError("timeout", f"did not answer within {self._timeout:g} s") from error
        except openai.APIConnectionError as error:
            raise FaultError("unreachable", f"did not answer ({self._line(error.__cause__ or error)})") from error
        except ValueError as error:
            raise FaultError("malformed", f"gave a response that cannot be read ({self._line(error)})") from error

    async def close(self) -> None:
        await self._client.close()

    def _status(self, error: Any) -> FaultError:
        status = error.status_code
        if curable := endpoint.curable(status):
            reason = "rate_limited" if status == 429 else "server_error"
        else:
            reason = "prompt_too_long" if _TOO_LONG.search(str(error)) else "refused"
        wait = error.response.headers.get("retry-after")
        return FaultError(reason, f"answered {status} ({self._line(error)})", curable, wait)

    def _line(self, error: BaseException) -> str:
        return endpoint.line(error, self._api_key_env)
