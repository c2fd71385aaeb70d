"""Sources in an object store: equal tables, and faults of the store that never reach them."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chunk_assets.catalog import Catalog, load_catalog
from chunk_assets.compute import WorkerPool
from chunk_assets.errors import DocumentFailure, SourceUnavailable
from chunk_assets.pipeline import RunOptions, RunReport, run_sources
from chunk_assets.records import TABLES
from chunk_assets.sources import Listed, list_source, read_bytes, remote
from chunk_assets.storage.tables import read_table
from tests.cluster.s3_server import BUCKET, Proxy

# Faults are tried again once, quickly, so that the tests don't wait as long as a person would.
QUICK: dict[str, Any] = {"config_kwargs": {"read_timeout": 1, "retries": {"max_attempts": 0}}}
FILES = {
    "a.md": b"# Leases\n\nThe lease ends after ninety days.\n\n## Rent\n\nIt is due monthly.\n",
    "b/c d#1.txt": b"Revenue rose. Costs fell. The board met twice and agreed on both.\n" * 20,
    "b/t.csv": b"year,sales\n2024,31\n2025,44\n",
    "b/ü[1].md": "# Ost\n\nEin Satz für alle. Noch einer.\n".encode(),
    "metadata.csv": b"file,company,tags\na.md,Alder,legal\nb/t.csv,Birch,\n",
    "a.md.meta.yaml": b"sector: property\ntags: [lease]\n",
    "empty/": b"",
}
CATALOG = """
embedder: {{name: hash, dimension: 16}}
retries: {{max_attempts: 3, first_wait_minutes: 0}}
sources:
  docs: {{path: "{path}", storage_options: {options}}}
