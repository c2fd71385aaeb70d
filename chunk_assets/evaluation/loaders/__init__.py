"""Loaders of question sets: one file a format, one line in the table; the folder says which it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from chunk_assets.errors import ConfigurationError
from chunk_assets.evaluation.loaders import chroma, golden, snippets
from chunk_assets.evaluation.records import QuestionSet

# Which file tells a format, what it is called, and what reads it; first match wins.
LOADERS: Mapping[str, tuple[Callable[[Path], bool], Callable[[Path], QuestionSet]]] = MappingProxyType(
    {
        "golden": (golden.matches, golden.load),
        "chroma": (chroma.matches, chroma.load),
        "snippets": (snippets.matches, snippets.load),
    }
)


def load_set(folder: str | Path) -> QuestionSet:
    """The question set in ``folder``, in whichever known format it is.

    Raises ``ConfigurationError`` when no format fits or a truth is not in its document.
    """
    path = Path(folder)
    for matches, load in LOADERS.values():
        if matches(path):
            return load(path)
    expected = "questions.yaml (golden or snippets) or questions_df.csv (Chroma)"
    raise ConfigurationError(f"{path} holds no question set; expected {expected}")
