"""The slow rules: is this full stop, question or exclamation mark the end of a sentence?

They are asked only at places that the fast look leaves open. Each returns the offset at which the
next sentence begins, or ``NO``.
"""

from __future__ import annotations

import re

from chunk_assets.text.sentences import words
from chunk_assets.text.sentences.places import ALWAYS, LOOK, MARKS, Follower, Place, follower_at, word_before
from chunk_assets.text.sentences.stops import ends_at_stop

NO = -1

_CLOSERS = "\"'”’)\\]}»›*_`」』）】》〉］｝⁰¹²³⁴⁵⁶⁷⁸⁹"
_OPENERS = "\"'“‘(\\[{«‹*_`¿¡「『（【《〈"

_AFTER = re.compile(rf"([{_CLOSERS}]*)(\s*)([{_OPENERS}]*)(\S?)")
# Group 1 is a mark that can't be part of a figure: raised, or in brackets.
_NOTE_MARK = re.compile(r"(?:((?:\[\^?\d{1,3}\])+|[⁰¹²³⁴-⁹]{1,3})|\d{1,2})\s+(?=[\"“‘(]*[A-Z])")
_SPACED_DOTS = re.compile(r"(?:\.\s){2,}\.\Z|\s\.\Z")


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
    follower = follower_at(place, found.end(2), opener, first)
    if first and first in ",;:)]}&/":
        return NO
    return follower.begin if _ends(place, follower, closers) else NO


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
    return ends_at_stop(place, follower, closers)


def _run(text: str, last: int) -> str:
    begin = last
    while begin > 0 and text[begin - 1] in MARKS and last - begin < LOOK:
        begin -= 1
    return text[begin : last + 1]


def _spaced_run(place: Place) -> str:
    """The dots of ``. . . .`` before and at the place, without the blanks between."""
    tail = place.text[max(place.start, place.last - LOOK) : place.last + 1]
    return "".join(tail[len(tail.rstrip(". \n\t")) :].split())


def _ends_at_mark(place: Place, follower: Follower, run: str) -> bool:
    if run == "!":
        word = word_before(place)
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
    """``word.The next`` where the blank was lost, and ``word.³ The`` with the mark of a note."""
    text, last = place.text, place.last
    word = word_before(place)
    note = _NOTE_MARK.match(text, last + 1)
    if note and note[1] and (text[last] in "?!" or word[-1:] in "0123456789%)"):
        return note.end()
    if note and text[last] == "." and len(word) > 2 and word.isalpha():
        return note.end() if word.lower() not in words.REFERENCES else NO
    follower = follower_at(place, last + 1, "", text[last + 1 : last + 2])
    lost = follower.first.isupper() and follower.word[1:].islower()
    plain = (word.isalpha() and word[1:].islower() and len(word) > 2) or word.replace(",", "").isdigit()
    if not (lost and plain and text[last] == "."):
        return NO
    lower = follower.word.lower()
    known = lower in words.STARTERS and follower.second.isalpha()
    titled = lower in words.TITLES and follower.second == "."
    return last + 1 if known or titled else NO
