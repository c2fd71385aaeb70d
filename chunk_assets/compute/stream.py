"""Many tasks through a pool, answers in the order of the tasks, with a bounded number in flight."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack

from chunk_assets.compute.pool import WorkerPool
from chunk_assets.compute.tasks import Finished, Task
from chunk_assets.compute.worker import describe
from chunk_assets.converters.base import Limits
from chunk_assets.errors import StopRun
from chunk_assets.records import Converted

# Tasks in flight for each worker: enough that a slow document does not idle its neighbours, few
# enough that results waiting for their turn stay small.
IN_FLIGHT = 8
_here = threading.local()


def run_all(
    tasks: Iterable[Task], *, workers: int = 1, limits: Limits | None = None, executor: Executor | None = None
) -> Iterator[Finished]:
    """One ``Finished`` for each task, in the order of the tasks, whatever the number of workers.

    Tasks are drawn from their iterable only as fast as answers are taken. With an ``executor`` that
    is not a ``WorkerPool`` (a cluster's), each task still runs in a killable process, over there.
    """
    with ExitStack() as stack:
        pool = executor
        if pool is None:
            own = WorkerPool(workers, limits)
            stack.callback(own.close)
            pool = own
        most = IN_FLIGHT * max(workers, getattr(pool, "workers", 1))
        waiting: deque[Future[Finished]] = deque()
        stack.callback(_cancel, waiting)
        for task in tasks:
            waiting.append(_submit(pool, task, limits))
            if len(waiting) >= most:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())


def convert_all(
    tasks: Iterable[Task], *, workers: int = 1, limits: Limits, executor: Executor | None = None
) -> Iterator[Finished]:
    """``run_all`` for conversions: the ``value`` of every answer is a ``Converted``.

    A document that ran into a limit or killed its worker is an empty one with status and reason.
    """
    for finished in run_all(tasks, workers=workers, limits=limits, executor=executor):
        if isinstance(finished.value, Converted):
            yield finished
        else:
            yield Finished(
                finished.converted,
                finished.status,
                finished.reason,
                finished.seconds,
                finished.cpu_seconds,
                finished.peak_mb,
                finished.error,
            )


def run_isolated(task: Task, limits: Limits | None) -> Finished:
    """Runs ``task`` in a worker process of the calling thread; for executors that can't kill."""
    if getattr(_here, "pool", None) is None:
        _here.pool = WorkerPool(1)
    pool: WorkerPool = _here.pool
    return pool.run(Task(task.function, task.arguments, task.limits or limits)).result()


def _submit(executor: Executor, task: Task, limits: Limits | None) -> Future[Finished]:
    if isinstance(executor, WorkerPool):
        return executor.run(Task(task.function, task.arguments, task.limits or limits))
    return executor.submit(run_isolated, task, limits)


def _result(future: Future[Finished]) -> Finished:
    try:
        return future.result()
    except StopRun:
        raise  # the whole cluster is lost
    except Exception as error:  # noqa: BLE001 - a cluster lost this task; the others go on
        return Finished(status="crash", reason=describe(error), error=error)


def _cancel(waiting: deque[Future[Finished]]) -> None:
    for future in waiting:
        future.cancel()
