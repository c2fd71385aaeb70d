"""Reading a Word part that is nested deeper than an XML tree may be: its text, paragraph by paragraph.

Expat walks events without a stack of ours, so depth costs nothing; structure is given up, text is not.
"""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from chunk_assets.converters.blocks import Block, Inline
from chunk_assets.errors import DocumentFailure

_SKIPPED = {"del", "moveFrom", "delText", "instrText", "Fallback", "rt", "rPr", "pPr"}
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


class _Flattener:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._inline = Inline()
        self._skipping = 0
        self._in_text = False

    def start(self, name: str, _: dict[str, str]) -> None:
        local = name.rsplit(" ", 1)[-1]
        if self._skipping or local in _SKIPPED:
            self._skipping += 1
        elif local == "t":
            self._in_text = True
        elif local == "p":
            self.flush()
        elif local in _BREAKS:
            self._inline.text(_BREAKS[local])

    def end(self, name: str) -> None:
        local = name.rsplit(" ", 1)[-1]
        if self._skipping:
            self._skipping -= 1
        elif local == "t":
            self._in_text = False
        elif local == "p":
            self.flush()

    def data(self, text: str) -> None:
        if self._in_text and not self._skipping:
            self._inline.text(text)

    def flush(self) -> None:
        if self._inline.has_text():
            self.blocks.append(Block(self._inline.block()))
        self._inline = Inline()


def _refuse_doctype(*_: Any) -> None:
    raise DocumentFailure("unsafe", "the document part has a DOCTYPE, which Word files never need")


def flat_blocks(data: bytes) -> list[Block]:
    """The paragraphs of a document part, however deeply they are nested.

    Raises:
        DocumentFailure: ``broken`` (not well formed) or ``unsafe`` (it has a DOCTYPE).
    """
    reader = _Flattener()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise DocumentFailure("broken", f"the document part is not well formed: {error}") from error
    reader.flush()
    return reader.blocks
