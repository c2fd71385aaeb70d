"""Words of a text for BM25, the same for passages and queries. A pure function of the text."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

VERSION = 1

# A number with its separators is one word; so is each character of scripts without spaces.
_WORD = re.compile(
    r"\d+(?:[.,]\d+)+|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|"
    r"[^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)
# Function words say nothing of what a text is about; BM25 would give them little weight anyway.
_STOP = """
a an and are as at be but by can did do does for how i if in into is it no not of on or such that the
their then there these they this to was we what when where which who why will with you
"""
STOP_WORDS = frozenset(_STOP.split())


def words_of(text: str) -> list[str]:
    """Case-folded words in order, plurals stripped, stop words left out."""
    folded = (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()
    return [form for word in _WORD.findall(folded) if (form := _form(word))]


@lru_cache(maxsize=1 << 17)
def _form(word: str) -> str:
    """How a word is indexed; empty for a stop word.

    Plurals go by Harman's S-stemmer (JASIS 1991), which has three rules and touches nothing else.
    """
    if word in STOP_WORDS:
        return ""
    if len(word) < 4 or word[-1] != "s":
        return word
    if word.endswith("ies") and word[-4] not in "ae":
        return word[:-3] + "y"
    if word.endswith("es") and word[-3] not in "aeo":
        return word[:-1]
    return word if word[-2] in "us" else word[:-1]
