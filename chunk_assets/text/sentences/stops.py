"""The rules for a full stop: is it the end of a sentence, or of an abbreviation, number or initial?"""

from __future__ import annotations

import re

from chunk_assets.text.sentences import words
from chunk_assets.text.sentences.places import Follower, Place, word_before

_ENUMERATOR = re.compile(r"[\s(\[*_#>•⁃‣·–-]*(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxlcIVXLC]{1,6})\Z")
_COUNTED = re.compile(r"[,;:]\s+\d{1,2}\Z")
_HEADING = re.compile(
    r"[\s*_#>•–-]*(?:([A-Za-z]+)\s+(?:\d{1,3}(?:\.\d{1,3})*[A-Za-z]?|[IVXLC]{1,6}|[A-Z])(?:[.,:]\s+|\Z))+\Z"
)
_CLOCK_OPENING = re.compile(
    r"\W*(?:at|by|on|around|before|after|until|from|since|about|between|starting|beginning)\b[^.?!]{0,24}"
    r"\d[^.?!]{0,12}\Z",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[\d§#$(\[]|[A-Z](?:[-.\d]|\b(?!['’]))|[IVXLC]+\b")


def ends_at_stop(place: Place, follower: Follower, closers: str) -> bool:
    """Whether the full stop at ``place``, with ``closers`` after it, ends a sentence before ``follower``."""
    word = word_before(place)
    if _is_enumerator(place):
        return False
    lower = word.lower().replace("’", "'")
    if (lower in words.LEADING and word != "V") or (
        lower in words.TITLES and _is_title(word, follower, place)
    ):
        return False
    if lower in words.REFERENCES and (answer := _after_reference(place, follower, lower)) is not None:
        return answer
    if lower in words.CLOCK:
        return _after_clock(place, follower)
    if len(word) == 1 and word.isalpha() and not _is_of_a_path(place):
        return _after_initial(place, follower, word)
    if _is_abbreviation(place, lower) and not ('"' in closers or "”" in closers):
        return bool(place.before()[: -len(word)].strip()) and _after_abbreviation(place, follower, lower)
    return True


def _is_title(word: str, follower: Follower, place: Place) -> bool:
    """A title has a capital and a name after it ("Gen. Lee", not "in col. The")."""
    return (word[:1].isupper() or place.caseless) and not follower.first.isdigit()


def _is_enumerator(place: Place) -> bool:
    """Whether this is the number of a list or heading: ``3.``, ``Item 1A.``, ``1. oats, 2. rye``."""
    before = place.before()
    if _COUNTED.search(before):
        return True
    if not place.is_whole():
        return False
    if _ENUMERATOR.match(before):
        return True
    found = _HEADING.match(before)
    return found is not None and found.group(1).lower() in words.HEADINGS


def _after_reference(place: Place, follower: Follower, lower: str) -> bool | None:
    """``No. 12``, ``Fig. B-2``, ``Sec. 10(b)``; an answer, or ``None`` when another rule decides."""
    if _is_unit(place, lower):
        return None
    begin = place.text[follower.begin : follower.begin + 12]
    if _IDENTIFIER.match(begin) and not (follower.opens and follower.second != "."):
        return False
    # "The answer is no. Nobody came": the only one of them that is a word as well.
    return lower == "no" or follower.opens


def _after_clock(place: Place, follower: Follower) -> bool:
    if follower.word.lower() in words.ZONES or follower.first.isdigit() or follower.first == "(":
        return False
    return not (place.is_whole() and _CLOCK_OPENING.match(place.before().removesuffix(word_before(place))))


def _after_initial(place: Place, follower: Follower, letter: str) -> bool:
    """``J. Smith`` goes on; ``Exhibit A. The``, ``you and I. We`` and ``vitamin C. It`` end."""
    previous = place.before()[: -len(letter)].rstrip().rsplit(maxsplit=1)
    before = previous[-1].lower().strip("(\"“'") if previous else ""
    if before in words.LABELS:
        return True
    if letter == "I" and before in {"and", "than", "as", "but", "or", "am"}:
        return True
    if follower.second == "." and len(follower.word) == 1:
        return False
    return follower.opens


def _is_of_a_path(place: Place) -> bool:
    """Whether the letter before the stop is the end of ``example.com/a``, ``x_y`` or ``key=b``."""
    return place.before()[-2:-1] in {"/", "\\", "_", "=", "@", "#"}


def _is_unit(place: Place, lower: str) -> bool:
    return lower in words.UNITS and bool(
        re.search(r"\d\s*\Z", place.before()[: -len(lower)]) if len(lower) else False
    )


def _is_abbreviation(place: Place, lower: str) -> bool:
    if lower in words.TRAILING or lower in words.TITLES:
        return not _is_unit(place, lower)
    parts = lower.split(".")
    # U.S, Ph.D, N.A, S.p.A: short parts with full stops between.
    return len(parts) > 1 and all(0 < len(part) <= 2 and part.isalpha() for part in parts)


def _after_abbreviation(place: Place, follower: Follower, lower: str) -> bool:
    if follower.first.isdigit() or (follower.opener[-1:] in {"(", "["} and not follower.word[1:].isalpha()):
        return False
    if follower.second == "." and len(follower.word) == 1:
        return False
    if place.caseless:
        return follower.word in words.STRONG_STARTERS
    if follower.opens:
        return True
    if lower in words.DAYS:
        return follower.word.lower() not in words.MONTHS and follower.second != "."
    if "." in lower or lower in words.MONTHS or follower.word.lower() in words.OF_NAMES:
        return False
    return follower.second in words.VERBS
