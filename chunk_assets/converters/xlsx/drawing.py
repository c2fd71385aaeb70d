"""What lies over the cells of a sheet: text boxes, titles of charts, and how many comments there are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chunk_assets.converters.markup import clean_text, escape_text
from chunk_assets.converters.xlsx.cells import unescaped
from chunk_assets.converters.xlsx.package import Package
from chunk_assets.errors import DocumentFailure

# Local names with any prefix: writers differ in it.
_FALLBACK = re.compile(r"<mc:Fallback\b.*?</mc:Fallback>", re.DOTALL)
_SHAPE = re.compile(r"<(?:\w+:)?txBody\b.*?</(?:\w+:)?txBody>", re.DOTALL)
_TITLE = re.compile(r"<(?:\w+:)?title\b.*?</(?:\w+:)?title>", re.DOTALL)
_PARAGRAPH = re.compile(r"<(?:\w+:)?p\b[^>/]*>(.*?)</(?:\w+:)?p>", re.DOTALL)
_RUN = re.compile(r"<(?:\w+:)?t\b[^>/]*>([^<]*)<")
_COMMENT = re.compile(r"<(?:\w+:)?comment\b")


def notes(package: Package, part: str) -> tuple[list[str], int]:
    """Paragraphs of the text boxes and chart titles of a sheet, and the number of its comments.

    Damaged drawings are passed over: the cells are what a sheet is about.
    """
    texts: list[str] = []
    comments = 0
    for target in package.related(part):
        name = target.lower()
        if "drawings/" in name and name.endswith(".xml"):
            texts += _readable(package, target, _SHAPE)
            for chart in package.related(target):
                if "charts/chart" in chart.lower():
                    texts += _readable(package, chart, _TITLE)
        elif "comments" in name and "threaded" not in name:
            comments += len(_COMMENT.findall(_text(package, target)))
    return texts, comments


def _readable(package: Package, part: str, where: re.Pattern[str]) -> Iterator[str]:
    content = _FALLBACK.sub("", _text(package, part)).partition("plotArea")[0]  # titles of axes come after
    for area in where.finditer(content):
        for paragraph in _PARAGRAPH.finditer(area[0]):
            text = "".join(unescaped(run) for run in _RUN.findall(paragraph[1]))
            if text.strip():
                yield escape_text(clean_text(text).strip())


def _text(package: Package, part: str) -> str:
    try:
        return package.text(part)
    except DocumentFailure as failure:
        if failure.status != "broken":
            raise
        return ""
