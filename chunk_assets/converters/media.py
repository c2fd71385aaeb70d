"""Media types of the documents this package knows, and of some that it only recognises."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
XLS = "application/vnd.ms-excel"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
CSV = "text/csv"
TSV = "text/tab-separated-values"
HTML = "text/html"
MARKDOWN = "text/markdown"
TEXT = "text/plain"
EMAIL = "message/rfc822"
UNKNOWN = "application/octet-stream"

# Recognised, so that the reason can name them, but not read.
ZIP = "application/zip"
ODT = "application/vnd.oasis.opendocument.text"
ODP = "application/vnd.oasis.opendocument.presentation"
EPUB = "application/epub+zip"
DOC = "application/msword"
PPT = "application/vnd.ms-powerpoint"
OUTLOOK = "application/vnd.ms-outlook"
OLE = "application/x-ole-storage"
ENCRYPTED_OFFICE = "application/x-encrypted-office"
RTF = "application/rtf"
GZIP = "application/gzip"
PNG = "image/png"
JPEG = "image/jpeg"
GIF = "image/gif"
TIFF = "image/tiff"

# Media type → module of its converter. Sniffing answers with the plain type for the variants at the end.
CONVERTER_OF: Mapping[str, str] = MappingProxyType(
    {
        PDF: "pdf",
        DOCX: "docx",
        XLSX: "xlsx",
        XLSB: "xlsx",
        XLS: "xlsx",
        ODS: "xlsx",
        CSV: "csv",
        TSV: "csv",
        HTML: "html",
        MARKDOWN: "markdown",
        TEXT: "plain_text",
        PPTX: "pptx",
        EMAIL: "email",
        "application/vnd.ms-word.document.macroenabled.12": "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template": "docx",
        "application/xhtml+xml": "html",
    }
)
# What a person calls the types that are recognised but not read.
DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        ZIP: "a zip archive that is no Office document",
        ODT: "an OpenDocument text",
        ODP: "an OpenDocument presentation",
        EPUB: "an EPUB book",
        DOC: "a Word 97-2003 document; save it as .docx",
        PPT: "a PowerPoint 97-2003 presentation; save it as .pptx",
        OUTLOOK: "an Outlook message; save it as .eml",
        OLE: "an OLE container of another program",
        RTF: "rich text; save it as .docx",
        GZIP: "a gzip archive",
        PNG: "a picture (PNG)",
        JPEG: "a picture (JPEG)",
        GIF: "a picture (GIF)",
        TIFF: "a picture (TIFF)",
        UNKNOWN: "bytes of no known kind",
    }
)
_EXTENSIONS = {
    "pdf": PDF,
    "docx": DOCX, "docm": DOCX, "dotx": DOCX, "dotm": DOCX,
    "xlsx": XLSX, "xlsm": XLSX, "xltx": XLSX, "xltm": XLSX, "xlsb": XLSB, "xls": XLS, "xlt": XLS, "ods": ODS,
    "csv": CSV, "tsv": TSV, "tab": TSV,
    "html": HTML, "htm": HTML, "xhtml": HTML,
    "md": MARKDOWN, "markdown": MARKDOWN, "mdown": MARKDOWN, "mkd": MARKDOWN,
    "pptx": PPTX, "pptm": PPTX, "ppsx": PPTX, "ppsm": PPTX, "potx": PPTX,
    "eml": EMAIL,
    "txt": TEXT, "text": TEXT, "log": TEXT,
    "doc": DOC, "ppt": PPT, "msg": OUTLOOK, "rtf": RTF, "odt": ODT, "odp": ODP, "epub": EPUB, "zip": ZIP,
}  # fmt: skip
_SHORT = {"plain_text": "text"}


def by_extension(name: str) -> str:
    """The media type that a file name promises; ``UNKNOWN`` when it promises none."""
    stem, dot, extension = name.rpartition(".")
    return _EXTENSIONS.get(extension.lower(), UNKNOWN) if dot and stem else UNKNOWN


def file_type(media_type: str) -> str:
    """The short word that policies use: pdf, docx, xlsx, csv, html, text, markdown, pptx, email.

    ``unknown`` for media types that no converter reads.
    """
    module = CONVERTER_OF.get(media_type, "unknown")
    return _SHORT.get(module, module)