"""


Run = Callable[[Catalog], RunReport]


def home(folder: Path, path: str, options: dict[str, Any] | None = None) -> Catalog:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sources.yaml").write_text(CATALOG.format(path=path, options=options or {}))
    return load_catalog(folder)


def in_store(folder: Path) -> Catalog:
    return home(folder, f"s3://{BUCKET}/docs", QUICK)


@pytest.fixture
def run(pool: WorkerPool) -> Run:
    return lambda catalog: run_sources(catalog, options=RunOptions(workers=1, executor=pool))


def tables(folder: Path) -> dict[str, str]:
    return {
        table: hashlib.sha256(
            b"".join(p.read_bytes() for p in sorted((folder / "tables" / table).rglob("*.parquet")))
        ).hexdigest()
        for table in TABLES
    }


def raw(folder: Path) -> list[dict[str, Any]]:
    (path,) = (folder / "tables/raw_documents").rglob("*.parquet")
    return list(read_table(path).to_pylist())


def one(catalog: Catalog, name: str) -> Listed:
    return next(d for d in list_source(catalog, "docs").documents if d.relative_path == name)


def test_a_folder_and_a_bucket_with_the_same_files_give_the_same_tables(
    bucket: Any, tmp_path: Path, run: Run
) -> None:
    bucket(FILES)
    local = tmp_path / "local"
    for name, data in FILES.items():
        if data:
            (local / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
            (local / "docs" / name).write_bytes(data)
    assert run(home(local, "docs")).errors == ()
    assert run(in_store(tmp_path / "store")).errors == ()
    here, there = tables(local), tables(tmp_path / "store")
    assert {t for t in TABLES if here[t] != there[t]} == {"raw_documents"}
    without_uri = [[{**row, "uri": ""} for row in raw(folder)] for folder in (local, tmp_path / "store")]
    assert without_uri[0] == without_uri[1]
    described = raw(tmp_path / "store")[0]
    assert described["uri"] == f"s3://{BUCKET}/docs/a.md"
    assert (described["company"], described["sector"]) == ("Alder", "property")
    assert described["tags"] == ["lease", "legal"]


def test_an_unchanged_bucket_is_listed_and_nothing_is_fetched(
    bucket: Any, store: Proxy, tmp_path: Path, run: Run
) -> None:
    bucket({"a.md": FILES["a.md"], "b.md": b"Two."})
    catalog = in_store(tmp_path / "home")
    run(catalog)
    before = tables(tmp_path / "home")
    store.requests.clear()
    assert run(catalog).errors == ()
    assert store.requests
    assert [r for r in store.requests if "list-type=2" not in r] == []
    assert tables(tmp_path / "home") == before
    bucket({"b.md": b"Too."})
    run(catalog)
    assert tables(tmp_path / "home") != before


def test_a_listing_that_fails_on_its_second_page_deletes_nothing(
    bucket: Any, store: Proxy, tmp_path: Path, run: Run
) -> None:
    bucket({f"{i}.md": f"Text {i}.".encode() for i in range(4)})
    catalog = in_store(tmp_path / "home")
    run(catalog)
    before = tables(tmp_path / "home")
    pages: list[str] = []

    def second_page(proxy: Proxy, method: str, path: str) -> str:
        pages.extend([path] * ("list-type=2" in path))
        return "503" if "continuation-token" in path else ""

    store.keys_a_page = 2
    store.fault = second_page
    report = run(catalog)
    assert any("continuation-token" in page for page in pages)
    assert [type(error) for error in report.errors] == [SourceUnavailable]
    assert "can't be listed" in str(report.errors[0])
    assert tables(tmp_path / "home") == before


@pytest.mark.parametrize("kind", ["503", "cut", "short", "hang"])
def test_a_body_that_does_not_come_whole_is_unreadable_and_tried_again(
    kind: str, bucket: Any, store: Proxy, tmp_path: Path, run: Run
) -> None:
    bucket({"good.md": b"A good text.", "bad.md": b"The whole text of this document. " * 9})
    catalog = in_store(tmp_path / "home")
    store.fault = lambda proxy, method, path: kind if "bad.md" in path and method == "GET" else ""
    run(catalog)
    assert {row["relative_path"]: row["status"] for row in raw(tmp_path / "home")} == {
        "good.md": "ok",
        "bad.md": "unreadable",
    }
    store.fault = lambda proxy, method, path: ""
    run(catalog)
    assert {row["status"] for row in raw(tmp_path / "home")} == {"ok"}


def test_a_refused_read_keeps_the_version_before(bucket: Any, store: Proxy, tmp_path: Path, run: Run) -> None:
    bucket({"a.md": b"The first version of it."})
    catalog = in_store(tmp_path / "home")
    run(catalog)
    before = tables(tmp_path / "home")
    bucket({"a.md": b"The second version of it, longer."})
    store.fault = lambda proxy, method, path: "cut" if "a.md" in path and method == "GET" else ""
    run(catalog)
    after = tables(tmp_path / "home")
    assert (after["chunks"], after["embeddings"]) == (before["chunks"], before["embeddings"])
    assert "before" in raw(tmp_path / "home")[0]["reason"]


def test_a_body_that_drips_is_given_up(
    bucket: Any, store: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket({"a.md": b"x" * 60})
    catalog = in_store(tmp_path)
    listed = one(catalog, "a.md")
    monkeypatch.setattr(remote, "PATIENCE_SECONDS", 1.0)
    store.fault = lambda proxy, method, path: "drip"
    with pytest.raises(DocumentFailure, match="Timeout"):
        read_bytes(listed, catalog.source("docs"))


def test_metadata_that_can_not_be_read_makes_the_source_unavailable(
    bucket: Any, store: Proxy, tmp_path: Path
) -> None:
    bucket({"a.md": b"Text.", "metadata.csv": b"file,company\na.md,Alder\n"})
    catalog = in_store(tmp_path)
    store.fault = lambda proxy, method, path: "503" if "metadata.csv" in path else ""
    with pytest.raises(SourceUnavailable, match="metadata"):
        list_source(catalog, "docs")


def test_a_worker_reads_by_a_small_loader_and_a_gone_object_is_vanished(bucket: Any, tmp_path: Path) -> None:
    bucket({"a.md": b"Text."})
    catalog = in_store(tmp_path)
    listed = one(catalog, "a.md")
    load = pickle.dumps(partial(read_bytes, listed, catalog.source("docs")))
    assert len(load) < 5_000
    assert pickle.loads(load)() == b"Text."
    import s3fs

    s3fs.S3FileSystem().rm(f"{BUCKET}/docs/a.md")
    with pytest.raises(DocumentFailure) as failure:
        pickle.loads(load)()
    assert failure.value.status == "vanished"


def test_a_bucket_that_is_not_there_and_missing_credentials_are_errors(
    store: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SourceUnavailable, match="can't be listed"):
        list_source(home(tmp_path, "s3://no-such-bucket/docs", QUICK), "docs")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("HOME", str(tmp_path))
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(SourceUnavailable, match="redentials"):
        list_source(home(tmp_path, "s3://no-such-bucket/docs", QUICK), "docs")
