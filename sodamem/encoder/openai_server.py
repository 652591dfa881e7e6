"""Vectors from any OpenAI-compatible embeddings endpoint (OpenAI, vLLM, llama.cpp), with one retry layer: ours.

A second layer in the client would multiply the attempts, so its own is switched off.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodamem import endpoint
from sodamem.encoder.vectors import unit_rows
from sodamem.endpoint import curable, pause
from sodamem.errors import ConfigError, ServiceError
from sodamem.protocols import Encoder


@dataclass(frozen=True, kw_only=True)
class OpenAIEncoder(Encoder):
    """An embedding model by endpoint and name. Nothing is sent before the first `encode` or `dimension`.

    api_key_env: name of the variable that holds the key, None for a server without one · batch_size: texts in one
    request · timeout: seconds of one request · retries: further attempts after the first.
    """

    base_url: str
    model: str
    api_key_env: str | None
    batch_size: int
    timeout: float
    retries: int

    def __post_init__(self) -> None:
        endpoint.check(self.base_url)
        if self.batch_size < 1:
            raise ConfigError(f"batch_size must be >= 1, got {self.batch_size}")
        if not self.timeout > 0:
            raise ConfigError(f"timeout must be > 0 seconds, got {self.timeout}")
        if self.retries < 0:
            raise ConfigError(f"retries must be >= 0, got {self.retries}")

    def fit(self, texts: Sequence[str]) -> FittedOpenAI:
        """Nothing is learnt: a served model is the same for every store."""
        return FittedOpenAI(encoder=self)


@dataclass(frozen=True, kw_only=True)
class FittedOpenAI:
    """Vectors of a served model. Raises ServiceError when it does not answer as needed."""

    encoder: OpenAIEncoder
    cacheable: bool = True

    @cached_property
    def digest(self) -> str:
        """Of endpoint and model name: what is served under them is taken on trust."""
        identity = json.dumps(["openai/1", self.encoder.base_url.rstrip("/"), self.encoder.model])
        return hashlib.sha256(identity.encode()).hexdigest()

    @cached_property
    def dimension(self) -> int:
        return int(self._request(["dimension"]).shape[1])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 [n, dimension], unit norm; zeros for a blank text, which servers refuse."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        spoken = [position for position, text in enumerate(texts) if text.strip()]
        for start in range(0, len(spoken), self.encoder.batch_size):
            rows = spoken[start : start + self.encoder.batch_size]
            batch = self._request([texts[row] for row in rows])
            if batch.shape[1] != self.dimension:
                raise ServiceError(f"{self._where} must give {self.dimension} numbers a text, got {batch.shape[1]}")
            vectors[rows] = unit_rows(batch)
        return vectors

    def _request(self, texts: list[str]) -> NDArray[np.float64]:
        """One row a text, in the order of the texts, after at most 1 + retries attempts."""
        openai = endpoint.sdk()
        for attempt in range(self.encoder.retries + 1):
            try:
                answer = self._client.embeddings.with_raw_response.create(
                    model=self.encoder.model, input=texts, encoding_format="float"
                )
                return self._rows(answer.text, len(texts))
            except openai.APIStatusError as error:
                failure = f"answered {error.status_code} ({self._line(error)})"
                if not curable(error.status_code):
                    raise ServiceError(f"{self._where} {failure}") from error
                wait = pause(attempt + 1, error.response.headers.get("retry-after"))
            except openai.APIConnectionError as error:  # also a time-out
                failure, wait = f"did not answer ({self._line(error)})", pause(attempt + 1)
            if attempt < self.encoder.retries:
                time.sleep(wait)
        raise ServiceError(f"{self._where} {failure}, after {self.encoder.retries + 1} attempts. Is the server up?")

    def _rows(self, answer: str, expected: int) -> NDArray[np.float64]:
        """The vectors of an answer by their index; servers need not keep the order of the texts."""
        try:
            by_index = {row["index"]: row["embedding"] for row in json.loads(answer)["data"]}
            rows = np.array([by_index.pop(position) for position in range(expected)], dtype=np.float64)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ServiceError(f"{self._where} gave no {expected} embeddings ({self._line(error)})") from error
        if by_index or rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
            raise ServiceError(f"{self._where} must give one finite vector a text, got {answer[:80]!r}")
        return rows

    @cached_property
    def _client(self) -> Any:
        return endpoint.sdk().OpenAI(
            base_url=self.encoder.base_url,
            api_key=endpoint.key(self.encoder.api_key_env),
            timeout=self.encoder.timeout,
            max_retries=0,
        )

    @property
    def _where(self) -> str:
        return f"embedding model {self.encoder.model} at {self.encoder.base_url}"

    def _line(self, error: Exception) -> str:
        return endpoint.line(error, self.encoder.api_key_env)
