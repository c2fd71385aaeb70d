"""What says nothing about the text is taken out of a large main part before it is parsed.

Most elements of a Word document are about its looks. A tree of them takes longer to build and to free
than all the rest of the reading.
"""

from __future__ import annotations

import re

# A smaller part is parsed faster than it is searched.
_LARGE = 60_000
_W = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_LOOKS = re.compile(
    rb"<w:(?:tab w:|(?:rtl|ind|sz|szCs|b|bCs|i|iCs|u|color|lang|cs|kern|w|position|spacing|jc|shd|highlight"
    rb"|noProof|widowControl|keepNext|keepLines|contextualSpacing|top|left|bottom|right|between"
    rb"|bookmarkStart|bookmarkEnd|proofErr)\b)[^<>]*/>"
)
# Properties that are empty then, the inner ones first.
_EMPTY = (b"<w:tabs></w:tabs>", b"<w:pBdr></w:pBdr>", b"<w:rPr></w:rPr>", b"<w:rPr/>", b"<w:pPr></w:pPr>")


def pruned(data: bytes) -> bytes:
    """The XML of a main part without what this converter never looks at; small or odd ones as they are."""
    if len(data) < _LARGE or data.count(b"xmlns:w=") != 1 or _W not in data:
        return data
    if b"<!" in data or data.find(b"<?", 2) >= 0:
        # Raw text and comments may hold what looks like tags.
        return data
    data = _LOOKS.sub(b"", data)
    for nothing in _EMPTY:
        data = data.replace(nothing, b"")
    return data
