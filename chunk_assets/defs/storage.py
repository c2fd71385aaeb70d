"""One ``dagster.yaml`` for SQLite and PostgreSQL: the environment chooses."""

import os
from collections.abc import Mapping
from typing import Any

from dagster import Field, StringSource
from dagster._core.storage.base_storage import DagsterStorage
from dagster._serdes import ConfigurableClass, ConfigurableClassData

from chunk_assets.defs.sqlite import HomeSqliteStorage
from chunk_assets.errors import ConfigurationError

POSTGRES_VARIABLE = "CHUNK_ASSETS_POSTGRES_URL"


class HomeStorage(DagsterStorage, ConfigurableClass):
    """Gives Dagster's PostgreSQL storage, or its SQLite storage as ``sqlite`` keeps it; never made itself.

    ``CHUNK_ASSETS_POSTGRES_URL`` (``postgresql://user:password@host:port/database``) chooses PostgreSQL;
    without it, SQLite files lie in ``$DAGSTER_HOME``.
    """

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """One optional setting: the folder of the SQLite files."""
        return {"base_dir": Field(StringSource, is_required=False)}

    @classmethod
    def from_config_value(  # type: ignore[override]  # it gives another storage, on purpose
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> DagsterStorage:
        """The storage that the environment asks for."""
        url = os.environ.get(POSTGRES_VARIABLE)
        if url:
            return _postgres(inst_data, url)
        base = config_value.get("base_dir") or os.environ.get("DAGSTER_HOME") or _default_folder()
        return HomeSqliteStorage(str(base), inst_data)


def _default_folder() -> str:
    from chunk_assets.catalog.home import default_home
    from chunk_assets.defs.home import instance_folder

    return str(instance_folder(default_home(os.environ)))


def _postgres(inst_data: ConfigurableClassData | None, url: str) -> DagsterStorage:
    try:
        from dagster_postgres import DagsterPostgresStorage
    except ImportError as error:
        msg = f"{POSTGRES_VARIABLE} is set; install the extra: pip install 'chunk-assets[postgres]'"
        raise ConfigurationError(msg) from error
    # The driver is named, since SQLAlchemy 2.1 takes plain postgresql:// for another one.
    explicit = url.replace("postgresql://", "postgresql+psycopg2://", 1)
    return DagsterPostgresStorage(explicit, should_autocreate_tables=True, inst_data=inst_data)
