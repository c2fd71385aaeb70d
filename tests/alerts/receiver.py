"""A real HTTP receiver on loopback that keeps what it was sent, and can refuse."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver(ThreadingHTTPServer):
    """Answers 200, or ``status`` while that is set; ``bodies`` are what it took."""

    daemon_threads = True

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.status = 200
        self.heard: Callable[[], object] = lambda: None
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?token=top-secret"

    @property
    def notices(self) -> list[dict[str, Any]]:
        return [notice for body in self.bodies for notice in body["notices"]]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Receiver)
        server.heard()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if server.status == 200:
            server.bodies.append(body)
        self.send_response(server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Silent: the test looks at what was received."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver for the block."""
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
