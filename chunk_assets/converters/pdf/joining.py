"""Lines to running text: words broken at a line's end are mended."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_BROKEN = re.compile(r"([^\W\d_]{2,})-$")
_COMPOUND = re.compile(r"[^\W_]-[^\W_]+-$")
_NEXT = re.compile(r"[^\W\d_]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f]")


def join_two(first: str, second: str, known: Collection[str] = ()) -> str:
    """``first`` and ``second``, the next line, as running text.

    A hyphen at the end goes when both sides are letters and the next line starts small, unless the
    word has another hyphen (state-of-the-art). ``known`` are the document's own words, lower case:
    a compound that stands there with its hyphen keeps it.
    """
    if not first or not second:
        return first or second
    if first.endswith("-"):
        broken, start = _BROKEN.search(first), _NEXT.match(second)
        if broken and start and start.group()[0].islower():
            if _COMPOUND.search(first[-80:]) or _is_compound(
                broken.group(1).lower(), start.group().lower(), known
            ):
                return first + second
            return first[:-1] + second
        if len(first) > 1 and not first[-2].isspace() and second[0].isalnum():
            return first + second
    if first[-1] in "—–/" and len(first) > 1 and not first[-2].isspace():
        return first + second
    if _CJK.match(first[-1]) and _CJK.match(second[0]):
        return first + second
    return f"{first} {second}"


def _is_compound(left: str, right: str, known: Collection[str]) -> bool:
    """Whether the document writes the word with a hyphen, or knows both halves and not the whole."""
    if left + right in known:
        return False
    return f"{left}-{right}" in known or (
        min(len(left), len(right)) >= 4 and left in known and right in known
    )


def join_lines(lines: Sequence[str], known: Collection[str] = ()) -> str:
    """All ``lines`` as one running text."""
    parts: list[str] = []
    last = ""
    for line in lines:
        if not last:
            last = line
            continue
        joined = join_two(last[-100:], line, known)
        # Only the seam changes, so a long paragraph is not copied for each of its lines.
        parts.append(last[:-100])
        last = joined
    parts.append(last)
    return "".join(parts)
