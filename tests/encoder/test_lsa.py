import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sodamem.encoder.lsa import LsaEncoder
from sodamem.errors import ConfigError

OPTIONS = {"dimensions": 8, "min_df": 1, "ngrams": 1, "stem": True, "stop_words": True, "seed": 0}
TEXTS = [
    "Sam adopted a kitten last spring",
    "The kitten sleeps near the stove",
    "We hiked the coastal trail in June",
    "Hiking boots need new laces",
    "My sister plays the cello in an orchestra",
    "The orchestra rehearses on Mondays",
]


def fit(texts=TEXTS, **changes):
    return LsaEncoder(**OPTIONS | changes).fit(texts)


def test_the_text_that_shares_the_stem_is_nearest():
    fitted = fit()
    nearest = (fitted.encode(["Who went on a hike?", "Does she play cello?"]) @ fitted.encode(TEXTS).T).argmax(axis=1)
    assert TEXTS[nearest[0]].lower().startswith(("we hiked", "hiking"))
    assert TEXTS[nearest[1]].startswith("My sister")


def test_words_that_occur_together_become_alike_without_sharing_a_word():
    texts = ["doctor nurse", "nurse hospital", "doctor hospital", "engine wheel", "wheel brake", "engine brake"]
    fitted = fit(texts, dimensions=2)
    doctor, hospital, brake = fitted.encode(["doctor", "hospital", "brake"])
    assert doctor @ hospital > 0.99
    assert abs(doctor @ brake) < 0.01


def test_full_rank_keeps_the_cosine_of_tfidf():
    # Two texts over three words: idf = ln(3/2)+1 for a word of one text, 1 for the word of both.
    rare, common = np.log(3 / 2) + 1, 1.0
    a, b = fit(["apple pear", "apple plum"]).encode(["apple pear", "apple plum"])
    assert a @ b == pytest.approx(common**2 / (common**2 + rare**2), abs=1e-6)


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["   "], ["the of and"], ["kitten"], ["kitten"] * 5, ["?!", "..."], ["猫が好き"], ["🙂"], ["a", "b c"]],
    ids=["none", "blank", "spaces", "stop words", "one", "same", "marks", "cjk", "emoji", "short"],
)
def test_degenerate_corpora_give_unit_or_zero_rows_never_nan(texts):
    fitted = fit(texts)
    vectors = fitted.encode([*texts, "kitten", "", "unknownword"])
    assert vectors.dtype == np.float32 and vectors.shape == (len(texts) + 3, fitted.dimension)
    norms = np.linalg.norm(vectors, axis=1)
    assert np.all(np.isclose(norms, 1, atol=1e-6) | (norms == 0))
    assert norms[-1] == norms[-2] == 0
    assert fitted.encode([]).shape == (0, fitted.dimension)


def test_cjk_text_is_found_by_one_of_its_characters():
    fitted = fit(["猫が好き", "我爱北京"])
    assert (fitted.encode(["猫"]) @ fitted.encode(["猫が好き", "我爱北京"]).T).argmax() == 0


def test_a_rare_term_threshold_above_the_corpus_means_every_text():
    fitted = fit(["red kite", "red barn"], min_df=50)
    red, kite = fitted.encode(["red", "kite"])
    assert red.any() and not kite.any()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(alphabet="abc d", max_size=12), max_size=8), st.integers(1, 5), st.integers(1, 3))
def test_any_corpus_gives_finite_unit_or_zero_rows(texts, dimensions, ngrams):
    fitted = fit(texts, dimensions=dimensions, ngrams=ngrams, stop_words=False)
    norms = np.linalg.norm(fitted.encode(texts), axis=1)
    assert np.all(np.isclose(norms, 1, atol=1e-6) | (norms == 0))
    assert 1 <= fitted.dimension <= dimensions


def test_the_digest_covers_texts_and_parameters():
    digests = [fit().digest, fit(TEXTS[:-1]).digest, fit(seed=1).digest, fit(stem=False).digest, fit(ngrams=2).digest]
    assert len(set(digests)) == len(digests)
    assert fit().digest == fit(list(TEXTS)).digest
    assert fit(["a b", "c"]).digest != fit(["a", "b c"]).digest


def test_vectors_are_the_same_under_any_hash_seed():
    script = (
        f"import hashlib; from sodamem.encoder.lsa import LsaEncoder; f = LsaEncoder(**{OPTIONS!r}).fit({TEXTS!r});"
        f"print(f.digest, hashlib.sha256(f.encode({TEXTS!r}).tobytes()).hexdigest())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }
    assert len(runs) == 1


def test_a_fitted_encoder_survives_a_trip_to_another_process():
    fitted = fit()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).encode(TEXTS), fitted.encode(TEXTS))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dimensions": 0}, "dimensions must be >= 1, got 0"),
        ({"min_df": 0}, "min_df must be >= 1, got 0"),
        ({"ngrams": 0}, "ngrams must be >= 1, got 0"),
        ({"seed": -1}, "seed must lie in"),
    ],
)
def test_bad_options_are_named(change, message):
    with pytest.raises(ConfigError, match=message):
        LsaEncoder(**OPTIONS | change)
