"""Prints the measured table of ``docs/comparison.md``; needs the extra ``bench-retrieval``.

Each chunker cuts the sample handbook with sizes of 500 tokens and an overlap of 100, counted by one and
the same tokenizer object. ``python docs/make_comparison.py``.
"""

# ruff: noqa: PLC0415 - each library is needed for its own row only

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from chunk_assets import chunk
from chunk_assets.text.tokens import counter
from chunk_assets.text.vocabularies import reference_encoding

TEXT = Path(__file__).parents[1].joinpath("data/samples/seed/long_handbook.md").read_text(encoding="utf-8")
SIZE, OVERLAP, MODEL_LIMIT = 500, 100, 512
# What a sentence, table row, list heading or quotation ends with.
ENDS = (".", "!", "?", "|", ":", '"', ")")


class Cut(NamedTuple):
    """A chunk as a library gives it; ``start`` and ``identifier`` only where it gives them."""

    text: str
    start: int | None
    identifier: str | None


def ours() -> list[Cut]:
    """sentence_window with the same sizes."""
    rules = [
        {"strategy": "sentence_window", "parameters": {"target_tokens": SIZE, "overlap_tokens": OVERLAP}}
    ]
    return [Cut(c.span.text, c.span.start_char, c.chunk_id) for c in chunk(TEXT, policy=rules)]


def langchain() -> list[Cut]:
    """The recursive splitter, asked for start indexes."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    encoding = reference_encoding("cl100k_base")
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=SIZE,
        chunk_overlap=OVERLAP,
        length_function=lambda text: len(encoding.encode_ordinary(text)),
        add_start_index=True,
    )
    return [Cut(d.page_content, d.metadata["start_index"], d.id) for d in splitter.create_documents([TEXT])]


def llama_index() -> list[Cut]:
    """The sentence splitter on one document with a fixed id."""
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter

    tokenizer = reference_encoding("cl100k_base").encode_ordinary
    splitter = SentenceSplitter(chunk_size=SIZE, chunk_overlap=OVERLAP, tokenizer=tokenizer)
    nodes = splitter.get_nodes_from_documents([Document(text=TEXT, id_="handbook")])
    return [Cut(node.text, node.start_char_idx, node.node_id) for node in nodes]


def chonkie() -> list[Cut]:
    """The sentence chunker."""
    from chonkie import SentenceChunker

    chunker = SentenceChunker(
        tokenizer=reference_encoding("cl100k_base"), chunk_size=SIZE, chunk_overlap=OVERLAP
    )
    return [Cut(c.text, c.start_index, c.id) for c in chunker.chunk(TEXT)]


def row(name: str, first: list[Cut], second: list[Cut]) -> str:
    """One line of the table."""
    model = counter("bge-small-en-v1.5")
    over = sum(n + model.special_tokens > MODEL_LIMIT for n in model.count_many([c.text for c in first]))
    ends = sum(cut.text.rstrip().endswith(ENDS) for cut in first)
    found = sum(c.start is not None and TEXT[c.start : c.start + len(c.text)] == c.text for c in first)
    named = all(cut.identifier for cut in first)
    same = [c.identifier for c in first] == [c.identifier for c in second]
    ids = ("yes" if same else "no") if named else "none given"
    return f"| {name} | {len(first)} | {ends} | {found} | {ids} | {over} |"


def rows() -> Iterable[str]:
    """Every chunker, run twice."""
    contenders = (
        ("chunk-assets `sentence_window`", "chunk-assets", ours),
        ("LangChain recursive", "langchain-text-splitters", langchain),
        ("LlamaIndex sentence", "llama-index-core", llama_index),
        ("Chonkie sentence", "chonkie", chonkie),
    )
    for name, package, cut in contenders:
        yield row(f"{name} {version(package)}", cut(), cut())


if __name__ == "__main__":
    sys.stdout.write("\n".join(rows()) + "\n")
