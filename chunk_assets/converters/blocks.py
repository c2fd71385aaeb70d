"""From blocks of finished markdown to one text with its pages.

Readers of Word, PowerPoint and HTML collect inline text in ``Inline`` and blocks in ``Block``; a page
that starts inside either is marked by ``PAGE``, which ``render`` turns into exact offsets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from chunk_assets.converters.markup import (
    clean_marked,
    collapse_spaces,
    escape_inline,
    escape_text,
    fence,
    pipe_table,
)
from chunk_assets.records import Page

# Non-characters, which ``clean_text`` removes from every source, so that no document can forge them.
PAGE = "\ufdd0"
_SPECIAL = "\ufdd1"
# Most paragraphs: one line that needs no cleaning, composing or escaping whatsoever.
_PLAIN = re.compile("[A-Za-z0-9(\"'“‘À-ÖØ-öø-ÿ][-A-Za-z0-9 !\"$%'(),./:;=?@^{}À-ÖØ-öø-ÿ“”‘’–—…•§°€£]*")
_FORGED = re.compile("[\ufdd0-\ufdef]")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of finished markdown, without line ends at its edges.

    ``kind`` is one of ``paragraph``, ``heading``, ``item``, ``table``, ``note``, ``quote`` (text still
    without its marks), ``code`` and ``mono`` (text still without its fence). ``mono`` is text in a
    typewriter font: code if a line of its run of blocks looks like code, else paragraphs.
    """

    text: str
    kind: str = "paragraph"


