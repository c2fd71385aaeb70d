from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from chunk_assets.storage.vectors import BLOCK_ROWS, MANY_BLOCKS, VectorStore, input_key

WIDTH = 8


def vector(number: int) -> np.ndarray:
    return np.full(WIDTH, number, np.float32)


def filled(folder: Path, numbers: range) -> VectorStore:
    store = VectorStore(folder, WIDTH)
    for number in numbers:
        store.add(input_key(f"text {number}"), vector(number))
    store.flush()
    return store


def keys(numbers: range) -> list[bytes]:
    return [input_key(f"text {number}") for number in numbers]


def test_a_vector_is_found_again_by_another_process_s_store(tmp_path: Path) -> None:
    filled(tmp_path, range(1000))
    again = VectorStore(tmp_path, WIDTH)
    vectors, found = again.get([*keys(range(1000)), input_key("never embedded")])
    assert found.tolist() == [True] * 1000 + [False]
    assert np.array_equal(vectors[:1000, 0], np.arange(1000))


def test_what_is_not_flushed_yet_is_found_by_the_store_that_has_it(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, WIDTH)
    store.add(input_key("fresh"), vector(7))
    assert store.contains([input_key("fresh"), input_key("other")]).tolist() == [True, False]
    vectors, found = store.get([input_key("fresh")])
    assert found.all()
    assert vectors[0, 0] == 7


def test_a_kill_costs_at_most_one_block(tmp_path: Path) -> None:
    program = f"""
import os, signal, numpy as np
from pathlib import Path
from chunk_assets.storage.vectors import VectorStore, input_key
store = VectorStore(Path({str(tmp_path)!r}), {WIDTH})
for number in range(10 * {BLOCK_ROWS} + 100):
    store.add(input_key(f"text {{number}}"), np.full({WIDTH}, number, np.float32))
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    assert len(VectorStore(tmp_path, WIDTH)) == 10 * BLOCK_ROWS


def test_a_block_that_is_cut_short_is_ignored_and_named(tmp_path: Path) -> None:
    store = filled(tmp_path, range(3 * BLOCK_ROWS))
    victim = min(tmp_path.glob("*.vectors"))
    victim.write_bytes(victim.read_bytes()[:-5])
    again = VectorStore(tmp_path, WIDTH)
    assert again.contains(keys(range(3 * BLOCK_ROWS))).sum() == 2 * BLOCK_ROWS
    assert again.damaged() == [victim.name]
    again.remove_damaged()
    assert again.damaged() == []
    assert len(store.get(keys(range(10)))[0]) == 10


def test_an_altered_byte_is_named(tmp_path: Path) -> None:
    filled(tmp_path, range(BLOCK_ROWS))
    (victim,) = tmp_path.glob("*.vectors")
    data = bytearray(victim.read_bytes())
    data[-1] ^= 1
    victim.write_bytes(data)
    assert VectorStore(tmp_path, WIDTH).damaged() == [victim.name]


def test_merging_keeps_every_vector_and_bounds_the_number_of_files(tmp_path: Path) -> None:
    for start in range(0, 5 * (MANY_BLOCKS + 10), 5):
        filled(tmp_path, range(start, start + 5))
    total = 5 * (MANY_BLOCKS + 10)
    reader = VectorStore(tmp_path, WIDTH)
    assert len(reader) == total
    assert VectorStore(tmp_path, WIDTH).compact() > MANY_BLOCKS
    assert len(list(tmp_path.glob("*.vectors"))) == 1
    vectors, found = reader.get(keys(range(total)))  # its index still names the old files
    assert found.all()
    assert np.array_equal(vectors[:, 0], np.arange(total))


def test_two_writers_of_the_same_texts_leave_one_answer(tmp_path: Path) -> None:
    filled(tmp_path, range(100))
    other = VectorStore(tmp_path / "elsewhere", WIDTH)
    assert len(other) == 0
    filled(tmp_path, range(50, 150))
    store = VectorStore(tmp_path, WIDTH)
    assert store.compact(force=True) == 2
    assert len(VectorStore(tmp_path, WIDTH)) == 150


@pytest.mark.parametrize("dry_run", [True, False])
def test_pruning_drops_what_nobody_refers_to_and_a_dry_run_only_says_so(
    tmp_path: Path, dry_run: bool
) -> None:
    filled(tmp_path, range(1000))
    store = VectorStore(tmp_path, WIDTH)
    pruned = store.prune(keys(range(100, 400)), dry_run=dry_run)
    assert (pruned.kept, pruned.dropped) == (300, 700)
    left = VectorStore(tmp_path, WIDTH)
    assert len(left) == (1000 if dry_run else 300)
    assert left.contains(keys(range(100, 400))).all()
