"""Versions side by side: readers see exactly one, and the way back is as short as the way there."""

from __future__ import annotations

import time
from typing import Any

import pytest
from homes import CATALOG, CountingEmbedder, Home, prose

from chunk_assets.errors import ConfigurationError, LockHeld, StopRun
from chunk_assets.pipeline import (
    RunOptions,
    RunReport,
    Session,
    create_version,
    drop_version,
    open_batch,
    promote,
    prune,
    rollback,
    run_sources,
    version_catalog,
    versions,
)

pytestmark = pytest.mark.timeout(120)
COARSE = CATALOG.replace("max_chars: 330", "max_chars: 700")


def build(home: Home, name: str, embedder: CountingEmbedder | None = None, **options: Any) -> RunReport:
    catalog = version_catalog(home.path, name)
    chosen = RunOptions(workers=1, executor=home.executor, version=name, **options)
    home.embedder.asked.clear()
    return run_sources(catalog, session=Session(catalog, chosen, embedder or home.embedder))


@pytest.fixture
def filled(home: Home) -> Home:
    for number in range(4):
        home.write(f"d{number}.md", prose(f"n{number}", 6))
    home.run()
    return home


def test_a_version_is_built_beside_the_published_one_and_pays_for_the_difference_only(filled: Home) -> None:
    before = filled.files()
    create_version(filled.path, "coarse", COARSE)
    report = build(filled, "coarse")
    assert report.exit_code == 0
    assert filled.files() == before
    assert report.batches[0].stages[1].worked == 0
    assert 0 < len(filled.embedder.asked) <= 12
    published, coarse = versions(filled.path)
    assert (published.name, coarse.name) == ("", "coarse")
    assert coarse.chunks < published.chunks
    assert build(filled, "coarse").files_written == ()


def test_promotion_and_rollback_take_under_a_second_and_write_no_vectors(filled: Home) -> None:
    old = filled.hashes()
    settings = (filled.path / "sources.yaml").read_text()
    create_version(filled.path, "coarse", COARSE)
    build(filled, "coarse")
    blocks = sorted(filled.path.glob("vectors/*/*"))
    started = time.perf_counter()
    promote(filled.path, "coarse")
    assert time.perf_counter() - started < 1
    new = filled.hashes()
    assert new != old
    assert (filled.path / "sources.yaml").read_text() == COARSE
    assert filled.run().files_written == ()
    assert filled.embedder.asked == []
    started = time.perf_counter()
    assert rollback(filled.path) == "coarse"
    assert time.perf_counter() - started < 1
    assert filled.hashes() == old
    assert (filled.path / "sources.yaml").read_text() == settings
    assert filled.run().files_written == ()
    assert sorted(filled.path.glob("vectors/*/*")) == blocks
    promote(filled.path, "coarse")
    assert filled.hashes() == new


def test_an_incomplete_version_is_not_promoted(filled: Home) -> None:
    create_version(filled.path, "coarse", COARSE)
    with pytest.raises(StopRun, match="not complete: docs/bucket-0"):
        promote(filled.path, "coarse")
    build(filled, "coarse")
    filled.write("d9.md", prose("n9", 2))
    with pytest.raises(StopRun, match="not complete"):
        promote(filled.path, "coarse")


def test_nothing_is_switched_while_a_run_is_going_on(filled: Home) -> None:
    create_version(filled.path, "coarse", COARSE)
    build(filled, "coarse")
    old = filled.files()
    session = filled.session()
    with open_batch(session.catalog, "docs", "bucket-0", session.options, embedder=filled.embedder):
        with pytest.raises(LockHeld, match="in use"):
            promote(filled.path, "coarse")
        with pytest.raises(LockHeld, match="in use"):
            drop_version(filled.path, "coarse")
    assert filled.files() == old
    promote(filled.path, "coarse")


def test_a_version_that_finds_less_is_not_promoted(filled: Home) -> None:
    old = filled.files()
    create_version(filled.path, "coarse", COARSE)
    build(filled, "coarse")
    with pytest.raises(StopRun, match=r"recall falls by 0\.050"):
        promote(filled.path, "coarse", loss=0.05, margin=0.02)
    assert filled.files() == old
    promote(filled.path, "coarse", loss=-0.01)


def test_another_model_lives_beside_the_published_one(filled: Home) -> None:
    small = CATALOG.replace("dimension: 16", "dimension: 8")
    create_version(filled.path, "small", small)
    embedder = CountingEmbedder(dimension=8)
    assert build(filled, "small", embedder).exit_code == 0
    assert len(embedder.asked) == 24
    assert {len(v) for v in filled.column("embeddings", "vector")} == {16}
    assert prune(filled.path, dry_run=True).dropped == 0
    published, other = versions(filled.path)
    assert len({*published.models, *other.models}) == 2
    drop_version(filled.path, "small")
    assert prune(filled.path).dropped == 24
    assert filled.run().files_written == ()


def test_unknown_and_unusable_names_are_refused(filled: Home) -> None:
    create_version(filled.path, "one")
    with pytest.raises(ConfigurationError, match="there already"):
        create_version(filled.path, "one")
    with pytest.raises(ConfigurationError, match="unknown version 'two'; known: one"):
        promote(filled.path, "two")
    with pytest.raises(ConfigurationError, match="not a version name"):
        create_version(filled.path, "../x")
    with pytest.raises(StopRun, match="nothing was promoted"):
        rollback(filled.path)
