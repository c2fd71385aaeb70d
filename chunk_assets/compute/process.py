"""One worker process seen from the parent: start it, feed it, watch it, kill it."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from chunk_assets.compute.tasks import Finished, Task
from chunk_assets.compute.worker import MEGABYTE, READY, STARTED, describe
from chunk_assets.converters.base import Limits
from chunk_assets.errors import StopRun

if TYPE_CHECKING:
    import psutil

# How often a busy worker's memory is looked at, in seconds: a new page costs more than a look.
WATCH_SECONDS = 0.02
START_SECONDS = 120.0
# A worker this big after a task is replaced, so that one fat document does not shrink the next one's room.
KEEP_BELOW_MB = 400
# One thread a worker: the pool is the parallelism, and sums in one order give one result.
SINGLE_THREADED = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
BOOT = "import sys; sys.path[:] = {path!r}; from chunk_assets.compute.worker import serve; serve({fds})"


class WorkerProcess:
    """A child process that runs one task at a time; started on first use, restarted after a kill."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._lifeline: int | None = None
        self._statistics: psutil.Process | None = None
        self._stopped = False

    def run(self, task: Task, limits: Limits | None) -> Finished:
        """Runs ``task`` and waits for it; whatever happens to the child is in the answer."""
        seconds = limits.max_seconds if limits else None
        megabytes = limits.max_memory_mb if limits else None
        try:
            request = (seconds, megabytes, pickle.dumps((task.function, task.arguments)))
        except Exception as error:  # noqa: BLE001 - a foreign __reduce__ may raise anything
            return Finished(status="crash", reason=describe(error), error=error)
        connection = self._ready()
        try:
            connection.send(request)
            if connection.recv() != STARTED:
                raise EOFError
            finished = self._watch(connection, seconds, megabytes)
        except (EOFError, ConnectionError):
            return self._dead(megabytes)
        self._keep_or_replace(finished)
        return finished

    def kill(self) -> None:
        """Ends the child at once; the next task gets a new one."""
        if (child := self._child) is not None:
            child.kill()

    def abort(self) -> None:
        """From another thread: ends the child, and the one that feeds it will start no other."""
        self._stopped = True
        self.kill()

    def stop(self) -> None:
        """Ends the child and frees everything; it is not started again."""
        self._stopped = True
        self._forget()

    def _ready(self) -> Connection:
        if self._connection is not None and self._child is not None and self._child.poll() is None:
            return self._connection
        self._forget()
        if self._stopped:
            raise EOFError("the worker was stopped")
        return self._start()

    def _start(self) -> Connection:
        ours, theirs = Pipe()
        lifeline_read, self._lifeline = os.pipe()
        fds = (theirs.fileno(), lifeline_read)
        self._child = subprocess.Popen(
            [sys.executable, "-c", BOOT.format(path=sys.path, fds=f"{fds[0]}, {fds[1]}")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=fds,
            start_new_session=True,  # Ctrl-C is for the parent, which then ends its workers
            env=os.environ | SINGLE_THREADED,
        )
        theirs.close()
        os.close(lifeline_read)
        self._connection = ours
        try:
            if ours.poll(START_SECONDS) and ours.recv() == READY:
                return ours
        except (EOFError, ConnectionError):
            pass
        code = self._forget()
        raise StopRun(f"a worker process of {sys.executable} does not start (exit code {code})")

    def _watch(self, connection: Connection, seconds: float | None, megabytes: int | None) -> Finished:
        """The answer of the running task, or the limit it ran into."""
        started = time.perf_counter()
        peak = 0.0
        while not connection.poll(WATCH_SECONDS):
            spent = time.perf_counter() - started
            if seconds is not None and spent > seconds:
                return self._killed("timeout", f"took longer than {seconds:g} seconds", spent, peak)
            if megabytes is not None:
                peak = max(peak, self._resident_mb())
                if peak > megabytes:
                    return self._killed("memory", f"needed more than {megabytes} MB of memory", spent, peak)
        answer: Any = connection.recv()
        if not isinstance(answer, Finished):
            raise EOFError
        return answer

    def _killed(self, status: str, reason: str, seconds: float, peak: float) -> Finished:
        self.kill()
        self._forget()
        return Finished(status=status, reason=reason, seconds=round(seconds, 4), peak_mb=round(peak, 1))

    def _dead(self, megabytes: int | None) -> Finished:
        """Reads the cause of death from the exit code."""
        if self._child is not None:
            with suppress(subprocess.TimeoutExpired):  # its end of the socket closes a moment before it
                self._child.wait(5)
        code = self._forget()
        if code == -signal.SIGXCPU:
            return Finished(status="timeout", reason="used more processor time than its limit")
        if code == -signal.SIGKILL and megabytes is not None and not self._stopped:
            return Finished(
                status="memory", reason="the worker process was killed from outside (out of memory)"
            )
        if code is not None and code < 0:
            return Finished(status="crash", reason=f"the worker process died of {signal.Signals(-code).name}")
        return Finished(status="crash", reason=f"the worker process ended with exit code {code}")

    def _keep_or_replace(self, finished: Finished) -> None:
        if finished.status == "memory" or self._resident_mb() > KEEP_BELOW_MB:
            self._forget()

    def _resident_mb(self) -> float:
        import psutil

        if self._child is None:
            return 0.0
        try:
            if self._statistics is None:
                self._statistics = psutil.Process(self._child.pid)
            return float(self._statistics.memory_info().rss) / MEGABYTE
        except psutil.Error:
            return 0.0

    def _forget(self) -> int | None:
        """Ends and buries the child; its exit code, when there was one."""
        child, self._child, self._statistics = self._child, None, None
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None
        if child is None:
            return None
        if child.poll() is None:
            child.kill()
        return child.wait()
