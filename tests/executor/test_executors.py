"""Every executor gives what a plain loop over its jobs gives, wherever the work is done."""

import os
import threading
from functools import partial
from itertools import starmap
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from sodamem.errors import ConfigError, DataError, ModelError, ServiceError, SodamemError
from sodamem.executor import threads
from sodamem.executor.apart import done, packed
from sodamem.executor.loky import LokyExecutor
from sodamem.executor.serial import SerialExecutor
from sodamem.executor.spread import Spread
from sodamem.executor.threads import ThreadsExecutor
from sodamem.types import Usage

EXECUTORS = {
    "serial": SerialExecutor(),
    "threads": ThreadsExecutor(jobs=3),
    "loky": LokyExecutor(jobs=2),
}


@pytest.fixture(params=EXECUTORS)
def executor(request):
    return EXECUTORS[request.param]


def numbers(*words):
    """A job that any process can unpack: its words as numbers, and ValueError at a word that is none."""
    return partial(map, int, words)


def test_all_items_in_the_order_of_the_jobs(executor):
    jobs = [numbers(*(f"{job}{n}" for n in range(job % 4))) for job in range(12)]
    assert list(executor.spread(jobs)) == [int(f"{job}{n}") for job in range(12) for n in range(job % 4)]


def test_no_jobs_are_no_items(executor):
    assert list(executor.spread([])) == []


def test_what_a_job_made_before_it_failed_is_not_lost(executor):
    found = []
    with pytest.raises(ValueError, match=r"invalid literal.*'x'"):
        found.extend(executor.spread([numbers("1", "2"), numbers("3", "x", "4"), numbers("y"), numbers("5")]))
    assert found == [1, 2, 3]


def test_an_executor_can_be_used_again_after_a_failure(executor):
    with pytest.raises(ValueError):
        list(executor.spread([numbers("x")]))
    assert list(executor.spread([numbers("1"), numbers("2")])) == [1, 2]


def test_jobs_are_taken_as_they_are_needed(executor):
    """Ten thousand histories never lie in memory together."""
    taken = []
    stream = executor.spread(taken.append(n) or numbers(str(n)) for n in range(10_000))
    assert [next(stream) for _ in range(20)] == list(range(20))
    assert len(taken) <= 20 + 2 * 3
    stream.close()
    assert len(taken) <= 20 + 2 * 3


def test_every_process_does_its_linear_algebra_on_one_thread(executor):
    """Else the last bits of a product, and with them a rank, depend on where it was computed."""
    assert np.ones((2, 2)) @ np.ones(2) is not None  # the library is loaded
    if executor.apart:
        assert (
            list(executor.spread([partial(map, os.getenv, ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"))])) == ["1"] * 2
        )
        return
    before = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    seen = executor.spread([lambda: (pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")])
    assert set(seen) == {1}
    assert [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"] == before


# --- threads ------------------------------------------------------------------------------------------------


def test_as_many_jobs_run_together_as_there_are_threads():
    meeting = threading.Barrier(3, timeout=30)  # nobody passes before three are there

    def job():
        yield meeting.wait() >= 0

    assert list(ThreadsExecutor(jobs=3).spread([job] * 6)) == [True] * 6


def test_items_of_the_first_job_are_handed_on_while_it_runs():
    handed = threading.Event()

    def job():
        yield "first"
        yield handed.wait(30)

    stream = ThreadsExecutor(jobs=1).spread([job])
    assert next(stream) == "first"
    handed.set()
    assert next(stream) is True


def test_jobs_under_way_end_at_their_next_item_when_nobody_listens(monkeypatch):
    begun, stopped, made, closed = threading.Event(), threading.Event(), [], []

    class Stop(threading.Event):
        def set(self):
            super().set()
            stopped.set()

    def long():
        try:
            begun.set()
            assert stopped.wait(30)
            for n in range(1000):
                yield made.append(n)
        finally:
            closed.append(threading.get_ident())

    monkeypatch.setattr(threads, "Event", Stop)
    stream = ThreadsExecutor(jobs=2).spread([partial(iter, (1,)), long])
    assert next(stream) == 1 and begun.wait(30)
    stream.close()
    assert len(made) == 1 and len(closed) == 1 and closed[0] != threading.get_ident()


def test_an_error_that_is_no_exception_does_not_leave_the_reader_waiting():
    def job():
        yield 1
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        list(ThreadsExecutor(jobs=1).spread([job]))


# --- other processes ----------------------------------------------------------------------------------------


def test_work_is_done_in_other_processes_and_a_worker_is_kept():
    job = partial(starmap, os.getpid, ((),))
    first, second = (set(LokyExecutor(jobs=2).spread([job] * 6)) for _ in range(2))
    assert os.getpid() not in first | second and len(first | second) <= 2


def test_relative_paths_count_from_where_the_run_was_started(tmp_path, monkeypatch):
    job = partial(map, os.path.abspath, ("here",))
    for folder in ("a", "b"):  # the workers of the first are those of the second
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        assert list(LokyExecutor(jobs=1).spread([job])) == [str(tmp_path / folder / "here")]


def test_a_folder_that_a_machine_lacks_is_named(tmp_path):
    before = Path.cwd()
    with pytest.raises(ConfigError, match=rf"working directory {tmp_path}/gone must be there on every machine"):
        list(done(packed(numbers("1")), str(tmp_path / "gone")))
    assert Path.cwd() == before


def test_a_worker_that_dies_is_one_line_and_what_was_before_it_is_there():
    found = []
    with pytest.raises(
        ServiceError, match=r"a worker of executor=loky ended without a word.*Lower executor\.jobs"
    ) as at:
        found.extend(LokyExecutor(jobs=1).spread([numbers("1"), partial(map, os._exit, (9,)), numbers("2")]))
    assert found == [1] and "\n" not in str(at.value)
    assert list(LokyExecutor(jobs=1).spread([numbers("3")])) == [3]


def failing(error):
    raise error
    yield


@pytest.mark.parametrize("error", [DataError("file must be whole"), ValueError("a", 2)])
def test_an_error_is_the_same_on_the_other_side(error):
    with pytest.raises(type(error)) as caught:
        list(done(packed(partial(failing, error)), str(Path.cwd())))
    assert caught.value.args == error.args


def test_an_error_that_cannot_travel_still_says_what_it_said():
    """An exception whose constructor wants more than a message cannot be unpickled, and would break the pool."""
    outcome = done(packed(Unpacked()), str(Path.cwd()))
    assert type(outcome.error) is SodamemError and str(outcome.error) == "the model is gone"


class Unpacked:
    def __call__(self):
        usage = (Usage(phase="read", model="m"),)
        yield from failing(ModelError("the model is gone", reason="unreachable", usage=usage))


def test_a_fault_of_ours_says_where_it_was_and_a_users_fault_does_not():
    ours, users = (done(packed(partial(failing, e)), str(Path.cwd())).error for e in (KeyError("k"), DataError("file")))
    assert "failing" in ours.__notes__[0] and not hasattr(users, "__notes__")


def test_parts_that_no_configuration_describes_stay_in_this_process():
    corpus = type("Corpus", (), {"history_ids": ("h",), "questions": lambda self, _: ("q",)})()
    with pytest.raises(ConfigError, match="executor must be serial or threads for parts that no configuration"):
        list(Spread(executor=LokyExecutor(jobs=1)).over(corpus, numbers, None))
