"""Why a chunk ends where it ends: the ranks of borders, and their names.

The closed vocabulary of the column ``split_reason``. A higher rank is a better place to cut; from
``SENTENCE`` on, nothing is cut in two.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CODE_POINT = 0
GRAPHEME = 1
WORD = 2
CELL_SENTENCE = 3
CELL = 4
LINE = 5
SENTENCE = 6
ROW = 7
ITEM = 8
BLOCK = 9
SECTION = 10
END = 11

OF_RANK = (
    "oversized_character",
    "oversized_word",
    "oversized_sentence",
    "oversized_cell",
    "oversized_row",
    "code_line",
    "sentence",
    "row",
    "item",
    "block",
    "section",
    "end",
)
TOPIC = "topic"
SIZE = "size"

SPLIT_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "end": "the document ends here",
        "section": "the next section's heading follows",
        "block": "a paragraph, list, table, quote or code block ends here",
        "item": "a list item ends here; the list goes on in the next chunk",
        "row": "a table row ends here; the table goes on in the next chunk",
        "code_line": "the code block alone is over the limit; a line of it ends here",
        "sentence": "a sentence ends here and the next one would not fit",
        TOPIC: "the next sentence is about something else (semantic)",
        SIZE: "the fixed size is reached between two words (fixed only)",
        "oversized_row": "the table row alone is over the limit; a cell ends here",
        "oversized_cell": "the table cell alone is over the limit; a sentence of it ends here",
        "oversized_sentence": "the sentence alone is over the limit; a word ends here",
        "oversized_word": "the word, or text without spaces, alone is over the limit; cut between characters",
        "oversized_character": "one character with its marks alone is over the model's limit",
    }
)

# The reasons of cuts inside a sentence, row, cell or word.
INSIDE_SENTENCE = frozenset(
    {"oversized_row", "oversized_cell", "oversized_sentence", "oversized_word", "oversized_character", SIZE}
)
