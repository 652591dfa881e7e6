import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.chat.structured import MisfitError, mended, read, split_reasoning
from sodamem.types import ChatRequest, Message

LISTED = {"type": "object", "properties": {"memory": {"type": "array"}}, "required": ["memory"]}
VERDICT = {"type": "object", "properties": {"correct": {"type": "boolean"}}, "required": ["correct"]}


def data(text, schema=LISTED):
    request = ChatRequest(phase="x", messages=(Message(role="user", content="?"),), max_tokens=1, schema=schema)
    return read(text, request)[1]


@pytest.mark.parametrize(
    "text",
    [
        '{"memory": [1]}',
        '  {"memory": [1]}\n',
        '```json\n{"memory": [1]}\n```',
        'Based on {about travel}: {"memory": [1]}',
        'As in [1] and [2], the answer is {"memory": [1]}. Good?',
        'First {"memory": [0]}, but on reflection {"memory": [1]}',
        '{"memory": [1], "note": "a } and a \\" and a ] in it"}',
        '{"memory": [1], "note": "line\nbreak"}',
    ],
)
def test_json_is_found_in_prose_and_fences(text):
    assert data(text)["memory"] == [1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        '{"memory": [1]',
        '{"memory": [1], "x": oops}',
        '{"x": {"memory": [1]}',
        "[" * 5000,
        'He said "{": {"memory": [1]}',  # a stray bracket swallows the rest: better a repair than a guess
        '{"memory": NaN}',
        '{"memory": null}',
    ],
)
def test_a_failed_parse_never_stands_for_an_empty_or_partial_value(text):
    with pytest.raises(MisfitError):
        data(text)


@pytest.mark.parametrize("value", ['"false"', '"no"', "0", "null", '"true"'])
def test_only_a_boolean_is_a_boolean(value):
    with pytest.raises(MisfitError, match=r"\$\.correct"):
        data(f'{{"correct": {value}}}', VERDICT)


def test_what_is_settled_on_last_counts():
    said = 'It may be {"correct": true}. But the dates differ, so: {"correct": false}'
    assert data(said, VERDICT) == {"correct": False}


def test_a_schema_may_ask_for_what_is_no_object():
    assert data("[1, 2]", {"type": "array"}) == [1, 2]
    assert data("7", {"type": "integer"}) == 7


@pytest.mark.parametrize(
    ("text", "thoughts", "answer"),
    [
        ("plain", "", "plain"),
        ("<think>a</think>b", "a", "b"),
        ("a</think>b", "a", "b"),
        ("<think>a</think>b</think>c", "a</think>b", "c"),
        ("<think>never closed", "never closed", ""),
        ("about <think> tags", "", "about <think> tags"),
    ],
)
def test_only_what_follows_the_last_think_tag_is_an_answer(text, thoughts, answer):
    assert split_reasoning(text) == (thoughts, answer)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_mended_text_can_be_written_and_clean_text_stays(text):
    assert mended(text).encode() is not None
    if all(not "\ud800" <= character <= "\udfff" for character in text):
        assert mended(text) == text
    assert mended({"k": [text]}) == {"k": [mended(text)]}
