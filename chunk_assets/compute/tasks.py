"""What goes to a worker and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chunk_assets.converters.base import Limits
from chunk_assets.records import OK, Converted


@dataclass(frozen=True, slots=True)
class Task:
    """``function(*arguments)``, to be run under ``limits`` (``None``: the pool's own).

    The function must be importable by name in a fresh process. Pass a path or a loader rather than
    the bytes of a big file: arguments are pickled once, to the worker.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    limits: Limits | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a task.

    ``status`` is ``ok`` when the function returned; ``timeout``, ``memory`` or ``crash`` when its
    worker had to be killed or died; ``crash`` with ``error`` set when it raised. ``seconds`` is wall
    time, ``cpu_seconds`` processor time, ``peak_mb`` the highest resident memory of the worker
    while it ran the task, in units of 10**6 bytes.
    """

    value: Any = None
    status: str = OK
    reason: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: float = 0.0
    error: BaseException | None = None

    @property
    def converted(self) -> Converted:
        """The value of a conversion; a document that cost its worker becomes an empty one."""
        if self.status == OK and isinstance(self.value, Converted):
            return self.value
        return Converted("", status="crash" if self.status == OK else self.status, reason=self.reason)
