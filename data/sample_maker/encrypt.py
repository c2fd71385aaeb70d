"""Locks a PDF with a password by the standard handler, revision 3 (PDF 1.4, 128-bit RC4).

Weak by today's measure and chosen for that: it needs nothing but a hash, and every reader knows it.
"""

from __future__ import annotations

import hashlib
import re

from sample_maker.pdf import assemble

_PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_FILE_ID = bytes(range(16))
_PERMISSIONS = -3904


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def _rounds(key: bytes, data: bytes) -> bytes:
    for step in range(20):
        data = _rc4(bytes(b ^ step for b in key), data)
    return data


def _hashed(data: bytes) -> bytes:
    digest = _md5(data)
    for _ in range(50):
        digest = _md5(digest)
    return digest


def lock(made: list[bytes], password: str) -> bytes:
    """The objects of a document as a file that opens only with ``password``."""
    padded = (password.encode("latin-1") + _PAD)[:32]
    owner = _rounds(_hashed(padded), padded)
    key = _hashed(padded + owner + _PERMISSIONS.to_bytes(4, "little", signed=True) + _FILE_ID)
    user = _rounds(key, _md5(_PAD + _FILE_ID)) + bytes(16)
    rules = f"/Filter /Standard /V 2 /R 3 /Length 128 /P {_PERMISSIONS}"
    encryption = f"<< {rules} /O <{owner.hex()}> /U <{user.hex()}> >>".encode()
    locked = [_locked(body, key, number) for number, body in enumerate(made, 1)]
    identity = f"<{_FILE_ID.hex()}>"
    return assemble([*locked, encryption], f"/Encrypt {len(made) + 1} 0 R /ID [{identity} {identity}] ")


def _locked(body: bytes, key: bytes, number: int) -> bytes:
    """An object with its stream encrypted by the object's own key; titles are dropped."""
    own = _md5(key + number.to_bytes(3, "little") + b"\0\0")
    body = re.sub(rb"/(?:Title|CreationDate|Lang) \([^)]*\)", b"", body)
    head, mark, rest = body.partition(b"stream\n")
    if not mark:
        return body
    return head + mark + _rc4(own, rest.removesuffix(b"\nendstream")) + b"\nendstream"
