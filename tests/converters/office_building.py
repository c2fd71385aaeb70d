"""Small Office files written by hand, so that a test shows the XML that it is about."""

from __future__ import annotations

import io
import zipfile

from chunk_assets.converters.base import Options
from chunk_assets.converters.docx import DOCX
from chunk_assets.records import Converted

TRANSITIONAL = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_SPACES = (
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_MODE = {True: "External", False: "Internal"}
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(parts: dict[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def part(name: str, content: str, space: str = TRANSITIONAL) -> str:
    """One WordprocessingML part with root ``w:<name>``."""
    return f'<?xml version="1.0" encoding="UTF-8"?><w:{name} xmlns:w="{space}" {_SPACES}>{content}</w:{name}>'


def relations(*entries: tuple[str, str, str, bool]) -> str:
    """A relationships part from (id, kind, target, external)."""
    lines = "".join(
        f'<Relationship Id="{identifier}" Type="{_OFFICE}/{kind}" Target="{target}" '
        f'TargetMode="{_MODE[external]}"/>'
        for identifier, kind, target, external in entries
    )
    return f'<Relationships xmlns="{_RELATIONS}">{lines}</Relationships>'


def docx(body: str, *, space: str = TRANSITIONAL, links: str = "", **parts: str | bytes) -> bytes:
    """A Word file; further parts by name (``styles``, ``numbering``, ``footnotes`` …)."""
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations(("rId1", "officeDocument", "word/document.xml", False)),
        "word/document.xml": part("document", f"<w:body>{body}</w:body>", space),
        "word/_rels/document.xml.rels": links or relations(),
    }
    for name, content in parts.items():
        members[name if "/" in name else f"word/{name}.xml"] = content
    return zipped(members)


def paragraph(text: str = "", *, style: str = "", properties: str = "", runs: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    run = f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>' if text else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{run}{runs}</w:p>"


def numbered(text: str, level: int = 0, number: int = 1) -> str:
    return paragraph(
        text, properties=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    )


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def cell(content: str, properties: str = "") -> str:
    inner = content if content.startswith("<w:") else paragraph(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def style(identifier: str, name: str, inner: str = "", kind: str = "paragraph", based_on: str = "") -> str:
    base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return (
        f'<w:style w:type="{kind}" w:styleId="{identifier}"><w:name w:val="{name}"/>{base}{inner}</w:style>'
    )


def levels(*forms: tuple[str, str]) -> str:
    """An abstract numbering (id 0) and a number (id 1) from (form, text) of each level."""
    entries = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
        for at, (form, text) in enumerate(forms)
    )
    return part(
        "numbering",
        f'<w:abstractNum w:abstractNumId="0">{entries}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
    )


def convert(body: str, **parts: str) -> Converted:
    return DOCX.convert(docx(body, **parts), Options())


def markdown(body: str, **parts: str) -> str:
    return convert(body, **parts).markdown.rstrip("\n")
