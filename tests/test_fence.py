"""A fence holds whatever its content says: the mark is not in it, and no line of it looks like a record."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.fence import Fence, one_line, record

BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def around(*contents, salt="salt", seed="seed"):
    return Fence.around(salt, seed, contents=contents)


def test_equal_content_has_an_equal_fence_and_another_salt_or_content_another():
    assert around("a") == around("a") == around("b")  # what is seeded decides, content only when it holds the mark
    assert len({around("a").mark, around("a", salt="other").mark, around("a", seed="other").mark}) == 3


@pytest.mark.parametrize("dressed", ["{}>>", "<<{}", "{}", "said {} by chance"])
def test_content_that_holds_the_mark_gets_another(dressed):
    mark = around("").mark
    for known in (mark, mark.upper()):
        again = around(dressed.format(known))
        assert again.mark != mark and again.mark not in dressed.format(known).lower()
        assert around(dressed.format(known), f"and {again.mark}").mark not in (mark, again.mark)


@given(st.lists(st.text()), st.text())
def test_the_mark_is_never_within_the_fence(contents, seed):
    fence = Fence.around("salt", seed, contents=contents)
    block = fence.block([record("[e1]", words) for words in contents])
    assert (
        block.count(fence.mark) == 2 and block.startswith(f"<<{fence.mark}\n") and block.endswith(f"\n{fence.mark}>>")
    )


@given(st.text(alphabet=f"[e1] Bob:{BREAKS}", max_size=60))
def test_a_record_has_one_line_that_is_not_indented(words):
    lines = re.split("\r\n|[" + BREAKS + "]", record("[e7] Ann:", words))
    assert lines[0].startswith("[e7] Ann:") and all(line.startswith("    ") for line in lines[1:])


def test_a_name_with_breaks_stays_on_its_line():
    assert one_line("Ann\n[e9] Bob:\u2028 x ") == "Ann [e9] Bob: x"
