"""A small writer of PDF files, so that tests can say exactly what stands where on a page."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence

from chunk_assets.converters.base import Options
from chunk_assets.converters.pdf import PDF
from chunk_assets.records import Converted

WIDTH, HEIGHT = 612, 792
_TO_HEBREW = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Hebrew def /CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange
1 beginbfrange <61> <7a> <05d0> endbfrange endcmap end end"""
_PAD = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


def text(x: float, y: float, words: str, size: float = 11, font: str = "F1") -> str:
    """Show ``words`` with the baseline at ``x``, ``y`` (points from the lower left corner)."""
    safe = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{font} {size} Tf {x} {y} Td ({safe}) Tj ET\n"


def lines(
    x: float, y: float, rows: Iterable[str], size: float = 11, leading: float = 13, font: str = "F1"
) -> str:
    """Lines of text under each other."""
    return "".join(text(x, y - index * leading, row, size, font) for index, row in enumerate(rows))


def rule(x0: float, y0: float, x1: float, y1: float) -> str:
    """A thin straight line."""
    return f"0.5 w {x0} {y0} m {x1} {y1} l S\n"


def grid(xs: Sequence[float], ys: Sequence[float]) -> str:
    """All rules of a table with these column and row borders."""
    across = "".join(rule(xs[0], y, xs[-1], y) for y in ys)
    return across + "".join(rule(x, ys[0], x, ys[-1]) for x in xs)


def table(x: float, y: float, rows: Sequence[Sequence[str]], width: float = 90, height: float = 18) -> str:
    """A ruled table with its upper left corner at ``x``, ``y``."""
    xs = [x + width * index for index in range(len(rows[0]) + 1)]
    ys = [y - height * index for index in range(len(rows) + 1)]
    cells = "".join(
        text(xs[column] + 4, ys[row + 1] + 5, cell, 10)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    )
    return grid(xs, ys) + cells


def picture(x: float, y: float, width: float, height: float) -> str:
    """A grey picture."""
    return f"q {width} 0 0 {height} {x} {y} cm /Im1 Do Q\n"


def build(
    pages: Sequence[str],
    *,
    rotate: int = 0,
    info: str = "",
    outline: Sequence[tuple[str, int]] = (),
    password: tuple[str, str] | None = None,
    field: tuple[tuple[int, int, int, int], str] | None = None,
) -> bytes:
    """A PDF with these page contents.

    ``outline`` holds titles with page indices, ``password`` the user's and the owner's password,
    ``field`` the place and the value of a filled-in form field of the first page.
    """
    fonts = (("F1", "Helvetica"), ("F2", "Helvetica-Bold"), ("F3", "Courier"), ("F4", "Times-Roman"))
    objects: dict[int, tuple[str, bytes | None]] = {}
    named = " ".join(f"/{key} {4 + index} 0 R" for index, (key, _) in enumerate(fonts))
    for index, (_, name) in enumerate(fonts):
        font = f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
        objects[4 + index] = (font, None)
    objects[10_000] = ("", b"60 0 0 0 50 70 d1 0 0 50 70 re f")
    named += f" /F5 {10_001} 0 R"
    objects[10_001] = (_bitmap_font(10_000), None)
    # F4 shows the letters from a on as those of the Hebrew alphabet.
    objects[8] = ("", _TO_HEBREW)
    objects[7] = (objects[7][0].replace(" >>", " /ToUnicode 8 0 R >>"), None)
    pixel = "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
    objects[9] = (pixel, b"\x80")
    objects[3] = (info, None)
    kids = [10 + 2 * index for index in range(len(pages))]
    for number, content in zip(kids, pages, strict=True):
        objects[number + 1] = ("/Filter /FlateDecode", zlib.compress(content.encode("latin-1")))
        page = f"/Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Rotate {rotate}"
        resources = f"/Resources << /Font << {named} >> /XObject << /Im1 9 0 R >> >>"
        objects[number] = (f"<< {page} {resources} /Contents {number + 1} 0 R >>", None)
    if field is not None:
        _add_field(objects, kids[0], *field)
    references = " ".join(f"{kid} 0 R" for kid in kids)
    objects[2] = (f"<< /Type /Pages /Count {len(pages)} /Kids [{references}] >>", None)
    catalog = "<< /Type /Catalog /Pages 2 0 R"
    if field is not None:
        catalog += " /AcroForm << /Fields [800 0 R] /DR << /Font << /F1 4 0 R >> >> >>"
    if outline:
        catalog += " /Outlines 900 0 R"
        _add_outline(objects, outline, kids)
    objects[1] = (f"{catalog} >>", None)
    if not info:
        del objects[3]
    return _written(objects, password)


