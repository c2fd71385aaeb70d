from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chunk_assets.errors import LockHeld
from chunk_assets.storage.locks import held_below, hold, holder, is_held

HOLD = """
import sys, time
from pathlib import Path
from chunk_assets.storage.locks import hold
with hold(Path(sys.argv[1]), "the batch", name="night run"):
    print("held", flush=True)
    time.sleep(60)
"""


def in_other_process(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_whoever_comes_second_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "b.lock"
    other = in_other_process(path)
    try:
        with (
            pytest.raises(
                LockHeld, match=rf"the batch is locked by process {other.pid} on .* \(night run\) since"
            ),
            hold(path, "the batch"),
        ):
            pass
        assert is_held(path)
        assert [name for name, _ in held_below(tmp_path)] == ["b.lock"]
    finally:
        end(other)


def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    path = tmp_path / "b.lock"
    other = in_other_process(path)
    os.kill(other.pid, signal.SIGKILL)
    other.communicate()
    with hold(path, "the batch"):
        owner = holder(path)
        assert owner is not None
        assert owner.pid == os.getpid()
    assert not path.exists()


def test_waiting_ends_when_the_other_is_done(tmp_path: Path) -> None:
    path = tmp_path / "b.lock"
    other = in_other_process(path)
    os.kill(other.pid, signal.SIGTERM)
    started = time.monotonic()
    with hold(path, "the batch", wait=30):
        pass
    assert time.monotonic() - started < 20
    end(other)


def test_two_holders_in_one_process_exclude_each_other_too(tmp_path: Path) -> None:
    path = tmp_path / "b.lock"
    with hold(path, "the batch"), pytest.raises(LockHeld), hold(path, "the batch"):
        pass
    assert not is_held(path)


def test_many_processes_never_hold_it_at_once(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from chunk_assets.storage.locks import hold
folder = Path(sys.argv[1])
for _ in range(60):
    with hold(folder / "b.lock", "it", wait=60):
        number = int((folder / "count").read_text())
        (folder / "count").write_text(str(number + 1))
"""
    (tmp_path / "count").write_text("0")
    command = [sys.executable, "-c", program, str(tmp_path)]
    runs = [subprocess.Popen(command) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "180"
