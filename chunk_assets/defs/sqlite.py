"""Dagster's own SQLite storage with its connections kept open, and the events of all runs in one file.

Dagster as it comes opens and closes a database for each event, and keeps a file of 300 KB for each run that
stays when the run is deleted. Both are paid beside the work of every run.
"""

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from dagster._core.storage.event_log.polling_event_watcher import SqlPollingEventWatcher
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._core.storage.event_log.sqlite.consolidated_sqlite_event_log import (
    ConsolidatedSqliteEventLogStorage,
)
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS, create_db_conn_string
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection, Engine

# Where Dagster keeps the events of assets across runs, so that a home from before shows its assets still.
EVENTS = "index"
# What SQLite's log keeps on disk between two checkpoints.
LOG_BYTES = 64_000_000
# A file of which so much is free is written anew without it.
FREE_SHARE = 0.5


class Kept:
    """One pool of connections to a database, made anew in a process that was forked."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._pool: tuple[int, Engine] | None = None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A connection in a transaction, committed when the block ends well."""
        with self._engine().connect() as connection, connection.begin():
            yield connection

    def _engine(self) -> Engine:
        if self._pool is None or self._pool[0] != os.getpid():
            settings = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False}
            engine = create_engine(self.address, connect_args=settings, max_overflow=-1)
            event.listen(engine, "connect", _at_connect)
            self._pool = (os.getpid(), engine)
        return self._pool[1]

    def close(self) -> None:
        """Closes what this process has open."""
        if self._pool is not None and self._pool[0] == os.getpid():
            self._pool[1].dispose()
        self._pool = None


def _at_connect(connection: Any, _record: Any) -> None:
    # In WAL mode the file is whole after a loss of power; only the newest entries of the log may lack.
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA journal_size_limit={LOG_BYTES}")


class HomeRuns(SqliteRunStorage):
    """Runs, with kept connections."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._kept = Kept(conn_string)
        super().__init__(conn_string, inst_data)

    def connect(self) -> Any:
        """A connection in a transaction."""
        return self._kept.transaction()

    def dispose(self) -> None:
        """Closes the connections."""
        self._kept.close()


class HomeSchedules(SqliteScheduleStorage):
    """Ticks, with kept connections."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._kept = Kept(conn_string)
        super().__init__(conn_string, inst_data)

    @classmethod
    def from_local(
        cls, base_dir: str, inst_data: ConfigurableClassData | None = None
    ) -> SqliteScheduleStorage:
        """Dagster's own method creates the database, and gives its own class."""
        made = SqliteScheduleStorage.from_local(base_dir, inst_data)
        return cls(made._conn_string, inst_data)

    def connect(self) -> Any:
        """A connection in a transaction."""
        return self._kept.transaction()

    def dispose(self) -> None:
        """Closes the connections."""
        self._kept.close()


class HomeEvents(ConsolidatedSqliteEventLogStorage):
    """The events of all runs in one file, with kept connections; whoever watches a run asks for news.

    Dagster watches the database's file, which in WAL mode does not change with each event.
    """

    def __init__(self, base_dir: str) -> None:
        self._base_dir = base_dir
        self._conn_string = create_db_conn_string(base_dir, EVENTS)
        self._kept = Kept(self._conn_string)
        self._inst_data = None
        self._secondary_index_cache = {}
        self._watcher = SqlPollingEventWatcher(self)
        if not Path(self.get_db_path()).exists():
            self._init_db()  # type: ignore[no-untyped-call]  # Dagster's own
        SqlEventLogStorage.__init__(self)  # type: ignore[no-untyped-call,arg-type]  # not its parent's

    def get_db_path(self) -> str:
        """The database's file."""
        return str(Path(self._base_dir, f"{EVENTS}.db"))

    def _connect(self) -> Any:
        return self._kept.transaction()

    def watch(self, run_id: str, cursor: str | None, callback: Callable[..., Any]) -> None:
        """Calls ``callback`` with each event of the run after ``cursor``."""
        self._watcher.watch_run(run_id, cursor, callback)

    def end_watch(self, run_id: str, handler: Callable[..., Any]) -> None:
        """Calls it no more."""
        self._watcher.unwatch_run(run_id, handler)

    def compact(self) -> None:
        """Gives the space of what was deleted back to the disk, when it is much and nobody is in the way."""
        with closing(sqlite3.connect(self.get_db_path(), isolation_level=None, timeout=5.0)) as connection:
            pages, free = (
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count")
            )
            if free > FREE_SHARE * pages:
                with suppress(sqlite3.OperationalError):
                    connection.execute("VACUUM")

    def dispose(self) -> None:
        """Ends the watching and closes the connections."""
        self._watcher.close()
        self._kept.close()


class HomeSqliteStorage(DagsterSqliteStorage):
    """The three databases of a home in ``base_dir``, where Dagster keeps its own."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self.base_dir = base_dir
        history = Path(base_dir, "history")
        with _creating(history):
            self._run_storage = HomeRuns.from_local(str(history))
            self._event_log_storage = HomeEvents(str(history / "runs"))  # type: ignore[assignment]  # its kin
            self._schedule_storage = HomeSchedules.from_local(str(Path(base_dir, "schedules")))
        self._inst_data = inst_data
        super(DagsterSqliteStorage, self).__init__()  # type: ignore[no-untyped-call]  # Dagster's own


@contextmanager
def _creating(folder: Path) -> Iterator[None]:
    """One process at a time: web server, daemon and code server start together on a new home."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
