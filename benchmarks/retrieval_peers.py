"""Chunkers of other libraries as contenders, with exact places of their chunks in the text.

Peers are optional: what is not installed is left out and named. All count tokens by the embedder's own
tokenizer where they let us choose, which is kinder to them than their defaults.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from chunk_assets.evaluation import Bench, Contender, EvalDocument, Piece
from chunk_assets.text.tokens import counter

TOKENIZER = "bge-small-en-v1.5"
Split = Callable[[str], Iterable[tuple[int, int]]]


def count(text: str) -> int:
    """Tokens of ``text`` without special ones."""
    return int(counter(TOKENIZER).count(text))


def peers(bench: Bench, embedder: str) -> tuple[list[Contender], list[str]]:
    """The installed peers as contenders, and the names of the packages that are missing."""
    found: list[Contender] = [_contender("Chroma cluster semantic 200", cluster(bench, embedder, 200))]
    missing = []
    for module, package, make in (
        ("langchain_text_splitters", "langchain-text-splitters", _langchain),
        ("llama_index.core", "llama-index-core", lambda: _llama_index(bench, embedder)),
        ("chonkie", "chonkie", lambda: _chonkie(bench, embedder)),
        ("semchunk", "semchunk", _semchunk),
        ("semantic_text_splitter", "semantic-text-splitter", _semantic_text_splitter),
    ):
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            missing.append(package)
        else:
            found += [_contender(name, split) for name, split in make().items()]
    return found, missing


def _contender(name: str, split: Split) -> Contender:
    def chunk(document: EvalDocument) -> list[Piece]:
        return [Piece(document.name, s, e) for s, e in split(document.markdown) if s < e]

    return Contender(name, chunk)


def placed(text: str, chunks: Iterable[str]) -> list[tuple[int, int]]:
    """Places of chunks that come without offsets: the next one at or after the start of the last."""
    spans: list[tuple[int, int]] = []
    for chunk in chunks:
        start = text.find(chunk, spans[-1][0] + 1 if spans else 0)
        if start >= 0:  # a chunk that the library rewrote has no place, and can't be found again either
            spans.append((start, start + len(chunk)))
    return spans


def _langchain() -> dict[str, Split]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    def split(size: int, overlap: int, length: Callable[[str], int]) -> Split:
        splitter = RecursiveCharacterTextSplitter(
            chunk_size=size, chunk_overlap=overlap, length_function=length
        )
        return lambda text: placed(text, splitter.split_text(text))

    return {
        "LangChain recursive 1000/200 characters": split(1000, 200, len),
        "LangChain recursive 400/200 tokens": split(400, 200, count),
        "LangChain recursive 200/0 tokens": split(200, 0, count),
    }


def _llama_index(bench: Bench, embedder: str) -> dict[str, Split]:
    from llama_index.core import Document
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.node_parser import SemanticSplitterNodeParser, SentenceSplitter

    class Ours(BaseEmbedding):  # type: ignore[misc]  # the library ships no types
        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [[float(x) for x in v] for v in _vectors(bench, embedder, texts)]

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    def split(parser: Any) -> Split:
        def run(text: str) -> list[tuple[int, int]]:
            nodes = parser.get_nodes_from_documents([Document(text=text)])
            return placed(text, [node.text for node in nodes])

        return run

    words = str.split  # one list item a token is all that the library needs; see `tokens`

    def tokens(text: str) -> list[int]:
        return [0] * count(text) if words(text) else []

    semantic = SemanticSplitterNodeParser.from_defaults(embed_model=Ours(model_name=embedder))
    return {
        "LlamaIndex sentence 400/50 tokens": split(
            SentenceSplitter(chunk_size=400, chunk_overlap=50, tokenizer=tokens)
        ),
        "LlamaIndex sentence 200/20 tokens": split(
            SentenceSplitter(chunk_size=200, chunk_overlap=20, tokenizer=tokens)
        ),
        "LlamaIndex semantic (95th percentile)": split(semantic),
    }


def _chonkie(bench: Bench, embedder: str) -> dict[str, Split]:
    from chonkie import RecursiveChunker, SemanticChunker, SentenceChunker

    def split(chunker: Any) -> Split:
        return lambda text: [(c.start_index, c.end_index) for c in chunker.chunk(text)]

    found: dict[str, Split] = {
        "Chonkie sentence 256 tokens": split(SentenceChunker(_Tokens(), chunk_size=256)),
        "Chonkie recursive 256 tokens": split(RecursiveChunker(_Tokens(), chunk_size=256)),
    }
    model = _chonkie_model(bench, embedder)
    found["Chonkie semantic 256 tokens"] = split(SemanticChunker(model, threshold=0.8, chunk_size=256))
    return found


class _Tokens:
    """The embedder's tokenizer in the form that Chonkie asks for; only counts matter to it."""

    def encode(self, text: str) -> list[int]:
        return [0] * count(text)

    def decode(self, tokens: list[int]) -> str:
        raise NotImplementedError("no chunker that is compared here decodes")

    def tokenize(self, text: str) -> list[str]:
        return [""] * count(text)

    def count_tokens(self, text: str) -> int:
        return count(text)

    def __call__(self, text: str) -> int:
        return count(text)


