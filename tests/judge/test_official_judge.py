"""The benchmark's own protocol: templates taken from the user's file without running it, both parsings side by side."""

import hashlib
from datetime import datetime
from functools import cache

import pytest

from sodamem import build, config
from sodamem.errors import ConfigError, DataError, ReplyError
from sodamem.judge.official import templates_of
from sodamem.types import Answer, ChatReply, Question

# A file of the benchmark's form, in words of our own.
FILE = """
import nothing_that_is_installed

raise SystemExit("this file must never run")

def get_anscheck_prompt(task, question, answer, response, abstention=False):
    if not abstention:
        if task in ['single-session-user', 'multi-session']:
            template = "shared\\n\\nQ: {}\\nGold: {}\\nSaid: {}\\nyes or no?"
            prompt = template.format(question, answer, response)
        elif task == 'temporal-reasoning':
            template = "time " "Q: {}\\nGold: {}\\nSaid: {}"
            prompt = template.format(question, answer, response)
        else:
            raise NotImplementedError
    else:
        template = "absent {} {} {}"
        prompt = template.format(question, answer, response)
    return prompt
"""


class Saying:
    digest = "saying"

    def __init__(self, text="yes", error=None):
        self.text, self.error, self.asked = text, error, []

    def ask(self, request):
        self.asked.append(request)
        if self.error:
            raise self.error
        return ChatReply(text=self.text, data=None, model="m", truncated=False, usage=())


@cache
def packaged():
    return config.plain(config.compose("judge=official").judge)


@pytest.fixture
def official(tmp_path):
    def make(chat=None, *, source=FILE, **changes):
        path = tmp_path / "evaluate_qa.py"
        path.write_text(source)
        return build.build(packaged() | {"path": str(path)} | changes, "judge", chat=chat or Saying())

    return make


def question(category="multi-session", **more):
    return Question(
        id="q",
        history_id="q",
        text="Which {pet}?",
        asked_at=datetime(2024, 1, 1),
        category=category,
        category_name="",
        gold="a {cat}",
        **more,
    )


def test_the_prompt_is_the_files_own_and_nothing_else_is_sent(official):
    chat = Saying()
    official(chat).grade(question(), Answer(text="a {0} dog"))
    (request,) = chat.asked
    (message,) = request.messages
    assert message.content == "shared\n\nQ: Which {pet}?\nGold: a {cat}\nSaid: a {0} dog\nyes or no?"
    assert (message.role, request.max_tokens, request.temperature, request.schema, request.choices) == (
        "user",
        10,
        0,
        None,
        (),
    )


def test_templates_go_by_type_and_abstention_by_the_question(official):
    chat = Saying()
    for asked in (question("temporal-reasoning"), question("temporal-reasoning", answerable=False)):
        official(chat).grade(asked, Answer(text="x"))
    assert [request.messages[0].content.split()[0] for request in chat.asked] == ["time", "absent"]


def test_a_type_without_a_template_is_unjudged_as_the_benchmark_would_fail(official):
    chat = Saying()
    verdict = official(chat).grade(question("category_1"), Answer(text="x"))
    assert verdict.label == "unjudged" and "no template for type category_1" in verdict.reason and not chat.asked


@pytest.mark.parametrize(
    ("reply", "by_official", "by_strict"),
    [
        ("yes", "correct", "correct"),
        ("No.", "incorrect", "incorrect"),
        ("Yes.", "correct", "correct"),
        ("**no**", "incorrect", "incorrect"),
        ("I cannot say yes to this", "correct", "unjudged"),  # any "yes" counts, and so it is told apart
        ("Yesterday is wrong", "correct", "unjudged"),
        ("correct", "incorrect", "unjudged"),
        ("", "incorrect", "unjudged"),
    ],
)
def test_both_parsings_are_given_side_by_side(official, reply, by_official, by_strict):
    for parsing, label in (("official", by_official), ("strict", by_strict)):
        verdict = official(Saying(reply), parsing=parsing).grade(question(), Answer(text="x"))
        assert verdict.label == label and verdict.raw == reply
        assert f"official parsing {by_official}, strict parsing {by_strict}" in verdict.reason


def test_the_hash_of_the_file_is_in_the_verdict_and_in_the_digest(official):
    first = official()
    assert hashlib.sha256(FILE.encode()).hexdigest()[:12] in first.grade(question(), Answer(text="x")).reason
    before = first.digest
    assert official(source=FILE.replace("shared", "other")).digest != before
    assert official(parsing="strict").digest != before


def test_a_failed_call_is_unjudged(official):
    verdict = official(Saying(error=ReplyError("empty", reason="empty"))).grade(question(), Answer(text="x"))
    assert (verdict.label, verdict.reason) == ("unjudged", "failed: empty")
    assert official().grade(question(), Answer(text="", status="failed")).label == "unjudged"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def get_anscheck_prompt", "def other", "with that function"),
        ("(task, question, answer, response", "(task, answer, question, response", "with parameters"),
        ("if not abstention", "if abstention", "if not abstention"),
        ("task in", "kind in", "comparisons of task"),
        ("format(question, answer, response)", "format(answer, question, response)", "filled with question, answer"),
        ("absent {} {} {}", "absent {} {}", "filled with question, answer"),
        ("absent {} {} {}", "absent {0.__class__} {} {}", "filled with question, answer"),
        ('template = "absent', 'template = "absent" + make() + "', "filled with question, answer"),
        ("def get_anscheck_prompt", "def get_anscheck_prompt(:", "must be Python"),
    ],
)
def test_a_file_of_another_form_is_refused_not_guessed_at(old, new, said):
    with pytest.raises(DataError, match=said):
        templates_of(FILE.replace(old, new).encode(), "evaluate_qa.py")


def test_a_path_that_is_missing_is_one_line(tmp_path):
    judge = build.build(packaged(), "judge", chat=Saying())
    with pytest.raises(ConfigError, match=r"judge\.path must name LongMemEval's evaluate_qa\.py, got null"):
        judge.grade(question(), Answer(text="x"))
    other = build.build(packaged() | {"path": f"{tmp_path}/none.py"}, "judge", chat=Saying())
    with pytest.raises(DataError, match="must name a readable file"):
        _ = other.digest


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [("parsing", "lax", "parsing must be one of official, strict"), ("max_tokens", 0, "max_tokens must be >= 1")],
)
def test_settings_that_cannot_be_are_refused(official, key, value, said):
    with pytest.raises(ConfigError, match=said):
        official(**{key: value})


def test_a_repeat_is_asked_as_one(official):
    chat = Saying()
    official(chat).repeated(3).grade(question(), Answer(text="x"))
    assert chat.asked[0].repeat == 3
