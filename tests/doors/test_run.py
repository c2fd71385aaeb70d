"""The main job from the command line: tables appear, stay, follow their documents, and say what is wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from chunk_assets.records import TABLES
from tests.doors.conftest import call, call_elsewhere, copy_home, digests, make_home, note, run, written_at

if TYPE_CHECKING:
    from pathlib import Path


def rows(home: Path, table: str) -> list[dict[str, object]]:
    paths = sorted((home / "tables" / table).rglob("*.parquet"))
    return [row for path in paths for row in pq.ParquetFile(path).read().to_pylist()]


def test_one_command_makes_four_tables_and_says_what_it_did(home: Path) -> None:
    done = run(home)
    assert done.code == 0, done.err
    report = done.json
    assert report["documents"] == {"ok": 8}
    assert report["embedded"] > 0
    assert report["chunks"] == len(rows(home, "chunks")) == len(rows(home, "embeddings"))
    assert {check["name"] for check in report["checks"]} >= {"token_bounds", "text_covered", "hash_stability"}
    assert all(check["passed"] for check in report["checks"])
    assert {path.split("/")[1] for path in report["files_written"]} == set(TABLES)
    assert len(report["files_written"]) == 4 * 3
    assert set(TABLES) < set(report["seconds"])


def test_a_second_run_has_nothing_to_do_and_rewrites_no_file(home: Path) -> None:
    run(home)
    before = written_at(home)
    again = run(home)
    assert (again.code, again.json["embedded"], again.json["files_written"], again.json["runs"]) == (
        0,
        0,
        [],
        0,
    )
    assert written_at(home) == before
    assert "Nothing to do" in call("run", "--home", str(home)).out


@pytest.mark.slow
def test_tables_are_the_same_bytes_whatever_runs_them_where(home: Path, tmp_path: Path) -> None:
    here = ("run", "--json", "--workers")
    assert call_elsewhere(*here, "1", "--home", str(home), env={"PYTHONHASHSEED": "0"}).code == 0
    elsewhere = copy_home(home, tmp_path / "other place")
    far = {"PYTHONHASHSEED": "12345", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "LANG": "de_DE"}
    assert call_elsewhere(*here, "2", "--home", "other place", env=far, cwd=tmp_path).code == 0
    assert digests(elsewhere) == digests(home)


@pytest.mark.slow
def test_vectors_of_the_real_model_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    one = make_home(tmp_path / "one", "bge_small")
    two = make_home(tmp_path / "two", "bge_small")
    assert run(one, "--workers", "1", "--source", "filings").code == 0
    assert run(two, "--workers", "2", "--source", "filings").code == 0
    assert digests(one) == digests(two)
    vectors = [row["vector"] for row in rows(one, "embeddings")]
    assert all(abs(sum(x * x for x in vector) - 1) < 1e-3 for vector in vectors)


def test_an_edit_costs_only_its_new_texts(home: Path) -> None:
    run(home)
    untouched = {r["chunk_id"]: r for r in rows(home, "embeddings") if "leases" not in str(r["document_id"])}
    path = home / "notes/leases.md"
    path.write_text(path.read_text().replace("before noon", "before dusk", 1))
    done = run(home).json
    assert done["embedded"] == 1
    assert all(file.split("source=")[1].startswith("notes") for file in done["files_written"])
    after = {r["chunk_id"]: r for r in rows(home, "embeddings") if "leases" not in str(r["document_id"])}
    assert after == untouched


def test_a_deleted_document_is_gone_from_all_tables_and_a_renamed_one_costs_nothing(home: Path) -> None:
    run(home)
    (home / "notes/grain.md").unlink()
    (home / "notes/parking.md").rename(home / "notes/garages.md")
    done = run(home)
    assert (done.code, done.json["embedded"]) == (0, 0)
    for table in TABLES:
        ids = {str(row["document_id"]) for row in rows(home, table)}
        assert not {name for name in ids if "grain" in name or "parking" in name}
        assert any("garages" in name for name in ids)


def test_a_file_that_cannot_be_read_is_a_row_with_a_reason_and_exit_code_one(home: Path) -> None:
    (home / "notes/bad.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    done = run(home)
    assert done.code == 1
    assert done.json["documents"] == {"broken": 1, "ok": 8}
    assert [f["file"] for f in done.json["failures"]] == ["bad.pdf"]
    assert done.json["failures"][0]["reason"]
    assert "bad.pdf" in call("status", "--home", str(home)).out


def test_a_policy_over_the_bound_fails_its_check_and_readers_keep_the_old_tables(home: Path) -> None:
    run(home)
    before = digests(home)
    catalog = home / "sources.yaml"
    wide = "  notes:\n    max_tokens: 4000\n    policy: wide\n"
    rule = "policies: {wide: [{strategy: fixed, parameters: {max_chars: 20000, overlap_chars: 0}}]}\n"
    catalog.write_text(catalog.read_text().replace("  notes:\n", wide) + rule)
    (home / "notes/boilers.md").write_text(note("boilers", 60))
    done = run(home)
    assert done.code == 1
    failed = [check for check in done.json["checks"] if not check["passed"]]
    assert [(check["name"], check["severity"]) for check in failed] == [("token_bounds", "error")]
    assert "tokens would be lost" in failed[0]["summary"]
    assert digests(home) == before


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ("run", "--home", "{home}", "--source", "magic"),
            2,
            "unknown source 'magic'; known: filings, notes",
        ),
        (("run", "--home", "{home}", "--batch", "notes"), 2, "SOURCE/SLICE"),
        (("run", "--home", "/nowhere"), 2, "chunk-assets init"),
        (("run", "--nonsense"), 2, "No such option"),
        (("magic",), 2, "No such command"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_code_two(
    home: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    done = call(*(part.format(home=home) for part in arguments))
    assert done.code == code
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_source_that_is_gone_is_an_error_and_the_others_go_on(home: Path) -> None:
    run(home)
    (home / "filings").rename(home / "unmounted")
    done = run(home)
    assert done.code == 1
    assert "filings" in done.json["problems"][0]
    assert done.json["documents"] == {"ok": 6}
    assert len(rows(home, "chunks")) > 6


@pytest.mark.slow
def test_killed_anywhere_the_old_tables_stand_and_the_next_run_completes(home: Path, tmp_path: Path) -> None:
    """Kills fall into listing, conversion, writing and embedding; they are spread over a whole run."""
    undisturbed = copy_home(home, tmp_path / "undisturbed")
    started = time.monotonic()
    assert run(undisturbed).code == 0
    whole = time.monotonic() - started
    for share in (0.5, 0.7, 0.8, 0.9):
        command = [sys.executable, "-m", "chunk_assets", "run", "--home", str(home), "--quiet"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(whole * share)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for path in (home / "tables").rglob("*.parquet"):
            pq.ParquetFile(path).read()
    assert run(home).code == 0
    assert digests(home) == digests(undisturbed)


def test_preview_shows_the_chunks_of_one_file(home: Path) -> None:
    done = call("preview", str(home / "notes/leases.md"), "--home", str(home), "--json")
    assert done.code == 0, done.err
    value = done.json
    keys = {"chunk_id", "text", "context", "start_char", "end_char", "token_count", "model_token_count"}
    keys |= {"page_start", "page_end", "heading_path", "strategy", "split_reason"}
    for chunk in value["chunks"]:
        assert keys <= set(chunk)
        assert value["markdown"][chunk["start_char"] : chunk["end_char"]] == chunk["text"]
    window = (
        "--strategy",
        "sentence_window",
        "-P",
        "max_tokens=20",
        "-P",
        "overlap_tokens=0",
        "-P",
        "min_tokens=0",
    )
    small = call("preview", str(home / "notes/leases.md"), "--json", *window).json["chunks"]
    assert max(chunk["token_count"] for chunk in small) <= 20
    bad = call("preview", str(home / "notes/leases.md"), "--policy", "magic")
    assert (bad.code, "unknown policy 'magic'" in bad.err) == (2, True)


def test_convert_writes_one_json_line_a_file(home: Path, tmp_path: Path) -> None:
    (home / "notes/empty.txt").write_text("")
    out = tmp_path / "out.jsonl"
    done = call("convert", str(home / "notes"), "--root", str(home), "--jsonl", str(out))
    assert done.code == 1
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 7
    assert {"file", "status", "reason", "markdown", "pages", "seconds", "peak_mb"} <= set(lines[0])
    assert [line["status"] for line in lines if line["file"] == "notes/empty.txt"] == ["empty"]
