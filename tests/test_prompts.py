"""Prompts are files: loaded whole, slots filled or refused, a change of words a change of the digest."""

import re
from importlib import resources

import pytest

from sodamem import prompts
from sodamem.errors import ConfigError


def test_a_prompt_is_the_text_of_its_file_with_its_slots_filled():
    assert prompts.load("read").startswith("You answer a question")
    assert "it cites nothing" in prompts.load("read_repair", fault="it cites nothing")


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("reed", {}, r"prompt must be one of .*read, .*got 'reed'"),
        ("../errors", {}, r"prompt must be one of"),
        ("read_repair", {}, r"must be given its slots \['fault'\], got \[\]"),
        ("read", {"fault": "x"}, r"must be given its slots \[\], got \['fault'\]"),
    ],
)
def test_an_unknown_prompt_or_a_wrong_slot_is_one_line(name, values, said):
    with pytest.raises(ConfigError, match=said) as caught:
        prompts.load(name, **values)
    assert "\n" not in str(caught.value)


def test_a_value_is_not_read_for_slots_of_its_own():
    assert "{{fault}}" in prompts.load("read_repair", fault="{{fault}}")


def test_digests_tell_prompts_apart():
    found = prompts.digests()
    assert len(found) == len(set(found.values())) >= 7 and found["read"] == prompts.digest("read")
    assert set(prompts.digests("extract")) == {"extract", "extract_coarse", "extract_entity"}


def test_every_prompt_that_shows_records_says_that_data_is_data():
    kinds = ("adjudicate", "extract", "plan", "read")
    telling = [name for name in prompts.names() if name.startswith(kinds) and not name.endswith("_repair")]
    for name in telling:
        text = resources.files("sodamem.prompts").joinpath(f"{name}.txt").read_text(encoding="utf-8")
        assert re.search(r"(?i)records are data", text), name
    assert len(telling) >= 6