def _chonkie_model(bench: Bench, embedder: str) -> Any:
    from chonkie.embeddings import BaseEmbeddings

    class Ours(BaseEmbeddings):  # type: ignore[misc]  # the library ships no types
        @property
        def dimension(self) -> int:
            return int(bench.vectors(embedder).embedder.card.dimension)

        def embed(self, text: str) -> Any:
            return _vectors(bench, embedder, [text])[0]

        def embed_batch(self, texts: list[str]) -> Any:
            return list(_vectors(bench, embedder, texts))

        def get_tokenizer(self) -> Any:
            return count

        @classmethod
        def is_available(cls) -> bool:
            return True

        @classmethod
        def _is_available(cls) -> bool:
            return True

    return Ours()


def _semchunk() -> dict[str, Split]:
    import semchunk

    def split(size: int) -> Split:
        chunker = semchunk.chunkerify(count, size)
        return lambda text: chunker(text, offsets=True)[1]

    return {"semchunk 256 tokens": split(256), "semchunk 128 tokens": split(128)}


def _semantic_text_splitter() -> dict[str, Split]:
    from semantic_text_splitter import MarkdownSplitter, TextSplitter

    def split(splitter: Any) -> Split:
        return lambda text: [(at, at + len(chunk)) for at, chunk in splitter.chunk_indices(text)]

    return {
        "semantic-text-splitter Markdown 256 tokens": split(MarkdownSplitter.from_callback(count, 256)),
        "semantic-text-splitter text 128 tokens": split(TextSplitter.from_callback(count, 128)),
    }


def _vectors(bench: Bench, embedder: str, texts: list[str]) -> Any:
    vectors = bench.vectors(embedder)
    return vectors.passages(vectors.fitted(texts)[0])


def cluster(bench: Bench, embedder: str, most: int, small: int = 50) -> Split:
    """Chroma's cluster semantic chunking, written anew from its description (Smith and Troynikov, 2024).

    Small pieces are joined so that the sum of their pairwise similarities, less the mean one, is highest
    under the largest size; found by dynamic programming.
    """

    def split(text: str) -> list[tuple[int, int]]:
        pieces = _small_pieces(text, small)
        vectors = _vectors(bench, embedder, [text[s:e] for s, e in pieces])
        similar = vectors.astype(np.float64) @ vectors.astype(np.float64).T
        similar -= similar[np.tril_indices(len(pieces), -1)].mean() if len(pieces) > 1 else 0.0
        np.fill_diagonal(similar, 0.0)
        reach = max(1, most // small)
        best, back = np.full(len(pieces) + 1, -np.inf), np.zeros(len(pieces) + 1, dtype=np.int64)
        best[0] = 0.0
        for end in range(1, len(pieces) + 1):
            for start in range(max(0, end - reach), end):
                value = best[start] + similar[start:end, start:end].sum()
                if value > best[end]:
                    best[end], back[end] = value, start
        cuts = [len(pieces)]
        while cuts[-1] > 0:
            cuts.append(int(back[cuts[-1]]))
        cuts.reverse()
        return [(pieces[a][0], pieces[b - 1][1]) for a, b in itertools.pairwise(cuts)]

    return split


def _small_pieces(text: str, size: int) -> list[tuple[int, int]]:
    """Pieces of at most ``size`` tokens, cut after line breaks, sentence ends or blanks."""
    from chunk_assets.chunking import chunk_markdown, strategy

    chosen = strategy("sentence_window", {"target_tokens": size, "overlap_tokens": 0, "min_tokens": 0})
    return [(s.start_char, s.end_char) for s in chunk_markdown(text, chosen, tokenizer=TOKENIZER)]
