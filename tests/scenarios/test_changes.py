"""Pay for change only; deletes propagate; nothing stale, lost or doubled."""

from __future__ import annotations

import os
import uuid

import pytest
from homes import CATALOG, Home, prose

from chunk_assets.compute import WorkerPool

pytestmark = pytest.mark.timeout(120)


def test_of_two_equal_files_one_can_be_deleted_without_touching_the_other(home: Home) -> None:
    home.write("a.md", prose("same", 5))
    home.write("b.md", prose("same", 5))
    home.run()
    before = [row for row in home.rows("chunks") if row["document_id"] == "docs__a.md"]
    (home.docs / "b.md").unlink()
    report = home.run()
    assert home.rows("chunks") == before
    assert set(home.column("embeddings", "document_id")) == {"docs__a.md"}
    assert home.embedder.asked == []
    assert report.exit_code == 0


def test_equal_texts_are_embedded_once(home: Home) -> None:
    home.write("a.md", prose("same", 5))
    home.write("b.md", prose("same", 5))
    home.run()
    assert len(home.embedder.asked) == len(set(home.embedder.asked)) == 5
    assert len(home.rows("embeddings")) == 10
    home.assert_in_step()


def test_a_renamed_file_moves_its_rows_and_embeds_nothing(home: Home) -> None:
    for number in range(50):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 2))
    home.run()
    hashes = {r["chunk_sha256"] for r in home.rows("chunks") if r["document_id"] == "docs__d07.md"}
    (home.docs / "d07.md").rename(home.docs / "renamed.md")
    report = home.run()
    assert home.embedder.asked == []
    chunks = home.rows("chunks")
    assert not [row for row in chunks if row["document_id"] == "docs__d07.md"]
    assert {r["chunk_sha256"] for r in chunks if r["document_id"] == "docs__renamed.md"} == hashes
    assert "docs/d07.md" not in home.column("raw_documents", "uri")
    (stages,) = [batch.stages for batch in report.batches]
    assert stages[1].worked == 1
    home.assert_in_step()


def test_a_moved_file_is_there_after_each_of_two_runs(home: Home) -> None:
    home.write("a.md", prose("a", 4))
    home.run()
    (home.docs / "sub").mkdir()
    (home.docs / "a.md").rename(home.docs / "sub" / "a.md")
    for _ in range(2):
        home.run()
        assert set(home.column("chunks", "document_id")) == {"docs__sub__a.md"}
        assert home.embedder.asked == []
        home.assert_in_step()


def test_reindexing_a_document_never_leaves_a_second_set_of_chunks(home: Home) -> None:
    home.write("a.md", prose("a", 12))
    home.run()
    assert len(home.rows("chunks")) == 12
    home.write("a.md", "Now then. " + prose("a", 12))
    home.run()
    assert len(home.rows("chunks")) == 12
    home.write("a.md", prose("a", 3))
    home.run()
    assert home.column("chunks", "chunk_index") == [0, 1, 2]
    home.assert_in_step()


def test_touching_every_file_does_no_work_and_rewrites_nothing(home: Home) -> None:
    for number in range(30):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 2))
    home.run()
    before = home.files()
    for path in home.docs.iterdir():
        os.utime(path, ns=(1, 1_000_000_007))
    report = home.run()
    assert home.files() == before
    assert home.embedder.asked == []
    assert [stage.worked for stage in report.batches[0].stages[1:]] == [0, 0, 0]
    assert report.files_written == ()
    reads = home.run().batches[0].stages[0].worked
    assert reads == 0


def test_a_second_run_reads_no_file_and_rewrites_nothing(home: Home) -> None:
    home.write("a.md", prose("a", 4))
    home.run()
    before = home.files()
    report = home.run()
    assert home.files() == before
    assert report.batches[0].stages[0].worked == 0
    assert all(stage.unchanged for stage in report.batches[0].stages)


def test_an_edit_that_keeps_length_and_time_of_a_file_is_seen(home: Home) -> None:
    path = home.write("a.md", prose("a", 4))
    home.run()
    stamp = path.stat().st_mtime_ns
    home.write("a.md", prose("a", 4).replace("a 1.", "z 1."))
    os.utime(path, ns=(stamp, stamp))
    home.run()
    assert any("z 1." in text for text in home.column("chunks", "text"))


