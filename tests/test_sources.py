"""Listing a source: every file becomes one row, described, identified and dealt into a slice."""

from __future__ import annotations

import os
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from chunk_assets.catalog import Catalog, Source, load_catalog
from chunk_assets.errors import ConfigurationError, SourceUnavailable
from chunk_assets.sources import list_source, read_bytes
from chunk_assets.sources.identity import path_id

if TYPE_CHECKING:
    from pathlib import Path


def catalog_of(folder: Path, **source: Any) -> Catalog:
    return Catalog.model_validate({"home": str(folder), "sources": {"docs": {"path": "docs", **source}}})


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


def write(path: Path, text: str = "text") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_every_file_is_listed_once_and_what_describes_files_is_not(docs: Path) -> None:
    for name in ("a.md", "sub/b.txt", "metadata.csv", "a.md.meta.yaml", ".hidden", ".git/x", "~$a.docx"):
        write(docs / name, "file\n" if name == "metadata.csv" else "company: A")
    listing = list_source(catalog_of(docs.parent), "docs")
    assert [d.relative_path for d in listing.documents] == ["a.md", "sub/b.txt"]
    assert listing.complete


def test_later_layers_of_metadata_win_over_earlier_ones(docs: Path) -> None:
    write(docs / "ACME/one.md")
    write(docs / "ACME/metadata.csv", "file,sector,geography,tags\none.md,Energy,EU,legal;audit\n")
    write(docs / "ACME/one.md.meta.yaml", "geography: US\ncik: 0001045810\ntags: [contract]\n")
    catalog = catalog_of(
        docs.parent,
        default_metadata={"company": "Default", "sector": "None", "desk": "7"},
        default_tags=["kept"],
        path_patterns=[r"^(?P<ticker>[A-Z]+)/"],
    )
    metadata = list_source(catalog, "docs").documents[0].metadata
    assert (metadata.company, metadata.ticker, metadata.sector, metadata.geography) == (
        "Default",
        "ACME",
        "Energy",
        "US",
    )
    assert metadata.cik == "0001045810"
    assert metadata.tags == ("audit", "contract", "kept", "legal")
    assert metadata.metadata == {"desk": "7"}


def test_a_row_of_a_parent_folder_describes_a_file_by_its_path(docs: Path) -> None:
    write(docs / "sub/b.md")
    write(docs / "metadata.csv", "file,company\nsub/b.md,Parent\n")
    assert list_source(catalog_of(docs.parent), "docs").documents[0].metadata.company == "Parent"


def test_the_id_template_gives_the_id_and_a_missing_field_is_an_error_on_that_document(docs: Path) -> None:
    write(docs / "a.txt")
    write(docs / "b.txt")
    write(docs / "metadata.csv", "file,cik,accession_number\na.txt,0001045810,0001045810-24-000029\n")
    good, bad = list_source(catalog_of(docs.parent, id_template="{cik}_{accession_number}"), "docs").documents
    assert good.document_id == "0001045810_0001045810-24-000029"
    assert (bad.document_id, bad.status) == ("docs__b.txt", "invalid_metadata")
    assert "cik" in bad.reason


