"""When the next request to a provider may be sent: limits a minute, and pauses it asked for."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable


class Pacer:
    """Spreads requests evenly under a limit of requests and tokens a minute.

    ``None`` is no limit. Requests get their time in the order they ask, so that any window of a
    minute holds at most the limit. Shared by all threads of one embedder. ``paused`` has the seconds
    of all pauses.
    """

    def __init__(
        self,
        requests_per_minute: float | None,
        tokens_per_minute: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_request = 60 / requests_per_minute if requests_per_minute else 0.0
        self._per_token = 60 / tokens_per_minute if tokens_per_minute else 0.0
        self._clock = clock
        self._lock = threading.Lock()
        self._next = 0.0
        self._resume = 0.0
        self.paused = 0.0

    def reserve(self, tokens: int) -> float:
        """Seconds to wait before a request of ``tokens`` tokens; its share of the limit is taken."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next, self._resume)
            self._next = start + max(self._per_request, self._per_token * tokens)
            return start - now

    def pause(self, seconds: float) -> None:
        """Nobody sends for ``seconds``, and a little jitter more so that not all start at once."""
        with self._lock:
            jitter = random.uniform(0, min(1.0, 0.1 * seconds))  # noqa: S311 - spreads load, guards nothing
            now = self._clock()
            resume = max(self._resume, now + seconds + jitter)
            self.paused += resume - max(self._resume, now)  # pauses that overlap count once
            self._resume = resume

    def wait(self, tokens: int, stop: threading.Event) -> None:
        """Sleeps until a request of ``tokens`` tokens may go, or until ``stop`` is set.

        A pause that begins meanwhile is waited for as well.
        """
        stop.wait(self.reserve(tokens))
        while not stop.is_set() and (left := self._resume - self._clock()) > 0:
            stop.wait(left)
