"""What all encoders share: rows of unit norm, and batches of texts of about the same length.

Batching follows the measurement that 256-512 padded tokens a batch are fastest for MiniLM on a CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sodamem.errors import ServiceError

CHARACTERS_PER_TOKEN = 4  # English WordPiece and BPE vocabularies; only the shape of batches depends on it


def unit_rows(matrix: NDArray[np.floating], *, negligible: float = 0.0) -> NDArray[np.float32]:
    """Scale each row of [n, d] to norm 1; a row whose norm is at most `negligible` becomes zeros.

    Raises ServiceError when a value is not finite.
    """
    rows = np.asarray(matrix, dtype=np.float64)
    if not np.isfinite(rows).all():
        raise ServiceError("vectors must be finite, got NaN or infinity. Check the embedding model")
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    known = norms > negligible
    return np.where(known, rows / np.where(known, norms, 1.0), 0.0).astype(np.float32)


def length_batches(texts: Sequence[str], batch_tokens: int) -> Iterator[list[int]]:
    """Positions of the texts, longest first, so that a batch holds about `batch_tokens` tokens with its padding.

    The order is that of (length, text): it does not depend on the order in which texts arrive.
    """
    batch: list[int] = []
    padded = 0
    for position in sorted(range(len(texts)), key=lambda i: (-len(texts[i]), texts[i])):
        if batch and padded * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        if not batch:
            padded = len(texts[position]) // CHARACTERS_PER_TOKEN + 3  # the two special tokens and the remainder
        batch.append(position)
    if batch:
        yield batch
