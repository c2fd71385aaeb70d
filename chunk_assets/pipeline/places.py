"""Where the files of a table are, for programs that read them without this package."""

from __future__ import annotations

from pathlib import Path

from chunk_assets.storage.commit import load_manifest, published_batches
from chunk_assets.storage.layout import Layout
from chunk_assets.storage.remote import remote_home


def table_files(home: str | Path, table: str) -> list[str]:
    """Paths of the published files of a table, in order of batches; URLs when the home is at one."""
    remote, layout = remote_home(home), Layout(Path(home))
    if remote is not None:
        remote.refresh()
        return remote.uris(table)
    return [
        str(layout.table_file(table, batch).resolve())
        for batch in published_batches(layout)
        if (manifest := load_manifest(layout, batch)) is not None and table in manifest.files
    ]