def test_one_word_in_forty_chunks_costs_the_new_texts_only(home: Home) -> None:
    text = prose("a", 40)
    home.write("a.md", text)
    home.run()
    before = {row["chunk_sha256"]: row for row in home.rows("embeddings")}
    ids = {row["chunk_sha256"]: row["chunk_id"] for row in home.rows("chunks")}
    paragraphs = text.split("\n\n")
    paragraphs[17] = paragraphs[17].replace("a 17", "zebra 17", 1)
    home.write("a.md", "\n\n".join(paragraphs))
    home.run()
    now = home.rows("embeddings")
    new = {row["chunk_sha256"] for row in now} - before.keys()
    assert len(home.embedder.asked) == len(new) == 1
    for row in now:
        if row["chunk_sha256"] in before:
            assert row["vector"] == before[row["chunk_sha256"]]["vector"]
            assert row["chunk_id"] == ids[row["chunk_sha256"]]


def test_a_changed_policy_reaches_every_document_and_keeps_equal_texts(home: Home) -> None:
    for number in range(6):
        home.write(f"d{number}.md", prose(f"n{number}", 6))
    home.write("tiny.md", "One short note.\n")
    home.run()
    old = set(home.column("chunks", "fingerprint"))
    texts = set(home.column("chunks", "text"))
    home.catalog(CATALOG.replace("max_chars: 330", "max_chars: 700"))
    report = home.run()
    assert not old & set(home.column("chunks", "fingerprint"))
    assert report.batches[0].stages[1].worked == 0
    assert report.batches[0].stages[2].worked == 7
    new = set(home.column("chunks", "text")) - texts
    assert 0 < len(home.embedder.asked) == len(new)
    home.assert_in_step()


def test_changed_metadata_reaches_the_chunks_without_an_embedding(home: Home) -> None:
    home.write("a.md", prose("a", 4))
    home.write("b.md", prose("b", 4))
    home.run()
    home.write("a.md.meta.yaml", "company: Calder Ridge\ntags: [contract]\n")
    report = home.run()
    companies = {row["document_id"]: row["company"] for row in home.rows("chunks")}
    assert companies == {"docs__a.md": "Calder Ridge", "docs__b.md": None}
    assert home.embedder.asked == []
    assert report.batches[0].stages[2].worked == 1


def test_ten_runs_of_edits_and_deletes_leave_no_orphan(home: Home) -> None:
    for number in range(12):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 3))
    for step in range(10):
        home.run()
        home.assert_in_step()
        home.write(f"d{step:02d}.md", prose(f"edited {step}", 2 + step % 3))
        if step % 3 == 2:
            (home.docs / f"d{step:02d}.md").unlink()
    home.run()
    home.assert_in_step()


def test_a_batch_that_lost_its_last_document_is_withdrawn(home: Home) -> None:
    home.catalog(CATALOG.replace("{path: docs}", "{path: docs, slice: {by: bucket, count: 8}}"))
    for number in range(12):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 1))
    home.run()
    files = len(home.files())
    victim = next(iter(home.files())).split("/slice=")[1].split("/")[0]
    session = home.session()
    documents = session.documents("docs", victim)
    for listed in documents:
        (home.docs / listed.relative_path).unlink()
    home.run()
    assert len(home.files()) == files - 4
    assert not list(home.path.rglob(f"slice={victim}*"))
    home.assert_in_step()


def test_two_machines_make_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, executor: WorkerPool
) -> None:
    hashes = []
    for order in (range(9), reversed(range(9))):
        other = Home(tmp_path_factory.mktemp("machine"), executor)
        other.catalog(CATALOG)
        for number in order:
            other.write(f"d{number}.md", prose(f"n{number}", 4))
        other.run(workers=1 + len(hashes))
        hashes.append(other.hashes())
        points = other.column("chunks", "point_id")
        assert len({uuid.UUID(point) for point in points}) == len(points)
    assert hashes[0] == hashes[1]


def test_equal_paragraphs_in_three_places_are_three_chunks_and_one_embedding(home: Home) -> None:
    shared = prose("shared", 1)
    home.write("a.md", prose("a", 2) + "\n" + shared + "\n" + prose("b", 2) + "\n" + shared)
    home.write("b.md", prose("c", 1) + "\n" + shared)
    home.run()
    same = [row for row in home.rows("chunks") if row["text"].strip() == shared.strip()]
    assert len({row["chunk_id"] for row in same}) == 3
    assert len({row["chunk_sha256"] for row in same}) == 1
    assert home.embedder.asked.count(same[0]["text"]) == 1
    assert (
        len(
            {
                str(r["vector"])
                for r in home.rows("embeddings")
                if r["chunk_sha256"] == same[0]["chunk_sha256"]
            }
        )
        == 1
    )
