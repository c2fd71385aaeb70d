"""What runs print, and the report of a batch, both served by Dagster's own web server under ``/logs``.

The server hands out any file that its log manager names. So a link in the UI opens the report of a batch,
behind the same address, proxy and login as the UI itself, and nothing more has to run.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dagster import Field, StringSource
from dagster._core.execution.compute_logs import redirect_to_file
from dagster._core.storage.compute_log_manager import CapturedLogContext, ComputeIOType
from dagster._core.storage.local_compute_log_manager import IO_TYPE_EXTENSION, LocalComputeLogManager
from dagster._serdes import ConfigurableClassData

from chunk_assets.catalog import load_catalog
from chunk_assets.defs.session import options_from
from chunk_assets.pipeline import Batch, Session
from chunk_assets.records import TABLES
from chunk_assets.storage import staging
from chunk_assets.storage.files import write_atomic
from chunk_assets.storage.layout import Layout

REPORTS = "reports"
PAGE = "html"


def report_url(link_base: str, batch: str) -> str:
    """Where the report of ``source/slice`` is, from the page of the UI on which it is linked."""
    return f"{urlsplit(link_base).path.rstrip('/')}/logs/{REPORTS}/{batch}/{PAGE}"


class HomeLogs(LocalComputeLogManager):
    """Logs of runs in files; they are not copied to a terminal, which takes four processes a run."""

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """One optional setting: the folder of the logs, in the folder of the Dagster instance."""
        return {"base_dir": Field(StringSource, is_required=False)}

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> "HomeLogs":
        """The manager of the instance that the environment names, unless a folder is given."""
        folder = config_value.get("base_dir") or str(Path(os.environ["DAGSTER_HOME"], "storage"))
        return cls(base_dir=folder, inst_data=inst_data)

    @contextmanager
    def capture_logs(self, log_key: Sequence[str]) -> Iterator[CapturedLogContext]:
        """Writes what this process prints during the block to two files."""
        out, err = (
            self.get_captured_local_path(log_key, IO_TYPE_EXTENSION[kind])
            for kind in (ComputeIOType.STDOUT, ComputeIOType.STDERR)
        )
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        with redirect_to_file(sys.stdout, out), redirect_to_file(sys.stderr, err):
            yield CapturedLogContext(log_key)
        Path(self.get_captured_local_path(log_key, "complete")).touch()

    def get_captured_local_path(self, log_key: Sequence[str], extension: str, partial: bool = False) -> str:
        """The file of a log; that of a report is written when it is asked for."""
        path: str = super().get_captured_local_path(log_key, extension, partial)
        if extension == PAGE and len(log_key) == 3 and log_key[0] == REPORTS:
            _write_report(
                Path(self._base_dir).resolve().parents[1], Batch(log_key[1], log_key[2]), Path(path)
            )
        return path


def _write_report(home: Path, batch: Batch, path: Path) -> None:
    """The report of a batch as it is staged (when a check refused it) or else published, when it is newer.

    A batch of which there is nothing has no file, so that the server answers 404.
    """
    layout = Layout(home)
    files = _files(layout, batch)
    if not files:
        path.unlink(missing_ok=True)
        return
    newest = max(file.stat().st_mtime_ns for file in files.values())
    if path.exists() and path.stat().st_mtime_ns >= newest:
        return
    write_atomic(path, _page(home, batch, files).encode())


def _files(layout: Layout, batch: Batch) -> dict[str, Path]:
    stages = {table: staging.staged(layout, table, batch) for table in TABLES}
    under_way = any(stages.values())
    found = {
        table: staging.path_of(layout, table, batch, stage) if stage else layout.table_file(table, batch)
        for table, stage in stages.items()
        if stage or not under_way
    }
    return {table: path for table, path in found.items() if path.exists()}


def _page(home: Path, batch: Batch, files: Mapping[str, Path]) -> str:
    from chunk_assets.report import batch_data, page

    catalog = load_catalog(home)
    session = Session(catalog, options_from({}, ""))
    source = catalog.sources.get(batch.source)
    limits = {"max": session.model().card.max_tokens, "min": source.min_tokens if source else 0}
    with tempfile.TemporaryDirectory() as folder:
        shown = Layout(Path(folder))
        for table, file in files.items():
            link = shown.table_file(table, batch)
            link.parent.mkdir(parents=True)
            link.symlink_to(file.resolve())
        return page(f"Chunks of {batch}", [batch_data(folder, batch, limits)])
