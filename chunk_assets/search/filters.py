"""Which rows a search may find: by payload, tags, metadata and place."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chunk_assets.errors import unknown
from chunk_assets.records import PAYLOAD_FIELDS

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

COLUMNS = (*PAYLOAD_FIELDS, "source", "document_id", "content_kind", "strategy")
_BOUND = re.compile(r"(>=|<=|>|<)\s*(.+)")
_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

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
        wanted = set(values)
        return np.array([not wanted.isdisjoint(tags) for tags in table["tags"].to_pylist()], dtype=bool)
    column = _column(table, name)
    return np.asarray(np.logical_or.reduce([_match(column, value) for value in values]), dtype=bool)


def _column(table: pa.Table, name: str) -> NDArray[Any]:
    """The column as strings, ``None`` where there is no value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name in COLUMNS:
        column = table[name]
    else:
        column = pc.map_lookup(table["metadata"], name, "first")
        if column.null_count == len(column):
            raise unknown("filter", name, [*COLUMNS, "tags", *_metadata_keys(table)])
    cast: NDArray[Any] = column.cast(pa.string()).to_numpy(zero_copy_only=False)
    return cast


def _metadata_keys(table: pa.Table) -> set[str]:
    return {key for pairs in table["metadata"].to_pylist() for key, _ in pairs}


def _match(column: NDArray[Any], value: str) -> NDArray[np.bool_]:
    import numpy as np

    bound = _BOUND.fullmatch(value)
    if bound is None:
        return np.asarray(column == value, dtype=bool)
    compare, limit = _COMPARE[bound[1]], bound[2]
    return np.array([text is not None and bool(compare(text, limit)) for text in column], dtype=bool)
