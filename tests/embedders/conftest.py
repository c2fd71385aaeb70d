from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from chunk_assets.embedders import load_embedder

KEY = "sk-test-3f9a-do-not-print"
DIMENSION = 8


def vector_of(text: str) -> list[float]:
    """What the test provider answers for a text: eight numbers, not of unit length."""
    digest = hashlib.sha256(text.encode()).digest()
    return [byte / 100 + 0.5 for byte in digest[:DIMENSION]]


class Provider:
    """A server with OpenAI's embeddings call on loopback, with faults on order.

    ``fault(n, texts)`` says what to do with request ``n`` (from 0): ``None`` to answer, or
    ``(status, headers, body)``, or ``"hang"``, ``"drop"``.
    """

    def __init__(self) -> None:
        self.requests: list[list[str]] = []
        self.times: list[float] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.succeeded: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.fault: Callable[[int, list[str]], Any] = lambda n, texts: None
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                provider.answer(self, body)

            def log_message(self, *args: Any) -> None:
                pass

        return Handler

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        texts = body["input"]
        with self._lock:
            number = len(self.requests)
            self.requests.append(texts)
            self.times.append(time.monotonic())
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            self.paths.append(handler.path)
            self.bodies.append(body)
        fault = self.fault(number, texts)
        if fault == "hang":
            self.released.wait(20)
            handler.close_connection = True
        elif fault == "drop":
            handler.close_connection = True
        elif fault is not None:
            send(handler, *fault)
        else:
            with self._lock:
                self.succeeded.extend(texts)
            data = [{"index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]
            # Providers need not keep the order of the request.
            answer = {"data": data[::-1], "usage": {"total_tokens": 3 * len(texts)}}
            send(handler, 200, {}, json.dumps(answer))

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def send(handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: str) -> None:
    data = body.encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    yield server
    server.close()


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TEST_PROVIDER_KEY", KEY)
    return KEY


@pytest.fixture
def remote() -> Iterator[Any]:
    made: list[Any] = []

    def make(provider: Any, **settings: Any) -> Any:
        made.append(load_embedder("openai_compatible", **(defaults(provider) | settings)))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


def defaults(provider: Any) -> dict[str, Any]:
    return {
        "base_url": provider.url,
        "model": "test-model",
        "dimension": 8,
        "max_tokens": 50,
        "api_key_env": "TEST_PROVIDER_KEY",
        "backoff_seconds": 0.002,
        "timeout_seconds": 5,
        "batch_items": 10,
    }
