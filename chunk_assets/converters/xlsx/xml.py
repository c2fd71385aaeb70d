"""Sheet XML made regular enough for plain patterns, whatever wrote it.

A million cells are read with regular expressions, since a parser with callbacks costs three times as
much. They need one form: UTF-8, no namespace prefixes, no comments, no CDATA; nearly every writer
produces it, and ``regular`` brings the others into it.
"""

from __future__ import annotations

import html
import re

from chunk_assets.errors import DocumentFailure

_DECLARED = re.compile(rb'^\s*<\?xml[^>]*encoding=["\']([A-Za-z0-9._-]+)["\']')
_ROOT_PREFIX = re.compile(rb"^(?:\s*<\?[^>]*\?>)*\s*<(\w+):(?:worksheet|workbook|sst|styleSheet)\b")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_CDATA = re.compile(rb"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_SINGLE_QUOTED = re.compile(rb"=\s*'([^'\"<>]*)'")
_ATTRIBUTE = re.compile(r'(?:^|[\s:])(\w+)\s*=\s*"([^"]*)"')
_BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def regular(data: bytes, what: str) -> bytes:
    """``data`` with the same content in the one form that the patterns of this package read.

    Raises:
        DocumentFailure: ``unsafe`` for a document type declaration, where entity bombs live.
    """
    data = _utf8(data)
    if b"!" in data and b"<!" in data:  # the first look costs a thirtieth of the second
        data = _without_declarations(data, what)
    if prefix := _ROOT_PREFIX.match(data):
        data = re.sub(rb"(</?)" + prefix[1] + rb":", rb"\1", data)
    if b"='" in data[:2000]:
        data = _SINGLE_QUOTED.sub(rb'="\1"', data)
    return data


def _utf8(data: bytes) -> bytes:
    for bom, name in _BOMS:
        if data.startswith(bom):
            return data.decode(name, "replace").encode()
    declared = _DECLARED.match(data[:200])
    if declared and declared[1].lower() not in (b"utf-8", b"us-ascii"):
        try:
            return data.decode(declared[1].decode(), "replace").encode()
        except LookupError:
            return data
    return data.removeprefix(b"\xef\xbb\xbf")


def _without_declarations(data: bytes, what: str) -> bytes:
    if data.find(b"<!DOCTYPE", 0, 4096) >= 0 or b"<!ENTITY" in data:
        raise DocumentFailure("unsafe", f"{what} has a DOCTYPE, which workbooks never need")
    data = _COMMENT.sub(b"", data)
    return _CDATA.sub(lambda m: html.escape(m[1].decode("utf-8", "replace")).encode(), data)


def attributes(inside: str) -> dict[str, str]:
    """The attributes in the inside of a tag by their local names; values as written."""
    return dict(_ATTRIBUTE.findall(inside))
