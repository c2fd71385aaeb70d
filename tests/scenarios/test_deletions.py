"""Deletions within bounds: what is gone goes everywhere, and an unmounted folder wipes nothing."""

from __future__ import annotations

import shutil

import pytest
from homes import CATALOG, Home, prose

from chunk_assets.plan import make_plan

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize("how", ["emptied", "unmounted", "partial"])
def test_a_listing_that_shrinks_suspiciously_deletes_nothing(home: Home, how: str) -> None:
    for number in range(30):
        home.write(f"s{number % 2}/d{number:02d}.md", prose(f"n{number}", 1))
    home.run()
    before = home.files()
    hidden = home.path / "hidden"
    if how == "unmounted":
        home.docs.rename(hidden)
    else:
        hidden.mkdir()
        for folder in [home.docs / "s0"] if how == "partial" else list(home.docs.iterdir()):
            folder.rename(hidden / folder.name)
    report = home.run()
    assert report.exit_code == 1
    assert home.files() == before
    if how != "unmounted":
        (failed,) = [o for o in report.outcomes if not o.passed]
        assert failed.name == "deletions_within_bounds"
        assert "--allow-deletions" in failed.summary
    if how == "unmounted":
        hidden.rename(home.docs)
    else:
        for folder in list(hidden.iterdir()):
            folder.rename(home.docs / folder.name)
    report = home.run()
    assert report.exit_code == 0
    assert home.embedder.asked == []
    assert home.files() == before


def test_a_confirmed_mass_deletion_is_applied(home: Home) -> None:
    for number in range(30):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 1))
    home.run()
    for path in sorted(home.docs.iterdir())[5:]:
        path.unlink()
    assert home.run().exit_code == 1
    report = home.run(allow_deletions=True)
    assert report.exit_code == 0
    assert len(home.rows("raw_documents")) == 5
    home.assert_in_step()


def test_a_source_that_left_the_catalog_is_named_until_its_deletion_is_confirmed(home: Home) -> None:
    home.write("a.md", prose("a", 2))
    home.run()
    home.catalog(CATALOG.replace("docs: {path", "papers: {path"))
    report = home.run()
    (failed,) = [o for o in report.outcomes if not o.passed]
    assert failed.name == "published_sources_in_catalog"
    assert "docs" in failed.summary
    assert report.exit_code == 1
    assert home.embedder.asked == []
    assert len(home.rows("raw_documents")) == 2
    session = home.session()
    assert "not in the catalog" in make_plan(session.catalog, session=session).problems[0]
    assert home.run(allow_deletions=True).exit_code == 0
    assert home.column("raw_documents", "document_id") == ["papers__a.md"]
    assert home.run().exit_code == 0


def test_a_moved_folder_is_no_deletion(home: Home) -> None:
    for number in range(30):
        home.write(f"old/d{number:02d}.md", prose(f"n{number}", 1))
    home.run()
    shutil.move(home.docs / "old", home.docs / "new")
    report = home.run()
    assert report.exit_code == 0
    assert home.embedder.asked == []
    assert all(path.startswith("new/") for path in home.column("raw_documents", "relative_path"))
    home.assert_in_step()
