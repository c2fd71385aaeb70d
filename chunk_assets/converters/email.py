"""E-mail messages (RFC 5322): subject as heading, a short header block, the body, a list of attachments.

Of alternatives the plain text is taken, HTML where there is none. Attached messages are read like the
message itself; other attachments are named with type and size. All headers kept are facts too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime

from chunk_assets.converters.base import Converter, Options
from chunk_assets.converters.blocks import Block, render
from chunk_assets.converters.encoding import decode
from chunk_assets.converters.markup import clean_text, escape_inline, escape_text
from chunk_assets.converters.textual import plain_markdown
from chunk_assets.converters.webpage.content import page_blocks
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import Converted

_SHOWN = ("From", "To", "Cc", "Date")
_FACTS = {
    "Subject": "title",
    "From": "author",
    "To": "to",
    "Cc": "cc",
    "Date": "date",
    "Message-ID": "message_id",
    "In-Reply-To": "in_reply_to",
}
_FACT_CHARS = 2_000
_DEEPEST = 5
_WIDE = (b"\xff\xfe", b"\xfe\xff")
# Parts of a page that its reader does not read.
_UNSEEN = {"text/css", "text/javascript", "text/ecmascript"}
_ENCRYPTED = {"multipart/encrypted", "application/pgp-encrypted"}

Part = Message


@dataclass(slots=True)
class _Reading:
    """What is collected over all parts of one message."""

    options: Options
    blocks: list[Block] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def convert(data: bytes, options: Options) -> Converted:
    """Markdown of a message.

    Raises:
        DocumentFailure: ``empty``, ``encrypted`` (S/MIME or PGP) or ``broken``.
    """
    if not data.strip():
        raise DocumentFailure("empty", f"{len(data)} bytes, nothing but white space")
    message = _parse(data)
    reading = _Reading(options)
    _read_message(message, reading, depth=0)
    markdown, _ = render(reading.blocks)
    if not markdown:
        raise DocumentFailure("empty", "neither headers nor text in the message")
    facts = _facts(message)
    if reading.attachments:
        facts["attachments"] = str(len(reading.attachments))
    return Converted(markdown, (), facts, tuple(reading.warnings))


def _parse(data: bytes) -> Part:
    """The message; one stored as UTF-16 is turned into UTF-8 first, since headers must be ASCII."""
    if data.startswith(_WIDE) or b"\x00" in data[:200]:
        data = decode(data)[0].encode("utf-8")
    try:
        return message_from_bytes(data.lstrip(b"\xef\xbb\xbf\r\n"), policy=policy.compat32)
    except (MessageError, ValueError, RecursionError) as error:
        raise DocumentFailure("broken", f"not a readable message: {error}") from error


def _facts(message: Part) -> dict[str, str]:
    facts = {}
    for header, name in _FACTS.items():
        if text := _header(message, header)[:_FACT_CHARS]:
            facts[name] = text
    try:
        facts["created"] = parsedate_to_datetime(facts.get("date", "")).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        facts.pop("created", None)
    return facts


def _header(message: Part, name: str) -> str:
    """A header's text, encoded words and stray bytes decoded, in one line."""
    value = message.get(name)
    if value is None:
        return ""
    try:
        pieces = decode_header(value)
    except (MessageError, ValueError):
        pieces = [(str(value), None)]
    text = "".join(piece if isinstance(piece, str) else _decoded(piece, charset) for piece, charset in pieces)
    return " ".join(clean_text(text).split())


def _decoded(data: bytes, charset: str | None) -> str:
    try:
        return decode(data, None if charset == "unknown-8bit" else charset)[0]
    except DocumentFailure:
        return data.decode("latin-1")


# -- reading -------------------------------------------------------------------------------------


def _read_message(message: Part, reading: _Reading, *, depth: int) -> None:
    """Header block, body and attachments of one message."""
    subject = _header(message, "Subject")
    if subject:
        reading.blocks.append(Block(f"{'#' * min(depth + 1, 6)} {escape_inline(subject)}", "heading"))
    lines = [f"{name}: {escape_inline(text)}" for name in _SHOWN if (text := _header(message, name))]
    if lines:
        reading.blocks.append(Block("\n".join(lines)))
    outer, reading.attachments = reading.attachments, []
    _read_part(message, reading, depth)
    listed = [Block(f"- {escape_text(entry)}", "item") for entry in reading.attachments]
    if listed:
        reading.blocks += [Block("Attachments:"), *listed]
    reading.attachments = outer + reading.attachments


