"""Plain text as markdown that parses back to the same lines.

Lines are kept. What a markdown parser would read as a heading, quote, rule, tag or link is escaped; typed
lists stay lists. Indentation that would make code of prose is taken away, but not from blocks whose
columns are aligned by blanks: there an indented block keeps its look.
"""

from __future__ import annotations

import re

from chunk_assets.converters.blocks import PAGE
from chunk_assets.converters.markup import clean_text, escape_text

_GAP = re.compile(r"\S(?: {3,}|\t+)\S")
_QUOTE_MARKS = re.compile(r"(?:> ?)+")
_FORM_FEED = re.compile(r"\x0c")


def plain_markdown(text: str, *, quotes: bool = False) -> str:
    """``text`` as markdown, with a page mark for each form feed between text.

    ``quotes``: lines that start with ``>`` are quotes, as they are in mail.

    Blank lines at both ends go, runs of blank lines become one, blanks at line ends go.
    """
    pages = [_page(part, quotes) for part in _FORM_FEED.split(text)]
    while pages and not pages[-1]:
        pages.pop()
    return f"\n\n{PAGE}".join(pages).lstrip("\n")


def _page(text: str, quotes: bool) -> str:
    lines = [line.rstrip() for line in clean_text(text).split("\n")]
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return "\n\n".join(_block(block, quotes) for block in blocks if block)


def _block(lines: list[str], quotes: bool) -> str:
    """One run of lines without blank ones between them."""
    if quotes and any(line.startswith(">") for line in lines):
        return "\n".join(_quoted(line) for line in lines)
    if _is_aligned(lines):
        return _aligned(lines)
    body = "\n".join(line.lstrip() if _is_indented(line) else line for line in lines)
    return escape_text(body)


def _quoted(line: str) -> str:
    marks = _QUOTE_MARKS.match(line)
    head = marks[0] if marks else ""
    return head + escape_text(line[len(head) :])


def _is_aligned(lines: list[str]) -> bool:
    """Whether at least half of the lines have gaps inside, as rows of columns have."""
    return len(lines) > 1 and 2 * sum(1 for line in lines if _GAP.search(line.strip())) >= len(lines)


def _is_indented(line: str) -> bool:
    return line.startswith(("    ", "\t", " \t", "  \t", "   \t"))


def _aligned(lines: list[str]) -> str:
    """Aligned lines: an indented block is verbatim for a parser already, others are escaped."""
    if all(map(_is_indented, lines)):
        return "\n".join(lines)
    body = "\n".join(lines)
    return escape_text(body.lstrip() if _is_indented(lines[0]) else body)
