"""What the first characters of a line can mean.

Every pattern runs from a line's first character that is not blank to its end, and is linear in the
line.

Rules: CommonMark 0.31.2 and GitHub's tables.
"""

from __future__ import annotations

import re

ATX = re.compile(r"(#{1,6})(?=[ \t]|$)")
SETEXT = re.compile(r"(?:=+|-+)[ \t]*$")
THEMATIC = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
MARKER = re.compile(r"([-+*]|\d{1,9}[.)])([ \t]+|$)")
FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
FENCE_END = re.compile(r"(`{3,}|~{3,})[ \t]*$")
DELIMITER = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
META_LINE = re.compile(r"[ \t#]|-(?:[ \t]|$)|[\w\"'.][\w\"'. -]*[:=]|[\]}]|$")

# Characters with which a line can be anything but the text of a paragraph.
STARTERS = "#>-*+|`~<=:_0123456789"

# HTML blocks: how each of the seven kinds begins, and for the first five how it ends.
HTML_ENDED = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
)
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|"
    "dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|"
    "link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|"
    "tfoot|th|thead|title|tr|track|ul"
)
HTML_BLOCK = re.compile(rf"</?(?:{_BLOCK_TAGS})(?=[\s>]|/>|$)", re.IGNORECASE)
_ATTRIBUTE = r"[ \t]+[A-Za-z_:][\w.:-]*(?:[ \t]*=[ \t]*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?"
HTML_ALONE = re.compile(
    rf"(?:<[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*[ \t]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \t]*>)[ \t]*$"
)
TABLE_TAG = re.compile(r"<(/?)table\b", re.IGNORECASE)
ROW_TAG = re.compile(r"<tr\b", re.IGNORECASE)
HEADER_CELL = re.compile(r"<t[hd]\b", re.IGNORECASE)


def heading_title(text: str) -> str:
    """The title of an ATX heading's line after its opening number signs."""
    title = text.strip(" \t")
    bare = title.rstrip("#")
    if not bare or bare[-1] in " \t":
        title = bare.strip(" \t")
    return title


def bars(text: str) -> list[int]:
    """Offsets of the pipes of a table row that divide cells: those without a backslash before."""
    found, at = [], text.find("|")
    while at >= 0:
        if at == 0 or text[at - 1] != "\\":
            found.append(at)
        at = text.find("|", at + 1)
    return found


def cell_count(row: str) -> int:
    """Cells of a table row, with or without outer pipes."""
    row = row.strip(" \t")
    count = len(bars(row)) + 1
    return count - row.startswith("|") - (len(row) > 1 and row.endswith("|") and not row.endswith("\\|"))