def test_two_documents_with_one_id_are_both_refused_and_name_each_other(docs: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        write(docs / name)
    write(docs / "metadata.csv", "file,cik\na.txt,1\nb.txt,1\nc.txt,2\n")
    listing = list_source(catalog_of(docs.parent, id_template="{cik}"), "docs")
    assert [(d.document_id, d.status) for d in listing.documents] == [
        ("2", "ok"),
        ("docs__a.txt", "duplicate_id"),
        ("docs__b.txt", "duplicate_id"),
    ]
    assert "b.txt" in listing.documents[1].reason


def test_dated_sources_are_sliced_by_the_month_of_the_document(docs: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        write(docs / name)
    write(
        docs / "metadata.csv", "file,filed\na.txt,2024-02-21\nb.txt,20240301\nc.txt,soon\nd.txt,2023-12-31\n"
    )
    catalog = catalog_of(docs.parent, date="filed", slice={"by": "month", "start": "2024-01"})
    listing = list_source(catalog, "docs")
    assert [d.slice for d in listing.documents] == ["2024-02", "2024-03", "2024-01", "2024-01"]
    assert [d.status for d in listing.documents] == ["ok", "ok", "invalid_metadata", "invalid_metadata"]
    assert "'soon'" in listing.documents[2].reason
    assert catalog.sources["docs"].slice.keys(date(2024, 4, 9)) == (
        "2024-01",
        "2024-02",
        "2024-03",
        "2024-04",
    )


def test_buckets_are_equal_on_every_machine(docs: Path) -> None:
    write(docs / "a.txt")
    listing = list_source(catalog_of(docs.parent, slice={"by": "bucket", "count": 16}), "docs")
    assert listing.documents[0].slice == "bucket-3"


def test_a_broken_metadata_table_is_an_error_on_the_documents_it_describes(docs: Path) -> None:
    write(docs / "x/a.txt")
    write(docs / "x/metadata.csv", "file,company\na.txt,A,B\n")
    write(docs / "b.txt")
    other, described = list_source(catalog_of(docs.parent), "docs").documents
    assert other.status == "ok"
    assert described.status == "invalid_metadata"
    assert "line 2" in described.reason


def test_include_and_exclude_choose_among_the_files(docs: Path) -> None:
    for name in ("a.md", "x/y/b.md", "x/c.txt", "drafts/d.md"):
        write(docs / name)
    catalog = catalog_of(docs.parent, include=["**/*.md"], exclude=["drafts/**"])
    assert [d.relative_path for d in list_source(catalog, "docs").documents] == ["a.md", "x/y/b.md"]


def test_a_folder_that_is_not_there_is_an_error_and_not_an_empty_listing(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match="mounted"):
        list_source(catalog_of(tmp_path), "docs")


def test_a_name_that_is_not_utf8_is_listed_and_can_be_read(docs: Path) -> None:
    (docs / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"hello")
    catalog = catalog_of(docs.parent)
    document = list_source(catalog, "docs").documents[0]
    assert document.relative_path == "caf\\xe9.txt"
    assert document.relative_path.encode("utf-8")
    assert read_bytes(document, catalog.sources["docs"]) == b"hello"


def test_paths_that_look_alike_keep_different_ids() -> None:
    paths = ["a b.md", "a-b.md", "a/b.md", "a__b.md", "ä.md", "A.md", "a.md", "x" * 400]
    ids = [path_id("s", path) for path in paths]
    assert len(set(ids)) == len(ids)
    assert path_id("s", "e\u0301.md") == path_id("s", "\u00e9.md")
    assert all(len(i) < 180 for i in ids)


def test_a_copied_home_gives_the_same_uris(docs: Path, tmp_path: Path) -> None:
    write(docs / "a.md")
    assert list_source(catalog_of(docs.parent), "docs").documents[0].uri == "docs/a.md"


def test_the_default_metadata_may_hold_any_source(docs: Path) -> None:
    assert Source(path="x", default_metadata={"cik": 7}).default_metadata == {"cik": "7"}  # type: ignore[dict-item]


def test_a_home_behind_a_url_that_can_not_be_read_names_the_url_and_makes_no_folder_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNK_ASSETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=r"memory://nowhere/sources\.yaml"):
        load_catalog("memory://nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_a_link_that_leads_out_of_the_source_is_a_refused_document_until_it_is_let_in(docs: Path) -> None:
    write(docs.parent / "elsewhere/secret.txt")
    write(docs.parent / "elsewhere/plain.txt.meta.yaml", "company: Leaked")
    write(docs / "plain.txt")
    (docs / "leak.txt").symlink_to(docs.parent / "elsewhere/secret.txt")
    (docs / "plain.txt.meta.yaml").symlink_to(docs.parent / "elsewhere/plain.txt.meta.yaml")
    leak, plain = list_source(catalog_of(docs.parent), "docs").documents
    assert (leak.relative_path, leak.status) == ("leak.txt", "unsafe")
    assert "follow_links: true" in leak.reason
    assert (plain.status, plain.metadata.company) == ("invalid_metadata", None)
    assert "plain.txt.meta.yaml is a link that leads out" in plain.reason
    let_in = list_source(catalog_of(docs.parent, follow_links=True), "docs").documents
    assert [d.status for d in let_in] == ["ok", "ok"]
    assert let_in[1].metadata.company == "Leaked"


def test_a_source_that_is_itself_a_link_is_inside(docs: Path) -> None:
    write(docs.parent / "real/a.txt")
    docs.rmdir()
    docs.symlink_to(docs.parent / "real")
    (docs / "b.txt").symlink_to("a.txt")
    assert [d.status for d in list_source(catalog_of(docs.parent), "docs").documents] == ["ok", "ok"]


def test_metadata_that_belongs_to_no_file_is_named(docs: Path) -> None:
    write(docs / "sub/a.txt")
    write(docs / "sub/metadata.csv", "file,company\na.txt,A\nA.txt,B\n")
    write(docs / "b.txt.meta.yaml", "company: B")
    assert list_source(catalog_of(docs.parent), "docs").notes == (
        "metadata.csv describes sub/A.txt, which is not there",
        "b.txt.meta.yaml describes b.txt, which is not there",
    )
