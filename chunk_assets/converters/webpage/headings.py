"""Headings of filings, which are bold paragraphs rather than heading elements."""

from __future__ import annotations

import re

_PART = re.compile(r"part\s+(?:[ivx]+|\d+)\b(?!.*[.;]\s)", re.IGNORECASE)
_ITEM = re.compile(r"item\s*\d{1,2}[a-c]?(?:\.\d\d)?\s*[.:–—-]?(?:\s|$)", re.IGNORECASE)
_LONGEST = 200


def promoted(line: str) -> int:
    """The heading level of a line that is wholly bold: 1 for ``Part I``, 2 for ``Item 1A. …``, else 0.

    >>> promoted("PART II"), promoted("Item 2.02 Results of Operations"), promoted("Total revenue")
    (1, 2, 0)
    """
    if len(line) > _LONGEST:
        return 0
    if _PART.match(line):
        return 1
    return 2 if _ITEM.match(line) else 0
