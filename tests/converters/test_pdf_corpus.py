"""The real files beside the checkout: nothing crashes, nothing is lost silently, pages tile."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from chunk_assets.converters.base import Options
from chunk_assets.converters.pdf import PDF
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import Converted

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def results(shared: Path) -> dict[str, Converted | DocumentFailure]:
    found: dict[str, Converted | DocumentFailure] = {}
    for path in sorted((shared / "corpus" / "pdf").glob("*.pdf")):
        try:
            found[path.name] = PDF.convert(path.read_bytes(), Options())
        except DocumentFailure as error:
            found[path.name] = error
    return found


@pytest.fixture(scope="module")
def manifest(shared: Path) -> list[dict[str, str]]:
    csv.field_size_limit(sys.maxsize)
    with (shared / "corpus" / "manifest.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["file"].startswith("pdf/")]


def test_every_file_gives_text_or_a_reason(results):
    for name, result in results.items():
        assert result.reason if isinstance(result, DocumentFailure) else result.markdown.strip(), name


def test_files_that_need_a_password_or_ocr_or_are_empty_are_named_so(results, manifest):
    named = {"encrypted": "encrypted", "no_text": "needs_ocr", "empty": "empty"}
    for row in manifest:
        expected = named.get(row["expected"].split(":")[0])
        if expected:
            result = results[row["file"].removeprefix("pdf/")]
            assert result.status == expected, row["file"]


def test_verified_phrases_are_found(results, manifest):
    found: Counter[bool] = Counter()
    for row in manifest:
        result = results[row["file"].removeprefix("pdf/")]
        text = " ".join(result.markdown.split()) if isinstance(result, Converted) else ""
        text = text.replace(" | ", " ").replace("\\", "")
        for phrase in json.loads(row["contains"] or "[]"):
            found[any(part in text for part in phrase.split("|"))] += 1
    assert found[True] >= 0.96 * found.total()


def test_pages_tile_every_text(results):
    for name, result in results.items():
        if isinstance(result, Converted):
            assert result.pages[0].start == 0, name
            assert result.pages[-1].end == len(result.markdown), name
            starts, ends = [p.start for p in result.pages], [p.end for p in result.pages]
            assert starts[1:] == ends[:-1], name