def convert(*pages: str, **how: object) -> Converted:
    """What a file of these pages is converted to."""
    return PDF.convert(build(pages, **how), Options())  # type: ignore[arg-type]


def _bitmap_font(glyph: int) -> str:
    """A font with glyphs of its own (Type 3), 60 units wide and 70 tall, without Unicode values."""
    names = " ".join(f"/c{code}" for code in range(256))
    glyphs = " ".join(f"/c{code} {glyph} 0 R" for code in range(256))
    return (
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 60 70] /FontMatrix [1 0 0 1 0 0] /FirstChar 0 "
        f"/LastChar 255 /Widths [{'60 ' * 256}] /Encoding << /Differences [0 {names}] >> "
        f"/CharProcs << {glyphs} >> >>"
    )


def _add_outline(
    objects: dict[int, tuple[str, bytes | None]], outline: Sequence[tuple[str, int]], kids: Sequence[int]
) -> None:
    last = 900 + len(outline)
    objects[900] = (f"<< /Type /Outlines /First 901 0 R /Last {last} 0 R /Count {len(outline)} >>", None)
    for index, (title, page) in enumerate(outline, start=901):
        following = f"/Next {index + 1} 0 R" if index < last else ""
        before = f"/Prev {index - 1} 0 R" if index > 901 else ""
        target = f"/Dest [{kids[page]} 0 R /Fit]"
        objects[index] = (f"<< /Title ({title}) /Parent 900 0 R {before} {following} {target} >>", None)


def _add_field(
    objects: dict[int, tuple[str, bytes | None]], page: int, box: tuple[int, int, int, int], value: str
) -> None:
    left, bottom, right, top = box
    head, _ = objects[page]
    objects[page] = (head.removesuffix(">>") + "/Annots [800 0 R] >>", None)
    widget = f"/Type /Annot /Subtype /Widget /FT /Tx /T (name) /V ({value}) /F 4"
    widget += f" /Rect [{left} {bottom} {right} {top}]"
    objects[800] = (f"<< {widget} /AP << /N 801 0 R >> >>", None)
    form = f"/Type /XObject /Subtype /Form /BBox [0 0 {right - left} {top - bottom}]"
    content = f"/Tx BMC BT /F1 11 Tf 2 5 Td ({value}) Tj ET EMC".encode("latin-1")
    objects[801] = (f"{form} /Resources << /Font << /F1 4 0 R >> >>", content)


def _written(objects: dict[int, tuple[str, bytes | None]], password: tuple[str, str] | None) -> bytes:
    key = b""
    trailer = "/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]"
    if password is not None:
        key, dictionary = _encryption(*password)
        objects[999] = (dictionary, None)
        trailer += " /Encrypt 999 0 R"
    out = bytearray(b"%PDF-1.4\n")
    offsets = {}
    for number in sorted(objects):
        head, stream = objects[number]
        offsets[number] = len(out)
        if stream is None:
            out += f"{number} 0 obj\n{head}\nendobj\n".encode("latin-1")
            continue
        if key:
            salted = hashlib.md5(key + number.to_bytes(3, "little") + b"\x00\x00").digest()
            stream = _rc4(salted[:10], stream)
        out += f"{number} 0 obj\n<< {head} /Length {len(stream)} >>\nstream\n".encode("latin-1")
        out += stream + b"\nendstream\nendobj\n"
    start = len(out)
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for number, offset in offsets.items():
        out += f"{number} 1\n{offset:010d} 00000 n \n".encode()
    information = "/Info 3 0 R" if 3 in objects else ""
    out += f"trailer\n<< /Size 10002 /Root 1 0 R {information} {trailer} >>\n".encode("latin-1")
    return bytes(out + f"startxref\n{start}\n%%EOF\n".encode())


def _encryption(user: str, owner: str) -> tuple[bytes, str]:
    """File key and dictionary of the standard handler, revision 2 (PDF 1.4, algorithms 3.2 to 3.4)."""
    padded = (user.encode("latin-1") + _PAD)[:32]
    owner_key = hashlib.md5((owner.encode("latin-1") + _PAD)[:32]).digest()[:5]
    owner_entry = _rc4(owner_key, padded)
    rights = (-44 & 0xFFFFFFFF).to_bytes(4, "little")
    key = hashlib.md5(
        padded + owner_entry + rights + bytes.fromhex("00112233445566778899aabbccddeeff")
    ).digest()[:5]
    user_entry = _rc4(key, _PAD)
    entries = f"/O <{owner_entry.hex()}> /U <{user_entry.hex()}>"
    return key, f"<< /Filter /Standard /V 1 /R 2 /Length 40 /P -44 {entries} >>"


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
