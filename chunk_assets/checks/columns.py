"""Reading batch tables the way checks need it: plain rows, and the worst of them as examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

MAX_EXAMPLES = 10


def rows(table: pa.Table | None, *columns: str) -> Iterator[tuple[Any, ...]]:
    """The named columns of a table row by row; an absent table has no rows."""
    if table is None:
        return iter(())
    return zip(*(table.column(name).to_pylist() for name in columns), strict=True)


def by_document(table: pa.Table | None, *columns: str) -> dict[str, list[tuple[Any, ...]]]:
    """Rows grouped by ``document_id``, in table order."""
    grouped: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for document_id, *values in rows(table, "document_id", *columns):
        grouped[document_id].append(tuple(values))
    return grouped


def examples(faults: Iterable[tuple[str, object, str]]) -> tuple[Mapping[str, str], ...]:
    """At most ten faults as ``{document_id, page, what}``."""
    worst = []
    for document_id, page, what in faults:
        worst.append({"document_id": document_id, "page": "" if page is None else str(page), "what": what})
        if len(worst) == MAX_EXAMPLES:
            break
    return tuple(worst)


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it belongs.

    >>> count(1, "chunk"), count(2, "chunk")
    ('1 chunk', '2 chunks')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
