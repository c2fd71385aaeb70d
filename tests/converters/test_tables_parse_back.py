"""A table written by a converter parses back to the cells it was made from, whatever they hold."""

from __future__ import annotations

import csv
import io
import random
import unicodedata

import pytest
from markdown_it import MarkdownIt
from workbooks import one_sheet, saved

from chunk_assets.converters.base import Options
from chunk_assets.converters.csv import CSV
from chunk_assets.converters.xlsx import XLSX

PIECES = [
    "a", "word", "|", "||", "\\", "\\|", "*", "**b**", "_", "__x__", "a_b_c", "`", "``", "`c`", "<", "<b>",
    "</td>", "&", "&amp;", "&#35;", "[", "](", "[x](y)", "![z](u)", "~", "~~s~~", "#", "-", "1.", "+", "=",
    "=SUM(A1)", "@", "https://a.example/b_c", "$", "%", "é", "e\u0301", "日本", "🍣", "\u00a0", '"', "'", ":",
    "---", "| --- |", "\t", "  ",
]  # fmt: skip


def nasty(seed: int) -> list[list[str]]:
    chance = random.Random(seed)

    def text() -> str:
        joined = "".join(
            chance.choice(PIECES) + chance.choice(["", " "]) for _ in range(chance.randrange(1, 6))
        )
        return " ".join(joined.split()) or "x"

    return [["head a", "head b", "head c"], *([f"row {n}", text(), text()] for n in range(12))]


def parsed(markdown: str) -> list[list[str]]:
    """The cells as a parser reads them, rendered back to plain characters."""
    rows: list[list[str]] = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            assert {child.type for child in token.children or []} <= {"text", "text_special"}
            rows[-1].append("".join(child.content for child in token.children or []))
    return rows


def expected(rows: list[list[str]]) -> list[list[str]]:
    return [[unicodedata.normalize("NFC", " ".join(cell.split())) for cell in row] for row in rows]


@pytest.mark.parametrize("seed", range(40))
def test_csv_tables_parse_back(seed):
    rows = nasty(seed)
    stream = io.StringIO()
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(rows)
    assert parsed(CSV.convert(stream.getvalue().encode(), Options()).markdown) == expected(rows)


@pytest.mark.parametrize("seed", range(40))
def test_workbook_tables_parse_back(seed):
    rows = nasty(seed)
    book = one_sheet(*rows)
    for row in book.active.iter_rows():
        for cell in row:
            cell.data_type = "s"
    assert parsed(XLSX.convert(saved(book), Options()).markdown) == expected(rows)
