import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sodamem.records import canonical, flat, redacted, report_name, tracked_name


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("recall@10", "recall_at_10"),
        ("category_2/nDCG@5", "category_2/nDCG_at_5"),
        ("knowledge-update/accuracy", "knowledge-update/accuracy"),
        ("recall(5)", "recall:u0028:5:u0029:"),
        ("a[0].k", "a:u005b:0:u005d:.k"),
        ("nonfinite:loss", "nonfinite:u003a:loss"),
        ("temps d'été", "temps d:u0027::u00e9:t:u00e9:"),
    ],
)
def test_report_names_have_one_tracked_form(label, name):
    assert tracked_name(label) == name
    assert report_name(name) == label


@given(st.one_of(st.text(min_size=1), st.text(alphabet="_at@:/.u", min_size=1)))
def test_every_name_is_one_a_tracker_takes_and_comes_back(label):
    name = tracked_name(label)
    assert re.fullmatch(r"[A-Za-z0-9_.\- /:]+", name)
    assert report_name(name) == label
    assert not re.search(r"(^|/)(\.{1,2})?(/|$)", name)


def test_equal_settings_are_equal_strings():
    assert canonical(1) == canonical(1.0) == "1"
    assert canonical(0.3) == "0.3" and canonical(True) == "true" and canonical(None) == "null"
    assert canonical((1.0, "a,b")) == canonical([1, "a,b"]) == '["1", "a,b"]'
    assert canonical("65240037") == "65240037"


def test_a_nested_configuration_is_flat_and_sorted():
    nested = {"tunnel": {"bm25": {"k1": 1.5}, "none": {}}, "k": [1, 5], "parts": [{"a": 1}, {"a": True}]}
    assert flat(nested) == {
        "k": '["1", "5"]', "parts.0.a": "1", "parts.1.a": "true", "tunnel.bm25.k1": "1.5", "tunnel.none": "{}",
    }  # fmt: skip


@pytest.mark.parametrize(
    "key",
    ["api_key", "openai_api_key", "apikey", "password", "db.password", "token", "hf_token", "client_secret", "x_key"],
)
def test_secrets_are_masked(key):
    assert flat({"a": {key: "canary"}}) == {f"a.{key}": "***"}


@pytest.mark.parametrize(
    "key", ["num_tokens", "batch_tokens", "api_key_env", "keyword", "monkey", "key", "token_budget"]
)
def test_what_only_sounds_secret_is_kept(key):
    assert flat({"a": {key: 7}}) == {f"a.{key}": "7"}


def test_no_parameters_are_no_rows():
    assert flat({}) == {}
    assert flat({"fields": {"b", "a"}}) == {"fields": '["a", "b"]'}


def test_an_unset_secret_shows_that_it_is_unset():
    assert flat({"api_key": None}) == {"api_key": "null"}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("postgresql://sam:canary@host/db", "postgresql://***@host/db"),
        ("failed at https://canary@host:1/x and http://u:p@h", "failed at https://***@host:1/x and http://***@h"),
        ("http://h/v1?api_key=canary&k=1", "http://h/v1?api_key=***&k=1"),
        ("Authorization: Bearer canary.x", "Authorization: Bearer ***"),
        ("mail sam@host.org about sqlite:////a/b.db", "mail sam@host.org about sqlite:////a/b.db"),
    ],
)
def test_credentials_inside_text_are_masked(text, clean):
    assert redacted(text) == clean
