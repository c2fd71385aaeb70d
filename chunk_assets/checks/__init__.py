"""The shelf of checks: one promise a file, in the order in which an operator reads them."""

from __future__ import annotations

from chunk_assets.checks import (
    documents_accounted_for,
    documents_readable,
    every_chunk_embedded,
    every_document_converted,
    hash_stability,
    ids_unique_and_gapless,
    pages_tile_the_text,
    payload_inherited,
    text_covered,
    token_bounds,
    token_minimum,
    vectors_unit_length,
)
from chunk_assets.checks.base import BatchTables, Check
from chunk_assets.errors import unknown
from chunk_assets.records import Outcome

CHECKS: dict[str, Check] = {
    check.name: check
    for check in (
        documents_accounted_for.CHECK,
        every_document_converted.CHECK,
        pages_tile_the_text.CHECK,
        documents_readable.CHECK,
        token_bounds.CHECK,
        token_minimum.CHECK,
        text_covered.CHECK,
        ids_unique_and_gapless.CHECK,
        payload_inherited.CHECK,
        hash_stability.CHECK,
        every_chunk_embedded.CHECK,
        vectors_unit_length.CHECK,
    )
}


def checks_of(table: str) -> tuple[Check, ...]:
    """The checks that guard one table; an unknown table is a ``ConfigurationError``."""
    from chunk_assets.records import TABLES

    if table not in TABLES:
        raise unknown("table", table, TABLES)
    return tuple(check for check in CHECKS.values() if check.table == table)


def run_checks(table: str, batch: BatchTables) -> list[Outcome]:
    """The verdict of every check of ``table`` on one batch."""
    return [check.run(batch) for check in checks_of(table)]


def columns_read(table: str) -> dict[str, tuple[str, ...]]:
    """All columns, by table, that the checks of ``table`` look at."""
    found: dict[str, dict[str, None]] = {}
    for check in checks_of(table):
        for name, columns in check.reads.items():
            found.setdefault(name, {}).update(dict.fromkeys(columns))
    return {name: tuple(columns) for name, columns in found.items()}
