"""What an operator sees over weeks: bounded disk, honest progress, pages, buckets that can change."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from homes import CATALOG, Home, numbered_pdf, prose

from chunk_assets.pipeline import all_batches, pruning, run_batch
from chunk_assets.storage import vectors
from chunk_assets.storage.vectors import VectorStore

pytestmark = pytest.mark.timeout(120)


def size(folder: Path) -> int:
    inodes = {path.stat().st_ino: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    return sum(inodes.values())


def test_disk_use_follows_the_data_over_many_edits(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MANY_BLOCKS", 4)
    monkeypatch.setattr(pruning, "WORTH_PRUNING", 10)
    for number in range(6):
        home.write(f"d{number}.md", prose(f"n{number}", 8))
    home.run()
    fresh = size(home.path) - size(home.docs)
    for step in range(24):
        home.write(f"d{step % 6}.md", prose(f"edit {step}", 8))
        home.run()
    assert size(home.path) - size(home.docs) < 3 * fresh
    assert len(list(home.path.glob("vectors/*/*"))) <= 6
    home.assert_in_step()
    stored = sum(len(VectorStore(folder, 16)) for folder in home.path.glob("vectors/*"))
    assert stored <= 2 * 48 + 10 + 8


def test_progress_never_goes_back_and_ends_at_its_total(home: Home) -> None:
    told: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for number in range(12):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 1 + number))
    home.write("huge.md", prose("huge", 60))
    home.run(progress=lambda stage, done, total, unit: told[stage].append((done, total, unit)))
    units = {
        "raw_documents": "bytes",
        "markdown_documents": "bytes",
        "chunks": "documents",
        "embeddings": "texts",
    }
    assert {stage: steps[0][2] for stage, steps in told.items()} == units
    for steps in told.values():
        done = [step[0] for step in steps]
        assert done == sorted(done)
        assert steps[-1][0] == steps[-1][1]
        assert len({step[1] for step in steps}) == 1
    assert told["markdown_documents"][-1][1] == sum(path.stat().st_size for path in home.docs.iterdir())


def test_another_number_of_buckets_embeds_nothing_and_loses_nothing(home: Home) -> None:
    for number in range(20):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 2))
    home.run()
    before = {row["chunk_id"]: row["chunk_sha256"] for row in home.rows("chunks")}
    home.catalog(CATALOG.replace("{path: docs}", "{path: docs, slice: {by: bucket, count: 5}}"))
    report = home.run()
    assert report.exit_code == 0
    assert home.embedder.asked == []
    assert {row["chunk_id"]: row["chunk_sha256"] for row in home.rows("chunks")} == before
    assert len(list(home.path.glob("tables/chunks/*/*"))) == 5


@pytest.mark.parametrize("counts", [(1, 4), (4, 1)])
def test_while_documents_move_to_other_buckets_none_is_missing(home: Home, counts: tuple[int, int]) -> None:
    slices = "{path: docs, slice: {by: bucket, count: %d}}"
    home.catalog(CATALOG.replace("{path: docs}", slices % counts[0]))
    for number in range(12):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 1))
    home.run()
    everything = set(home.column("embeddings", "document_id"))
    home.catalog(CATALOG.replace("{path: docs}", slices % counts[1]))
    session = home.session()
    for batch in list(all_batches(session)):
        run_batch(session.catalog, batch.source, batch.slice, session=session)
        assert set(home.column("embeddings", "document_id")) == everything
    assert home.embedder.asked == []
    home.assert_in_step()


def test_one_changed_document_touches_one_bucket(home: Home) -> None:
    home.catalog(CATALOG.replace("{path: docs}", "{path: docs, slice: {by: bucket, count: 8}}"))
    for number in range(24):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 1))
    home.run()
    before = home.files()
    home.write("d05.md", prose("edited", 1))
    report = home.run()
    now = home.files()
    changed = {name.split("slice=")[1] for name in now if now[name] != before[name]}
    assert len(changed) == 1 or len({name.split("/")[0] for name in changed}) == 1
    assert len(report.files_written) <= 4


def test_the_pages_of_a_chunk_are_those_that_its_text_stands_on(home: Home) -> None:
    home.write("report.pdf", numbered_pdf(60))
    report = home.run()
    assert report.exit_code == 0
    (document,) = home.rows("markdown_documents")
    chunks = home.rows("chunks")
    assert len(chunks) > 10
    for chunk in chunks:
        assert document["markdown"][chunk["start_char"] : chunk["end_char"]] == chunk["text"]
        for number in map(int, re.findall(r"sheet (\d+)", chunk["text"])):
            assert chunk["page_start"] <= number <= chunk["page_end"]
    assert {n for c in chunks for n in range(c["page_start"], c["page_end"] + 1)} == set(range(1, 61))
