"""Promises of the worker processes to one task: isolation, limits, and how deaths are told."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from chunk_assets.compute import Finished, Task, WorkerPool
from chunk_assets.converters.base import Limits
from chunk_assets.errors import ConfigurationError, DocumentFailure
from tests.compute_tasks import (
    LIMITS,
    TIGHT,
    chatter,
    claim_address_space,
    complain,
    die,
    eat_memory,
    environment,
    hang,
    leave,
    len_of_zeros,
    panic,
    pid_of_worker,
    sleep_long,
    square,
    unpicklable,
)


@pytest.fixture
def pool():
    with WorkerPool(1, LIMITS) as made:
        yield made


def test_submit_runs_in_another_process_that_stays_warm(pool):
    pids = [pool.submit(pid_of_worker).result() for _ in range(3)]
    assert os.getpid() not in pids
    assert len(set(pids)) == 1


def test_submit_raises_what_the_function_raised(pool):
    with pytest.raises(ValueError, match="no good"):
        pool.submit(complain).result()


def test_submit_takes_keyword_arguments(pool):
    assert pool.submit(square, number=7).result() == 49


@pytest.mark.parametrize("function", [hang, sleep_long])
def test_a_task_over_its_time_is_killed_and_named_timeout(pool, function):
    finished = pool.run(Task(function, (), TIGHT)).result()
    assert (finished.status, finished.reason) == ("timeout", "took longer than 0.5 seconds")
    assert 0.5 <= finished.seconds < 10


def test_the_limit_on_time_reaches_submit_as_a_document_failure():
    with WorkerPool(1, TIGHT) as pool, pytest.raises(DocumentFailure, match="timeout"):
        pool.submit(sleep_long).result()


def test_a_task_over_its_memory_is_stopped_and_named_memory(pool):
    finished = pool.run(Task(eat_memory, (), Limits(max_memory_mb=200))).result()
    assert finished.status == "memory"
    assert finished.peak_mb < 400


def test_one_giant_allocation_is_refused_as_memory(pool):
    assert pool.run(Task(claim_address_space)).result().status == "memory"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (die, "the worker process died of SIGSEGV"),
        (leave, "the worker process ended with exit code 3"),
        (complain, "ValueError: no good"),
        (panic, "Panic: index out of bounds"),
    ],
)
def test_a_death_is_a_crash_with_its_reason(pool, function, reason):
    finished = pool.run(Task(function)).result()
    assert (finished.status, finished.reason) == ("crash", reason)


def test_a_value_that_cannot_travel_is_a_crash_not_a_hang(pool):
    assert pool.run(Task(unpicklable)).result().status == "crash"
    assert pool.run(Task(lambda: 1)).result().status == "crash"
    assert pool.submit(square, 3).result() == 9


def test_prints_of_libraries_do_not_disturb_the_answers(pool, capfd):
    assert pool.submit(chatter).result() == "fine"
    assert capfd.readouterr().out == ""


def test_workers_run_native_code_on_one_thread(pool):
    assert pool.submit(environment, "OMP_NUM_THREADS").result() == "1"


def test_every_answer_says_time_and_memory(pool):
    finished = pool.run(Task(sum, (range(2_000_000),))).result()
    assert finished.seconds > 0
    assert finished.cpu_seconds > 0
    assert 5 < finished.peak_mb < 300


def test_the_peak_of_one_task_is_not_blamed_on_the_next(pool):
    fat = pool.run(Task(len_of_zeros, (150_000_000,))).result()
    slim = pool.run(Task(square, (2,))).result()
    assert fat.peak_mb > 150
    if sys.platform == "linux":
        assert slim.peak_mb < 150


def test_a_worker_killed_while_idle_is_replaced_silently(pool):
    first = pool.submit(pid_of_worker).result()
    os.kill(first, signal.SIGKILL)
    time.sleep(0.2)
    finished = pool.run(Task(pid_of_worker)).result()
    assert finished.status == "ok"
    assert finished.value != first


def test_a_shut_down_pool_refuses_work():
    pool = WorkerPool(1)
    pool.shutdown()
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(square, 1)


def test_no_workers_is_a_configuration_error():
    with pytest.raises(ConfigurationError, match="at least 1"):
        WorkerPool(0)


def test_finished_without_a_document_is_never_ok():
    assert Finished(value=3).converted.status == "crash"
