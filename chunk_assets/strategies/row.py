"""Row: one table row a chunk, with the column names as its context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.strategies import packing
from chunk_assets.strategies.base import Parameters, Piece, Size, Strategy
from chunk_assets.text import reasons
from chunk_assets.text.markdown import kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunk_assets.text.layout import Layout


class Row(Parameters):
    """Rows up to 500 tokens; what is not a table is cut as in ``section``."""

    target_tokens: Size = 500
    merge_below_tokens: Size = 32
    """Blocks under this join their neighbour."""


def split(layout: Layout, parameters: Row) -> list[Piece]:
    """Every row is a chunk; the first one has the header row, and the sheet's heading, before it."""
    return packing.pieces(layout, packing.natural(layout, _borders(layout), parameters.merge_below_tokens))


def _borders(layout: Layout) -> NDArray[np.bool_]:
    blocks = layout.document.blocks
    borders: NDArray[np.bool_] = layout.ranks >= reasons.SECTION
    borders |= layout.ranks == reasons.ROW
    begins, ends = (blocks.kinds[_block_of(layout, at)] for at in (layout.starts, layout.ends - 1))
    tables = (kinds.TABLE, kinds.HTML_TABLE)
    opens = np.isin(begins, tables) & (layout.ranks >= reasons.BLOCK)
    borders |= opens
    borders[1:] |= np.isin(ends[:-1], tables) & ~np.isin(begins[1:], tables)
    return borders


def _block_of(layout: Layout, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    at: NDArray[np.int64] = np.searchsorted(layout.document.blocks.starts, offsets, side="right") - 1
    return at


ROW = Strategy("row", 1, Row, split, "One table row a chunk, with the column names as context.", records=True)
