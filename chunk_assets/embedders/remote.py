"""One POST to a provider, sorted into what happens next, and tried again where that may help."""

from __future__ import annotations

import contextlib
import email.utils
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from chunk_assets.embedders.base import Usage
from chunk_assets.embedders.pacing import Pacer
from chunk_assets.errors import ChunkAssetsError, ConfigurationError, Retry

if TYPE_CHECKING:
    import httpx

Answer = TypeVar("Answer")

logger = logging.getLogger(__name__)

MAX_ANSWER_BYTES = 256_000_000
MESSAGE_CHARS = 300
THROTTLED = 429
# Throttled answers in a row, without a success, after which a pause is at least a second.
IMPATIENT = 16
# A wrong key, address or model: no text would fare better.
FATAL = frozenset({401, 402, 403, 404, 405, 407})
PASSING = frozenset({408, 409, 425})


class Refused(ChunkAssetsError):
    """The provider will not take this request, however often it is sent."""


class Throttled(Retry):
    """The provider asked for a pause; ``after`` is its length in seconds, when it said so."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how to post. The key itself is read for each request and kept nowhere."""

    url: str
    query: Mapping[str, str]
    key_env: str | None
    key_header: str
    timeout_seconds: float
    attempts: int
    patience_seconds: float
    backoff_seconds: float

    def key(self) -> str | None:
        """The key from the environment; ``ConfigurationError`` names the variable when it's unset."""
        if self.key_env is None:
            return None
        key = os.environ.get(self.key_env, "").strip()
        if not key:
            raise ConfigurationError(
                f"the environment variable {self.key_env} with the provider's key is not set"
            )
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError(f"the environment variable {self.key_env} holds characters no key has")
        return key

    def headers(self) -> dict[str, str]:
        """The headers of one request."""
        key = self.key()
        if key is None:
            return {}
        return {self.key_header: f"Bearer {key}" if self.key_header.lower() == "authorization" else key}

    def scrub(self, text: str) -> str:
        """``text`` from a provider, short and without the key, which some repeat in their errors."""
        key = os.environ.get(self.key_env, "").strip() if self.key_env else ""
        return " ".join((text.replace(key, "***") if key else text).split())[:MESSAGE_CHARS]


class Remote:
    """A connection pool with pacing, retries and totals. Threads share one."""

    def __init__(self, endpoint: Endpoint, pacer: Pacer) -> None:
        self.endpoint = endpoint
        self.pacer = pacer
        self.usage = Usage()
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._throttles_in_a_row = 0

    def call(
        self, body: Mapping[str, Any], tokens: int, parse: Callable[[Any], Answer], stop: threading.Event
    ) -> Answer:
        """The parsed answer; raises ``Refused``, ``ConfigurationError``, or ``Retry`` when it gave up.

        ``parse`` raises ``ValueError`` for an answer that makes no sense, which is tried again.
        Once ``stop`` is set nothing more is sent.
        """
        import stamina

        # By default stamina tells of each retry on standard output, which belongs to results.
        stamina.instrumentation.set_on_retry_hooks(())
        for attempt in stamina.retry_context(
            on=self._patience(stop),
            attempts=None,
            timeout=self.endpoint.patience_seconds,
            wait_initial=self.endpoint.backoff_seconds,
            wait_max=200 * self.endpoint.backoff_seconds,
            wait_jitter=min(1.0, 10 * self.endpoint.backoff_seconds),
        ):
            with attempt:
                return self._once(body, tokens, parse, stop)
        raise AssertionError("stamina returns or raises")

    def _patience(self, stop: threading.Event) -> Callable[[Exception], bool | float]:
        """Whether to try again: faults are counted, throttling only costs time (see ``Pacer``)."""
        faults = 0

        def decide(error: Exception) -> bool | float:
            nonlocal faults
            if not isinstance(error, Retry) or stop.is_set():
                return False
            self.count(retries=1)
            logger.debug("sent again: %s", error)
            if isinstance(error, Throttled):
                return 0.0
            faults += 1
            return faults < self.endpoint.attempts

        return decide

    def _once(
        self, body: Mapping[str, Any], tokens: int, parse: Callable[[Any], Answer], stop: threading.Event
    ) -> Answer:
        self.pacer.wait(tokens, stop)
        if stop.is_set():
            raise Retry("stopped by the caller")
        self.count(requests=1)
        status, headers, content = self._post(body)
        if status != 200:
            raise self._sorted(status, headers, content)
        self._throttles_in_a_row = 0
        try:
            return parse(json.loads(content))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise Retry(f"the answer makes no sense: {self.endpoint.scrub(str(error))}") from None

    def _post(self, body: Mapping[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body, within the time-out as a whole: a drip of bytes is a hang too."""
        import httpx

        deadline = time.monotonic() + self.endpoint.timeout_seconds
        try:
            with self._http().stream(
                "POST",
                self.endpoint.url,
                params=self.endpoint.query,
                json=body,
                headers=self.endpoint.headers(),
            ) as response:
                return response.status_code, response.headers, _read(response, deadline)
        except httpx.HTTPError as error:
            raise Retry(f"no answer: {type(error).__name__}") from None

    def _http(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._client is None:
                # Redirects are not followed: they would carry the key to another host.
                self._client = httpx.Client(timeout=self.endpoint.timeout_seconds, follow_redirects=False)
            return self._client

    def _sorted(self, status: int, headers: Mapping[str, str], content: bytes) -> Exception:
        """What an answer other than 200 means for the request."""
        message = f"HTTP {status}: {self.endpoint.scrub(content.decode('utf-8', 'replace'))}"
        if status in FATAL or status < 400 or b"insufficient_quota" in content:
            return ConfigurationError(f"{self.endpoint.url} answered {message}")
        after = retry_after(headers)
        if status == THROTTLED or (status == 503 and after is not None):
            return self._throttled(message, after)
        if status >= 500 or status in PASSING:
            return Retry(message)
        return Refused(message)

    def _throttled(self, message: str, after: float | None) -> Throttled:
        with self._lock:
            self._throttles_in_a_row += 1
            row = self._throttles_in_a_row
        pause = min(60.0, 0.5 * 2.0 ** min(row, 8)) if after is None else after
        if row > IMPATIENT:  # a provider that says "at once" each time must not be asked all the time
            pause = max(pause, 1.0)
        self.count(throttled=1)
        self.pacer.pause(min(pause, self.endpoint.patience_seconds))
        self.usage.paused_seconds = self.pacer.paused
        return Throttled(message, after)

    def count(self, **amounts: float) -> None:
        """Adds to the totals."""
        with self._lock:
            for name, amount in amounts.items():
                setattr(self.usage, name, getattr(self.usage, name) + amount)

    def close(self) -> None:
        """Closes the connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None


def _read(response: httpx.Response, deadline: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    for part in response.iter_bytes():
        parts.append(part)
        size += len(part)
        if time.monotonic() > deadline:
            raise Retry("no complete answer within the time-out")
        if size > MAX_ANSWER_BYTES:
            raise Retry(f"the answer is over {MAX_ANSWER_BYTES} bytes")
    return b"".join(parts)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds asked for by ``retry-after-ms`` or ``Retry-After`` (seconds or a date, RFC 9110)."""
    with contextlib.suppress(ValueError):
        return max(0.0, float(headers.get("retry-after-ms", "")) / 1000)
    value = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(value))
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    return None
