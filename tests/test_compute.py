"""Promises of the worker processes: isolation, limits, order, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from chunk_assets.compute import Finished, Task, WorkerPool, convert_all, run_all
from chunk_assets.converters.base import Limits
from chunk_assets.errors import ConfigurationError, DocumentFailure
from chunk_assets.records import Converted

LIMITS = Limits(max_seconds=20.0, max_memory_mb=500)
TIGHT = Limits(max_seconds=0.5, max_memory_mb=500)


def square(number: int) -> int:
    return number * number


def pid_of_worker(_: int = 0) -> int:
    return os.getpid()


def hang() -> None:
    while True:
        pass


def sleep_long() -> None:
    time.sleep(60)


def eat_memory() -> int:
    kept = []
    while True:
        kept.append(bytearray(20_000_000))


def claim_address_space() -> int:
    return len(bytearray(50_000_000_000))


def die() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def leave() -> None:
    os._exit(3)


def complain() -> None:
    raise ValueError("no good\nsecond line")


class Panic(BaseException):
    """What a native library throws past every ``except Exception``."""


def panic() -> None:
    raise Panic("index out of bounds")


def unpicklable() -> object:
    return lambda: None


def chatter() -> str:
    sys.stdout.write("on standard output")
    sys.stdout.flush()
    os.write(1, b"and past Python\n")
    return "fine"


def environment(name: str) -> str | None:
    return os.environ.get(name)


def convert(text: str) -> Converted:
    return Converted(text)


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


def test_map_keeps_the_order():
    with WorkerPool(2) as pool:
        assert list(pool.map(square, range(20))) == [n * n for n in range(20)]


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


def test_a_dead_worker_costs_only_its_own_task():
    functions = [Task(square, (1,)), Task(die), Task(square, (2,)), Task(hang, (), TIGHT), Task(square, (3,))]
    results = list(run_all(functions, workers=2, limits=LIMITS))
    assert [r.value for r in results] == [1, None, 4, None, 9]
    assert [r.status for r in results] == ["ok", "crash", "ok", "timeout", "ok"]


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


def len_of_zeros(count: int) -> int:
    return len(bytes(bytearray(b"x") * count))


def test_results_are_the_same_with_one_worker_and_with_two():
    tasks = [Task(square, (n,)) for n in range(30)] + [Task(complain), Task(die), Task(square, (31,))]

    def outcome(workers: int) -> list[tuple[object, str, str]]:
        return [(r.value, r.status, r.reason) for r in run_all(tasks, workers=workers, limits=LIMITS)]

    assert outcome(1) == outcome(2)


def test_tasks_are_drawn_only_as_fast_as_answers_are_taken():
    drawn = []

    def tasks():
        for n in range(1_000):
            drawn.append(n)
            yield Task(square, (n,))

    results = run_all(tasks(), workers=1, limits=LIMITS)
    assert next(results).value == 0
    assert len(drawn) < 20
    results.close()


def test_an_abandoned_stream_leaves_no_process_behind():
    before = set(psutil.Process().children(recursive=True))
    results = run_all([Task(square, (1,)), Task(sleep_long)], workers=2, limits=LIMITS)
    assert next(results).value == 1
    results.close()
    assert set(psutil.Process().children(recursive=True)) <= before


def test_an_error_inside_the_with_block_kills_what_runs():
    started = time.perf_counter()
    running = []

    def interrupted() -> None:
        with WorkerPool(1) as pool:
            running.append(pool.submit(sleep_long))
            time.sleep(0.3)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.perf_counter() - started < 20
    assert running[0].done()


def test_a_foreign_executor_still_gets_isolation_and_limits():
    with ThreadPoolExecutor(2) as threads:
        tasks = [Task(square, (3,)), Task(die), Task(hang, (), TIGHT), Task(pid_of_worker)]
        results = list(run_all(tasks, workers=2, limits=LIMITS, executor=threads))
    assert [r.status for r in results] == ["ok", "crash", "timeout", "ok"]
    assert results[3].value != os.getpid()


def test_convert_all_gives_a_document_for_every_task():
    tasks = [Task(convert, ("# One",)), Task(die), Task(convert, ("# Two",))]
    values = [f.value for f in convert_all(tasks, workers=2, limits=LIMITS)]
    assert [v.status for v in values] == ["ok", "crash", "ok"]
    assert [v.markdown for v in values] == ["# One", "", "# Two"]
    assert "SIGSEGV" in values[1].reason


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


def test_it_works_from_python_dash_c_without_a_main_module():
    code = (
        "from chunk_assets.compute import run_all, Task; from math import factorial;"
        "print([r.value for r in run_all([Task(factorial, (n,)) for n in range(5)], workers=2)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[1, 1, 2, 6, 24]"
    assert done.stderr == ""


def test_workers_die_with_a_parent_that_is_killed():
    code = (
        "import test_compute, sys; from chunk_assets.compute import *\n"
        "p = WorkerPool(1); print(p.submit(test_compute.pid_of_worker).result(), flush=True)\n"
        "p.submit(test_compute.hang).result()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
    )
    with parent:
        assert parent.stdout is not None
        worker = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    _, alive = psutil.wait_procs([worker], timeout=10)
    assert not alive


def test_finished_without_a_document_is_never_ok():
    assert Finished(value=3).converted.status == "crash"
