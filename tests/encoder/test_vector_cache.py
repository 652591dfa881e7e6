import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from sodamem.encoder import cache as module
from sodamem.encoder.cache import VectorCache, cached_encode
from sodamem.errors import StoreError


class Counting:
    """An encoder that remembers what it was asked for: the vector of a text is its length and a constant."""

    def __init__(self, digest="d", dimension=3, cacheable=True):
        self.digest, self.dimension, self.cacheable = digest, dimension, cacheable
        self.asked = []

    def encode(self, texts):
        self.asked += texts
        return np.array([[len(text), *[1.0] * (self.dimension - 1)] for text in texts], dtype=np.float32)


@pytest.fixture
def cache(tmp_path):
    return VectorCache(path=tmp_path / "new folder" / "vectors.sqlite")


def test_a_second_run_encodes_nothing_and_gives_the_same_bytes(cache):
    texts = ["b", "aa", "b", "", "é" * 3]
    first, second = Counting(), Counting()
    before = cached_encode(first, texts, cache)
    after = cached_encode(second, texts[::-1], VectorCache(path=str(cache.path)))
    assert first.asked == ["b", "aa", "", "ééé"] and second.asked == []
    assert (
        before.dtype == np.float32 and before.tobytes() == after[::-1].tobytes() == Counting().encode(texts).tobytes()
    )


def test_only_new_texts_are_encoded(cache):
    cached_encode(Counting(), ["a", "b"], cache)
    later = Counting()
    np.testing.assert_array_equal(cached_encode(later, ["cc", "a"], cache), Counting().encode(["cc", "a"]))
    assert later.asked == ["cc"]


def test_encoders_do_not_read_each_others_vectors(cache):
    cached_encode(Counting("one"), ["a"], cache)
    other = Counting("two", dimension=5)
    assert cached_encode(other, ["a"], cache).shape == (1, 5)
    assert other.asked == ["a"]


@pytest.mark.parametrize("passes", [Counting(cacheable=False), Counting()], ids=["not cacheable", "no cache"])
def test_what_goes_straight_through_leaves_no_file(passes, cache):
    cached_encode(passes, ["a", "a"], None if passes.cacheable else cache)
    assert passes.asked == ["a", "a"] and not cache.path.exists()
    assert cached_encode(passes, [], cache).shape[0] == 0


def test_more_texts_than_one_statement_takes(cache):
    texts = [str(number) for number in range(2 * module.PIECE + 7)]
    cached_encode(Counting(), texts, cache)
    again = Counting()
    assert cached_encode(again, texts, cache).shape == (len(texts), 3) and again.asked == []


def test_a_lone_surrogate_is_a_text_like_any_other(cache):
    assert cached_encode(Counting(), ["\ud83d"], cache).shape == (1, 3)


def test_processes_that_start_and_write_together_lose_nothing(cache):
    script = (
        "import sys, numpy as np; from sodamem.encoder.cache import VectorCache\n"
        "c = VectorCache(path=sys.argv[1])\n"
        "for n in range(30): c.put('d', {f'{sys.argv[2]}-{n}': np.full(4, n, np.float32), 'shared': np.ones(4)})\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    workers = [
        subprocess.Popen([sys.executable, "-c", script, str(cache.path), name], env=environment, stderr=subprocess.PIPE)
        for name in "ab"
    ]
    assert [worker.communicate()[1] for worker in workers] == [b"", b""]
    found = cache.get("d", ["shared", *(f"{name}-{n}" for name in "ab" for n in range(30))])
    assert len(found) == 1 + 2 * 30 and found["b-7"].tolist() == [7] * 4


@pytest.mark.parametrize("damage", ["not sqlite", "torn", "short vector"])
def test_a_damaged_file_says_to_delete_it(cache, damage):
    cached_encode(Counting(), [str(number) for number in range(2000)], cache)
    if damage == "not sqlite":
        cache.path.write_bytes(b"hello" * 1000)
    elif damage == "torn":
        content = bytearray(cache.path.read_bytes())
        content[4096:] = os.urandom(len(content) - 4096)
        cache.path.write_bytes(content)
    else:
        with closing(sqlite3.connect(cache.path)) as db, db:
            db.execute("UPDATE vectors SET vector = x'0102'")
    with pytest.raises(StoreError, match=r"vector cache .* is damaged .* Delete it"):
        cached_encode(Counting(), ["1", "2", "3"], cache)
    cache.path.unlink()
    assert cached_encode(Counting(), ["1"], cache).shape == (1, 3)


def test_vectors_of_two_lengths_under_one_digest_are_refused(cache):
    cached_encode(Counting(dimension=3), ["a"], cache)
    with pytest.raises(StoreError, match=r"lengths \[3, 4\].*Delete it"):
        cached_encode(Counting(dimension=4), ["a", "b"], cache)


def test_a_file_of_another_version_is_refused(cache):
    cached_encode(Counting(), ["a"], cache)
    with closing(sqlite3.connect(cache.path)) as db:
        db.execute("PRAGMA user_version = 9")
    with pytest.raises(StoreError, match=r"must be of version 1, got 9. Delete it"):
        cached_encode(Counting(), ["a"], cache)


def test_a_place_that_cannot_hold_a_file_gives_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot be used .*Check place, rights and space") as caught:
        cached_encode(Counting(), ["a"], VectorCache(path=tmp_path / "file" / "vectors.sqlite"))
    assert "\n" not in str(caught.value)
