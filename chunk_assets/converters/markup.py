"""Writing markdown: cleaning text, escaping only where it is needed, pipe tables.

The flavour is GitHub's (CommonMark with tables). Escapes cost tokens and readability in every chunk,
so a character is escaped only where a parser would otherwise read markup in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from html.entities import html5

# Line ends of other systems and of Unicode; vertical tab and form feed are breaks too.
_NEWLINES = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
# Control characters but tab and newline, byte order marks, soft hyphens, surrogates, non-characters.
_CONTROLS = "\x00-\x08\x0e-\x1f\x7f-\x9f\xad\ufeff\ud800-\udfff\ufffe\uffff"
_DROPPED = re.compile(f"[{_CONTROLS}\ufdd0-\ufdef]")
_DROPPED_BUT_MARKS = re.compile(f"[{_CONTROLS}]")
# Runs of blanks, and single ones other than a space: a lone space needs no change.
_ODD_BLANKS = "\t\xa0\u2000-\u200a\u202f\u205f\u3000"
_ODD_BLANK = re.compile(f"[{_ODD_BLANKS}]")
_SPACES = re.compile(f"[ {_ODD_BLANKS}]{{2,}}|[{_ODD_BLANKS}]")


def clean_text(text: str) -> str:
    r"""``text`` in NFC, with ``\n`` for every kind of line end and without control characters.

    Soft hyphens and byte order marks go too: they show nowhere and split words for every tokenizer.

    >>> clean_text("e\u0301t\u00e9\r\nin\u00adfor\x00mation")
    'été\ninformation'
    """
    return _cleaned(text, _DROPPED)


def clean_marked(text: str) -> str:
    """As ``clean_text``, but the non-characters U+FDD0 to U+FDEF stay: readers use them as marks."""
    return _cleaned(text, _DROPPED_BUT_MARKS)


def _cleaned(text: str, dropped: re.Pattern[str]) -> str:
    if _NEWLINES.search(text):
        text = _NEWLINES.sub("\n", text)
    if dropped.search(text):
        text = dropped.sub("", text)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def collapse_spaces(text: str) -> str:
    """``text`` with each run of blanks (no-break ones too, but not newlines) as one space."""
    if _ODD_BLANK.search(text):
        return _SPACES.sub(" ", text)
    while "  " in text:
        text = text.replace("  ", " ")
    return text


# -- inline escapes ------------------------------------------------------------------------------

_SPECIAL = re.compile(r"[\\`*_<&~\]\[]")
_BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~]|\n|$)")
# What looks like a tag; addresses in angle brackets are links for a parser too, and lose nothing.
_TAG = re.compile(r"<(?=[A-Za-z/!?][^<>]*>)(?![\w.+-]+@[\w.-]+>|https?://[^\s<>]+>|mailto:[^\s<>]+>)")
_ENTITY = re.compile(r"&(#\d{1,7};|#[xX][0-9A-Fa-f]{1,6};|[A-Za-z][0-9A-Za-z]{1,31};)")
_LINK_END = re.compile(r"\](?=\()")
_FOOTNOTE = re.compile(r"\[(?=\^)")
_TICKS = re.compile(r"`+")
_RUNS = {"*": re.compile(r"\*+"), "_": re.compile(r"_+"), "~": re.compile(r"~~+")}


def escape_inline(text: str, *, partial: bool = False) -> str:
    r"""``text`` so that a markdown parser reads exactly these characters inside a line.

    ``partial``: the text is only a piece of its line, so that a star in it may find its partner in
    another piece; then every star that could open or close emphasis is escaped.

    >>> escape_inline("5 * 3 and a_b_c but *this* and <b>that</b>")
    '5 * 3 and a_b_c but \\*this\\* and \\<b>that\\</b>'
    """
    if not _SPECIAL.search(text):
        return text
    text = _BACKSLASH.sub(r"\\\\", text)
    for mark, pattern in _RUNS.items():
        if mark in text:
            text = _escape_delimiters(text, pattern, mark, partial)
    if "`" in text and (partial or _has_pair(_TICKS.findall(text))):
        text = text.replace("`", "\\`")
    text = _TAG.sub(r"\\<", text)
    text = _ENTITY.sub(_escaped_entity, text)
    text = _LINK_END.sub(r"\\]", text)
    return _FOOTNOTE.sub(r"\\[", text)


def _escaped_entity(match: re.Match[str]) -> str:
    """Only what stands for a character: ``&copy;``, but not the ``&T;`` of ``AT&T;``."""
    name = match[1]
    return f"\\{match[0]}" if name.startswith("#") or name in html5 else match[0]


def _has_pair(runs: list[str]) -> bool:
    return len(set(runs)) < len(runs)


def _escape_delimiters(text: str, pattern: re.Pattern[str], mark: str, partial: bool) -> str:
    """Escapes the runs of ``mark`` that can open or close emphasis, when one opens and one closes."""
    runs = [(m.start(), m.end(), *_flanks(text, m.start(), m.end(), mark)) for m in pattern.finditer(text)]
    first_open = next((i for i, run in enumerate(runs) if run[2]), len(runs))
    if not partial and not any(run[3] for run in runs[first_open + 1 :]):
        return text
    pieces, at = [], 0
    for start, end, opens, closes in runs:
        pieces.append(text[at:start])
        pieces.append(("\\" + mark) * (end - start) if opens or closes else text[start:end])
        at = end
    return "".join((*pieces, text[at:]))


def _flanks(text: str, start: int, end: int, mark: str) -> tuple[bool, bool]:
    """Whether the run ``text[start:end]`` could open and could close emphasis."""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if mark == "_" and before.isalnum() and after.isalnum():
        return False, False
    # A line end may become a break in a cell, where the mark would stand beside a tag.
    return not after.isspace() or after == "\n", not before.isspace() or before == "\n"


# -- escapes at the start of a line --------------------------------------------------------------

_BLOCK_START = re.compile(r"[ \t]*[#>+*\-_=`~\[|:]")
_HEADING = re.compile(r"#{1,6}(?=\s|$)")
_BULLET = re.compile(r"[+*](?=\s|$)|-(?=\s+[\d.,$€£(]|\s*$)")
_FENCE = re.compile(r"`{3}|~{3}")
_RULE = re.compile(r"(?:-[ \t]*){3,}$|(?:_[ \t]*){3,}$|(?:\*[ \t]*){3,}$|=+[ \t]*$|-+[ \t]*$")
_DEFINITION = re.compile(r"\[[^\]\n]+\]:")
_DELIMITER_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")


def escape_line_start(line: str) -> str:
    r"""``line`` so that it does not start a heading, quote, fence, rule or table.

    A typed ``1.`` or ``-`` before words stays: the reader sees a list there, and so does a parser.
    A minus before a number is escaped, since a bullet in its place would change the value.

    >>> escape_line_start("# 1 of 3"), escape_line_start("- 4.5 %"), escape_line_start("- word")
    ('\\# 1 of 3', '\\- 4.5 %', '- word')
    """
    if not _BLOCK_START.match(line):
        return line
    body = line.lstrip(" \t")
    indent = line[: len(line) - len(body)]
    if "|" in body and _DELIMITER_ROW.match(body):
        return indent + body.replace("|", "\\|")
    starts = (_HEADING, _BULLET, _FENCE, _RULE, _DEFINITION)
    if body.startswith(">") or any(pattern.match(body) for pattern in starts):
        return f"{indent}\\{body}"
    return line


def escape_text(text: str, *, partial: bool = False) -> str:
    """A paragraph's characters as markdown: inline escapes, and escapes where a line starts a block.

    ``text`` may have several lines. White space at the start of lines is the caller's business.
    """
    escaped = escape_inline(text, partial=partial)
    return "\n".join(map(escape_line_start, escaped.split("\n")))


# -- tables --------------------------------------------------------------------------------------

_PIPE = re.compile(r"\|")


def cell_markdown(markdown: str) -> str:
    """Finished inline markdown as a table cell: pipes escaped, line ends as ``<br>``."""
    text = collapse_spaces(markdown.strip())
    if "|" in text:
        text = _PIPE.sub(r"\\|", text)
    if "\n" not in text:
        return text
    return "<br>".join(line for part in text.split("\n") if (line := part.strip()))


def escape_cell(text: str) -> str:
    r"""Plain ``text`` as a table cell: inline escapes, pipes escaped, line ends as ``<br>``.

    >>> escape_cell("A | B\nline 2")
    'A \\| B<br>line 2'
    """
    return cell_markdown(escape_inline(text))


def table_row(cells: Iterable[str]) -> str:
    """One line of a pipe table from finished cells (see ``escape_cell``)."""
    return f"| {' | '.join(cells)} |"


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """A pipe table with ``rows[0]`` as its header; without a newline at its end.

    Cells are finished ones, made by ``escape_cell`` or ``cell_markdown``. Short rows are filled with
    empty cells, so that nothing in a longer row is lost. No rows give an empty text.
    """
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    filled = [[*row, *[""] * (width - len(row))] for row in rows]
    lines = [table_row(filled[0]), table_row(["---"] * width), *map(table_row, filled[1:])]
    return "\n".join(lines)


# -- code, links, scripts ------------------------------------------------------------------------


def fence(code: str, language: str = "") -> str:
    """``code`` in a fence that is longer than any run of backticks in it."""
    longest = max((len(run) for run in _TICKS.findall(code)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{code.rstrip()}\n{ticks}"


def code_span(code: str) -> str:
    """``code`` in backticks, more of them than any run in it; blank text is returned as it is."""
    if not code.strip():
        return code
    ticks = "`" * (max((len(run) for run in _TICKS.findall(code)), default=0) + 1)
    pad = " " if code[0] == "`" or code[-1] == "`" else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


_BRACKET = re.compile(r"(?<!\\)[\[\]]")
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|svg|emf|wmf|webp)", re.IGNORECASE)
_URL_UNSAFE = re.compile(r"[\s<>()\\]")


def link(label: str, target: str) -> str:
    """``[label](target)``; only the label where the target is empty, only the target where they agree.

    ``label`` is inline markdown. Blanks and parentheses of the target are percent-encoded.
    """
    target = clean_text(target).strip()
    if not target or not label.strip() or label.strip() == target:
        return label or target
    if label.count("[") != label.count("]"):
        label = _BRACKET.sub(_escaped, label)
    return f"[{label}]({_URL_UNSAFE.sub(_percent, target)})"


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match[0]}"


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode())


def image(text: str, name: str) -> str:
    """``![text](name)`` for an image with alternative text; empty when the text is empty or a file name."""
    text = collapse_spaces(clean_text(text).replace("\n", " ")).strip()
    if not text or text == name or _FILE_NAME.fullmatch(text):
        return ""
    safe = _URL_UNSAFE.sub(_percent, clean_text(name).strip()) or "image"
    label = escape_inline(text, partial=True)
    return f"![{_BRACKET.sub(_escaped, label) if label.count('[') != label.count(']') else label}]({safe})"


_SUPERSCRIPTS = str.maketrans("0123456789+-=", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼")
_SUBSCRIPTS = str.maketrans("0123456789+-=", "₀₁₂₃₄₅₆₇₈₉₊₋₌")
_SCRIPT = re.compile(r"[0-9+\-=]+")


def superscript(text: str) -> str:
    """Digits and signs raised, so that 10² is not read as 102; any other text unchanged."""
    return text.translate(_SUPERSCRIPTS) if _SCRIPT.fullmatch(text) else text


def subscript(text: str) -> str:
    """Digits and signs lowered; any other text unchanged."""
    return text.translate(_SUBSCRIPTS) if _SCRIPT.fullmatch(text) else text
