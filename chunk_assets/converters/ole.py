"""OLE containers (the old Office formats, and the wrapper of encrypted new ones): names and passwords."""

from __future__ import annotations

import io
import struct

from chunk_assets.errors import DocumentFailure

OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENTRY = 128
_END_OF_CHAIN = 0xFFFFFFFA
# Excel opens books that are only protected against changes with this password, without asking.
_SILENT_PASSWORDS = ("VelvetSweatshop", "")


def streams(data: bytes) -> frozenset[str]:
    """Lower-case names of the streams of the container; empty when its directory can't be reached.

    Layout after [MS-CFB]: sector size at byte 30, first directory sector at 48, directory entries of
    128 bytes with a UTF-16 name and its length at 64.
    """
    if len(data) < 512:
        return frozenset()
    # Sectors have 512 or 4,096 bytes; whatever else is declared is damage.
    size = 1 << min(max(struct.unpack_from("<H", data, 30)[0], 7), 16)
    sector = struct.unpack_from("<I", data, 48)[0]
    names: set[str] = set()
    seen: set[int] = set()
    while sector < _END_OF_CHAIN and sector not in seen and len(seen) < 1_000:
        seen.add(sector)
        start = (sector + 1) * size
        for at in range(start, min(start + size, len(data) - _ENTRY + 1), _ENTRY):
            names.add(_name(data, at))
        sector = _next(data, sector, size)
    return frozenset(names - {""})


def _name(data: bytes, at: int) -> str:
    length = min(struct.unpack_from("<H", data, at + 64)[0], 64)
    return data[at : at + max(length - 2, 0)].decode("utf-16-le", "replace").lower()


def _next(data: bytes, sector: int, size: int) -> int:
    """The sector after ``sector`` in its chain, by the allocation table (first 109 of its sectors)."""
    table, offset = divmod(sector, size // 4)
    if table >= 109:
        return _END_OF_CHAIN
    where = (struct.unpack_from("<I", data, 76 + table * 4)[0] + 1) * size + offset * 4
    return int(struct.unpack_from("<I", data, where)[0]) if where + 4 <= len(data) else _END_OF_CHAIN


def is_encrypted(data: bytes) -> bool:
    """Whether the container holds an encrypted document, of the old formats or the new ones."""
    import msoffcrypto

    try:
        return bool(msoffcrypto.OfficeFile(io.BytesIO(data)).is_encrypted())
    except Exception:  # noqa: BLE001 - a damaged container is for its reader to report
        return False


def unlock(data: bytes) -> bytes:
    """The package inside an encrypted Office container that opens without asking for a password.

    Raises:
        DocumentFailure: ``encrypted``, when it needs a password.
    """
    import msoffcrypto

    for password in _SILENT_PASSWORDS:
        opened = io.BytesIO()
        try:
            office = msoffcrypto.OfficeFile(io.BytesIO(data))
            office.load_key(password=password, verify_password=True)
            office.decrypt(opened)
        except Exception:  # noqa: BLE001, S112 - wrong password and damage look alike; both end below
            continue
        return opened.getvalue()
    raise DocumentFailure("encrypted", "the document needs a password")
