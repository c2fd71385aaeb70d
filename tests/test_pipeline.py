"""The stages one by one, as an orchestrator calls them, in one process or several."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "scenarios"))

from homes import CATALOG, Home, prose

from chunk_assets.checks import run_checks
from chunk_assets.compute import WorkerPool
from chunk_assets.errors import ConfigurationError, StopRun
from chunk_assets.pipeline import (
    BatchContext,
    batch_tables,
    open_batch,
    publish,
    stage_chunks,
    stage_embeddings,
    stage_markdown,
    stage_raw,
)
from chunk_assets.records import TABLES, Outcome


@pytest.fixture(scope="module")
def executor() -> Iterator[WorkerPool]:
    with WorkerPool(1) as pool:
        yield pool


@pytest.fixture
def home(tmp_path: Path, executor: WorkerPool) -> Home:
    found = Home(tmp_path, executor)
    found.catalog(CATALOG)
    for number in range(3):
        found.write(f"d{number}.md", prose(f"n{number}", 4))
    return found


def opened(home: Home) -> Iterator[BatchContext]:
    session = home.session()
    with open_batch(session.catalog, "docs", "bucket-0", session.options, embedder=home.embedder) as context:
        yield context


def all_stages(context: BatchContext) -> None:
    for stage in (stage_raw, stage_markdown, stage_chunks, stage_embeddings):
        stage(context)


def test_nothing_is_published_before_publish(home: Home) -> None:
    for context in opened(home):
        all_stages(context)
        assert home.files() == {}
        written = publish(context).files_written
    assert sorted(written) == sorted(home.files())
    assert not list((home.path / "staging").rglob("*.parquet"))


def test_each_stage_may_run_in_a_context_of_its_own(home: Home) -> None:
    for stage in (stage_raw, stage_markdown, stage_chunks, stage_embeddings, publish):
        for context in opened(home):
            stage(context)
    home.assert_in_step()
    for stage in (stage_embeddings, stage_raw, stage_chunks):
        for context in opened(home):
            assert stage(context).unchanged


def test_a_stage_without_the_one_before_is_refused(home: Home) -> None:
    for context in opened(home):
        with pytest.raises(StopRun, match="raw_documents of batch docs/bucket-0 has not been staged"):
            stage_markdown(context)
        stage_raw(context)
        with pytest.raises(StopRun, match="markdown_documents of batch docs/bucket-0 has not been staged"):
            stage_chunks(context)


def test_a_stage_older_than_its_input_is_not_published(home: Home) -> None:
    for context in opened(home):
        all_stages(context)
    home.write("d9.md", prose("late", 2))
    for context in opened(home):
        stage_raw(context)
        with pytest.raises(StopRun, match="older than what it is made from"):
            publish(context)
        stage_markdown(context)
        stage_chunks(context)
        stage_embeddings(context)
        publish(context)
    home.assert_in_step()
    assert len(home.rows("raw_documents")) == 4


def test_a_failed_check_keeps_the_version_before(home: Home) -> None:
    home.run()
    before = home.files()
    home.write("d0.md", prose("edited", 4))
    for context in opened(home):
        all_stages(context)
        warning = Outcome("w", "chunks", False, "warn", "a little odd")
        failure = Outcome("text_covered", "chunks", False, "error", "3 characters lost")
        with pytest.raises(StopRun, match="text_covered"):
            publish(context, [warning, failure])
        assert home.files() == before
        publish(context, [warning])
    assert home.files() != before


def test_checks_read_what_is_staged_and_compare_with_what_is_published(home: Home) -> None:
    home.run()
    home.write("d0.md", prose("edited", 2))
    for context in opened(home):
        stage_raw(context)
        assert set(batch_tables(context).tables) == {"raw_documents"}
        stage_markdown(context)
        stage_chunks(context)
        stage_embeddings(context)
        tables = batch_tables(context)
        assert tables.tables["chunks"].num_rows == 10
        assert tables.previous["chunks"].num_rows == 12
        for table in TABLES:
            assert all(outcome.passed for outcome in run_checks(table, tables))


def test_converted_documents_survive_a_run_that_ended_before_it_published(home: Home) -> None:
    for context in opened(home):
        stage_raw(context)
        assert stage_markdown(context).worked == 3
    report = home.run()
    assert report.batches[0].stages[1].worked == 0
    home.assert_in_step()


def test_an_unknown_source_or_slice_is_named(home: Home) -> None:
    session = home.session()
    with (
        pytest.raises(ConfigurationError, match="unknown source 'dogs'; known: docs"),
        open_batch(session.catalog, "dogs", "bucket-0", session.options),
    ):
        pass
    for context in opened(home):
        assert context.batch.slice == "bucket-0"


def test_a_lost_state_costs_reading_and_nothing_else(home: Home) -> None:
    import shutil

    home.run()
    before = home.files()
    shutil.rmtree(home.path / "state")
    report = home.run()
    assert home.files() == before
    assert [stage.worked for stage in report.batches[0].stages[1:]] == [0, 0, 0]


def test_a_copied_home_makes_nothing_anew(home: Home, tmp_path: Path, executor: WorkerPool) -> None:
    import shutil

    home.run()
    copy = Home(tmp_path / "elsewhere", executor)
    shutil.copytree(
        home.path, copy.path, ignore=shutil.ignore_patterns("elsewhere"), copy_function=shutil.copy
    )
    report = copy.run()
    assert copy.embedder.asked == []
    assert [stage.worked for stage in report.batches[0].stages[1:]] == [0, 0, 0]
    assert copy.hashes() == home.hashes()
