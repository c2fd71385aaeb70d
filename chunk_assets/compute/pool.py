"""Warm worker processes behind ``concurrent.futures.Executor``, each killable on its own."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from chunk_assets.compute.process import WorkerProcess
from chunk_assets.compute.tasks import Finished, Task
from chunk_assets.converters.base import Limits
from chunk_assets.errors import ConfigurationError, DocumentFailure
from chunk_assets.records import OK

P = ParamSpec("P")
T = TypeVar("T")
_open: weakref.WeakSet[WorkerPool] = weakref.WeakSet()


class WorkerPool(Executor):
    """``workers`` processes that are started when first needed, kept warm and replaced when they die.

    ``limits`` bounds every task that brings none of its own: wall time from the start of the function
    and resident memory; a task over them has its process killed. ``None`` means no bounds.
    """

    def __init__(self, workers: int = 1, limits: Limits | None = None) -> None:
        if workers < 1:
            raise ConfigurationError(f"workers must be at least 1, not {workers}")
        self.workers = workers
        self.limits = limits
        self._tasks: SimpleQueue[tuple[Task, Future[Finished]] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._processes: list[WorkerProcess] = []
        self._lock = threading.Lock()
        self._waiting = 0
        self._closed = False
        _open.add(self)

    def run(self, task: Task) -> Future[Finished]:
        """Queues ``task``. The future never raises: what went wrong is in the ``Finished``."""
        future: Future[Finished] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the worker pool is shut down")
            self._waiting += 1
            if self._waiting > len(self._threads) and len(self._threads) < self.workers:
                self._start_worker()
            self._tasks.put((task, future))
        return future

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """``Executor.submit``: a killed or dead worker raises ``DocumentFailure`` from the future."""
        answer: Future[T] = Future()

        def pass_on(done: Future[Finished]) -> None:
            if not answer.set_running_or_notify_cancel():
                return
            if done.cancelled():
                answer.set_exception(DocumentFailure("crash", "the worker pool was shut down"))
                return
            finished = done.result()
            if finished.status == OK:
                answer.set_result(finished.value)
            else:
                failure = finished.error or DocumentFailure(finished.status, finished.reason)
                answer.set_exception(failure)

        task = Task(_call, (fn, args, dict(kwargs))) if kwargs else Task(fn, args)
        self.run(task).add_done_callback(pass_on)
        return answer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """``Executor.shutdown``: the workers end when the queue is empty; ``wait`` waits for that."""
        with self._lock:
            self._closed = True
        if cancel_futures:
            self._cancel_queued()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def close(self) -> None:
        """Ends everything now: queued tasks are cancelled, running ones killed."""
        self.shutdown(wait=False, cancel_futures=True)
        for process, thread in zip(self._processes, self._threads, strict=True):
            while thread.is_alive():  # again and again: it may just be starting its child
                process.abort()
                thread.join(0.02)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.shutdown()
        else:
            self.close()

    def _cancel_queued(self) -> None:
        while not self._tasks.empty():
            item = self._tasks.get()
            if item is not None:
                item[1].cancel()

    def _start_worker(self) -> None:
        process = WorkerProcess()
        thread = threading.Thread(target=self._work, args=(process,), daemon=True)
        self._processes.append(process)
        self._threads.append(thread)
        thread.start()

    def _work(self, process: WorkerProcess) -> None:
        """One thread for each process: it feeds, watches and replaces it."""
        while (item := self._tasks.get()) is not None:
            task, future = item
            if future.set_running_or_notify_cancel():
                future.set_result(self._run(process, task))
            with self._lock:
                self._waiting -= 1
        process.stop()

    def _run(self, process: WorkerProcess, task: Task) -> Finished:
        started = time.perf_counter()
        try:
            return process.run(task, task.limits or self.limits)
        except Exception as error:  # noqa: BLE001 - the thread must live: its queue would hang
            process.kill()
            return Finished(
                status="crash", reason=str(error), error=error, seconds=time.perf_counter() - started
            )


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


@atexit.register
def _close_all() -> None:
    for pool in list(_open):
        pool.close()
