"""The settings of Dagster instances: the one of a home, and the one for ``dagster dev`` in a checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import yaml
from dagster._core.instance.ref import InstanceRef

from chunk_assets.defs.home import SETTINGS, open_instance
from tests.doors.conftest import make_home

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PLACES = ("storage", "compute_logs", "local_artifact_storage")


def test_a_home_runs_two_batches_at_once_and_never_two_on_one(tmp_path: Path) -> None:
    with open_instance(make_home(tmp_path / "home")) as instance:
        limits = instance.get_concurrency_config()
        queue = limits.run_queue_config
        assert queue.max_concurrent_runs == 2
        (by_batch,) = queue.tag_concurrency_limits
        assert (by_batch["key"], by_batch["limit"]) == ("chunk-assets/batch", 1)
        assert limits.pool_config.default_pool_limit == 2
        assert instance.run_monitoring_enabled
        assert instance.run_retries_max_retries == 2
        assert not instance.run_retries_retry_on_asset_or_op_failure
        assert not instance.telemetry_enabled


def test_the_checkout_has_the_same_settings_and_keeps_its_runs_in_data(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    of_home, of_checkout = (yaml.safe_load(path.read_text()) for path in (SETTINGS, root / "dagster.yaml"))
    for name in PLACES:
        of_home.pop(name, None)
        of_checkout.pop(name, None)
    assert of_home == of_checkout
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv("CHUNK_ASSETS_HOME", str(tmp_path))
    ref = InstanceRef.from_dir(str(tmp_path / "elsewhere"), config_dir=str(root))
    with dg.DagsterInstance.from_ref(ref) as instance:
        instance.get_runs_count()
    assert (tmp_path / "dagster/history/runs.db").is_file()
    assert ref.compute_logs_data.config_dict["base_dir"] == "data/dagster/storage"
