"""The inside of a worker process: read a task, run it, answer, until the parent is gone.

Standard output belongs to the libraries that run here; answers travel on a socket of their own.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from chunk_assets.compute.tasks import Finished

READY = "ready"
STARTED = "started"
MEGABYTE = 1_000_000
# Address space beyond the limit on resident memory: mapped libraries and thread stacks count too.
ADDRESS_SLACK_MB = 512


def serve(connection_fd: int, lifeline_fd: int) -> None:
    """Answers tasks until the parent closes the connection.

    A request is the pickle of ``(seconds, megabytes, pickled call)``, the last one apart so that the
    clock starts after the imports that unpickling it needs. The answers are ``STARTED`` and a
    ``Finished``.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(lifeline_fd)
    with Connection(connection_fd) as connection:
        connection.send(READY)
        with suppress(EOFError, ConnectionError):
            while True:
                _answer(connection)


def _answer(connection: Connection) -> None:
    seconds, megabytes, call = connection.recv()
    try:
        function, arguments = pickle.loads(call)  # noqa: S301 - from our own parent, over a private socket
    except BaseException as error:  # noqa: BLE001 - whatever an import raises belongs to the task
        connection.send(STARTED)
        connection.send(Finished(status="crash", reason=describe(error), error=_portable(error)))
        return
    _limit(seconds, megabytes)
    connection.send(STARTED)
    connection.send_bytes(_dump(_run(function, arguments)))


def _run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Finished:
    _reset_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    value: Any = None
    failure: BaseException | None = None
    status, reason = "ok", ""
    try:
        value = function(*arguments)
    except MemoryError as error:
        status, reason, failure = "memory", "the memory limit was reached", error
    except BaseException as error:  # noqa: BLE001 - a panic of a native library is a BaseException
        status, reason, failure = "crash", describe(error), _portable(error)
    return Finished(
        value,
        status,
        reason,
        round(time.perf_counter() - wall, 6),
        round(time.process_time() - cpu, 6),
        peak_mb(),
        failure,
    )


def describe(error: BaseException) -> str:
    """One line for a person: the kind of error and the start of its message."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:300]}".rstrip(": ")


def _portable(error: BaseException) -> BaseException:
    """The error itself when it survives pickling, else one that says the same."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own object, there and back
    except Exception:  # noqa: BLE001 - anything may go wrong in a foreign __reduce__
        return RuntimeError(describe(error))
    return error


def _dump(finished: Finished) -> bytes:
    try:
        return pickle.dumps(finished)
    except Exception as error:  # noqa: BLE001 - the value can't travel; say so instead of dying
        return pickle.dumps(Finished(status="crash", reason=describe(error), error=_portable(error)))


def _limit(seconds: float | None, megabytes: int | None) -> None:
    """Limits of the kernel, in case the parent is too busy to kill in time or is gone."""
    cpu = resource.RLIM_INFINITY if seconds is None else int(time.process_time() + seconds) + 2
    space = resource.RLIM_INFINITY
    if megabytes is not None:
        space = _address_space() + (megabytes + ADDRESS_SLACK_MB) * MEGABYTE
    _soft(resource.RLIMIT_CPU, cpu)
    _soft(resource.RLIMIT_AS, space)


def _soft(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY and (value > hard or value == resource.RLIM_INFINITY):
        value = hard
    resource.setrlimit(which, (value, hard))


def _address_space() -> int:
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):  # not Linux
        return 0


def _reset_peak() -> None:
    with suppress(OSError):  # not Linux, or not allowed: peaks are then those since the start
        Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """Highest resident memory since the last reset, in megabytes."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) * 1024 / MEGABYTE, 1)
    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE, 1)


def _die_with(lifeline_fd: int) -> None:
    """Ends this process when the other end of the pipe is closed, that is when the parent is gone.

    The kernel's SIGIO ends it even inside native code that holds the interpreter; the thread does
    where that signal does not exist.
    """
    with suppress(AttributeError, OSError, ValueError):
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(lifeline_fd, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(lifeline_fd, fcntl.F_GETFL)
        fcntl.fcntl(lifeline_fd, fcntl.F_SETFL, flags | os.O_ASYNC)

    def wait() -> None:
        os.read(lifeline_fd, 1)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
