"""Which rows a search may find: by payload, tags, metadata and place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chunk_assets.errors import unknown
from chunk_assets.records import PAYLOAD_FIELDS

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

COLUMNS = (*PAYLOAD_FIELDS, "source", "document_id", "content_kind", "strategy")
_BOUND = re.compile(r"(>=|<=|>|<)\s*(.+)")
_COMPARE = {">=": "greater_equal", "<=": "less_equal", ">": "greater", "<": "less"}

Filters = Mapping[str, str | Sequence[str]]


def mask_of(table: pa.Table, filters: Filters) -> NDArray[np.bool_] | None:
    """``bool[n]``: rows that satisfy all filters; ``None`` when there are none.

    A value is what the column must be (for ``tags``: must hold), several are alternatives, and
    ``>=2024-01-01`` is a bound (dates in ISO form). A name that is no column is a key of
    ``metadata``; one that no row has is a ``ConfigurationError``.
    """
    mask: NDArray[np.bool_] | None = None
    for name, value in filters.items():
        values = [value] if isinstance(value, str) else list(value)
        found = _matches(table, name, values)
        mask = found if mask is None else mask & found
    return mask


def _matches(table: pa.Table, name: str, values: list[str]) -> NDArray[np.bool_]:
    import numpy as np

    if name == "tags":
        return _tagged(table, values)
    column = _column(table, name)
    return np.asarray(np.logical_or.reduce([_match(column, value) for value in values]), dtype=bool)


def _tagged(table: pa.Table, values: list[str]) -> NDArray[np.bool_]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    tags = table["tags"].combine_chunks()
    held = pc.is_in(pc.list_flatten(tags), value_set=pa.array(values, pa.string()))
    mask = np.zeros(table.num_rows, dtype=bool)
    mask[pc.list_parent_indices(tags).filter(held).to_numpy()] = True
    return mask


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """The column as strings, null where there is no value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name in COLUMNS:
        return table[name].cast(pa.string())
    column = pc.map_lookup(table["metadata"], name, "first")
    if column.null_count == len(column):
        raise unknown("filter", name, [*COLUMNS, "tags", *_metadata_keys(table)])
    return column


def _metadata_keys(table: pa.Table) -> set[str]:
    return {key for pairs in table["metadata"].to_pylist() for key, _ in pairs}


def _match(column: pa.ChunkedArray, value: str) -> NDArray[np.bool_]:
    import numpy as np
    import pyarrow.compute as pc

    bound = _BOUND.fullmatch(value)
    name, limit = (_COMPARE[bound[1]], bound[2]) if bound else ("equal", value)
    matched = pc.call_function(name, [column, limit]).fill_null(False)
    return np.asarray(matched.to_numpy(), dtype=bool)
