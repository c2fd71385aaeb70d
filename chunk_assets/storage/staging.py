"""What the stages of an unfinished run leave for the next stage, and for the next run after a kill.

A stage is a table file, or the note that the published one still holds, with a note beside it that names
the version of the stage it was made from. So a stage that is older than the one before it is noticed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from chunk_assets.storage.files import read_if_there, remove, remove_tree, write_atomic
from chunk_assets.storage.layout import Batch, Layout
from chunk_assets.storage.tables import FileFacts

NOTE = "stage.json"


@dataclass(frozen=True, slots=True)
class Staged:
    """A finished stage: the facts of its file, and whether that file is the published one.

    ``version`` names the rows; a final touch to statuses keeps it. ``made_from`` is the version of the
    stage before. ``fresh`` are the documents whose rows were made for it (``None``: all): the others were
    carried over from a published, checked table. ``settled``, of the first stage, says that nothing
    differs from what is published, so that there is nothing to do for the others.
    """

    facts: FileFacts
    published: bool
    version: str
    made_from: str
    fresh: tuple[str, ...] | None = None
    settled: bool = False


def note_stage(layout: Layout, table: str, batch: Batch, staged: Staged) -> None:
    """Marks a stage as finished; its file, if it has one of its own, is already there."""
    if staged.published:
        remove(layout.staged_file(table, batch))
    value = asdict(staged)
    write_atomic(_note(layout, table, batch), json.dumps(value, sort_keys=True).encode())


def staged(layout: Layout, table: str, batch: Batch) -> Staged | None:
    """The finished stage of a table, or ``None``."""
    data = read_if_there(_note(layout, table, batch))
    try:
        value = json.loads(data or b"")
        facts = FileFacts(**value.pop("facts"))
        fresh = value.pop("fresh")
        found = Staged(facts, fresh=None if fresh is None else tuple(fresh), **value)
    except (ValueError, TypeError, KeyError):
        return None
    return found if path_of(layout, table, batch, found).exists() else None


def path_of(layout: Layout, table: str, batch: Batch, stage: Staged) -> Path:
    """Where the rows of a finished stage are."""
    return layout.table_file(table, batch) if stage.published else layout.staged_file(table, batch)


def leftovers(layout: Layout, table: str, batch: Batch) -> Path | None:
    """A whole table file that an earlier run staged and did not publish, if there is one."""
    path = layout.staged_file(table, batch)
    return path if path.exists() else None


def clear_stage(layout: Layout, table: str, batch: Batch) -> None:
    """Forgets one stage."""
    _note(layout, table, batch).unlink(missing_ok=True)
    remove(layout.staged_file(table, batch))


def clear(layout: Layout, batch: Batch, tables: tuple[str, ...]) -> None:
    """Forgets all stages of a batch, and unfinished files of killed runs with them."""
    for table in tables:
        folder = layout.staged_file(table, batch).parent
        remove_tree(folder)
        remove(folder / NOTE)  # nothing there any more; drops the empty folders above


def _note(layout: Layout, table: str, batch: Batch) -> Path:
    return layout.staged_file(table, batch).parent / NOTE
