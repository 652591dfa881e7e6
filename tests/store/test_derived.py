"""Derived indexes: loaded when they fit, built again when in doubt, and never a reason to fail."""

import logging

import pytest

from sodamem.store.derived import cached


class Index:
    """Counts how often it is built; what is saved is its content."""

    def __init__(self, content="index"):
        self.content, self.built = content, 0

    def build(self):
        self.built += 1
        return self.content

    @staticmethod
    def save(index, folder):
        (folder / "data").write_text(index)

    @staticmethod
    def load(folder):
        return "loaded " + (folder / "data").read_text()

    def get(self, folder, stamp="1"):
        return cached(folder, {"stamp": stamp}, self.build, self.save, self.load)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "a" / "index"


def test_what_fits_is_loaded_and_not_built_again(folder):
    index = Index()
    assert [index.get(folder), index.get(folder)] == ["index", "loaded index"] and index.built == 1


def test_another_stamp_is_another_index(folder):
    assert [Index("one").get(folder, "1"), Index("two").get(folder, "2")] == ["one", "two"]
    assert Index().get(folder, "2") == "loaded two"


@pytest.mark.parametrize("damage", ["", "{", '"x"', "\0"])
def test_a_damaged_stamp_is_said_and_mended(folder, damage, caplog):
    Index().get(folder)
    (folder / "stamp.json").write_text(damage)
    with caplog.at_level(logging.WARNING):
        assert Index("new").get(folder) == "new"
    assert Index().get(folder) == "loaded new"


def test_damaged_data_is_said_and_mended(folder, caplog):
    Index().get(folder)
    (folder / "data").unlink()
    with caplog.at_level(logging.WARNING):
        assert Index("new").get(folder) == "new"
    assert "is damaged (FileNotFoundError" in caplog.text
    assert Index().get(folder) == "loaded new"


def test_where_nothing_can_be_written_the_index_stays_in_memory(tmp_path):
    (tmp_path / "file").write_text("")
    index = Index()
    assert [index.get(tmp_path / "file" / "index") for _ in range(2)] == ["index", "index"] and index.built == 2


def test_a_build_that_fails_leaves_the_old_index_and_no_litter(folder):
    Index("old").get(folder)
    broken = Index("new")
    broken.save = lambda index, folder: (folder / "data").write_text("half") and (_ for _ in ()).throw(RuntimeError)
    with pytest.raises(RuntimeError):
        broken.get(folder, "2")
    assert Index().get(folder) == "loaded old"
    assert [entry.name for entry in folder.parent.iterdir()] == ["index"]
