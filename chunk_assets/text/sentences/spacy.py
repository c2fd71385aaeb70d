"""spaCy as the splitter: other languages and trained pipelines, through spans of the raw text.

spaCy refuses texts of over a million characters, takes quadratic time on long runs without a blank
(brackets, above all) and much memory on long texts. So it gets blocks, and long runs are hidden
from it behind letters; both leave all offsets as they are.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets import errors
from chunk_assets.text.sentences.rules import BLANK_LINE, combined
from chunk_assets.text.spans import merged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_BLOCK = 20_000
_LONG_RUN = re.compile(r"\S{400,}")
_NOT_BLANK = re.compile(r"\S")


def spacy_splitter(pipeline: str) -> Callable[..., NDArray[np.int64]]:
    """A ``Splitter`` over a language code (``xx``, ``de``: its rules) or an installed pipeline."""
    language = _language(pipeline)

    def split(
        text: str,
        hard_breaks: NDArray[np.int64] | None = None,
        atomic: NDArray[np.int64] | None = None,
        points: NDArray[Any] | None = None,  # noqa: ARG001 - the rules' own splitter reads them
    ) -> NDArray[np.int64]:
        if not text:
            return np.zeros(0, dtype=np.int64)
        paragraphs = [0, *(match.end() for match in BLANK_LINE.finditer(text)), len(text)]
        found: set[int] = set()
        for begin, end in itertools.pairwise(paragraphs):
            found.update(_starts(language, text, begin, end))
        starts = np.array(sorted({0, *paragraphs[:-1], *found}), dtype=np.int64)
        return combined(merged(starts[starts < len(text)]), hard_breaks, atomic, len(text))

    return split


def _language(pipeline: str) -> Any:
    try:
        import spacy
    except ImportError as error:
        message = (
            f"splitter 'spacy:{pipeline}' needs spaCy; install it with: pip install 'chunk-assets[spacy]'"
        )
        raise errors.ConfigurationError(message) from error
    try:
        if len(pipeline) <= 3:
            language = spacy.blank(pipeline)
            language.add_pipe("sentencizer")
            return language
        return spacy.load(pipeline, exclude=["ner", "lemmatizer", "attribute_ruler", "tagger"])
    except (ImportError, OSError, ValueError) as error:
        message = f"splitter 'spacy:{pipeline}': spaCy has no such language or installed pipeline ({error})"
        raise errors.ConfigurationError(message) from error


def _starts(language: Any, text: str, begin: int, end: int) -> Iterator[int]:
    """Where the visible text of each sentence of one paragraph begins, block by block."""
    while begin < end:
        stop = min(end, begin + _BLOCK)
        shown = _LONG_RUN.sub(lambda run: "x" * len(run.group()), text[begin:stop])
        spans = (begin + span.start_char for span in language(shown).sents)
        visible = (_NOT_BLANK.search(text, start, stop) for start in spans)
        starts = sorted({found.start() for found in visible if found})
        if stop == end or len(starts) < 2:
            yield from starts
            begin = stop
            continue
        # The last sentence may go on after the block: it begins the next one.
        yield from starts
        begin = starts[-1]
