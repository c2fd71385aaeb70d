"""Decoding bytes of unknown encoding, by evidence in falling order of strength.

Byte order mark, zero bytes of UTF-16/32, the declared charset, UTF-8, East Asian encodings with runs of
their characters, alphabets of whole non-ASCII words, then Windows-1252. A guess that yields a
replacement character or control characters is no guess: such bytes are ``broken``.
"""

from __future__ import annotations

import codecs
import re

from chunk_assets.converters.alphabets import SAMPLE as _SAMPLE
from chunk_assets.converters.alphabets import guess, wide_without_zeroes, windows_1252
from chunk_assets.errors import DocumentFailure

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# How browsers read these labels: the older names are used for the larger Windows sets.
_ALIASES = {
    "iso-8859-1": "windows-1252",
    "iso8859-1": "windows-1252",
    "latin-1": "windows-1252",
    "latin1": "windows-1252",
    "ascii": "windows-1252",
    "us-ascii": "windows-1252",
    "cp1252": "windows-1252",
    "iso-8859-9": "cp1254",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "tis-620": "cp874",
    "windows-874": "cp874",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "unicode": "utf-16",
}
_HIGH = re.compile(rb"[\x80-\xff]")
# Control bytes no text has; tab, line ends, form feed, ^Z (end of file in DOS) and escape are excused.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f\x7f]")
_CONTROL_SHARE = 0.02


def decode(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """The text of ``data`` and the name of the encoding, without byte order mark.

    ``declared`` is what a header or meta tag says; it wins over guesses where the bytes allow it, but
    not over a byte order mark nor over valid multi-byte UTF-8.

    Raises:
        DocumentFailure: ``broken``, when the bytes are no text in any known encoding.
    """
    for bom, marked in _BOMS:
        if data.startswith(bom):
            return _strict(data[len(bom) :], marked), marked
    if (name := _wide_name(data)) is not None:
        return _strict(data, name), name
    if (name := _without_zeroes(data)) is not None:
        return _strict(data, name), name
    _refuse_binary(data)
    if b"\x1b$" in data and (text := _try(data, "iso2022_jp_2")) is not None:
        return text, "iso-2022-jp"
    return _decode_bytes(data, _canonical(declared))


def _decode_bytes(data: bytes, declared: str | None) -> tuple[str, str]:
    """Text of single or multi-byte encodings without zero bytes."""
    text = _try(data, "utf-8")
    if text is not None:
        return text, "utf-8"
    if declared and declared != "utf-8" and (text := _try(data, declared)) is not None:
        return text, declared
    mostly = _mostly_utf8(data)
    if mostly is not None:
        return mostly, "utf-8 with windows-1252"
    name = guess(data[:_SAMPLE])
    if name is None:
        raise DocumentFailure("broken", "not text: its bytes make no words in any known encoding")
    text = _try(data, name)
    return (text, name) if text is not None else (windows_1252(data), "windows-1252")


def _canonical(label: str | None) -> str | None:
    """The Python codec for a declared label, ``None`` when it is unknown or not for text."""
    if not label:
        return None
    name = label.strip().strip("\"'").lower()
    name = _ALIASES.get(name, name)
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    wide = info.name.startswith(("utf-16", "utf-32", "utf-7"))
    textual = getattr(info, "_is_text_encoding", True)
    # The bytes show no zeroes, so a wide label is wrong; idna, punycode and escapes are no charsets.
    odd = info.name in {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs"}
    return None if wide or odd or not textual else name


def _try(data: bytes, name: str) -> str | None:
    if name == "windows-1252":
        return windows_1252(data)
    try:
        return data.decode(name)
    except (UnicodeDecodeError, LookupError):
        return None


def _strict(data: bytes, name: str) -> str:
    """Text after a byte order mark; a cut last character is dropped, other faults are reported."""
    unit = 4 if "32" in name else 2 if "16" in name else 1
    data = data[: len(data) - len(data) % unit]
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        if name == "utf-8":
            return _decode_bytes(data, None)[0]
        if len(data) - error.start <= unit * 2:
            return data[: error.start].decode(name)
        if error.reason.startswith("illegal") and (text := _without_lone_surrogates(data, name)):
            return text
        raise DocumentFailure("broken", f"not valid {name}: {error.reason} at byte {error.start}") from error


def _without_lone_surrogates(data: bytes, name: str) -> str:
    text = data.decode(name, "surrogatepass")
    return re.sub("[\ud800-\udfff]", "", text)


def _wide_name(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, by where the zero bytes are; ``None`` when there are none."""
    sample = data[: _SAMPLE - _SAMPLE % 4]
    if len(sample) < 4 or b"\x00" not in sample:
        return None
    size = len(sample) // 4 or 1
    zeros = [sample[i::4].count(0) / size for i in range(4)]
    if zeros[0] > 0.9 and zeros[1] > 0.7 and zeros[3] < 0.1:
        return "utf-32-be"
    if zeros[3] > 0.9 and zeros[2] > 0.7 and zeros[0] < 0.1:
        return "utf-32-le"
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    for name, mine, other in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if mine > 0.02 and other < 0.005 and _reads_as_text(sample, name):
            return name
    return None


def _without_zeroes(data: bytes) -> str | None:
    """UTF-16 of a script without ASCII spaces and digits, so without a zero byte."""
    few_controls = len(_CONTROL.findall(data[:_SAMPLE])) < 0.1 * len(data[:_SAMPLE])
    if len(data) % 2 or (few_controls and _try(data, "utf-8") is not None):
        return None
    return wide_without_zeroes(data[:_SAMPLE])


def _reads_as_text(sample: bytes, name: str) -> bool:
    """Whether nearly all characters are printable: binary data with zeroes seldom passes."""
    try:
        text = sample[: len(sample) - len(sample) % 2].decode(name)
    except UnicodeDecodeError:
        return False
    good = sum(1 for char in text if char.isprintable() or char in "\t\n\r\f\u3000\u2028\xa0\u200b\ufeff")
    return good >= 0.97 * len(text)


def _refuse_binary(data: bytes) -> None:
    sample = data[:_SAMPLE]
    controls = len(_CONTROL.findall(sample))
    if controls > max(1, _CONTROL_SHARE * len(sample)):
        raise DocumentFailure(
            "broken", f"not text: {controls} control bytes in the first {len(sample)} bytes"
        )


# A well-formed UTF-8 sequence of more than one byte.
_UTF8 = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    rb"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    rb"|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)


def _mostly_utf8(data: bytes) -> str | None:
    """UTF-8 with a few stray bytes (pasted from elsewhere, or cut): those are read as Windows-1252."""
    good = len(_UTF8.findall(data))
    strays = len(_HIGH.findall(_UTF8.sub(b"", data)))
    if good < 3 or strays > good / 10:
        return None
    pieces, at = [], 0
    for match in re.finditer(rb"[\x00-\x7f]+|(?:" + _UTF8.pattern + rb")+", data):
        pieces.append(windows_1252(data[at : match.start()]))
        pieces.append(match[0].decode("utf-8"))
        at = match.end()
    return "".join((*pieces, windows_1252(data[at:])))
