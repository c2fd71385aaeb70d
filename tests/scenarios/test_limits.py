"""Bounds that hold whatever comes: tokens of the model, memory, rate limits, pages, and what is told."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from homes import CATALOG, CountingEmbedder, Home, numbered_pdf, pdf_of, prose

from chunk_assets.catalog import load_catalog
from chunk_assets.cli.meter import Meter
from chunk_assets.cli.progress import showing
from chunk_assets.errors import StopRun
from chunk_assets.pipeline import RunOptions, run_sources
from chunk_assets.plan import make_plan
from chunk_assets.text import vocabularies

pytestmark = pytest.mark.timeout(180)
KEY = "sk-scenario-71c0-never-printed"


def test_no_chunk_is_over_the_model_s_limit_in_any_language(home: Home) -> None:
    import tokenizers

    home.catalog(
        CATALOG.replace("recursive, parameters: {max_chars: 330", "fixed, parameters: {max_chars: 2000")
    )
    home.embedder = CountingEmbedder(max_tokens=512)
    home.write("english.md", prose("english", 30))
    home.write("deutsch.md", "Die Rücknahmeverpflichtung für Verpackungsabfälle gilt überall. " * 90)
    home.write("chinese.md", "本合同自双方签字盖章之日起生效，有效期为三年。任何一方不得擅自变更。" * 90)
    home.write(
        "code.md", "```python\n" + "x_1 = {k: v**2 for k, v in data.items() if v >= 0x1F}\n" * 120 + "```\n"
    )
    home.write("unbroken.md", "a1" * 9000)
    assert home.run().exit_code == 0
    reference = tokenizers.Tokenizer.from_buffer(vocabularies.BGE_SMALL.read())
    reference.no_truncation()
    reference.no_padding()
    chunks = home.rows("chunks")
    for chunk in chunks:
        whole = chunk["context"] + "\n\n" + chunk["text"] if chunk["context"] else chunk["text"]
        assert len(reference.encode(whole).ids) <= 512
    assert {chunk["document_id"] for chunk in chunks} == set(home.column("raw_documents", "document_id"))


def test_a_document_that_needs_too_much_memory_ends_alone_and_is_parked(home: Home) -> None:
    home.catalog(CATALOG + "limits: {max_memory_mb: 130}\nretries: {max_attempts: 2}\n")
    for number in range(5):
        home.write(f"d{number}.md", prose(f"n{number}", 1))
    home.write("huge.txt", "word " * 5_000_000)
    parked = []
    for _ in range(3):
        report = home.run()
        (failure,) = report.batches[0].failures
        assert (failure.document_id, failure.status) == ("docs__huge.txt", "memory")
        parked.append(failure.parked)
    assert parked == [False, True, True]
    assert len(set(home.column("chunks", "document_id"))) == 5
    before = home.files()
    assert home.run().batches[0].stages[1].worked == 0
    assert home.files() == before


def test_pages_that_cannot_be_read_are_named_and_never_skipped_in_silence(home: Home) -> None:
    data = numbered_pdf(12)
    for number in range(5, 9):
        at = (
            data.find(b"stream\n", data.rfind(b"<< /Length", 0, data.find(f"sheet {number} of".encode()))) + 7
        )
        end = data.find(b"\nendstream", at)
        noise = bytes((i * 37 + 11) % 251 for i in range(end - at))
        data = data[:at] + noise + data[end:]
    home.write("report.pdf", data)
    report = home.run()
    assert report.exit_code == 1
    (failure,) = report.batches[0].failures
    assert (failure.status, failure.reason) == ("partial", "pages that could not be read: 5, 6, 7, 8")
    assert "documents_readable" in {o.name for o in report.all_outcomes if not o.passed}
    pages = {n for c in home.rows("chunks") for n in range(c["page_start"], c["page_end"] + 1)}
    assert {1, 4, 9, 12} <= pages


def test_one_paragraph_on_three_pages_of_two_files_is_three_chunks_and_one_vector(home: Home) -> None:
    shared = "The carrier is liable for goods lost between their receipt and their delivery at the quay. " * 3
    pages = [prose(f"page {number}", 1).strip() for number in range(1, 11)]
    home.write("one.pdf", pdf_of([shared if n in (3, 9) else text for n, text in enumerate(pages, start=1)]))
    home.write("two.pdf", pdf_of([prose("other", 1).strip(), shared]))
    home.run()
    same = [c for c in home.rows("chunks") if c["text"].startswith("The carrier is liable")]
    assert [(c["document_id"], c["page_start"]) for c in same] == [
        ("docs__one.pdf", 3),
        ("docs__one.pdf", 9),
        ("docs__two.pdf", 2),
    ]
    assert len({c["chunk_id"] for c in same}) == 3
    assert len({c["chunk_sha256"] for c in same}) == 1
    assert home.embedder.asked.count(same[0]["text"]) == 1


def test_the_encoding_of_a_file_that_is_not_utf_8_is_on_its_row(home: Home) -> None:
    home.write("latin.txt", "Le café est fermé jusqu'à l'été, à cause du marché d'août.\n".encode("latin-1"))
    home.run()
    (row,) = home.rows("markdown_documents")
    assert dict(row["facts"])["encoding"] == "windows-1252"
    assert "marché d'août" in row["markdown"]


def test_the_log_form_of_progress_is_a_line_each_ten_seconds_with_all_that_matters(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(20):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 3))
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.9
        return now

    meter = Meter(clock)
    with showing(meter, quiet=False) as step:
        meter.start_batch()
        home.run(progress=step)
    lines = [line for line in capsys.readouterr().err.splitlines() if "%" in line]
    assert 5 < len(lines) <= now / 10
    for line in lines:
        assert {"left", "failed"} <= set(line.replace(",", "").split())
        assert "/s" in line
        assert (
            any(
                f"/{total} {unit}" in line.replace(",", "")
                for total, unit in [(20, "documents"), (60, "texts")]
            )
            or "bytes" in line
        )


def test_what_a_run_did_can_be_compared_with_the_run_before(home: Home) -> None:
    for number in range(6):
        home.write(f"d{number}.md", prose(f"n{number}", 2))
    home.write("broken.pdf", b"%PDF-1.7\nnot really\n")
    home.write("nothing.txt", b"")
    first = home.run().batches[0]
    home.write("d0.md", prose("new", 3))
    second = home.run().batches[0]
    for report in (first, second):
        assert {f.relative_path: f.status for f in report.failures} == {
            "broken.pdf": "broken",
            "nothing.txt": "empty",
        }
        assert report.statuses == {"broken": 1, "empty": 1, "ok": 6}
        assert all(stage.seconds > 0 for stage in report.stages)
    assert [stage.worked for stage in first.stages] == [8, 8, 6, 12]
    assert [stage.worked for stage in second.stages] == [1, 1, 1, 3]
    assert first.stages[3].tokens > second.stages[3].tokens > 0


class Provider(ThreadingHTTPServer):
    """OpenAI's embeddings call on loopback; ``status`` says how request ``n`` ends."""

    daemon_threads = True

    def __init__(self, status: Any) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.status = status
        self.requests = 0
        self.succeeded: Counter[str] = Counter()
        self.lock = threading.Lock()

    @property
    def settings(self) -> str:
        return (
            f"{{name: openai_compatible, model: m, base_url: 'http://127.0.0.1:{self.server_port}/v1', "
            "dimension: 8, max_tokens: 200, api_key_env: SCENARIO_KEY, backoff_seconds: 0.002, "
            "batch_items: 10, concurrency: 2}"
        )


