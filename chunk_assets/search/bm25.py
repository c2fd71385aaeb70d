"""BM25 over the chunks' context and text, by bm25s. What words a batch has is found once, and kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.search import postings
from chunk_assets.search.postings import Postings
from chunk_assets.search.rows import Rows
from chunk_assets.search.segments import Segment, cached
from chunk_assets.search.words import VERSION, words_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

BLOCK = 4096
# Of Lucene's variant; they are bm25s's defaults as well.
K1, B = 1.5, 0.75


class WordIndex:
    """The BM25 scores (Lucene's variant, k1 1.5, b 0.75) of all rows for a query."""

    def __init__(self, rows: Rows) -> None:
        import bm25s

        self._size = rows.table.num_rows
        self._index: Any = None
        if not self._size:  # bm25s can't be empty
            return
        parts = [_words_of_segment(segment) for segment in rows.segments]
        folder = cached(rows.folder, f"words-{VERSION}-{rows.key}", lambda target: _build(parts, target))
        self._index = bm25s.BM25.load(folder, mmap=True, show_progress=False)

    def scores(self, query: str) -> NDArray[np.float32]:
        """``float32[n]``, 0 where no word of the query occurs."""
        import numpy as np

        ids = self._index.get_tokens_ids(words_of(query)) if self._index else []
        if not ids:
            return np.zeros(self._size, np.float32)
        return np.asarray(self._index.get_scores_from_ids(ids), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _Words:
    """How often (``values``) each word of a batch occurs in which rows; ``lengths`` in words a row."""

    words: list[str]
    found: Postings
    lengths: NDArray[np.int64]


def _words_of_segment(segment: Segment) -> _Words:
    import numpy as np

    folder = cached(segment.folder, f"words-{VERSION}", lambda target: _count(segment.table, target))
    words = json.loads((folder / "words.json").read_text("utf-8"))
    return _Words(words, postings.load(folder), np.load(folder / "lengths.npy"))


def _count(table: pa.Table, target: Path) -> None:
    import numpy as np

    vocabulary: dict[str, int] = {}
    ids: list[int] = []
    lengths: list[int] = []
    for text in _texts(table):
        words = words_of(text)
        ids.extend(vocabulary.setdefault(word, len(vocabulary)) for word in words)
        lengths.append(len(words))
    size = max(1, len(vocabulary))
    rows = np.repeat(np.arange(len(lengths)), lengths)
    pairs, counts = np.unique(rows * size + np.array(ids, np.int64), return_counts=True)
    postings.inverted(pairs % size, pairs // size, counts, len(vocabulary)).save(target)
    np.save(target / "lengths.npy", np.array(lengths, np.int64))
    (target / "words.json").write_text(json.dumps(list(vocabulary), ensure_ascii=False), "utf-8")


def _texts(table: pa.Table) -> Iterator[str]:
    for batch in table.select(["context", "text"]).to_batches(max_chunksize=BLOCK):
        for context, text in zip(batch["context"].to_pylist(), batch["text"].to_pylist(), strict=True):
            yield f"{context}\n{text}"


def _build(parts: list[_Words], target: Path) -> None:
    """One index of all batches, in the form that bm25s makes and maps."""
    import bm25s
    import numpy as np

    vocabulary: dict[str, int] = {}
    numbers = [
        np.array([vocabulary.setdefault(word, len(vocabulary)) for word in part.words], np.int64)
        for part in parts
    ]
    lengths = np.concatenate([part.lengths for part in parts])
    firsts = np.cumsum([0, *(len(part.lengths) for part in parts)])
    found = [
        (part.found, number, int(firsts[at]))
        for at, (part, number) in enumerate(zip(parts, numbers, strict=True))
    ]
    # The empty word, which is nowhere: without any word bm25s has no shape.
    vocabulary.setdefault("", len(vocabulary))
    whole = postings.merged(found, len(vocabulary))
    index = bm25s.BM25(k1=K1, b=B, method="lucene")
    index.scores = {
        "data": weights(whole, lengths),
        "indices": whole.rows,
        "indptr": whole.starts,
        "num_docs": len(lengths),
    }
    index.vocab_dict, index.nonoccurrence_array = vocabulary, None
    index.save(target, show_progress=False)


def weights(found: Postings, lengths: NDArray[np.int64]) -> NDArray[np.float32]:
    """What each word adds to the score of each row it is in (Kamphuis et al., ECIR 2020, "Lucene")."""
    import numpy as np

    there = found.counts
    rarity = np.log(1 + (len(lengths) - there + 0.5) / (there + 0.5)).astype(np.float32)
    mean = max(float(lengths.mean()), 1e-9)
    damping = (K1 * (1 - B + B * lengths / mean)).astype(np.float32)
    often = found.values
    result: NDArray[np.float32] = np.repeat(rarity, there) * often / (often + damping[found.rows])
    return result
