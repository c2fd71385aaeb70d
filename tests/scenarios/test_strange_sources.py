"""Sources as they are on real disks: links, look-alike names, copies, moved clocks, the home itself."""

from __future__ import annotations

import os
import shutil
import unicodedata
from pathlib import Path

import pytest
from homes import CATALOG, Home, prose

pytestmark = pytest.mark.timeout(120)
NAMED = CATALOG.replace(
    "{path: docs}",
    "{path: docs, path_patterns: ['(?P<stem>[a-z]+)[.]md'], id_template: '{stem}'}",
)


def ids(home: Home) -> list[str]:
    return home.column("raw_documents", "document_id")


def test_links_within_the_source_are_followed_and_loops_and_pipes_are_passed_by(home: Home) -> None:
    home.write("a.md", prose("a", 2))
    home.write("sub/b.md", prose("b", 1))
    (home.docs / "link.md").symlink_to("sub/b.md")
    (home.docs / "loop.md").symlink_to("loop.md")
    (home.docs / "dangling.md").symlink_to("nowhere")
    (home.docs / "self").symlink_to(home.docs)
    (home.docs / "sub" / "up").symlink_to("..")
    os.mkfifo(home.docs / "pipe.md")
    assert home.run().exit_code == 0
    assert ids(home) == ["docs__a.md", "docs__link.md", "docs__sub__b.md"]


def test_names_that_differ_in_case_or_unicode_form_only_are_told_apart(home: Home) -> None:
    composed, decomposed = (unicodedata.normalize(form, "é.md") for form in ("NFC", "NFD"))
    home.write("A.md", prose("upper", 1))
    home.write("a.md", prose("lower", 1))
    home.write(composed, prose("one", 1))
    home.run()
    first = ids(home)
    (home.docs / composed).rename(home.docs / decomposed)
    assert home.run().exit_code == 0
    assert ids(home) == first
    assert home.embedder.asked == []
    home.write(composed, prose("two", 1))
    report = home.run()
    # One id for two files: both are refused under ids of their own, and their neighbours stay.
    assert {f.status for f in report.batches[0].failures} == {"duplicate_id"}
    assert len(set(ids(home))) == 4
    assert set(home.column("chunks", "document_id")) == {"docs__A.md", "docs__a.md"}
    (home.docs / decomposed).unlink()
    assert home.run().exit_code == 0
    assert ids(home) == first


def test_a_file_that_becomes_a_folder_and_back_keeps_its_vectors(home: Home) -> None:
    home.write("a.md", prose("a", 3))
    home.run()
    before = home.rows("chunks")
    (home.docs / "a.md").rename(home.path / "kept.md")
    home.write("a.md/b.md", (home.path / "kept.md").read_text())
    home.run()
    assert ids(home) == ["docs__a.md__b.md"]
    shutil.rmtree(home.docs / "a.md")
    (home.path / "kept.md").rename(home.docs / "a.md")
    home.run()
    assert home.embedder.asked == []
    assert home.rows("chunks") == before


def test_a_folder_that_was_copied_and_removed_is_a_move_and_no_mass_deletion(home: Home) -> None:
    for number in range(12):
        home.write(f"old/d{number:02d}.md", prose(f"n{number}", 1))
    home.run()
    shutil.copytree(home.docs / "old", home.docs / "new", copy_function=shutil.copyfile)
    shutil.rmtree(home.docs / "old")
    assert home.run().exit_code == 0
    assert home.embedder.asked == []
    assert all(path.startswith("new/") for path in home.column("raw_documents", "relative_path"))
    for path in sorted(home.docs.rglob("d*.md")):
        path.write_text("Other words altogether.\n")
        path.rename(path.with_name(f"x{path.name}"))
    report = home.run()
    assert "--allow-deletions" in str(report.errors[0])


def test_a_home_in_its_own_source_never_reads_what_it_wrote(home: Home) -> None:
    home.catalog(CATALOG.replace("path: docs", "path: ."))
    home.write("a.md", prose("a", 2))
    home.run()
    before = home.files()
    assert ids(home) == ["docs__docs__a.md"]
    assert home.run().exit_code == 0
    assert home.files() == before


