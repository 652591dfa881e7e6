import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from sodamem.encoder import fastembed_onnx
from sodamem.encoder.fastembed_onnx import FastEmbedEncoder
from sodamem.errors import ConfigError, DataError, ServiceError

MODELS = os.environ.get("SODAMEM_MODELS", "")
OPTIONS = {"model": "sentence-transformers/all-MiniLM-L6-v2", "path": MODELS, "batch_tokens": 384, "threads": 1}
needs_weights = pytest.mark.skipif(not MODELS, reason="SODAMEM_MODELS names no folder with model weights")
TEXTS = [
    "A kitten sleeps.",
    "",
    "The cat naps near the stove. " * 30,
    "Interest rates rose.",
    "cat",
    " \n",
    "A kitten sleeps.",
]


@pytest.fixture(autouse=True)
def forget_open_models():
    yield
    fastembed_onnx._open.cache_clear()


@pytest.fixture(scope="module")
def fitted():
    return FastEmbedEncoder(**OPTIONS).fit([])


@pytest.mark.data
@needs_weights
def test_meaning_is_near_and_rows_are_unit_or_zero(fitted):
    vectors = fitted.encode(TEXTS)
    assert vectors.dtype == np.float32 and vectors.shape == (7, 384) == (7, fitted.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 1, 1, 0, 1], atol=1e-6)
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[3] + 0.2
    assert fitted.encode([]).shape == (0, 384)


@pytest.mark.data
@needs_weights
def test_a_vector_does_not_depend_on_what_is_encoded_with_it(fitted):
    together = fitted.encode(TEXTS)
    alone = np.vstack([fitted.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(
        FastEmbedEncoder(**OPTIONS | {"batch_tokens": 8}).fit([]).encode(TEXTS), alone, atol=1e-6
    )


@pytest.mark.data
@needs_weights
def test_the_digest_is_that_of_the_files_not_of_their_folder(fitted, tmp_path):
    copy = tmp_path / "all-MiniLM-L6-v2"
    shutil.copytree(Path(MODELS) / copy.name, copy, copy_function=os.symlink)
    moved = FastEmbedEncoder(**OPTIONS | {"path": str(tmp_path), "batch_tokens": 64})
    assert moved.fit([]).digest == fitted.digest
    (copy / "tokenizer.json").unlink()
    (copy / "tokenizer.json").write_text("{}")
    fastembed_onnx._digest.cache_clear()
    assert moved.fit([]).digest != fitted.digest


@pytest.mark.data
@needs_weights
def test_digest_and_dimension_load_no_weights(monkeypatch):
    encoder = FastEmbedEncoder(**OPTIONS).fit([])
    monkeypatch.setattr(fastembed_onnx._Onnx, "embed", lambda *_: pytest.fail("weights were loaded"))
    assert len(encoder.digest) == 64 and encoder.dimension == 384


@pytest.mark.data
@needs_weights
def test_damaged_weights_are_named(tmp_path):
    folder = tmp_path / "all-MiniLM-L6-v2"
    shutil.copytree(Path(MODELS) / folder.name, folder, copy_function=os.symlink)
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").write_bytes(b"not onnx")
    with pytest.raises(DataError, match=r"model files in .* cannot be read"):
        FastEmbedEncoder(**OPTIONS | {"path": str(tmp_path)}).fit([]).encode(["a"])


def test_an_incomplete_folder_says_what_is_missing_and_what_to_set(tmp_path):
    with pytest.raises(DataError, match=r"got no model.onnx, tokenizer.json.*SODAMEM_MODELS.*encoder=lsa") as caught:
        FastEmbedEncoder(**OPTIONS | {"path": str(tmp_path)}).fit([]).encode(["a"])
    assert "\n" not in str(caught.value)


def test_an_unreachable_hub_gives_one_line_that_names_the_way_out(monkeypatch, tmp_path):
    import huggingface_hub

    def unreachable(*_, **__):
        raise OSError("Name or service\nnot known")

    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    monkeypatch.setattr(huggingface_hub, "model_info", unreachable)
    with pytest.raises(
        ServiceError, match=r"all-MiniLM-L6-v2 cannot be fetched.*SODAMEM_MODELS.*encoder=lsa"
    ) as caught:
        FastEmbedEncoder(**OPTIONS | {"path": None}).fit([]).encode(["a"])
    assert "\n" not in str(caught.value)


def test_an_unknown_model_lists_the_known_ones():
    with pytest.raises(ConfigError, match=r"got nobody/nothing.*Options:.*all-MiniLM-L6-v2"):
        FastEmbedEncoder(**OPTIONS | {"model": "nobody/nothing"}).fit([]).encode(["a"])


@pytest.mark.parametrize("name", ["batch_tokens", "threads"])
def test_bad_options_are_named(name):
    with pytest.raises(ConfigError, match=f"{name} must be >= 1, got 0"):
        FastEmbedEncoder(**OPTIONS | {name: 0})
