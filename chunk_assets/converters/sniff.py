"""What kind of document some bytes are: magic and content first, the file name last.

A name decides only between kinds of text that look alike (CSV, markdown, plain text).
"""

from __future__ import annotations

import io
import re
import zipfile

from chunk_assets.converters import encoding, media
from chunk_assets.converters.ole import OLE_MAGIC, streams
from chunk_assets.errors import DocumentFailure

_MAGIC = (
    (b"{\\rtf", media.RTF),
    (b"\x1f\x8b", media.GZIP),
    (b"\x89PNG\r\n\x1a\n", media.PNG),
    (b"\xff\xd8\xff", media.JPEG),
    (b"GIF8", media.GIF),
    (b"II*\x00", media.TIFF),
    (b"MM\x00*", media.TIFF),
)
# The part that makes a zip package a document of its kind; the first that is there decides.
_ZIP_MEMBERS = (
    (re.compile(r"word/document\d*\.xml"), media.DOCX),
    (re.compile(r"xl/workbook\.bin"), media.XLSB),
    (re.compile(r"xl/workbook\d*\.xml"), media.XLSX),
    (re.compile(r"ppt/presentation\d*\.xml"), media.PPTX),
    (re.compile(r"word/.*"), media.DOCX),
    (re.compile(r"xl/.*"), media.XLSX),
    (re.compile(r"ppt/.*"), media.PPTX),
)
# A quick look for the usual: packages that start with their list of types, and the raw names of the list.
_TYPES_FIRST = (b"PK\x03\x04",)
_USUAL_PLACES = (
    (b"word/document.xml", media.DOCX),
    (b"xl/workbook.xml", media.XLSX),
    (b"ppt/presentation.xml", media.PPTX),
)
_ODF_TYPES = {
    media.ODS.encode(): media.ODS,
    media.ODT.encode(): media.ODT,
    media.ODP.encode(): media.ODP,
    media.EPUB.encode(): media.EPUB,
}
_OLE_STREAMS = (
    ("encryptedpackage", media.ENCRYPTED_OFFICE),
    ("workbook", media.XLS),
    ("book", media.XLS),
    ("worddocument", media.DOC),
    ("powerpoint document", media.PPT),
    ("__properties_version1.0", media.OUTLOOK),
)
_LOCAL_HEADER = b"PK\x03\x04"
# How much of a file's start is read as text to tell what it is, in bytes.
_HEAD = 65_536
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta|script)\b",
    re.IGNORECASE | re.DOTALL,
)
_HTML_FRAGMENT = re.compile(
    r"\s*<(?:div|p|table|h[1-6]|ul|ol|span|br|a|center|font|section|article)\b[^<>]*>", re.IGNORECASE
)
_MAIL_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*:[ \t]?\S?.*|[ \t]+\S.*")
_MAIL_SIGNS = (
    "from:",
    "to:",
    "subject:",
    "date:",
    "received:",
    "mime-version:",
    "message-id:",
    "return-path:",
)
# Bytes that text has not: controls but tab, line ends, vertical tab, form feed, ^Z and escape.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_TEXTS = frozenset({media.CSV, media.TSV, media.MARKDOWN, media.TEXT})


def media_type(data_head: bytes, name: str) -> str:
    """The media type of a document whose bytes start with ``data_head``; see ``media`` for the names.

    The whole document is best: the lists of contents of zip and OLE containers may be anywhere in it.
    ``name`` is the file name. ``application/octet-stream`` means that nothing is known.
    """
    if data_head.startswith(OLE_MAGIC):
        return _ole(data_head, name)
    if data_head.startswith((_LOCAL_HEADER, b"PK\x05\x06")):
        return _zip(data_head)
    for magic, kind in _MAGIC:
        if data_head.startswith(magic):
            return kind
    if _is_pdf(data_head):
        return media.PDF
    return _text(data_head[:_HEAD], name)


def _is_pdf(data: bytes) -> bool:
    """The header may follow up to 1,024 bytes of something else (ISO 32000-1, annex H.3.4.1)."""
    at = data.find(b"%PDF-", 0, 1_029)
    return at == 0 or (at > 0 and (b"obj" in data[at : at + 4_096] or data[at + 5 : at + 6].isdigit()))


