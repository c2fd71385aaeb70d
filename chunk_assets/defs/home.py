"""Where a home's Dagster instance lives, and its settings."""

from pathlib import Path

import dagster as dg
from dagster._core.instance.ref import InstanceRef

from chunk_assets.catalog.origin import local_home
from chunk_assets.defs.storage import HomeStorage
from chunk_assets.errors import ConfigurationError

INSTANCE_FOLDER = "dagster"
INSTANCE_FILE = "dagster.yaml"
NO_CAPTURE = {
    "module": "dagster._core.storage.noop_compute_log_manager",
    "class": "NoOpComputeLogManager",
}
SETTINGS = Path(__file__).with_name(INSTANCE_FILE)


def instance_folder(home: str | Path) -> Path:
    """``<home>/dagster`` with a ``dagster.yaml`` in it, which is written when there is none.

    That of a home in an object store is in its working folder on this machine.

    Raises:
        ConfigurationError: the folder can't be written.
    """
    folder = Path(local_home(home), INSTANCE_FOLDER).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        settings = folder / INSTANCE_FILE
        if not settings.is_file():
            settings.write_text(SETTINGS.read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        msg = f"the Dagster instance at {folder} can't be written: {error.strerror}"
        raise ConfigurationError(msg) from error
    return folder


def open_instance(home: str | Path) -> dg.DagsterInstance:
    """The instance of a home, the same one that ``chunk-assets dev`` shows."""
    folder = str(instance_folder(home))
    # The folder is given outright, so that the environment of this process does not matter. What steps
    # print is not captured: that costs two processes a step, which Ctrl-C at a terminal would kill noisily.
    storage = {
        "module": HomeStorage.__module__,
        "class": HomeStorage.__name__,
        "config": {"base_dir": folder},
    }
    return dg.DagsterInstance.from_ref(
        InstanceRef.from_dir(folder, overrides={"storage": {"custom": storage}, "compute_logs": NO_CAPTURE})
    )
