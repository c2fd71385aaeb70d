"""The table of splitters."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Protocol

from chunk_assets import errors
from chunk_assets.text.sentences.rules import sentence_starts
from chunk_assets.text.sentences.spacy import spacy_splitter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RULES = "rules"
KNOWN = (RULES, "spacy:<language code or pipeline>")


class Splitter(Protocol):
    """From a text to the offsets at which its sentences begin (see ``sentence_starts``)."""

    def __call__(
        self,
        text: str,
        hard_breaks: NDArray[np.int64] | None = None,
        atomic: NDArray[np.int64] | None = None,
        points: NDArray[Any] | None = None,
    ) -> NDArray[np.int64]:
        """Sorted starts, ``int64[k]``, whose spans tile ``text``."""
        ...


def check_name(name: str) -> None:
    """Tells a name that is none before anything is loaded.

    Raises:
        ConfigurationError: there is no such splitter.
    """
    kind, _, pipeline = name.partition(":")
    if name != RULES and not (kind == "spacy" and pipeline):
        raise errors.unknown("splitter", name, KNOWN)


@functools.cache
def splitter(name: str = RULES) -> Splitter:
    """The splitter called ``name``; raises ``ConfigurationError`` for an unknown one."""
    check_name(name)
    return sentence_starts if name == RULES else spacy_splitter(name.partition(":")[2])