def _zip(data: bytes) -> str:
    listed = data[_directory(data) :] if data.startswith(_TYPES_FIRST) else b""
    for place, kind in _USUAL_PLACES:
        if place in listed:
            return kind
    names = _members(data)
    if names and names[0] == "mimetype":
        for declared, kind in _ODF_TYPES.items():
            if declared in data[:256]:
                return kind
    for pattern, kind in _ZIP_MEMBERS:
        if any(pattern.fullmatch(name) for name in names):
            return kind
    return media.ZIP


def _directory(data: bytes) -> int:
    """Where the list of members starts, by the record at the end; the end of the data without one."""
    at = data.rfind(b"PK\x05\x06", max(0, len(data) - 65_557))
    return int.from_bytes(data[at + 16 : at + 20], "little") if at >= 0 else len(data)


def _members(data: bytes) -> list[str]:
    """Names of the members, from the directory at the end or, where that is cut off, the local headers."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except Exception:  # noqa: BLE001 - zipfile raises many kinds for damaged directories; headers may do
        names = []
    if not names:
        names = _local_names(data)
    return [name.replace("\\", "/").lstrip("/").lower() for name in names]


def _local_names(data: bytes) -> list[str]:
    names: list[str] = []
    at = data.find(_LOCAL_HEADER)
    while at >= 0 and len(names) < 10_000:
        length = int.from_bytes(data[at + 26 : at + 28], "little")
        names.append(data[at + 30 : at + 30 + length].decode("utf-8", "replace"))
        at = data.find(_LOCAL_HEADER, at + 30)
    return names


def _ole(data: bytes, name: str) -> str:
    found = streams(data)
    for stream, kind in _OLE_STREAMS:
        if stream in found:
            return kind
    promised = media.by_extension(name)
    if not found and promised in (media.XLS, media.DOC, media.PPT, media.OUTLOOK):
        return promised
    return media.OLE


def _text(head: bytes, name: str) -> str:
    text = _decoded(head)
    promised = media.by_extension(name)
    if text is None:
        return media.UNKNOWN
    if not text.strip() and promised in _TEXTS | {media.HTML, media.EMAIL}:
        return promised
    if promised == media.EMAIL or _is_mail(text):
        return media.EMAIL
    if _HTML.match(text) or (promised not in _TEXTS and _HTML_FRAGMENT.match(text)):
        return media.HTML
    return promised if promised in _TEXTS | {media.HTML} else media.TEXT


def _decoded(head: bytes) -> str | None:
    """The head as far as ASCII tells, ``None`` when it is no text."""
    if not head:
        return ""
    if head.startswith(_BOMS[1:]) or _is_wide(head):
        return head.replace(b"\x00", b"").decode("latin-1").lstrip("\xff\xfe")
    controls = len(_CONTROL.findall(head))
    if controls > max(2, len(head) // 50):
        return _guessed(head)
    return head.removeprefix(_BOMS[0]).decode("latin-1")


def _guessed(head: bytes) -> str | None:
    """Text in an encoding that shows control bytes, such as UTF-16 without a single zero byte."""
    try:
        return encoding.decode(head[: len(head) - len(head) % 4])[0]
    except DocumentFailure:
        return None


def _is_wide(head: bytes) -> bool:
    """UTF-16 or 32 without a mark: zeroes on one side of the pairs, hardly any on the other."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    most, least = max(even, odd), min(even, odd)
    return most > len(head) // 8 and (least * 20 < most or even + odd > len(head) * 0.7)


def _is_mail(text: str) -> bool:
    """A block of header lines with at least three of the usual fields, or those of a saved web page."""
    lines = text.lstrip("\r\n").splitlines()[:40]
    block: list[str] = []
    for line in lines:
        if not line.strip() or not _MAIL_HEADER.fullmatch(line):
            break
        block.append(line.lower())
    if any(line.startswith("mime-version:") for line in block) and any(
        line.startswith("content-type: multipart/") for line in block
    ):
        return True
    fields = sum(1 for sign in _MAIL_SIGNS if any(line.startswith(sign) for line in block))
    typical = any(
        line.startswith(("received:", "mime-version:", "message-id:", "return-path:")) for line in block
    )
    return fields >= 3 and typical
