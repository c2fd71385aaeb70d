"""Contents of single cells: their text, finished as markdown, and their places."""

from __future__ import annotations

import html
import re

from chunk_assets.converters.markup import clean_text, escape_cell

# What may need care in markdown; text without it is finished as it is. An underscore inside a word
# is no emphasis, an ampersand is an entity of the XML.
_CARE = re.compile(r"[^ !-%'-)+-;=-Z^_a-z{}]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|  |^ | $")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_TEXT = re.compile(r"<t\b[^>]*?(?:/>|>(.*?)</t>)", re.DOTALL)
_PHONETIC = re.compile(r"<rPh\b.*?</rPh>|<phoneticPr\b[^>]*/>", re.DOTALL)


def unescaped(raw: str) -> str:
    r"""Characters of element content: entities resolved, and ``_x000D_`` as the character it stands for.

    >>> unescaped("a &amp; b_x000D_")
    'a & b\r'
    """
    if "&" in raw:
        raw = html.unescape(raw)
    if "_x" in raw:
        raw = _ESCAPED.sub(lambda m: chr(int(m[1], 16)), raw)
    return raw


def finished(text: str) -> str:
    """Text of a cell as markdown."""
    return escape_cell(clean_text(text)) if _CARE.search(text) else text


def finished_content(raw: str) -> str:
    """Element content as finished markdown; most of it is finished as it is."""
    if _CARE.search(raw) or "_x" in raw:
        return escape_cell(clean_text(unescaped(raw)))
    return raw


def rich_text(inside: str) -> str:
    """The text of a string item: its runs joined, readings (phonetic runs) left out."""
    if "<rPh" in inside:
        inside = _PHONETIC.sub("", inside)
    return "".join(unescaped(match[1] or "") for match in _TEXT.finditer(inside))


def column_number(letters: str) -> int:
    """Column from 0: ``A`` is 0, ``AA`` is 26."""
    number = 0
    for char in letters:
        number = number * 26 + (ord(char) & 31)
    return number - 1


def column_letters(column: int) -> str:
    """The name of a column counted from 0.

    >>> column_letters(0), column_letters(26)
    ('A', 'AA')
    """
    letters = ""
    while column >= 0:
        column, rest = divmod(column, 26)
        letters = chr(65 + rest) + letters
        column -= 1
    return letters
