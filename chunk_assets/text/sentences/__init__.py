"""Where sentences begin, as offsets into the raw text."""

from chunk_assets.text.sentences.rules import VERSION, sentence_starts
from chunk_assets.text.sentences.splitters import KNOWN, Splitter, splitter

__all__ = ["KNOWN", "VERSION", "Splitter", "sentence_starts", "splitter"]
