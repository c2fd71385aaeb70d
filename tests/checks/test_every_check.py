"""Every check passes on tables as they are made, and fails on each damage it is there to find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from chunk_assets.catalog import load_catalog
from chunk_assets.checks import CHECKS, checks_of, columns_read, run_checks
from chunk_assets.checks.base import ERROR, WARN, BatchTables
from chunk_assets.errors import ConfigurationError
from chunk_assets.pipeline import Session, batch_tables, run_batch
from chunk_assets.records import CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, RAW_DOCUMENTS, TABLES
from tests.doors.conftest import make_home

if TYPE_CHECKING:
    from pathlib import Path

Damage = Callable[[BatchTables], BatchTables]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BatchTables]:
    home: Path = make_home(tmp_path_factory.mktemp("checks") / "home")
    catalog = load_catalog(home)
    run_batch(catalog, "notes", "bucket-0")
    session = Session(catalog)
    yield batch_tables(session.peek("notes", "bucket-0"))
    session.close()


def with_rows(batch: BatchTables, table: str, change: Callable[[list[dict[str, Any]]], None]) -> BatchTables:
    """The same batch with the rows of one table changed."""
    old = batch.tables[table]
    rows = old.to_pylist()
    change(rows)
    tables = {name: batch.tables[name] for name in TABLES}
    return replace(batch, tables=tables | {table: pa.Table.from_pylist(rows, schema=old.schema)})


def setting(table: str, row: int, **values: Any) -> Damage:
    """Changes columns of one row."""
    return lambda batch: with_rows(batch, table, lambda rows: rows[row].update(values))


def dropping(table: str, row: int = 0) -> Damage:
    """Removes one row."""

    def change(rows: list[dict[str, Any]]) -> None:
        rows.pop(row)

    return lambda batch: with_rows(batch, table, change)


def doubling(table: str) -> Damage:
    """Adds the first row again."""
    return lambda batch: with_rows(batch, table, lambda rows: rows.append(rows[0]))


def scaled(batch: BatchTables) -> BatchTables:
    """One vector of twice the length."""
    return with_rows(
        batch, EMBEDDINGS, lambda rows: rows[0].update(vector=[2 * x for x in rows[0]["vector"]])
    )


def not_a_number(batch: BatchTables) -> BatchTables:
    """One vector with a value that is no number."""
    values = lambda row: [float("nan"), *row["vector"][1:]]  # noqa: E731 - one expression, used once
    return with_rows(batch, EMBEDDINGS, lambda rows: rows[0].update(vector=values(rows[0])))


def other_chunks_before(batch: BatchTables) -> BatchTables:
    """The published version had other texts for the same inputs."""
    before = with_rows(batch, CHUNKS, lambda rows: rows[0].update(chunk_sha256="0" * 64))
    return replace(batch, previous=before.tables)


def rechunks_differently(batch: BatchTables) -> BatchTables:
    """Chunking the same text again gives one chunk less."""
    again = batch.rechunk
    assert again is not None
    return replace(batch, rechunk=lambda name: again(name)[1:])


DAMAGES: list[tuple[str, Damage]] = [
    (
        "documents_accounted_for",
        lambda batch: replace(batch, listed=batch.tables[RAW_DOCUMENTS].num_rows + 1),
    ),
    ("documents_accounted_for", setting(RAW_DOCUMENTS, 0, status="magic")),
    ("documents_accounted_for", setting(RAW_DOCUMENTS, 0, status="broken", reason="")),
    ("documents_readable", setting(MARKDOWN_DOCUMENTS, 0, status="broken", reason="cut off")),
    ("every_document_converted", dropping(MARKDOWN_DOCUMENTS)),
    ("every_document_converted", dropping(RAW_DOCUMENTS)),
    ("every_document_converted", doubling(MARKDOWN_DOCUMENTS)),
    ("every_document_converted", setting(MARKDOWN_DOCUMENTS, 0, document_sha256="0" * 64)),
    ("pages_tile_the_text", setting(MARKDOWN_DOCUMENTS, 0, pages=[{"number": 1, "start": 0, "end": 5}])),
    ("pages_tile_the_text", setting(MARKDOWN_DOCUMENTS, 0, pages=[{"number": 1, "start": 2, "end": 5}])),
    ("token_bounds", lambda batch: replace(batch, max_model_tokens=20)),
    ("token_bounds", setting(CHUNKS, 0, model_token_count=1)),
    ("token_minimum", lambda batch: replace(batch, min_tokens=400)),
    ("text_covered", dropping(CHUNKS)),
    ("text_covered", setting(CHUNKS, 0, text="Something else.")),
    ("text_covered", setting(MARKDOWN_DOCUMENTS, 0, markdown="Another text altogether.")),
    ("text_covered", dropping(MARKDOWN_DOCUMENTS)),
    ("ids_unique_and_gapless", setting(CHUNKS, 0, chunk_index=7)),
    ("ids_unique_and_gapless", setting(CHUNKS, 0, chunk_id="other_chunk_0000")),
    ("ids_unique_and_gapless", setting(CHUNKS, 0, point_id="00000000-0000-0000-0000-000000000000")),
    ("ids_unique_and_gapless", setting(CHUNKS, 1, start_char=0)),
    ("payload_inherited", setting(CHUNKS, 0, company="Somebody Else")),
    ("payload_inherited", setting(CHUNKS, 0, tags=["stray"])),
    ("payload_inherited", dropping(RAW_DOCUMENTS)),
    ("hash_stability", setting(CHUNKS, 0, chunk_sha256="0" * 64)),
    ("hash_stability", other_chunks_before),
    ("hash_stability", rechunks_differently),
    ("every_chunk_embedded", dropping(EMBEDDINGS)),
    ("every_chunk_embedded", doubling(EMBEDDINGS)),
    ("every_chunk_embedded", dropping(CHUNKS)),
    ("every_chunk_embedded", setting(EMBEDDINGS, 0, chunk_sha256="0" * 64)),
    ("vectors_unit_length", scaled),
    ("vectors_unit_length", not_a_number),
]


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_passes_on_tables_as_they_are_made(good: BatchTables, name: str) -> None:
    outcome = CHECKS[name].run(good)
    assert outcome.passed, outcome.summary
    assert (outcome.name, outcome.table, outcome.examples) == (name, CHECKS[name].table, ())
    assert outcome.counts


@pytest.mark.parametrize(("name", "damage"), DAMAGES)
def test_a_check_fails_on_the_damage_it_is_there_for(good: BatchTables, name: str, damage: Damage) -> None:
    outcome = CHECKS[name].run(damage(good))
    assert not outcome.passed
    assert outcome.severity == CHECKS[name].severity
    assert all({"document_id", "page", "what"} == set(example) for example in outcome.examples)


def test_every_check_has_a_damage_that_it_finds() -> None:
    assert {name for name, _ in DAMAGES} == set(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_of_an_empty_batch_passes(name: str) -> None:
    assert CHECKS[name].run(BatchTables("s", "b", {})).passed


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_needs_only_the_columns_that_it_names(good: BatchTables, name: str) -> None:
    reads = CHECKS[name].reads
    named = {table: good.tables[table].select(columns) for table, columns in reads.items()}
    assert CHECKS[name].run(replace(good, tables=named)) == CHECKS[name].run(good)
    shelf = columns_read(CHECKS[name].table)
    assert all(set(columns) <= set(shelf[table]) for table, columns in reads.items())


def test_a_bounded_recount_counts_the_longest_texts_and_says_how_many(good: BatchTables) -> None:
    counted: list[str] = []

    def count(texts: list[str]) -> list[int]:
        assert good.count_model_tokens is not None
        counted.extend(texts)
        return good.count_model_tokens(texts)

    outcome = CHECKS["token_bounds"].run(replace(good, recount=4, count_model_tokens=count))
    chunks = good.tables[CHUNKS]
    longest = max(map(len, chunks["text"].to_pylist()))
    assert outcome.passed
    assert outcome.counts["counted_again"] == len(counted) <= 4 < chunks.num_rows
    assert max(map(len, counted)) >= longest
    assert "counted again" in outcome.summary


def test_checks_belong_to_tables_and_severities() -> None:
    assert {check.table for check in CHECKS.values()} == set(TABLES)
    assert {check.severity for check in CHECKS.values()} == {ERROR, WARN}
    assert [check.name for check in checks_of(EMBEDDINGS)] == ["every_chunk_embedded", "vectors_unit_length"]
    with pytest.raises(ConfigurationError, match="unknown table 'magic'; known: chunks"):
        checks_of("magic")


def test_at_most_ten_examples_are_kept(good: BatchTables) -> None:
    (bounds, *_) = [
        o for o in run_checks(CHUNKS, replace(good, max_model_tokens=1)) if o.name == "token_bounds"
    ]
    assert (len(bounds.examples), bounds.counts["over"] > 10) == (10, True)
