"""Opening zip packages (Office files) without being hurt by them.

Nothing is ever extracted to disk, so member names can't point anywhere. Sizes are checked as declared
before anything is unpacked, and again while unpacking, since the declaration may lie.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

from chunk_assets.errors import DocumentFailure

if TYPE_CHECKING:
    from lxml import etree

    from chunk_assets.converters.base import Limits

OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Below this size even a ratio of a thousand harms nobody: small XML of blanks packs that well.
_HARMLESS_BYTES = 20_000_000
_LOCAL_HEADER = struct.Struct("<4s22xHH")
# What zipfile raises for damaged members, wrong offsets and unknown methods.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError,
)  # fmt: skip


def open_archive(data: bytes, limits: Limits) -> zipfile.ZipFile:
    """The package in ``data``, with its declared sizes within ``limits``.

    Raises:
        DocumentFailure: ``encrypted`` (OLE container or password flag), ``broken`` (no readable
            directory) or ``unsafe`` (too many members, too large or too well compressed).
    """
    if data.startswith(OLE_MAGIC):
        raise DocumentFailure("encrypted", "the package is inside an OLE container: it needs a password")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError, EOFError) as error:
        raise DocumentFailure("broken", f"not a readable zip package: {error}") from error
    _check(archive, limits)
    return archive


def _check(archive: zipfile.ZipFile, limits: Limits) -> None:
    members = archive.infolist()
    if len(members) > limits.max_archive_members:
        raise DocumentFailure(
            "unsafe", f"{len(members)} archive members; the limit is {limits.max_archive_members}"
        )
    total = sum(member.file_size for member in members)
    if total > limits.max_unpacked_bytes:
        raise DocumentFailure("unsafe", f"unpacks to {total} bytes; the limit is {limits.max_unpacked_bytes}")
    for member in members:
        _check_member(member, limits)


def _check_member(member: zipfile.ZipInfo, limits: Limits) -> None:
    if member.flag_bits & 0x1:
        raise DocumentFailure("encrypted", f"archive member {member.filename!r} needs a password")
    ratio = member.file_size / max(member.compress_size, 1)
    if member.file_size > _HARMLESS_BYTES and ratio > limits.max_compression_ratio:
        raise DocumentFailure(
            "unsafe",
            f"{member.filename!r} unpacks {ratio:.0f} fold to {member.file_size} bytes; "
            f"the limit is {limits.max_compression_ratio:.0f} fold",
        )


def read_member(archive: zipfile.ZipFile, name: str, limits: Limits) -> bytes:
    """The unpacked bytes of one member, read in blocks and stopped where they pass what was declared.

    Raises:
        KeyError: there is no such member.
        DocumentFailure: ``broken`` (damaged data) or ``unsafe`` (more bytes than declared).
    """
    info = archive.getinfo(name)
    bound = min(info.file_size, limits.max_unpacked_bytes)
    try:
        content = _unpacked(archive, info, bound)
    except _DAMAGE as error:
        raise DocumentFailure("broken", f"archive member {name!r} can't be unpacked: {error}") from error
    if len(content) > bound:
        raise DocumentFailure("unsafe", f"{name!r} is larger than the archive declares")
    return content


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, bound: int) -> bytes:
    """At most ``bound`` + 1 bytes of a member, checked by length and CRC.

    Deflated members are inflated in one call: small parts are most of an Office file, and a stream for
    each of them costs more than its bytes.
    """
    if info.compress_type != zipfile.ZIP_DEFLATED or not isinstance(archive.fp, io.BytesIO):
        with archive.open(info) as stream:
            return stream.read(bound + 1)
    with archive.fp.getbuffer() as data:
        head = bytes(data[info.header_offset : info.header_offset + _LOCAL_HEADER.size])
        signature, name_size, extra_size = _LOCAL_HEADER.unpack(head)
        if signature != b"PK\x03\x04":
            raise zipfile.BadZipFile("no local header where the directory says")
        start = info.header_offset + _LOCAL_HEADER.size + name_size + extra_size
        packed = bytes(data[start : start + info.compress_size])
    content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, bound + 1)
    if len(content) <= bound and (len(content) != info.file_size or zlib.crc32(content) != info.CRC):
        raise zipfile.BadZipFile("length or CRC is wrong")
    return content


def parse_xml(data: bytes, *, what: str = "XML part", recover: bool = False) -> etree._Element:
    """The root element of ``data``, without entities, network or a document type.

    ``recover``: keep what is well formed before a fault, for parts that writers often get wrong.

    Raises:
        DocumentFailure: ``unsafe`` (it has a DOCTYPE, where entity bombs live) or ``broken``.
    """
    from lxml import etree

    # Escaped text can't contain this, so it is a document type, or hides one in a comment.
    if b"<!DOCTYPE" in data or b"<!\x00D\x00O\x00C\x00T" in data or b"<\x00!\x00D\x00O\x00C\x00T" in data:
        raise DocumentFailure("unsafe", f"{what} has a DOCTYPE, which documents of this kind never need")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True,
        remove_pis=True, recover=recover, collect_ids=False,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DocumentFailure("broken", f"{what} is not well formed: {error}") from error
    if root is None:
        raise DocumentFailure("broken", f"{what} has no content")
    if root.getroottree().docinfo.internalDTD is not None:
        raise DocumentFailure("unsafe", f"{what} has a DOCTYPE, which documents of this kind never need")
    return root