class Answer(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
        with self.server.lock:
            status = self.server.status(self.server.requests)
            self.server.requests += 1
            if status == 200:
                self.server.succeeded.update(texts)
        rows = [{"index": i, "embedding": [1.0, 2, 3, 4, 5, 6, 7, 8]} for i in range(len(texts))]
        body = json.dumps({"data": rows} if status == 200 else {"error": {"message": f"no: {KEY}"}}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", "0.01")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("SCENARIO_KEY", KEY)
    servers = []

    def start(status: Any) -> Provider:
        servers.append(Provider(status))
        threading.Thread(target=servers[-1].serve_forever, args=(0.02,), daemon=True).start()
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def remote(home: Home, server: Provider) -> None:
    home.catalog(CATALOG.replace("{name: hash, dimension: 16}", server.settings))


def test_a_storm_of_throttling_loses_no_progress_and_is_counted(home: Home, provider: Any) -> None:
    server = provider(lambda number: 429 if number % 3 == 2 else 200)
    remote(home, server)
    for number in range(10):
        home.write(f"d{number}.md", prose(f"n{number}", 30))
    report = run_sources(load_catalog(home.path), options=RunOptions(workers=1, executor=home.executor))
    assert report.exit_code == 0
    assert len(home.rows("embeddings")) == 300
    assert set(server.succeeded.values()) == {1}
    throttled = sum(number % 3 == 2 for number in range(server.requests))
    (stage,) = report.batches[0].stages[3:]
    assert stage.provider["throttled"] == throttled > 5


def test_a_key_is_nowhere_but_in_the_environment(
    home: Home, provider: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server = provider(lambda number: 401)
    remote(home, server)
    home.write("a.md", prose("a", 3))
    caplog.set_level(logging.DEBUG)
    catalog = load_catalog(home.path)
    assert make_plan(catalog).total("texts_to_embed") == 3
    report = run_sources(catalog, options=RunOptions(workers=1, executor=home.executor))
    assert isinstance(report.errors[0], StopRun)
    server.status = lambda number: 200
    command = [sys.executable, "-m", "chunk_assets", "run", "--json", "--home", str(home.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0
    told = [caplog.text, repr(report), done.stdout, done.stderr]
    assert not [text for text in told if KEY in text]
    files = [path for path in home.path.rglob("*") if path.is_file()]
    assert [path.name for path in files if KEY.encode() in path.read_bytes()] == []
    assert any(path.suffix == ".parquet" for path in files)


def test_partitions_are_buckets_however_many_documents_there_are(home: Home) -> None:
    import duckdb

    from chunk_assets.defs.partitions import partitions_of

    home.catalog(CATALOG.replace("{path: docs}", "{path: docs, slice: {by: bucket, count: 16}}"))
    source = load_catalog(home.path).source("docs")
    before = partitions_of(source).get_partition_keys()
    for number in range(40):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 1))
    home.write("broken.pdf", b"%PDF-1.7\nnot really\n")
    home.run()
    assert partitions_of(source).get_partition_keys() == before
    assert len(before) == 16
    table = Path(home.path, "tables", "raw_documents")
    query = f"select document_id, slice from read_parquet('{table}/*/*/*.parquet') where status <> 'ok'"
    ((name, part),) = duckdb.sql(query).fetchall()
    assert (name, part in before) == ("docs__broken.pdf", True)
