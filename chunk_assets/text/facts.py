"""Facts of a text that policies ask for."""

from __future__ import annotations

import numpy as np

from chunk_assets.text.document import TextDocument
from chunk_assets.text.markdown import kinds

_ENDINGS = (".", "!", "?", ":", ";", '"', "”", "’", ")", "。", "！", "？", "؟", "।")
_LEAST_PARAGRAPHS = 3
_WORDS = (15, 250)
_SHARE = 0.6


def has_clean_paragraphs(markdown: str) -> bool:
    """``clean_paragraphs`` of a text that was not parsed yet."""
    return clean_paragraphs(TextDocument(markdown))


def clean_paragraphs(document: TextDocument) -> bool:
    """Whether the text is prose whose paragraphs can be chunks as they are.

    At least three paragraphs, most of the text in them, and three in five of them of 15 to 250
    words that end like a sentence (so neither fragments of a layout nor one unbroken run).
    """
    markdown, blocks = document.markdown, document.blocks
    lengths = blocks.ends - blocks.starts
    prose = np.flatnonzero(blocks.kinds == kinds.PARAGRAPH)
    if len(prose) < _LEAST_PARAGRAPHS or 2 * int(lengths[prose].sum()) < int(lengths.sum()):
        return False
    clean = sum(
        _is_clean(markdown[start:end])
        for start, end in zip(blocks.starts[prose].tolist(), blocks.ends[prose].tolist(), strict=True)
    )
    return clean >= _SHARE * len(prose)


def _is_clean(paragraph: str) -> bool:
    words = len(paragraph.split(None, _WORDS[1] + 1))
    return _WORDS[0] <= words <= _WORDS[1] and paragraph.rstrip().endswith(_ENDINGS)