class Inline:
    """Collects the pieces of one paragraph: plain text, and markdown that is finished already."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._special: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def mark(self) -> tuple[int, int]:
        """A place to ``cut`` from later."""
        return len(self._pieces), len(self._special)

    def cut(self, mark: tuple[int, int]) -> Inline:
        """Takes away and returns what was added since ``mark``."""
        taken = Inline()
        taken._pieces, taken._special = self._pieces[mark[0] :], self._special[mark[1] :]
        del self._pieces[mark[0] :]
        del self._special[mark[1] :]
        return taken

    def add(self, other: Inline) -> None:
        """Appends all of ``other``."""
        self._pieces += other._pieces
        self._special += other._special

    def text(self, text: str) -> None:
        """Appends plain text of the source."""
        if text:
            self._pieces.append(text if text.isascii() else _FORGED.sub("", text))

    def markdown(self, markdown: str) -> None:
        """Appends finished inline markdown."""
        if markdown:
            self._pieces.append(_SPECIAL)
            self._special.append(markdown)

    def page(self) -> None:
        """A page starts here."""
        self._pieces.append(PAGE)

    def ends_with_break(self) -> bool:
        """Whether the last thing added, blanks aside, is a line break."""
        for piece in reversed(self._pieces):
            if stripped := piece.rstrip(" "):
                return stripped.endswith("\n")
        return False

    def last_character(self) -> str:
        """The last plain character, empty at the start and after finished markdown."""
        return self._pieces[-1][-1:] if self._pieces else ""

    def has_text(self) -> bool:
        """Whether anything but blanks and page marks was added."""
        for piece in self._pieces:
            text = piece.strip()
            if text and text.strip(PAGE).strip():
                return True
        return False

    def block(self, *, starts: bool = True) -> str:
        """The paragraph's markdown; line breaks stay, runs of blanks become one space.

        ``starts``: its lines start lines of the markdown, where some characters need an escape.
        """
        plain = "".join(self._pieces).strip(" ")
        if _PLAIN.fullmatch(plain):
            while "  " in plain:
                plain = plain.replace("  ", " ")
            return plain
        lines = [line.strip() for line in self._raw().split("\n")]
        text = "\n".join(line for line in lines if line)
        body = text.lstrip(PAGE + " \n")
        lead = PAGE * text[: len(text) - len(body)].count(PAGE)
        return lead + self._fill(escape_text(body) if starts else escape_inline(body))

    def line(self) -> str:
        """As ``block``, but all in one line and without escapes that only the start of a line needs."""
        raw = " ".join(self._raw().split())
        body = raw.lstrip(PAGE + " ")
        return PAGE * raw[: len(raw) - len(body)].count(PAGE) + self._fill(escape_inline(body))

    def label(self) -> tuple[str, str, str]:
        """Blanks before, one line of markdown, blanks after: for the inside of a link."""
        raw = self._raw()
        lead = " " if raw[:1].isspace() else ""
        return lead, self.line(), " " if len(raw.strip()) and raw[-1:].isspace() else ""

    def verbatim(self) -> str:
        """The text as it is, nothing collapsed or escaped: for code."""
        return self._fill(self._joined())

    def _raw(self) -> str:
        return collapse_spaces(self._joined())

    def _joined(self) -> str:
        """All pieces as one clean text: letters and their accents may come in different pieces."""
        return clean_marked("".join(self._pieces))

    def _fill(self, text: str) -> str:
        if not self._special:
            return text
        pieces = text.split(_SPECIAL)
        filled = [pieces[0]]
        for markdown, piece in zip(self._special, pieces[1:], strict=True):
            filled += (markdown, piece)
        return "".join(filled)


def table_block(rows: Sequence[Sequence[str]]) -> Block:
    """A pipe table of finished cells; a page that starts inside a row starts with the row."""
    lines = []
    for line in pipe_table(rows).split("\n"):
        pages = line.count(PAGE)
        lines.append(PAGE * pages + line.replace(PAGE, "") if pages else line)
    return Block("\n".join(lines), "table")


def render(blocks: Iterable[Block], *, first_page: int = 1) -> tuple[str, tuple[Page, ...]]:
    """The markdown of all blocks, and its pages where there was a page mark (else none).

    Items of a list and notes stand on lines of their own, other blocks are set apart by a blank line.
    """
    pieces: list[str] = []
    previous: Block | None = None
    pending = ""
    for block in _fenced(blocks):
        if not block.text.strip(PAGE + "\n "):
            pending += PAGE * block.text.count(PAGE)
            continue
        if previous is not None:
            pieces.append("\n" if _tight(previous, block) else "\n\n")
        pieces += (pending, block.text)
        pending, previous = "", block
    text = "".join(pieces)
    return paged(f"{text.rstrip()}\n" if text.strip(PAGE + "\n ") else "", first_page=first_page)


def _tight(before: Block, after: Block) -> bool:
    if before.kind == after.kind == "note":
        return "\n" not in before.text
    return before.kind == after.kind == "item" and "\n\n" not in before.text


def _fenced(blocks: Iterable[Block]) -> list[Block]:
    """Neighbouring code lines as one fence, neighbouring quotes as one quote."""
    joined: list[Block] = []
    for block in _decided(blocks):
        if joined and block.kind in {"code", "quote"} and joined[-1].kind == block.kind:
            gap = "\n" if block.kind == "code" else "\n\n"
            joined[-1] = replace(joined[-1], text=f"{joined[-1].text}{gap}{block.text}")
        elif block.kind != "code" or block.text.strip():
            joined.append(block)
    return [_marked(block) for block in joined]


_CODE_SIGN = re.compile(r"[{};=]|\w\(|\)\s*:|=>|->|^\s*(?:[$>#]\s|//|/\*)|^</?\w+")


def _decided(blocks: Iterable[Block]) -> Iterator[Block]:
    """Turns each run of ``mono`` blocks into code or paragraphs."""
    for is_mono, group in groupby(blocks, key=lambda block: block.kind == "mono"):
        run = list(group)
        if not is_mono:
            yield from run
        elif any(_CODE_SIGN.search(block.text) for block in run):
            yield from (replace(block, kind="code") for block in run)
        else:
            yield from (replace(block, text=_prose(block.text), kind="paragraph") for block in run)


def _prose(text: str) -> str:
    inline = Inline()
    inline._pieces.append(text)
    return inline.block()


def _marked(block: Block) -> Block:
    if block.kind == "code":
        return replace(block, text=fence(block.text.strip("\n")))
    if block.kind == "quote":
        lines = block.text.split("\n")
        return replace(block, text="\n".join(f"> {line}".rstrip() for line in lines))
    return block


def paged(text: str, *, first_page: int = 1) -> tuple[str, tuple[Page, ...]]:
    """``text`` without its page marks, and the pages that they bound; pages without text left out."""
    parts = text.split(PAGE)
    if len(parts) == 1:
        return text, ()
    bounds, at = [], 0
    for number, part in enumerate(parts, first_page):
        bounds.append((number, at, at + len(part)))
        at += len(part)
    # Blanks before the first text belong to it: pages tile the text.
    return "".join(parts), tuple(Page(*bound) for bound in bounds if bound[1] < bound[2])
