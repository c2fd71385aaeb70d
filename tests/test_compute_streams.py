"""Promises of the worker processes to many tasks: order, neighbours, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from chunk_assets.compute import Task, WorkerPool, convert_all, run_all
from tests.compute_tasks import (
    LIMITS,
    TIGHT,
    complain,
    convert,
    die,
    hang,
    pid_of_worker,
    sleep_long,
    square,
)


def test_map_keeps_the_order():
    with WorkerPool(2) as pool:
        assert list(pool.map(square, range(20))) == [n * n for n in range(20)]


def test_a_dead_worker_costs_only_its_own_task():
    functions = [Task(square, (1,)), Task(die), Task(square, (2,)), Task(hang, (), TIGHT), Task(square, (3,))]
    results = list(run_all(functions, workers=2, limits=LIMITS))
    assert [r.value for r in results] == [1, None, 4, None, 9]
    assert [r.status for r in results] == ["ok", "crash", "ok", "timeout", "ok"]


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
        "import compute_tasks, sys; from chunk_assets.compute import *\n"
        "p = WorkerPool(1); print(p.submit(compute_tasks.pid_of_worker).result(), flush=True)\n"
        "p.submit(compute_tasks.hang).result()"
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
