"""An S3-speaking server in a process of its own, and a proxy before it that can be told to misbehave."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

# Credentials that the server does not look at, where the SDK finds them by itself.
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "tester",
    "AWS_SECRET_ACCESS_KEY": "secret-of-the-tester",
    "AWS_DEFAULT_REGION": "us-east-1",
}
# What a rule says is to happen to a request.
Fault = Callable[["Proxy", str, str], str]
BUCKET = "documents"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def s3_process(log: Path) -> Iterator[int]:
    """The port of a moto server, started here and ended after the block."""
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=output,
            stderr=output,
            env=os.environ | ENVIRONMENT,
        )
        try:
            wait_for(port, process)
            yield port
        finally:
            process.terminate()
            process.wait(10)


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 90) -> None:
    """Until something listens on ``port``."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert process.poll() is None, f"the server ended with {process.returncode}"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"nothing listens on {port}")


@dataclass
class Proxy:
    """Passes requests on to ``target``; ``fault`` may say 503, cut, short, hang or drip."""

    target: int
    fault: Fault = lambda proxy, method, path: ""
    requests: list[str] = field(default_factory=list)
    keys_a_page: int = 0
    # Headers of requests that are not passed on, in lower case.
    dropped: set[str] = field(default_factory=set)
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)
    port: int = 0
    _server: ThreadingHTTPServer | None = None

    def reset(self) -> None:
        """Behaves well again, and forgets what was asked."""
        self.fault = lambda proxy, method, path: ""
        self.keys_a_page = 0
        self.dropped = set()
        self.requests.clear()

    def start(self) -> None:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                proxy.pass_on(self)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer  # noqa: N815 - the library's names

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def pass_on(self, request: BaseHTTPRequestHandler) -> None:
        self.requests.append(f"{request.command} {request.path}")
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        kind = self.fault(self, request.command, request.path)
        if kind == "503":
            return send(request, 503, b"<Error><Code>ServiceUnavailable</Code></Error>")
        if kind == "hang":
            time.sleep(1.5)
            request.close_connection = True
            return None
        connection = http.client.HTTPConnection("127.0.0.1", self.target, timeout=30)
        path = request.path
        if self.keys_a_page and "list-type=2" in path:
            path += f"&max-keys={self.keys_a_page}"
        sent = {name: value for name, value in request.headers.items() if name.lower() not in self.dropped}
        with self.one_at_a_time:  # the server looks at a condition and puts the object in two steps
            connection.request(request.command, path, body, sent)
            answer = connection.getresponse()
            body = answer.read()
        headers = [(k, v) for k, v in answer.getheaders() if k.lower() not in SKIPPED]
        connection.close()
        return send(request, answer.status, body, headers, kind, answer.getheader("Content-Length"))


SKIPPED = {"content-length", "transfer-encoding", "connection", "server", "date"}


def send(
    request: BaseHTTPRequestHandler,
    status: int,
    body: bytes,
    headers: list[tuple[str, str]] | None = None,
    kind: str = "",
    length: str | None = None,
) -> None:
    """Sends an answer: whole, cut (the connection ends early), short (a wrong length) or slow."""
    sent = body[: len(body) // 2] if kind in {"cut", "short"} else body
    request.send_response(status)
    for name, value in headers or []:
        request.send_header(name, value)
    announced = len(sent) if kind == "short" else len(body)
    request.send_header("Content-Length", length if request.command == "HEAD" and length else str(announced))
    request.end_headers()
    if request.command == "HEAD":
        return
    if kind == "drip":
        for at in range(len(sent)):
            request.wfile.write(sent[at : at + 1])
            request.wfile.flush()
            time.sleep(0.2)
    request.wfile.write(sent if kind != "drip" else b"")
    if kind == "cut":
        request.wfile.flush()
        request.close_connection = True
