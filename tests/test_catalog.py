"""The catalog: every mistake is refused with file, line, key, value and the known choices."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from chunk_assets.catalog import load_catalog
from chunk_assets.catalog.home import default_home
from chunk_assets.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "sources:\n  docs:\n    path: docs\n"


def home(folder: Path, text: str) -> Path:
    folder.joinpath("sources.yaml").write_text(text)
    return folder


def test_the_smallest_catalog_has_a_default_for_everything(tmp_path: Path) -> None:
    catalog = load_catalog(home(tmp_path, GOOD))
    assert (catalog.policy, catalog.tokenizer, catalog.embedder.name) == ("auto", "cl100k_base", "bge_small")
    assert catalog.batches(date(2026, 1, 1)) == (("docs", "bucket-0"),)


def test_digits_and_dates_stay_text(tmp_path: Path) -> None:
    text = (
        GOOD + "    default_metadata: {cik: 0001045810, filing_date: 2024-02-21, geography: no, year: 2024}\n"
    )
    metadata = load_catalog(home(tmp_path, text)).sources["docs"].default_metadata
    assert metadata == {"cik": "0001045810", "filing_date": "2024-02-21", "geography": "no", "year": "2024"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (GOOD + "    polcy: auto\n", ["line 4", "sources.docs.polcy", "unknown setting", "policy"]),
        (GOOD + "    policy: magic\n", ["unknown policy 'magic'", "auto", "sentence_window"]),
        (GOOD + "    slice: {by: week}\n", ["line 4", "slice.by", "'month'", "'week'"]),
        (GOOD + "    slice: {by: month}\n", ["line 4", "start: YYYY-MM"]),
        (GOOD + "    slice: {by: month, start: 2024-01}\n", ["date"]),
        (
            GOOD + "    slice: {by: bucket, count: 0}\n",
            ["slice.count", "greater than or equal to 1", "got 0"],
        ),
        (GOOD + "    limits: {max_byte: 1}\n", ["limits", "max_byte"]),
        (GOOD + "    path_patterns: ['(']\n", ["path_patterns", "not a regular expression"]),
        (GOOD + "    path_patterns: ['x']\n", ["named group"]),
        (GOOD + "    path: other\n", ["line 4", "'path' is there twice"]),
        (GOOD + "embedder: {name: magic}\n", ["unknown embedder 'magic'", "bge_small"]),
        (GOOD + "splitter: magic\n", ["unknown splitter 'magic'", "rules", "spacy:"]),
        (GOOD + "tokenizer: magic\n", ["unknown tokenizer 'magic'", "cl100k_base"]),
        (GOOD + "policies: {p: [{strategy: magic}]}\n", ["unknown strategy 'magic'", "recursive"]),
        (GOOD + "policies: {p: [{strategy: row, parameters: {max_tokns: 3}}]}\n", ["max_tokns"]),
        (GOOD + "policies: {auto: [{strategy: row}]}\n", ["built-in policy"]),
        ("sources: {}\n", ["sources"]),
        ("sources: {Docs: {path: x}}\n", ["'Docs' is not a name"]),
        ("sources: [", ["not YAML"]),
        ("- a\n", ["must be a mapping"]),
        ("home: x\n" + GOOD, ["unknown setting 'home'"]),
    ],
)
def test_a_mistake_is_named_with_where_it_is_and_what_is_known(
    tmp_path: Path, text: str, parts: list[str]
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_catalog(home(tmp_path, text))
    message = str(caught.value)
    assert "sources.yaml" in message
    for part in parts:
        assert part in message, message


def test_a_missing_catalog_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="chunk-assets init"):
        load_catalog(tmp_path)


def test_paths_are_relative_to_the_home(tmp_path: Path) -> None:
    text = GOOD + "  far: {path: 's3://bucket/x'}\n  fixed: {path: /srv/x}\n"
    paths = load_catalog(home(tmp_path, text)).paths()
    assert paths == {"docs": str(tmp_path / "docs"), "far": "s3://bucket/x", "fixed": "/srv/x"}


def test_the_environment_chooses_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_home({"CHUNK_ASSETS_HOME": "/srv/home"}) == "/srv/home"
    (tmp_path / "data").mkdir()
    home(tmp_path / "data", GOOD)
    assert default_home({}) == "data"
