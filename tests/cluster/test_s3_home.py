"""A home in an object store: the same tables on every machine, one writer at a time, nothing half done."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chunk_assets.catalog import load_catalog
from chunk_assets.catalog.origin import local_home
from chunk_assets.compute import WorkerPool
from chunk_assets.defs.arrivals import look
from chunk_assets.errors import ConfigurationError, LockHeld
from chunk_assets.pipeline.pruning import prune
from chunk_assets.pipeline.versions import create_version
from chunk_assets.records import EMBEDDINGS, MARKDOWN_DOCUMENTS
from chunk_assets.storage.remote import StoreUnavailable, remote_home
from tests.cluster import s3_home as s3
from tests.cluster.s3_server import Proxy

ONE = {"n0.md": "One text. It is short."}
LONGER = {
    "n0.md": "# Note 0\n\nAnother text altogether, and a longer one. It has three sentences. That is it.\n"
}


@pytest.fixture(autouse=True)
def machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Proxy, pool: WorkerPool
) -> Callable[[str], None]:
    """Makes this process one on another machine: with working folders of its own."""

    def be(name: str) -> None:
        monkeypatch.setenv("CHUNK_ASSETS_CACHE", str(tmp_path / name))

    monkeypatch.setattr(s3, "EXECUTOR", pool)
    be("first")
    return be


def is_commit(method: str, path: str) -> bool:
    return method == "PUT" and "_manifest" in path


def then(stage: str, what: Callable[[], object]) -> Callable[[str, int, int, str], None]:
    """A progress function that does something once, when a stage is first told of."""
    done: list[int] = []

    def tell(name: str, *_: Any) -> None:
        if name == stage and not done:
            done.append(1)
            what()

    return tell


def test_a_home_in_a_bucket_and_one_on_a_disk_have_the_same_bytes(tmp_path: Path) -> None:
    url = s3.make("same", batches=2)
    disk = s3.on_disk(tmp_path / "disk", batches=2)
    assert s3.run(url).errors == ()
    assert s3.run(disk).errors == ()
    assert s3.published("same") == s3.of_folder(disk)
    assert s3.of_folder(Path(local_home(url))) == s3.of_folder(disk)
    assert {len(files) for files in s3.published("same").values()} == {2}
    for key in s3.keys("same"):
        if key.endswith(".json") and not key.startswith("locks"):
            assert isinstance(json.loads(s3.files().cat_file(f"{s3.BUCKET}/same/{key}")), dict)


def test_another_machine_goes_on_where_the_first_one_was(machine: Callable[[str], None]) -> None:
    url = s3.make("two")
    first = s3.run(url)
    assert first.embedded > 0
    before = s3.keys("two")
    machine("second")
    assert s3.run(url).embedded == 0
    assert s3.keys("two", "tables") == [key for key in before if key.startswith("tables")]
    s3.put("two", {**LONGER, "copy.md": s3.DOCUMENTS["n3.md"]})  # vectors of copies are there
    changed = s3.run(url)
    assert (changed.errors, changed.embedded) == ((), 1)
    machine("first")
    again = s3.run(url)
    assert (again.errors, again.embedded) == ((), 0)
    machine("third")  # the sensor's: it looks at manifests and states, and needs no table
    assert look(load_catalog(url)).todo == []
    assert not any(s3.of_folder(Path(local_home(url))).values())
    s3.pull(url)
    assert s3.of_folder(Path(local_home(url))) == s3.published("two")


def test_old_objects_stay_for_the_grace_time_and_go_after_it() -> None:
    for name, grace, expected in (("late", "60", 2), ("soon", "0", 1)):
        url = s3.make(name, ONE, grace)
        s3.run(url)
        s3.put(name, LONGER)
        assert s3.run(url).errors == ()
        assert len(s3.keys(name, "tables/chunks/")) == expected
        (manifest,) = (m for m in s3.manifests(name).values() if m["files"])
        assert set(manifest["superseded"]) <= set(s3.keys(name, "tables/"))


def test_a_batch_that_is_gone_is_gone_for_everybody(machine: Callable[[str], None]) -> None:
    url = s3.make("gone", ONE)
    s3.run(url)
    machine("second")
    s3.run(url)
    s3.files().rm(f"{s3.BUCKET}/gone/docs/n0.md")
    assert s3.run(url, allow_deletions=True).errors == ()
    assert [m["files"] for m in s3.manifests("gone").values()] == [{}]
    machine("first")
    assert s3.run(url).errors == ()
    assert not any(s3.of_folder(Path(local_home(url))).values())


def test_a_manifest_that_can_not_be_put_leaves_the_version_before(store: Proxy) -> None:
    url = s3.make("refused", ONE)
    s3.run(url)
    before = s3.published("refused")
    s3.put("refused", LONGER)
    store.fault = lambda proxy, method, path: "503" if is_commit(method, path) else ""
    report = s3.run(url)
    assert [type(error) for error in report.errors] == [StoreUnavailable]
    store.reset()
    assert s3.published("refused") == before
    again = s3.run(url)
    assert (again.errors, again.embedded) == ((), 0)
    assert s3.published("refused") != before


@pytest.mark.parametrize("kind", ["cut", "short"])
def test_a_table_that_does_not_come_whole_stops_the_run_and_changes_nothing(
    kind: str, store: Proxy, machine: Callable[[str], None]
) -> None:
    url = s3.make("broken", ONE)
    s3.run(url)
    before = s3.keys("broken")
    s3.put("broken", LONGER)
    machine(kind)
    store.fault = lambda proxy, method, path: kind if method == "GET" and ".parquet" in path else ""
    report = s3.run(url)
    assert {type(error) for error in report.errors} == {StoreUnavailable}
    store.reset()
    assert s3.keys("broken", "tables") == [key for key in before if key.startswith("tables")]
    assert s3.run(url).errors == ()


def test_a_listing_that_fails_half_way_deletes_nothing(store: Proxy, machine: Callable[[str], None]) -> None:
    url = s3.make("half", batches=2)
    s3.run(url)
    folder = Path(local_home(url))
    before, here = s3.keys("half"), s3.of_folder(folder)
    store.keys_a_page = 1
    store.fault = lambda proxy, method, path: "503" if "continuation-token" in path else ""
    remote = remote_home(folder)
    assert remote is not None
    for what in (remote.pull, lambda: prune(folder)):
        with pytest.raises(StoreUnavailable):
            what()
    store.reset()
    assert s3.keys("half", "tables") == [key for key in before if key.startswith("tables")]
    assert s3.keys("half", "vectors") == [key for key in before if key.startswith("vectors")]
    assert s3.of_folder(folder) == here


def test_of_two_runs_at_once_one_publishes_and_the_other_says_who_works(
    machine: Callable[[str], None],
) -> None:
    url = s3.make("both", ONE)
    second: list[Any] = []

    def meanwhile() -> None:
        machine("second")
        second.append(s3.run(url, owner="the second run"))

    first = s3.run(url, owner="the first run", progress=then(EMBEDDINGS, meanwhile))
    assert first.errors == ()
    (error,) = second[0].errors
    assert isinstance(error, LockHeld)
    assert "the first run" in str(error)
    assert "process" in str(error)


def stopped_for_long(url: str) -> None:
    """As if the process had been stopped, or cut off, until its lock was too old."""
    remote = remote_home(local_home(url))
    assert remote is not None
    for held in remote.held.values():
        held.lease.ended.set()
    time.sleep(3.2)  # the lock lives for two seconds, and the store's clock counts whole ones


def test_a_run_that_lost_its_lock_publishes_nothing(machine: Callable[[str], None]) -> None:
    url = s3.make("robbed", ONE)
    s3.run(url)
    s3.put("robbed", LONGER)
    second: list[Any] = []

    def be_robbed() -> None:
        stopped_for_long(url)
        machine("second")
        s3.put("robbed", {"n0.md": "What the second one read. It is not the same."})
        second.append(s3.run(url))

    first = s3.run(url, progress=then(EMBEDDINGS, be_robbed))
    assert second[0].errors == ()
    assert [type(error) for error in first.errors] == [LockHeld]
    there = s3.published("robbed")
    machine("third")
    assert s3.run(url).errors == ()
    assert s3.published("robbed") == there


def test_a_lock_that_was_taken_over_fences_before_the_new_holder_has_published(
    machine: Callable[[str], None],
) -> None:
    url = s3.make("fenced", ONE)
    s3.run(url)
    s3.put("fenced", LONGER)
    first = remote_home(local_home(url))
    assert first is not None
    refused: list[LockHeld] = []

    def come_back() -> None:
        """The first holder publishes while the second one is at work, sure of its lock."""
        ((batch, held),) = first.held.items()
        held.lease.check = lambda: None  # type: ignore[method-assign]
        with pytest.raises(LockHeld) as refusal:
            first.commit(batch, {}, held.manifest.local)
        refused.append(refusal.value)

    def be_robbed() -> None:
        stopped_for_long(url)
        machine("second")
        assert s3.run(url, progress=then(EMBEDDINGS, come_back)).errors == ()

    report = s3.run(url, progress=then(MARKDOWN_DOCUMENTS, be_robbed))
    assert ["meanwhile" in str(error) for error in refused] == [True]
    assert [type(error) for error in report.errors] == [LockHeld]


def test_a_store_that_ignores_conditions_is_refused_unless_one_writer_is_promised(store: Proxy) -> None:
    url = s3.make("careless", ONE)
    store.dropped = {"if-match", "if-none-match"}
    (error,) = s3.run(url).errors
    assert isinstance(error, ConfigurationError)
    assert "single_writer" in str(error)
    assert s3.manifests("careless") == {}
    settings = f"{s3.BUCKET}/careless/sources.yaml"
    text = s3.files().cat_file(settings).decode()
    s3.files().pipe_file(settings, text.replace("lock_seconds: 2", "single_writer: true").encode())
    assert s3.run(url).errors == ()


def test_objects_that_no_manifest_names_go_with_prune_and_only_while_nobody_runs() -> None:
    url = s3.make("swept", ONE, grace="0")
    s3.run(url)
    orphan = "tables/chunks/source=docs/slice=bucket-0/abandoned.parquet"
    s3.files().pipe_file(f"{s3.BUCKET}/swept/{orphan}", b"half a table")
    before = s3.published("swept")
    s3.put("swept", LONGER)
    refused: list[str] = []

    def sweep() -> None:
        with pytest.raises(LockHeld) as error:
            prune(local_home(url))
        refused.append(str(error.value))

    assert s3.run(url, progress=then(EMBEDDINGS, sweep)).errors == ()
    assert len(refused) == 1
    assert s3.published("swept") != before
    vectors = s3.keys("swept", "vectors/")
    assert prune(local_home(url)).dropped == 1
    assert orphan not in s3.keys("swept")
    assert s3.keys("swept", "vectors/") != vectors
    s3.published("swept")
    assert s3.run(url).embedded == 0


def test_a_damaged_object_is_made_anew(machine: Callable[[str], None]) -> None:
    url = s3.make("damaged", ONE)
    s3.run(url)
    before = s3.published("damaged")
    key = s3.keys("damaged", "tables/chunks/")[0]
    s3.files().pipe_file(f"{s3.BUCKET}/damaged/{key}", b"not this")
    machine("second")
    assert ["is not what its manifest says" in fault for fault in s3.pull(url)] == [True]
    assert s3.run(url).errors == ()
    assert s3.published("damaged") == before


def test_versions_beside_the_published_one_are_refused_and_say_what_works() -> None:
    url = s3.make("versions", ONE)
    with pytest.raises(ConfigurationError, match="prefix of its own"):
        s3.run(url, version="next")
    with pytest.raises(ConfigurationError, match="prefix of its own"):
        create_version(local_home(url), "next")
