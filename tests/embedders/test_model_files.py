from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

CONTENT = b"weights of a small model"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(BaseHTTPRequestHandler):
    """What the Hugging Face hub says of one file."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        there = self.path == f"/small/model/resolve/{COMMIT}/onnx/model.onnx"
        content = CONTENT if there else b""
        self.send_response(200 if there else 404)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{DIGEST}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def locate_in_process(hub: str, cache: str, pin: str, revision: str) -> subprocess.CompletedProcess[str]:
    code = (
        "from chunk_assets.embedders.model_files import ModelFiles, locate\n"
        "files = ModelFiles('small/model', 'no_such_package', 'no-such-package==1', '.', 'small/model',\n"
        f"    {{'m': 'onnx/model.onnx'}}, {{'m': {pin!r}}})\n"
        f"print(locate(files, None, {revision!r})['m'].read_bytes())"
    )
    settings = {
        "HF_ENDPOINT": hub,
        "HF_HOME": cache,
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
    }
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | settings, capture_output=True, text=True, check=False
    )


def test_the_hub_is_asked_last_for_the_named_revision_and_its_bytes_are_checked(hub, tmp_path):
    pytest.importorskip("huggingface_hub", reason="an extra")
    found = locate_in_process(hub, str(tmp_path / "a"), DIGEST, COMMIT)
    assert found.stdout == f"{CONTENT!r}\n", found.stderr
    wrong = locate_in_process(hub, str(tmp_path / "a"), "0" * 64, COMMIT)
    assert "is not the pinned m of small/model" in wrong.stderr


def test_a_hub_that_has_no_such_file_is_an_error_that_names_the_other_ways(hub, tmp_path):
    pytest.importorskip("huggingface_hub", reason="an extra")
    missing = locate_in_process(hub, str(tmp_path), DIGEST, "f" * 40)
    assert "ConfigurationError" in missing.stderr
    assert "pip install --no-deps no-such-package==1" in missing.stderr
