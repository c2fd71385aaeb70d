from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from chunk_assets.errors import StopRun
from chunk_assets.records import TABLES
from chunk_assets.storage import commit
from chunk_assets.storage.commit import (
    Manifest,
    damaged_tables,
    load_manifest,
    publish_files,
    published_batches,
    stamp_of,
    switch,
)
from chunk_assets.storage.files import exchange
from chunk_assets.storage.layout import Batch, Layout
from chunk_assets.storage.tables import FileFacts, hash_file

ONE, TWO = Batch("docs", "bucket-0"), Batch("docs", "bucket-1")


def stage(layout: Layout, batch: Batch, text: str) -> tuple[dict[str, Path], Manifest]:
    staged = {}
    for table in TABLES:
        path = layout.staged_file(table, batch)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # may be a link to a published file, which is never written into
        path.write_text(f"{text} {table}")
        staged[table] = path
    return staged, Manifest({t: FileFacts(*hash_file(p), 1) for t, p in staged.items()})


def put(layout: Layout, batch: Batch, text: str) -> None:
    publish_files(layout, batch, *stage(layout, batch, text))


def texts(layout: Layout, batch: Batch) -> list[str]:
    return [layout.table_file(table, batch).read_text() for table in TABLES]


def of(text: str) -> list[str]:
    return [f"{text} {table}" for table in TABLES]


def test_a_batch_is_published_whole_and_its_neighbours_keep_their_files(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    put(layout, ONE, "first")
    put(layout, TWO, "other")
    kept = [layout.table_file(table, TWO).stat() for table in TABLES]
    put(layout, ONE, "second")
    assert texts(layout, ONE) == of("second")
    assert texts(layout, TWO) == of("other")
    now = [layout.table_file(table, TWO).stat() for table in TABLES]
    assert [(s.st_ino, s.st_mtime_ns) for s in now] == [(s.st_ino, s.st_mtime_ns) for s in kept]
    assert published_batches(layout) == [ONE, TWO]


def test_a_withdrawn_batch_is_gone_from_both_trees(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    put(layout, ONE, "first")
    put(layout, TWO, "other")
    publish_files(layout, ONE, {}, None)
    assert published_batches(layout) == [TWO]
    assert not any(
        "bucket-0" in str(path) for tree in (layout.tables, layout.back) for path in tree.rglob("*")
    )


def test_nothing_of_the_version_before_is_kept_anywhere(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    put(layout, ONE, "secret")
    put(layout, ONE, "public")
    shutil.rmtree(layout.staging)
    assert not any("secret" in path.read_text() for path in tmp_path.rglob("part-0.parquet"))


def test_files_that_somebody_removed_by_hand_do_not_come_back(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    put(layout, ONE, "first")
    put(layout, TWO, "other")
    for table in (*TABLES, "_manifest"):
        shutil.rmtree(layout.tables / table / "source=docs", ignore_errors=True)
    put(layout, TWO, "again")
    assert published_batches(layout) == [TWO]


KILLED = """
import os, signal, sys
from pathlib import Path
from chunk_assets.storage import commit, files
sys.path.insert(0, {tests!r})
from test_commit import Layout, ONE, put
calls = 0
def count(real):
    def counted(*args, **kwargs):
        global calls
        calls += 1
        if calls == {at}:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)
    return counted
for name in ("link", "remove", "write_atomic", "exchange", "mirror"):
    setattr(commit, name, count(getattr(commit, name)))
put(Layout(Path({home!r})), ONE, "second")
"""


def killed_at(home: Path, at: int) -> bool:
    program = KILLED.format(tests=str(Path(__file__).parent), at=at, home=str(home))
    return subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL


def test_killed_at_any_step_readers_find_the_old_or_the_new_version_whole(tmp_path: Path) -> None:
    seen = set()
    for at in range(1, 30):
        layout = Layout(tmp_path / str(at))
        put(layout, ONE, "first")
        killed = killed_at(layout.home, at)
        found = texts(layout, ONE)
        assert found in (of("first"), of("second"))
        seen.add(found[0].split()[0])
        manifest = load_manifest(layout, ONE)
        assert damaged_tables(layout, ONE, manifest, {}) == {}
        put(layout, ONE, "second")
        assert texts(layout, ONE) == of("second")
        if not killed:
            break
    else:
        pytest.fail("publishing has more steps than this test tries")
    assert seen == {"first", "second"}


def test_without_an_exchange_of_folders_the_files_are_replaced_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "exchange", lambda one, other: False)
    layout = Layout(tmp_path)
    put(layout, ONE, "first")
    put(layout, ONE, "second")
    assert texts(layout, ONE) == of("second")
    publish_files(layout, ONE, {}, None)
    assert published_batches(layout) == []


def test_a_published_file_that_is_missing_or_altered_is_named(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    put(layout, ONE, "first")
    manifest = load_manifest(layout, ONE)
    paths = {table: layout.table_file(table, ONE) for table in TABLES}
    stamps = {table: stamp for table, path in paths.items() if (stamp := stamp_of(path))}
    assert damaged_tables(layout, ONE, manifest, stamps) == {}
    os.utime(paths["chunks"])
    assert damaged_tables(layout, ONE, manifest, stamps) == {}
    paths["chunks"].write_text("other")
    paths["embeddings"].unlink()
    damaged = damaged_tables(layout, ONE, manifest, stamps)
    assert set(damaged) == {"chunks", "embeddings"}
    assert "altered" in damaged["chunks"]
    assert "missing" in damaged["embeddings"]


def test_two_versions_change_places_at_once(tmp_path: Path) -> None:
    published, other = Layout(tmp_path), Layout(tmp_path, "better")
    put(published, ONE, "old")
    put(other, ONE, "new")
    switch(published, other)
    assert (texts(published, ONE), texts(other, ONE)) == (of("new"), of("old"))
    put(published, TWO, "more")
    assert texts(published, ONE) == of("new")
    switch(published, other)
    assert texts(published, ONE) == of("old")


def test_folders_are_exchanged_on_this_file_system(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "x").touch()
    assert exchange(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b" / "x").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to read-only folders")
def test_a_read_only_target_is_one_sentence(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    put(layout, ONE, "first")
    layout.back.chmod(0o500)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StopRun, match="the published tables are unchanged"):
            put(layout, TWO, "second")
    finally:
        tmp_path.chmod(0o700)
        layout.back.chmod(0o700)
    assert texts(layout, ONE) == of("first")
