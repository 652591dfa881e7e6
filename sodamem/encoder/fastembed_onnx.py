"""Pretrained sentence encoders through fastembed and onnxruntime, from a local folder or the Hugging Face hub.

The default, all-MiniLM-L6-v2 in fp32, agrees with sentence-transformers to 1e-6. int8 exports are not offered: their
vectors depend on the batch, which spoils a cache.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sodamem.encoder.vectors import length_batches, unit_rows
from sodamem.errors import ConfigError, DataError, ServiceError
from sodamem.protocols import Encoder

TOKENIZER = ("tokenizer.json", "config.json", "tokenizer_config.json", "special_tokens_map.json")
HUB_TIMEOUT = 10  # seconds
_loading = Lock()  # two threads that need the same weights must not read them twice


@dataclass(frozen=True, kw_only=True)
class FastEmbedEncoder(Encoder):
    """A fastembed model by name; weights load at the first `encode` and are shared by the whole process.

    model: as fastembed lists it · path: folder that holds a folder named after the model (its part behind the slash),
    None to take it from the hub · batch_tokens: padded tokens in one forward pass · threads: of onnxruntime.
    """

    model: str
    path: str | None
    batch_tokens: int
    threads: int

    def __post_init__(self) -> None:
        for name in ("batch_tokens", "threads"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be >= 1, got {getattr(self, name)}")

    def fit(self, texts: Sequence[str]) -> FittedFastEmbed:
        """Nothing is learnt: a pretrained encoder is the same for every store."""
        return FittedFastEmbed(encoder=self)


@dataclass(frozen=True, kw_only=True)
class FittedFastEmbed:
    """Vectors of a pretrained model. Raises ServiceError or DataError when it cannot be had."""

    encoder: FastEmbedEncoder
    cacheable: bool = True

    @property
    def digest(self) -> str:
        """Of the model's name and the bytes of its weights and tokenizer, wherever they lie. Loads no weights."""
        return _digest(self.encoder.model, *self._onnx.files)

    @property
    def dimension(self) -> int:
        return self._onnx.dimension

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 [n, dimension], unit norm; zeros for a blank text. Does not depend on what is encoded together."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        spoken = [position for position, text in enumerate(texts) if text.strip()]
        for batch in length_batches([texts[position] for position in spoken], self.encoder.batch_tokens):
            rows = [spoken[i] for i in batch]
            vectors[rows] = self._onnx.embed([texts[row] for row in rows])
        return unit_rows(vectors)

    @property
    def _onnx(self) -> _Onnx:
        with _loading:
            return _open(self.encoder.model, self.encoder.path, self.encoder.threads)


class _Onnx:
    """A model whose files are at hand; the weights are read when the first text comes."""

    def __init__(self, model: Any, files: tuple[Path, ...], dimension: int) -> None:
        self._model, self.files, self.dimension = model, files, dimension
        self._ready = False

    def embed(self, texts: list[str]) -> list[NDArray[np.float32]]:
        with _loading:
            if not self._ready:
                try:
                    self._model.model.load_onnx_model()
                except Exception as error:  # onnxruntime and tokenizers raise unrelated types: the files are damaged
                    raise DataError(
                        f"model files in {self.files[0].parent} cannot be read ({_line(error)}). Fetch them again"
                    ) from error
                self._ready = True
        return list(self._model.embed(texts, batch_size=len(texts)))


@lru_cache(maxsize=4)
def _open(model: str, path: str | None, threads: int) -> _Onnx:
    from fastembed import TextEmbedding  # here, because it takes a second to import
    from loguru import logger

    known = {entry["model"]: entry for entry in TextEmbedding.list_supported_models()}
    if model not in known:
        raise ConfigError(f"model must be one that fastembed knows, got {model}. Options: {', '.join(sorted(known))}")
    weights = known[model]["model_file"]
    options = {"threads": threads, "providers": ["CPUExecutionProvider"], "lazy_load": True}
    if path is not None:
        folder = Path(path).expanduser() / model.rpartition("/")[2]
        missing = [name for name in (weights, *TOKENIZER) if not (folder / name).is_file()]
        if missing:
            raise DataError(
                f"model folder {folder} must hold the ONNX export, got no {', '.join(missing)}. "
                "Point SODAMEM_MODELS at the folder above it, unset it to use the hub, or use encoder=lsa"
            )
        opened = TextEmbedding(model, specific_model_path=str(folder), **options)
    else:
        logger.disable("fastembed")  # it logs as errors what it also raises
        try:
            opened = _from_hub(TextEmbedding, model, known[model]["sources"]["hf"], options)
        finally:
            logger.enable("fastembed")
        folder = Path(opened.model._model_dir)  # fastembed has no public name for it
    return _Onnx(opened, (folder / weights, folder / "tokenizer.json"), int(known[model]["dim"]))


def _from_hub(embedding: Any, model: str, source: str, options: dict[str, Any]) -> Any:
    """The model from the hub's local cache, else downloaded after asking whether the hub answers at all."""
    from huggingface_hub import model_info

    try:
        return embedding(model, local_files_only=True, **options)
    except ValueError:
        pass  # not downloaded yet
    try:
        model_info(source, timeout=HUB_TIMEOUT)  # fastembed itself would sleep and try again for 39 s
        return embedding(model, **options)
    except Exception as error:  # the hub's client, its transport and fastembed raise unrelated types
        raise ServiceError(
            f"model {model} cannot be fetched from the hub ({_line(error)}). "
            "Set SODAMEM_MODELS to a folder that holds it, or use encoder=lsa"
        ) from error


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"


@lru_cache(maxsize=8)
def _digest(model: str, *files: Path) -> str:
    digest = hashlib.sha256(model.encode())
    for file in files:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()
