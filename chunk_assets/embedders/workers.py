"""Threads that share one list of jobs and hand results back as they are ready.

Every embedder here spends its time outside the interpreter (ONNX Runtime, sockets), so threads
keep all cores busy without a copy of the weights or the texts in another process.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


class _Crew(Generic[Job, Result]):
    """One run over ``jobs``: a shared cursor, a queue of results, and the first error."""

    def __init__(self, jobs: Sequence[Job], work: Callable[[Job], Iterable[Result]]) -> None:
        self._jobs = iter(jobs)
        self._work = work
        self._lock = threading.Lock()
        self.stop = threading.Event()
        self.results: queue.SimpleQueue[tuple[str, Result | BaseException | None]] = queue.SimpleQueue()

    def _next(self) -> Job | None:
        with self._lock:
            return None if self.stop.is_set() else next(self._jobs, None)

    def run(self) -> None:
        """The life of one thread: jobs until there are none, then one "done"."""
        try:
            while (job := self._next()) is not None:
                for result in self._work(job):
                    self.results.put(("result", result))
        except BaseException as error:  # noqa: BLE001 - raised again by the caller's thread
            self.stop.set()
            self.results.put(("error", error))
        self.results.put(("done", None))


def in_threads(
    jobs: Sequence[Job],
    work: Callable[[Job], Iterable[Result]],
    workers: int,
    abandoned: threading.Event | None = None,
) -> Iterator[Result]:
    """Everything ``work(job)`` yields for every job, from up to ``workers`` threads, as it comes.

    An exception in ``work`` lets jobs already begun finish, yields their results, and is raised
    last. Closing the iterator early waits only for the jobs in hand; ``abandoned`` is set before,
    so that a job that is only waiting can see that nobody wants it any more.
    """
    crew = _Crew(jobs, work)
    threads = [
        threading.Thread(target=crew.run, name=f"embed-{i}", daemon=True)
        for i in range(max(1, min(workers, len(jobs))))
    ]
    try:
        for thread in threads:
            thread.start()
        yield from _drain(crew, len(threads))
    finally:
        crew.stop.set()
        if abandoned is not None:
            abandoned.set()
        for thread in threads:
            thread.join()


def _drain(crew: _Crew[Job, Result], running: int) -> Iterator[Result]:
    error: BaseException | None = None
    while running:
        kind, value = crew.results.get()
        if kind == "result":
            yield value  # type: ignore[misc] # the tag says which of the three it is
        elif kind == "error":
            error = error or value  # type: ignore[assignment] # same
        else:
            running -= 1
    if error is not None:
        raise error
