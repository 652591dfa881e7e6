"""The histories of a corpus as jobs for an executor: here with the parts there are, elsewhere with parts made again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from sodamem.errors import ConfigError
from sodamem.executor.serial import SerialExecutor
from sodamem.protocols import Corpus, Executor
from sodamem.types import History, Question

P = TypeVar("P")
T = TypeVar("T")
Each = Callable[[P, History, Sequence[Question]], Iterator[T]]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Who works on the histories of a corpus, and how another process makes the same parts (None: it cannot)."""

    executor: Executor
    recipe: Callable[[], Any] | None = None

    def over(self, corpus: Corpus, each: Each[P, T], parts: P) -> Generator[T, None, None]:
        """What `each` gives for every history that somebody asks about, in the order of the corpus.

        Where the executor works in other processes, `each` must be importable there.
        """
        return self.executor.spread(self._jobs(corpus, each, parts))

    def _jobs(self, corpus: Corpus, each: Each[P, T], parts: P) -> Iterator[Job[P, T]]:
        for history_id in corpus.history_ids:
            if questions := corpus.questions(history_id):
                yield Job(each, parts, corpus, history_id, questions, self.recipe)


@dataclass(frozen=True)
class Job(Generic[P, T]):
    """All there is to do with one history, which is loaded when the job is begun.

    Pickled, it is the history that travels, so that no other process reads the data; the parts do not, and are made
    there by the recipe.
    """

    each: Each[P, T]
    parts: P
    corpus: Corpus
    history_id: str
    questions: Sequence[Question]
    recipe: Callable[[], P] | None

    def __call__(self) -> Iterator[T]:
        return self.each(self.parts, self.corpus.history(self.history_id), self.questions)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.recipe is None:
            raise ConfigError("executor must be serial or threads for parts that no configuration describes")
        return _there, (self.each, self.recipe, self.corpus.history(self.history_id), tuple(self.questions))


def _there(
    each: Each[P, T], recipe: Callable[[], P], history: History, questions: Sequence[Question]
) -> Callable[[], Iterator[T]]:
    return partial(each, recipe(), history, questions)


ALONE = Spread(executor=SerialExecutor())
