"""Latent semantic analysis: TF-IDF of stemmed words, reduced by a truncated SVD fitted on the store's own texts.

Deerwester et al., "Indexing by latent semantic analysis" (1990). Needs no model, network or GPU.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain

import numpy as np
import Stemmer
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from sodamem.encoder.vectors import unit_rows
from sodamem.errors import ConfigError
from sodamem.protocols import Encoder

VERSION = "lsa/1"  # raised when the same texts and parameters would give other vectors
# Chinese, Japanese and Korean write no spaces, so each of their characters is a word of its own.
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
NOISE = 1e-6  # a unit TF-IDF row this short after projection is rounding error, not a direction


@dataclass(frozen=True, kw_only=True)
class LsaEncoder(Encoder):
    """Configuration of LSA. A corpus of lower rank than `dimensions` gives as many dimensions as it has.

    dimensions: of the latent space · min_df: texts a term must occur in (at most all of them) ·
    ngrams: longest run of words that counts as a term · stem: English Porter2 stems ·
    stop_words: drop scikit-learn's English function words · seed: of the randomised SVD.
    """

    dimensions: int
    min_df: int
    ngrams: int
    stem: bool
    stop_words: bool
    seed: int

    def __post_init__(self) -> None:
        for name in ("dimensions", "min_df", "ngrams"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be >= 1, got {getattr(self, name)}")
        if not 0 <= self.seed < 2**32:
            raise ConfigError(f"seed must lie in [0, 2**32), got {self.seed}")

    def fit(self, texts: Sequence[str]) -> FittedLsa:
        """Learn vocabulary, weights and directions from `texts`; any texts do, also none at all."""
        identity = json.dumps([VERSION, asdict(self), list(texts)], sort_keys=True)
        terms = [self.analyze(text) for text in texts]
        occurs_in = Counter(chain.from_iterable(map(set, terms)))
        least = min(self.min_df, len(texts))
        weigher = TfidfVectorizer(
            analyzer=list, vocabulary=sorted(term for term, n in occurs_in.items() if n >= least), sublinear_tf=True
        )
        return FittedLsa(
            encoder=self,
            digest=hashlib.sha256(identity.encode()).hexdigest(),
            weigher=weigher,
            directions=self._directions(weigher.fit_transform(terms)) if weigher.vocabulary else np.zeros((0, 1)),
        )

    def analyze(self, text: str) -> list[str]:
        """The terms of a text: lower-cased words, stemmed, and their runs up to `ngrams`."""
        words = WORD.findall(text.lower())
        if self.stop_words:
            words = [word for word in words if word not in ENGLISH_STOP_WORDS]
        if self.stem:
            words = Stemmer.Stemmer("english").stemWords(words)  # one each: a stemmer is not safe across threads
        return [
            " ".join(words[start : start + length])
            for length in range(1, self.ngrams + 1)
            for start in range(len(words) - length + 1)
        ]

    def _directions(self, weights: csr_matrix) -> NDArray[np.float64]:
        """Right singular vectors [terms, k] in a fixed sign, without those of numerically zero weight."""
        rank = min(self.dimensions, *weights.shape)
        # One BLAS thread: the last bits depend on their number, and many spin on matrices as small as these.
        with threadpool_limits(limits=1, user_api="blas"):
            _, singular, right = randomized_svd(
                weights, n_components=rank, n_oversamples=10, n_iter=5, random_state=self.seed, flip_sign=False
            )
        kept = right[singular > NOISE * singular[0]]
        largest = np.abs(kept).argmax(axis=1)
        signed: NDArray[np.float64] = kept * np.sign(kept[np.arange(len(kept)), largest])[:, None]
        return signed.T


@dataclass(frozen=True, kw_only=True)
class FittedLsa:
    """LSA as fitted on one store. Its digest covers the texts, so vectors of two stores are never confused."""

    encoder: LsaEncoder
    digest: str
    weigher: TfidfVectorizer
    directions: NDArray[np.float64]  # [terms, dimension]; no terms when the corpus held none
    cacheable: bool = False  # fitted per store and cheap: a cache shared by runs would only grow

    @property
    def dimension(self) -> int:
        return int(self.directions.shape[1])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 [n, dimension], unit norm; zeros for a text without a known term."""
        if not len(texts) or not len(self.directions):
            return np.zeros((len(texts), self.dimension), dtype=np.float32)
        weights = self.weigher.transform([self.encoder.analyze(text) for text in texts])
        return unit_rows(weights @ self.directions, negligible=NOISE)
