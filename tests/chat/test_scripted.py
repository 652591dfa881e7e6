import pytest
from jsonschema import Draft202012Validator

from sodamem.chat.instance import instance
from sodamem.chat.scripted import ScriptedChat
from sodamem.errors import ConfigError, ReplyError
from sodamem.types import Usage

ANSWER = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "citations": {"type": "array", "items": {"type": "string"}}},
    "required": ["text", "citations"],
}


def scripted(*rules):
    return ScriptedChat(model="scripted", rules=list(rules))


def test_the_first_rule_that_matches_answers_with_what_it_matched(request_of):
    chat = scripted(
        {"phase": "judge", "data": {"text": "wrong phase", "citations": []}},
        {
            "phase": "read",
            "pattern": r"\[(?P<id>e\d+)\].*lives in (\w+)",
            "data": {"text": r"In \2.", "citations": [r"\g<id>"]},
        },
        {"pattern": "", "text": "fallback"},
    )
    reply = chat.ask(request_of("[e7] Ann lives in Oslo", schema=ANSWER))
    assert reply.data == {"text": "In Oslo.", "citations": ["e7"]}
    assert chat.ask(request_of("something else")).text == "fallback"


def test_without_a_rule_the_reply_is_of_the_shape_asked_for(request_of):
    assert scripted().ask(request_of(schema=ANSWER)).data == {"text": "scripted", "citations": []}
    assert scripted().ask(request_of(choices=("no", "yes"))).text == "no"
    assert scripted().ask(request_of()).text == "scripted"


def test_usage_counts_words_of_prompt_and_reply(request_of):
    reply = scripted({"text": "one two three."}).ask(request_of("a b"))
    assert reply.usage == (Usage(phase="read", model="scripted", prompt=2, completion=4),)


def test_a_reply_beyond_its_budget_is_cut_off(request_of):
    reply = scripted({"text": "one two three"}).ask(request_of(max_tokens=2))
    assert reply.truncated and reply.data is None


def test_a_rule_that_does_not_fit_its_request_fails_like_a_model_would(request_of):
    with pytest.raises(ReplyError) as caught:
        scripted({"text": "not json"}).ask(request_of(schema=ANSWER))
    assert caught.value.reason == "invalid" and len(caught.value.usage) == 1


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"txt": "x"}, r"rules\[0\].txt must be one of data, pattern, phase, text"),
        ({"pattern": "x"}, "either text or data"),
        ({"text": "x", "data": 1}, "either text or data"),
        ({"pattern": "(", "text": "x"}, "pattern must be a regular expression"),
    ],
)
def test_bad_rules_are_named(rule, message):
    with pytest.raises(ConfigError, match=message):
        scripted(rule)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 12},
        {"type": "string", "maxLength": 3},
        {"type": "integer", "minimum": 3, "maximum": 9},
        {"type": "number", "maximum": -1},
        {"type": "integer", "exclusiveMinimum": 3},
        {"type": ["null", "string"]},
        {"enum": ["a", "b"]},
        {"const": 5},
        {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        {"type": "array", "items": {"type": "integer"}, "minItems": 2},
        {
            "$defs": {"n": {"type": "integer"}},
            "type": "object",
            "properties": {"n": {"$ref": "#/$defs/n"}},
            "required": ["n"],
        },
    ],
)
def test_instances_are_valid_and_always_the_same(schema):
    assert instance(schema) == instance(schema)
    Draft202012Validator(schema).validate(instance(schema))


def test_a_schema_that_is_beyond_it_asks_for_a_rule():
    for schema in (
        {"type": "string", "pattern": "^x$"},
        {"type": "array", "minItems": 2, "uniqueItems": True, "items": {"type": "null"}},
    ):
        with pytest.raises(ConfigError, match="Give it a rule"):
            instance(schema)
