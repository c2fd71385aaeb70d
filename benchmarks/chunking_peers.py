"""The other chunkers, each set up once for 500 cl100k tokens with an overlap of 100 where it has one."""
# ruff: noqa: D403 - packages are called as they call themselves

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

SIZE, OVERLAP = 500, 100
Chunker = Callable[[str], list[str]]


def chonkie_sentence() -> Chunker:
    """chonkie's sentence chunker, token-exact."""
    from chonkie import SentenceChunker

    chunker = SentenceChunker(tokenizer=_encoding(), chunk_size=SIZE, chunk_overlap=OVERLAP)
    return lambda text: [chunk.text for chunk in chunker.chunk(text)]


def chonkie_recursive() -> Chunker:
    """chonkie's recursive chunker, which has no overlap."""
    from chonkie import RecursiveChunker

    chunker = RecursiveChunker(tokenizer=_encoding(), chunk_size=SIZE)
    return lambda text: [chunk.text for chunk in chunker.chunk(text)]


def llama_index_sentence() -> Chunker:
    """llama-index's sentence splitter."""
    from llama_index.core.node_parser import SentenceSplitter

    encoding = _encoding()
    splitter = SentenceSplitter(chunk_size=SIZE, chunk_overlap=OVERLAP, tokenizer=encoding.encode_ordinary)
    return splitter.split_text


def langchain_recursive() -> Chunker:
    """LangChain's recursive splitter with tiktoken as its length function."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    encoding = _encoding()
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=SIZE,
        chunk_overlap=OVERLAP,
        length_function=lambda text: len(encoding.encode_ordinary(text)),
    )
    return splitter.split_text


def semchunk_recursive() -> Chunker:
    """semchunk's recursive chunker."""
    import semchunk

    encoding = _encoding()
    chunker = semchunk.chunkerify(lambda text: len(encoding.encode_ordinary(text)), SIZE)
    return lambda text: list(chunker(text, overlap=OVERLAP))


def semantic_text_splitter_recursive() -> Chunker:
    """The Rust text-splitter through its Python binding."""
    from semantic_text_splitter import TextSplitter

    splitter = TextSplitter.from_tiktoken_model("gpt-4", SIZE, overlap=OVERLAP)
    return lambda text: list(splitter.chunks(text))


def tiktoken_pass() -> Chunker:
    """No chunker: one pass of tiktoken over the text, the yardstick."""
    encoding = _encoding()
    return lambda text: [str(len(encoding.encode_ordinary(text)))]


def _encoding() -> Any:
    from chunk_assets.text.vocabularies import reference_encoding

    return reference_encoding("cl100k_base")


# Name, the package it needs, how it is made, and how many characters it is given at most: the slow
# ones would take minutes for what the fast ones do in a second, and none is faster on more.
PEERS: tuple[tuple[str, str, Callable[[], Chunker], int], ...] = (
    ("tiktoken pass", "tiktoken", tiktoken_pass, 10_000_000),
    ("chonkie sentence", "chonkie", chonkie_sentence, 1_000_000),
    ("chonkie recursive", "chonkie", chonkie_recursive, 1_000_000),
    ("llama-index sentence", "llama_index.core", llama_index_sentence, 1_000_000),
    ("langchain recursive", "langchain_text_splitters", langchain_recursive, 1_000_000),
    ("semchunk", "semchunk", semchunk_recursive, 1_000_000),
    ("semantic-text-splitter", "semantic_text_splitter", semantic_text_splitter_recursive, 1_000_000),
)


def installed(package: str) -> bool:
    """Whether ``package`` can be imported."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