def test_two_sources_over_one_folder_pay_once_and_share_no_id(home: Home) -> None:
    two = "  docs: {path: docs}\n  more: {path: docs}\n"
    home.catalog(CATALOG.replace("  docs: {path: docs}\n", two))
    home.write("a.md", prose("a", 3))
    assert home.run().exit_code == 0
    assert len(home.embedder.asked) == 3
    chunks = home.column("chunks", "chunk_id")
    assert len(set(chunks)) == len(chunks) == 6


def test_ids_that_collide_are_reported_and_come_back_when_they_do_not(home: Home) -> None:
    home.catalog(NAMED)
    home.write("a.md", prose("a", 2))
    home.write("b.md", prose("b", 2))
    home.run()
    before = home.hashes()
    extra = home.write("sub/a.md", prose("c", 2))
    assert home.run().exit_code == 1
    assert set(home.column("chunks", "document_id")) == {"b"}
    extra.unlink()
    assert home.run().exit_code == 0
    assert home.embedder.asked == []
    assert home.hashes() == before


def test_a_home_copied_elsewhere_without_its_file_times_does_nothing_again(
    home: Home, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for number in range(3):
        home.write(f"d{number}.md", prose(f"n{number}", 2))
    home.run()
    elsewhere: Path = tmp_path_factory.mktemp("elsewhere") / "home"
    shutil.copytree(home.path, elsewhere, copy_function=shutil.copyfile)
    other = Home(elsewhere, home.executor)
    before = other.files()
    report = other.run()
    assert other.files() == before
    assert other.embedder.asked == []
    assert [stage.worked for stage in report.batches[0].stages[1:]] == [0, 0, 0]
    assert other.hashes() == home.hashes()


def test_settings_that_change_and_change_back_give_the_first_bytes_again(home: Home) -> None:
    home.write("a.md", prose("a", 9))
    home.run()
    before = home.hashes()
    home.catalog(CATALOG.replace("max_chars: 330", "max_chars: 700"))
    home.run()
    home.catalog(CATALOG)
    home.run()
    assert home.embedder.asked == []
    assert home.hashes() == before


def test_a_document_whose_date_changes_moves_to_another_batch_for_nothing(home: Home) -> None:
    dated = "{path: docs, date: filing_date, slice: {by: month, start: 2024-01}}"
    home.catalog(CATALOG.replace("{path: docs}", dated))
    home.write("a.md", prose("a", 3))
    home.write("b.md", prose("b", 3))
    home.write("metadata.csv", "file,filing_date\na.md,2024-01-05\nb.md,2024-02-05\n")
    home.run()
    home.write("metadata.csv", "file,filing_date\na.md,2024-03-05\nb.md,2024-02-05\n")
    assert home.run().exit_code == 0
    assert home.embedder.asked == []
    home.assert_in_step()
    found = sorted(path.name for path in home.path.glob("tables/chunks/*/*"))
    assert found == ["slice=2024-02", "slice=2024-03"]


def test_one_id_in_two_sources_is_reported_in_both_and_kept_by_none(home: Home) -> None:
    source = NAMED.split("  docs: ")[1]
    own, more = (source.replace("path: docs", f"path: docs/{folder}") for folder in ("own", "more"))
    home.catalog(NAMED.replace(source, own) + f"  more: {more}")
    for name in ("own/a.md", "own/b.md", "more/c.md"):
        home.write(name, prose(name, 2))
    assert home.run().exit_code == 0
    before = home.hashes()
    extra = home.write("more/a.md", prose("other", 2))
    assert home.run().exit_code == 1
    assert home.column("raw_documents", "status").count("duplicate_id") == 2
    assert set(home.column("chunks", "document_id")) == {"b", "c"}
    extra.unlink()
    assert home.run().exit_code == 0
    assert home.embedder.asked == []
    assert home.hashes() == before
