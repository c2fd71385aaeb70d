"""The table of token counters."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets import errors
from chunk_assets.text import vocabularies
from chunk_assets.text.tokens.bpe import BytePairCounter
from chunk_assets.text.tokens.plain import PlainCounter
from chunk_assets.text.tokens.wordpiece import WordPieceCounter

if TYPE_CHECKING:
    from chunk_assets.text.tokens.base import TokenCounter

BGE_SMALL = "bge-small-en-v1.5"
KNOWN = (*vocabularies.RANKS, BGE_SMALL, "file:<path to tokenizer.json>")


def check_name(name: str) -> None:
    """Tells a name that is none before anything is loaded.

    Raises:
        ConfigurationError: there is no such tokenizer, or no such file.
    """
    kind, _, path = name.partition(":")
    if kind == "file" and not Path(path).is_file():
        raise errors.ConfigurationError(f"tokenizer file {path} is not there")
    if kind != "file" and name not in KNOWN:
        raise errors.unknown("tokenizer", name, KNOWN)


@functools.cache
def counter(name: str) -> TokenCounter:
    """The counter called ``name``; raises ``ConfigurationError`` for an unknown one."""
    if name in vocabularies.RANKS:
        return BytePairCounter(name)
    if name == BGE_SMALL:
        return WordPieceCounter(name, vocabularies.BGE_SMALL.read())
    if name.startswith("file:"):
        return _from_file(name, Path(name.removeprefix("file:")))
    raise errors.unknown("tokenizer", name, KNOWN)


def _from_file(name: str, path: Path) -> TokenCounter:
    try:
        data = path.read_bytes()
        recipe = json.loads(data)
        found = (WordPieceCounter if _is_bert(recipe) else PlainCounter)(name, data)
        found.count("")  # loads what it needs, and so tells a file that can't be used
        return found
    except Exception as error:  # tokenizers raises plain Exception for a file it can't read
        raise errors.ConfigurationError(f"tokenizer file {path} can't be used: {error}") from error


def _is_bert(recipe: Any) -> bool:
    """Whether words are cut as BERT does, so that they may be counted one by one."""
    normalizer, splitter = recipe.get("normalizer") or {}, recipe.get("pre_tokenizer") or {}
    added = recipe.get("added_tokens") or []
    return (
        recipe["model"].get("type", "WordPiece") == "WordPiece"
        and splitter.get("type") == "BertPreTokenizer"
        and normalizer.get("type") == "BertNormalizer"
        and bool(normalizer.get("clean_text"))
        and bool(normalizer.get("handle_chinese_chars"))
        and all(token.get("special") for token in added)
    )
