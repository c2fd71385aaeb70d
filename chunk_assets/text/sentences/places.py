"""What the slow rules look at: a possible end, what stands before it and what follows it."""

from __future__ import annotations

import re
from typing import NamedTuple

from chunk_assets.text.sentences import words

MARKS = ".?!…‽⁇⁈⁉‼"
# Ends of other scripts: no blank need follow, and no letter has case.
ALWAYS = "。！？｡؟۔।॥։።፧፨။។៕᠃᠉꓿᱾⸮"

# Applied to reversed text, since a search for the end would try every place before it.
_WORD_BACKWARDS = re.compile(r"(?:[^\W_]|[.&'’°§-])*")
_NEXT_WORD = re.compile(r"(?:[^\W_]|['’-])+")
_SECOND_WORD = re.compile(r"\s+([^\W\d_]+)")
_IN_BRACKETS = re.compile(r"\(?(?:[a-z]|[ivx]{1,4})\)\s+[\"“(]*[A-Z]")
# How much of a word or of the sentence so far is looked at.
LOOK = 48


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
        return self.text[max(self.start, self.last - LOOK) : self.last]

    def is_whole(self) -> bool:
        """Whether ``before`` is all of the sentence so far."""
        return self.last - self.start <= LOOK


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


def follower_at(place: Place, begin: int, opener: str, first: str) -> Follower:
    """What follows ``place`` if a sentence began at ``begin`` with ``opener`` and ``first``."""
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
    """A name like iPhone, mRNA or adidas, or the ``(ii)`` of a list, opens with a small letter."""
    if word in words.SMALL_NAMES or _IN_BRACKETS.match(text, begin):
        return True
    return not word[1:4].islower() and word[1:4].lower() != word[1:4]


def word_before(place: Place) -> str:
    """The word, abbreviation or number before the mark, without a full stop of its own."""
    found = _WORD_BACKWARDS.match(place.before()[::-1])
    word = found.group()[::-1] if found else ""
    # "grep -v" ends in an option, which is no abbreviation.
    return "" if word.startswith("-") else word.lstrip(".&'’")
