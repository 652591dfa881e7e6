"""A desk without a memory behind it."""

from datetime import datetime

import pytest

from sodamem.types import Question


class FakeDesk:
    """Recalls what it was told to for words of the question, and keeps what it was asked and told."""

    def __init__(self, first, found=None, around=()):
        self.first, self.found, self.near = first, found or {}, around
        self.queries, self.steps = [], []

    def __call__(self, question):
        self.queries.append(question.text)
        return next(
            (items for words, items in self.found.items() if words in question.text),
            self.first if len(self.queries) == 1 else [],
        )

    def around(self, item, radius):
        return self.near

    def read(self, text, at):
        return ()

    def note(self, step):
        self.steps.append(step)


@pytest.fixture
def desk():
    """desk(first, {"words": items}) -> a desk that finds `first` at first, and these items for these words."""
    return FakeDesk


@pytest.fixture
def asked():
    return lambda text="Where does Ann live?": Question(
        id="q", history_id="h", text=text, asked_at=datetime(2024, 4, 9), category="", category_name="", gold=""
    )
