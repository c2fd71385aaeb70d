"""The slow rules: is this full stop, question or exclamation mark the end of a sentence?

They are asked only at places that the fast look leaves open. Each returns the offset at which the
next sentence begins, or ``NO``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from chunk_assets.text.sentences import words

NO = -1

MARKS = ".?!…‽⁇⁈⁉‼"
# Ends of other scripts: no blank need follow, and no letter has case.
ALWAYS = "。！？｡؟۔।॥։።፧፨။។៕᠃᠉꓿᱾⸮"
_CLOSERS = "\"'”’)\\]}»›*_`」』）】》〉］｝"
_OPENERS = "\"'“‘(\\[{«‹*_`¿¡「『（【《〈"

_AFTER = re.compile(rf"([{_CLOSERS}]*)(\s*)([{_OPENERS}]*)(\S?)")
# Applied to reversed text, since a search for the end would try every place before it.
_WORD_BACKWARDS = re.compile(r"(?:[^\W_]|[.&'’°§-])*")
_NEXT_WORD = re.compile(r"(?:[^\W_]|['’-])+")
_SECOND_WORD = re.compile(r"\s+([^\W\d_]+)")
_NOTE_MARK = re.compile(r"(?:(?:\[\d{1,3}\])+|\d{1,2})\s+(?=[\"“‘(]*[A-Z])")
_ENUMERATOR = re.compile(r"[\s(\[*_#>•⁃‣·–-]*(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxlcIVXLC]{1,6})\Z")
_COUNTED = re.compile(r"[,;:]\s+\d{1,2}\Z")
_HEADING = re.compile(
    r"[\s*_#>•–-]*(?:([A-Za-z]+)\s+(?:\d{1,3}(?:\.\d{1,3})*[A-Za-z]?|[IVXLC]{1,6}|[A-Z])(?:[.,:]\s+|\Z))+\Z"
)
_IN_BRACKETS = re.compile(r"\(?(?:[a-z]|[ivx]{1,4})\)\s+[\"“(]*[A-Z]")
_CLOCK_OPENING = re.compile(
    r"\W*(?:at|by|on|around|before|after|until|from|since|about|between|starting|beginning)\b[^.?!]{0,24}"
    r"\d[^.?!]{0,12}\Z",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[\d§#$(\[]|[A-Z](?:[-.\d]|\b(?!['’]))|[IVXLC]+\b")
_SPACED_DOTS = re.compile(r"(?:\.\s){2,}\.\Z|\s\.\Z")
# How much of a word or of the sentence so far is looked at.
_LOOK = 48


class Place(NamedTuple):
    """A possible end: ``text[last]`` is the last mark of a run; ``start`` is where its sentence began.

    ``caseless`` tells that the text has no capitals, so that a small letter may open a sentence.
    """

    text: str
    start: int
    last: int
    caseless: bool

    def before(self) -> str:
        """The end of the sentence so far, without the mark."""
        return self.text[max(self.start, self.last - _LOOK) : self.last]

    def is_whole(self) -> bool:
        """Whether ``before`` is all of the sentence so far."""
        return self.last - self.start <= _LOOK


class Follower(NamedTuple):
    """What comes after the blank: ``begin`` is where a new sentence would start."""

    begin: int
    first: str
    word: str
    second: str
    opener: str
    is_small: bool

    @property
    def opens(self) -> bool:
        """Whether the word is one that opens sentences."""
        if self.second == ".":
            return False
        adverb = len(self.word) > 5 and self.word.endswith("ly") and self.second == ","
        return adverb or self.word.lower() in words.STARTERS


def decide(place: Place) -> int:
    """Where the sentence after ``place`` begins, or ``NO`` when none ends here."""
    text, last = place.text, place.last
    found = _AFTER.match(text, last + 1)
    if found is None:  # never: every part of the pattern may be empty
        return NO
    closers, gap, opener, first = found.groups()
    if text[last] in ALWAYS:
        return _after_foreign(found)
    if not gap:
        return NO if closers else _without_blank(place)
    if not first and not opener:
        return NO
    follower = _follower(place, found.end(2), opener, first)
    if first and first in ",;:)]}&/":
        return NO
    return follower.begin if _ends(place, follower, closers) else NO


def _follower(place: Place, begin: int, opener: str, first: str) -> Follower:
    text, at = place.text, begin + len(opener)
    found = _NEXT_WORD.match(text, at)
    word = found.group() if found else ""
    end = at + len(word)
    second = ""
    if text[end : end + 1] in {",", "."}:
        second = text[end]
    elif after := _SECOND_WORD.match(text, end):
        second = after.group(1)
    is_small = first.islower() and "`" not in opener and not _opens_small(text, begin, word)
    return Follower(begin, first, word, second, opener, is_small and not place.caseless)


def _opens_small(text: str, begin: int, word: str) -> bool:
    """A name like iPhone or mRNA, or the ``(b)`` of a list, opens a sentence with a small letter."""
    return not word[1:4].islower() and (
        word[1:4].lower() != word[1:4] or bool(_IN_BRACKETS.match(text, begin))
    )


def _ends(place: Place, follower: Follower, closers: str) -> bool:
    run = _run(place.text, place.last)
    if follower.is_small or (follower.first in {"-", "–", "—"} and follower.second.islower()):
        return False
    if len(run.strip(".…")) > 0:
        return _ends_at_mark(place, follower, run)
    if len(run) > 1 or run == "…":
        return _ends_at_dots(place, follower, closers, run)
    if place.text[place.last - 1].isspace() and _SPACED_DOTS.search(
        place.text[max(place.start, place.last - 7) : place.last + 1]
    ):
        return _ends_at_spaced_dots(place, follower, closers)
    return _ends_at_stop(place, follower, closers)


def _run(text: str, last: int) -> str:
    begin = last
    while begin > 0 and text[begin - 1] in MARKS and last - begin < _LOOK:
        begin -= 1
    return text[begin : last + 1]


def _spaced_run(place: Place) -> str:
    """The dots of ``. . . .`` before and at the place, without the blanks between."""
    tail = place.text[max(place.start, place.last - _LOOK) : place.last + 1]
    return "".join(tail[len(tail.rstrip(". \n\t")) :].split())


def _ends_at_mark(place: Place, follower: Follower, run: str) -> bool:
    if run == "!":
        word = _word(place)
        if word.lower() in words.EXCLAIMED:
            return follower.opens
    return True


def _ends_at_dots(place: Place, follower: Follower, closers: str, run: str) -> bool:
    begin = place.last - len(run)
    if "]" in closers and place.text[max(begin, 0)] == "[":
        return False  # [...] stands for words left out
    if len(run) >= 4:
        return True
    return follower.word not in {"I", "I'm", "I'd", "I've", "I’m", "I’d", "I’ve"}


def _ends_at_spaced_dots(place: Place, follower: Follower, closers: str) -> bool:
    """``. . .`` is an ellipsis; a single stop after a blank comes from text with blanks around marks."""
    run = _spaced_run(place)
    return len(run) == 1 or _ends_at_dots(place, follower, closers, run)


def _word(place: Place) -> str:
    found = _WORD_BACKWARDS.match(place.before()[::-1])
    word = found.group()[::-1] if found else ""
    # "grep -v" ends in an option, which is no abbreviation.
    return "" if word.startswith("-") else word.lstrip(".&'’")


def _ends_at_stop(place: Place, follower: Follower, closers: str) -> bool:
    word = _word(place)
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
    if len(word) == 1 and word.isalpha():
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
    if lower in {
        "no",
        "ex",
        "art",
        "par",
        "app",
        "tab",
        "fl",
        "lot",
        "reg",
        "stat",
        "op",
        "ref",
        "col",
        "pt",
    }:
        return True if lower == "no" else follower.opens
    return follower.opens


def _after_clock(place: Place, follower: Follower) -> bool:
    if follower.word.lower() in words.ZONES or follower.first.isdigit() or follower.first == "(":
        return False
    return not (place.is_whole() and _CLOCK_OPENING.match(place.before().removesuffix(_word(place))))


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
    return "." not in lower and lower not in words.MONTHS and follower.second in words.VERBS


def _after_foreign(found: re.Match[str]) -> int:
    """After the stop of a script without case; a Japanese particle after a quote goes on."""
    closers, gap, opener, first = found.groups()
    if not first and not opener:
        return NO
    if not gap and closers and first in "とっなのはがをにでもかや、，":
        return NO
    if not gap and not closers and (first.isdigit() or first in "、，,;:"):
        return NO
    return found.end(2)


def _without_blank(place: Place) -> int:
    """``word.The next`` where the blank was lost, and ``word.[3] The`` with the mark of a note."""
    text, last = place.text, place.last
    word = _word(place)
    if text[last] == "." and (note := _NOTE_MARK.match(text, last + 1)) and len(word) > 2 and word.isalpha():
        return note.end() if word.lower() not in words.REFERENCES else NO
    follower = _follower(place, last + 1, "", text[last + 1 : last + 2])
    lost = follower.first.isupper() and follower.word[1:].islower()
    plain = (word.isalpha() and word[1:].islower() and len(word) > 2) or word.replace(",", "").isdigit()
    if not (lost and plain and text[last] == "."):
        return NO
    lower = follower.word.lower()
    known = lower in words.STARTERS and follower.second.isalpha()
    titled = lower in words.TITLES and follower.second == "."
    return last + 1 if known or titled else NO
