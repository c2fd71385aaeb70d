"""The table of splitters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from chunk_assets import errors
from chunk_assets.text.sentences.rules import sentence_starts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KNOWN = ("rules", "spacy:<pipeline>")


class Splitter(Protocol):
    """From a text to the offsets at which its sentences begin (see ``sentence_starts``)."""

    def __call__(
        self,
        text: str,
        hard_breaks: NDArray[np.int64] | None = None,
        atomic: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int64]:
        """Sorted starts, ``int64[k]``, whose spans tile ``text``."""
        ...


def splitter(name: str = "rules") -> Splitter:
    """The splitter called ``name``; raises ``ConfigurationError`` for an unknown one."""
    if name == "rules":
        return sentence_starts
    raise errors.unknown("splitter", name, KNOWN)