def _read_part(part: Part, reading: _Reading, depth: int) -> None:
    """Adds the text of a part and of the parts in it."""
    kind = part.get_content_type()
    sealed = kind.endswith("pkcs7-mime") and "signed" not in str(part.get_param("smime-type"))
    if sealed or kind in _ENCRYPTED:
        raise DocumentFailure("encrypted", f"the message is encrypted ({kind})")
    if kind == "multipart/alternative":
        chosen = _preferred(part)
        if chosen is not None:
            _read_part(chosen, reading, depth)
    elif kind == "message/rfc822":
        _read_attached(part, reading, depth)
    elif part.is_multipart():
        for inner in _parts(part):
            _read_part(inner, reading, depth)
    elif _is_attachment(part):
        reading.attachments.append(_description(part))
    else:
        reading.blocks += _text_blocks(part, reading)


def _parts(part: Part) -> Iterator[Part]:
    payload = part.get_payload()
    for inner in payload if isinstance(payload, list) else ():
        if isinstance(inner, Message):
            yield inner


def _read_attached(part: Part, reading: _Reading, depth: int) -> None:
    for inner in _parts(part):
        if depth < _DEEPEST:
            _read_message(inner, reading, depth=depth + 1)
        else:
            reading.warnings.append(f"messages attached more than {_DEEPEST} deep were left out")


def _preferred(part: Part) -> Part | None:
    """The alternative to read: plain text unless it is blank, then HTML, then the last."""
    inner = list(_parts(part))
    for kind in ("text/plain", "text/html"):
        for candidate in inner:
            if candidate.get_content_type() == kind and _payload(candidate).strip():
                return candidate
    nested = [candidate for candidate in inner if candidate.is_multipart()]
    return nested[0] if nested else (inner[-1] if inner else None)


def _is_attachment(part: Part) -> bool:
    disposition = str(part.get("Content-Disposition") or "").lower()
    named = part.get_filename() is not None
    text = part.get_content_maintype() == "text"
    return disposition.startswith("attachment") or not text or (named and "inline" not in disposition)


def _description(part: Part) -> str:
    name = part.get_filename() or "unnamed"
    try:
        pieces = decode_header(name)
        name = "".join(p if isinstance(p, str) else _decoded(p, charset) for p, charset in pieces)
    except (MessageError, ValueError):
        pass
    shown = " ".join(clean_text(name).split())
    return f"{shown} ({part.get_content_type()}, {len(_payload(part))} bytes)"


def _payload(part: Part) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _text_blocks(part: Part, reading: _Reading) -> list[Block]:
    data = _payload(part)
    if not data.strip() or part.get_content_type() in _UNSEEN:
        return []
    charset = part.get_content_charset()
    try:
        text, _ = decode(data, charset)
    except DocumentFailure as failure:
        reading.warnings.append(f"a text part was left out: {failure.reason}")
        return []
    if part.get_content_type() == "text/html":
        return _page(text, reading)
    if str(part.get_param("format") or "").lower() == "flowed":
        text = _unflowed(text, delete_space=str(part.get_param("delsp") or "").lower() == "yes")
    return [Block(plain_markdown(text.replace("\x0c", "\n"), quotes=True))]


def _page(text: str, reading: _Reading) -> list[Block]:
    try:
        page = page_blocks(text, keep="all")
    except DocumentFailure:
        return []
    reading.warnings += page.warnings
    return page.blocks


def _unflowed(text: str, *, delete_space: bool) -> str:
    """Lines that were broken for the width of a screen joined again (RFC 3676)."""
    joined: list[str] = []
    flows = False
    for line in text.replace("\r\n", "\n").split("\n"):
        body = line.removeprefix(" ") if not line.startswith(">") else line
        if flows and not body.startswith(">"):
            joined[-1] += body
        else:
            joined.append(body)
        flows = body.endswith(" ") and body != "-- "
        if flows and delete_space:
            joined[-1] = joined[-1][:-1]
    return "\n".join(joined)


EMAIL = Converter("email", version=1, media_types=("message/rfc822",), convert=convert)
