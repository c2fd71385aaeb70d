"""A small PDF writer: Helvetica, headings, ruled tables, footnotes, running head and page numbers.

Written by hand so that the bytes depend on nothing but the text. Points from the lower left corner.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sample_maker.markup import MARK, Block, Text

WIDTH, HEIGHT, MARGIN = 612, 792, 66
TOP, BOTTOM = HEIGHT - 92, 76
BODY, SMALL, LEAD = 10.0, 8.0, 13.5
HEADINGS = {1: 18.0, 2: 14.0, 3: 11.5}

# Advance widths of the characters from blank to tilde in thousandths of an em (Adobe font metrics).
_REGULAR = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 "
    "556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 "
    "778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 "
    "556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584"
)
_BOLD = (
    "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 "
    "556 556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 "
    "667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 "
    "611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584"
)
_WIDTHS = {"F1": [int(w) for w in _REGULAR.split()], "F2": [int(w) for w in _BOLD.split()]}


def text_width(text: str, font: str, size: float) -> float:
    """Width of ``text`` in points; characters outside ASCII count as a digit."""
    widths = _WIDTHS[font]
    return sum(widths[ord(c) - 32] if " " <= c <= "~" else 556 for c in text) * size / 1000


def wrap(text: str, font: str, size: float, width: float) -> list[str]:
    """Lines no wider than ``width`` points, broken at blanks."""
    lines: list[str] = []
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(MARK.sub("", joined), font, size) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


@dataclass(slots=True)
class _Page:
    ops: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # footnote lines, drawn when the page is closed
    y: float = TOP


class Layout:
    """Flows blocks into pages."""

    def __init__(self, text: Text, head: str) -> None:
        self.text, self.head = text, head
        self.pages = [_Page()]
        for index, block in enumerate(text.blocks):
            following = text.blocks[index + 1] if index + 1 < len(text.blocks) else None
            self._add(block, following)

    def _add(self, block: Block, following: Block | None) -> None:
        if block.kind == "heading":
            self._heading(block, following)
        elif block.kind == "table":
            self._table(block.rows)
        else:
            self._paragraph(block.text)

    @property
    def page(self) -> _Page:
        """The page that is being filled."""
        return self.pages[-1]

    def _room(self, height: float) -> None:
        notes = len(self.page.notes) * 10 + (8 if self.page.notes else 0)
        if self.page.y - height < BOTTOM + notes:
            self.pages.append(_Page())

    def _heading(self, block: Block, following: Block | None) -> None:
        size = HEADINGS[block.level]
        table = len(following.rows) * 17 if following and following.kind == "table" else 2 * LEAD
        self._room(size + 12 + table)
        self.page.y -= size + 8
        self.page.ops.append(show(MARGIN, self.page.y, "F2", size, block.text))
        self.page.y -= 8

    def _paragraph(self, text: str) -> None:
        for line in wrap(text, "F1", BODY, WIDTH - 2 * MARGIN):
            found = [self.text.notes[m] for m in MARK.findall(line)]
            self._room(LEAD + 20 * len(found))
            self.page.y -= LEAD
            self.page.ops.extend(_marked(MARGIN, self.page.y, line))
            for number, note in zip(MARK.findall(line), found, strict=True):
                self.page.notes += wrap(f"{number} {note}", "F1", SMALL, WIDTH - 2 * MARGIN)
        self.page.y -= 6

    def _table(self, rows: tuple[tuple[str, ...], ...]) -> None:
        columns = len(rows[0])
        total = WIDTH - 2 * MARGIN
        first = total * (0.34 if columns > 3 else 0.46)
        edges = [MARGIN + first + i * (total - first) / (columns - 1) for i in range(columns)]
        edges.insert(0, MARGIN)
        self._room(17 * len(rows) + 8)
        self.page.y -= 4
        for index, row in enumerate(rows):
            self._row(row, edges, "F2" if index == 0 else "F1")
        self.page.y -= 8

    def _row(self, row: tuple[str, ...], edges: list[float], font: str) -> None:
        cells = [wrap(c, font, 9, edges[i + 1] - edges[i] - 8) for i, c in enumerate(row)]
        height = max(len(c) for c in cells) * 11 + 6
        top, low = self.page.y, self.page.y - height
        for i, lines in enumerate(cells):
            self.page.ops.append(f"{edges[i]:.2f} {low:.2f} {edges[i + 1] - edges[i]:.2f} {height:.2f} re S")
            for n, line in enumerate(lines):
                right = edges[i + 1] - 4 - text_width(line, font, 9)
                x = edges[i] + 4 if i == 0 else right
                self.page.ops.append(show(x, top - 12 - 11 * n, font, 9, line))
        self.page.y = low

    def contents(self) -> list[bytes]:
        """One content stream a page, with running head, footnotes and page number."""
        return [self._close(page, number) for number, page in enumerate(self.pages, 1)]

    def _close(self, page: _Page, number: int) -> bytes:
        ops = ["0.6 w", *page.ops, show(MARGIN, HEIGHT - 50, "F1", SMALL, self.head)]
        low = BOTTOM - 10 + 10 * (len(page.notes) - 1)
        if page.notes:
            ops.append(f"{MARGIN} {low + 12:.2f} m {MARGIN + 120} {low + 12:.2f} l S")
        ops += [show(MARGIN, low - 10 * i, "F1", SMALL, line) for i, line in enumerate(page.notes)]
        label = f"Page {number} of {len(self.pages)}"
        ops.append(show(WIDTH - MARGIN - text_width(label, "F1", SMALL), 40, "F1", SMALL, label))
        return "\n".join(ops).encode("cp1252")


def show(x: float, y: float, font: str, size: float, text: str) -> str:
    """The operators that show ``text`` at a point."""
    escaped = re.sub(r"([()\\])", r"\\\1", text)
    return f"BT /{font} {size:g} Tf {x:.2f} {y:.2f} Td ({escaped}) Tj ET"


def _marked(x: float, y: float, line: str) -> list[str]:
    """A line whose ``[1]`` marks are drawn small and raised."""
    ops = []
    for index, piece in enumerate(MARK.split(line)):
        if not piece:
            continue
        font_size, rise = (6.5, 3.5) if index % 2 else (BODY, 0.0)
        ops.append(show(x, y + rise, "F1", font_size, piece))
        x += text_width(piece, "F1", font_size)
    return ops


def objects(contents: list[bytes], title: str) -> list[bytes]:
    """The numbered objects of a document: catalog, page tree, two fonts, info, then the pages."""
    kids = " ".join(f"{6 + 2 * i} 0 R" for i in range(len(contents)))
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica{} /Encoding /WinAnsiEncoding >>"
    made = [
        b"<< /Type /Catalog /Pages 2 0 R /Lang (en) >>",
        f"<< /Type /Pages /Count {len(contents)} /Kids [{kids}] >>".encode(),
        font.format("").encode(),
        font.format("-Bold").encode(),
        f"<< /Title ({title}) /CreationDate (D:20260101000000Z) >>".encode("cp1252"),
    ]
    resources = "<< /Font << /F1 3 0 R /F2 4 0 R >> >>"
    for i, content in enumerate(contents):
        box = f"[0 0 {WIDTH} {HEIGHT}]"
        page = f"/MediaBox {box} /Resources {resources} /Contents {7 + 2 * i} 0 R"
        made.append(f"<< /Type /Page /Parent 2 0 R {page} >>".encode())
        made.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content))
    return made


def assemble(made: list[bytes], trailer: str = "") -> bytes:
    """A whole file from its objects: header, cross references, trailer."""
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(made, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(made) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    tail = (
        f"trailer\n<< /Size {len(made) + 1} /Root 1 0 R /Info 5 0 R {trailer}>>\nstartxref\n{start}\n%%EOF\n"
    )
    return bytes(out + tail.encode("latin-1"))


def render(text: Text, head: str, title: str) -> bytes:
    """The PDF of a text."""
    return assemble(objects(Layout(text, head).contents(), title))
