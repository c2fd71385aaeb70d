"""BM25 over the chunks' context and text, by bm25s; built at first use and mapped after."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.search.rows import Rows, cached
from chunk_assets.search.words import VERSION, words_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK = 4096


class WordIndex:
    """The BM25 scores (Lucene's variant, k1 1.5, b 0.75) of all rows for a query."""

    def __init__(self, rows: Rows) -> None:
        import bm25s

        self._size = rows.table.num_rows
        self._index: Any = None
        if not self._size:  # bm25s can't be empty
            return
        folder = cached(rows.folder, f"bm25-{VERSION}", lambda target: _build(rows, target))
        self._index = bm25s.BM25.load(folder, mmap=True, show_progress=False)

    def scores(self, query: str) -> NDArray[np.float32]:
        """``float32[n]``, 0 where no word of the query occurs."""
        import numpy as np

        ids = self._index.get_tokens_ids(words_of(query)) if self._index else []
        if not ids:
            return np.zeros(self._size, np.float32)
        return np.asarray(self._index.get_scores_from_ids(ids), dtype=np.float32)


def _build(rows: Rows, target: Path) -> None:
    import bm25s

    vocabulary: dict[str, int] = {}
    passages = [
        [vocabulary.setdefault(word, len(vocabulary)) for word in words_of(text)] for text in _texts(rows)
    ]
    # A passage without words still is a row; the empty word keeps bm25s's shapes right.
    vocabulary.setdefault("", len(vocabulary))
    index = bm25s.BM25(method="lucene")
    index.index((passages, vocabulary), show_progress=False)
    index.save(target, show_progress=False)


def _texts(rows: Rows) -> Iterator[str]:
    for batch in rows.table.select(["context", "text"]).to_batches(max_chunksize=BLOCK):
        for context, text in zip(batch["context"].to_pylist(), batch["text"].to_pylist(), strict=True):
            yield f"{context}\n{text}"
