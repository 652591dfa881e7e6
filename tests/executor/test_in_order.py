"""What every executor rests on: items in the order of the jobs, few jobs begun ahead, errors at their place."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from sodamem.errors import ConfigError
from sodamem.executor import ahead as module
from sodamem.executor.ahead import ahead
from sodamem.executor.in_order import AHEAD, in_order, raising
from sodamem.executor.loky import LokyExecutor
from sodamem.executor.ray import RayExecutor
from sodamem.executor.threads import ThreadsExecutor


def numbered(begun, count=100):
    """Jobs that say when they are begun, each of two items."""

    def begin(job):
        begun.append(job)
        return iter((f"{job}a", f"{job}b"))

    return range(count), begin


def test_items_come_in_the_order_of_the_jobs():
    jobs, begin = numbered([], 3)
    assert list(in_order(jobs, begin, 2)) == ["0a", "0b", "1a", "1b", "2a", "2b"]


def test_no_more_jobs_are_begun_than_may_wait():
    begun = []
    stream = in_order(*numbered(begun), 4)
    assert next(stream) == "0a" and begun == [0, 1, 2, 3]
    assert [next(stream), next(stream)] == ["0b", "1a"] and begun == [0, 1, 2, 3, 4]


def test_an_error_comes_after_the_items_before_it_and_nothing_comes_after_it():
    def begin(job):
        return raising(ValueError("second")) if job == 1 else iter((job,))

    stream = in_order(range(4), begin, 3)
    assert next(stream) == 0
    with pytest.raises(ValueError, match="second"):
        next(stream)
    assert list(stream) == []


def test_a_job_that_cannot_be_taken_fails_at_its_place():
    """As where the data of the third history is damaged: the first two are worked on all the same."""

    def jobs():
        yield from (0, 1)
        raise ValueError("damaged")

    stream = in_order(jobs(), lambda job: iter((job,)), 8)
    assert [next(stream), next(stream)] == [0, 1]
    with pytest.raises(ValueError, match="damaged"):
        next(stream)


@pytest.mark.parametrize("jobs", [0, -1])
@pytest.mark.parametrize(
    "make", [ThreadsExecutor, LokyExecutor, lambda jobs: RayExecutor(address=None, jobs=jobs)], ids=["t", "l", "r"]
)
def test_work_for_nobody_is_refused(make, jobs):
    with pytest.raises(ConfigError, match=rf"executor\.jobs must be >= 1, got {jobs}"):
        make(jobs=jobs)


# --- work begun ahead ---------------------------------------------------------------------------------------

TOLD = ContextVar("told", default="nothing")


def test_a_width_of_one_is_a_plain_loop_in_this_thread():
    taken = []
    stream = ahead((taken.append(n) or n for n in range(3)), lambda n: threading.get_ident(), 1)
    assert next(stream) == (0, threading.get_ident()) and taken == [0]


def test_as_many_are_worked_on_together_as_the_width_says():
    meeting = threading.Barrier(3, timeout=30)  # nobody passes before three are there
    assert [n for n, _ in ahead(range(6), lambda n: meeting.wait(), 3)] == list(range(6))


def test_few_items_are_taken_ahead_of_the_one_that_is_handed_on():
    taken = []
    stream = ahead((taken.append(n) or n for n in range(100)), str, 3)
    assert next(stream) == (0, "0") and len(taken) == AHEAD * 3
    stream.close()


def test_threads_ahead_see_what_the_caller_has_set():
    TOLD.set("here")
    assert {found for _, found in ahead(range(4), lambda _: TOLD.get(), 2)} == {"here"}


def test_where_work_raises_what_is_under_way_is_waited_for_and_nothing_more_begun(monkeypatch):
    begun, ended, cancelled = [], [], threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait=True, *, cancel_futures=False):
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            cancelled.set()
            super().shutdown(wait=wait)

    def work(n):
        begun.append(n)
        if n == 0:
            raise ValueError("outage")
        assert cancelled.wait(30)
        ended.append(n)

    monkeypatch.setattr(module, "ThreadPoolExecutor", Pool)
    with pytest.raises(ValueError, match="outage"):
        list(module.ahead(range(100), work, 2))
    assert set(begun) <= {0, 1, 2} and set(ended) == set(begun) - {0}  # 3 was given to the pool, and never begun
