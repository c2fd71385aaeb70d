"""Embeddings that fail half-way leave readers what they had, and are tried again within bounds."""

from __future__ import annotations

from collections import Counter

import pytest
from homes import Home, prose, status

from chunk_assets.verify import verify

pytestmark = pytest.mark.timeout(120)


def test_a_document_whose_embedding_failed_is_tried_again_without_an_edit(home: Home) -> None:
    for number in range(3):
        home.write(f"d{number}.md", prose(f"n{number}", 1))
    home.embedder.fail = lambda text: "n1" in text
    report = home.run()
    assert report.exit_code == 1
    assert set(home.column("embeddings", "document_id")) == {"docs__d0.md", "docs__d2.md"}
    assert status(home)["docs__d1.md"][0] == "embedding_failed"
    assert "out of order" in status(home)["docs__d1.md"][1]
    home.embedder.fail = lambda text: False
    report = home.run()
    assert [t for t in home.embedder.asked if t != "chunk-assets"] == [
        row["text"] for row in home.rows("chunks") if row["document_id"] == "docs__d1.md"
    ]
    assert report.exit_code == 0
    assert Counter(s for s, _ in status(home).values()) == {"ok": 3}
    assert set(home.column("markdown_documents", "status")) == {"ok"}
    home.assert_in_step()


def test_when_the_embedder_is_down_readers_keep_the_version_before(home: Home) -> None:
    home.write("a.md", prose("a", 5))
    home.run()
    before = home.files()
    home.write("a.md", prose("b", 20))
    home.embedder.fail = lambda text: True
    report = home.run()
    assert "the embedder is down" in str(report.errors[0])
    assert report.exit_code != 0
    assert home.files() == before
    home.embedder.fail = lambda text: False
    home.run()
    assert len(home.rows("embeddings")) == 20


def test_an_edit_whose_embedding_fails_leaves_readers_the_version_before(home: Home) -> None:
    home.write("a.md", prose("a", 5))
    home.write("b.md", prose("b", 2))
    home.run()
    rows = {
        t: [r for r in home.rows(t) if r["document_id"] == "docs__a.md"] for t in ("chunks", "embeddings")
    }
    home.write("a.md", prose("a", 4) + "\n" + prose("new", 2))
    home.write("b.md", prose("b", 3))
    home.embedder.fail = lambda text: "new 1." in text
    report = home.run()
    assert report.exit_code == 1
    for table, before in rows.items():
        assert [r for r in home.rows(table) if r["document_id"] == "docs__a.md"] == before
    assert home.column("embeddings", "document_id").count("docs__b.md") == 3
    (failure,) = report.batches[0].failures
    assert (failure.document_id, failure.status, failure.parked) == ("docs__a.md", "embedding_failed", False)
    assert "the tables hold the version that was read before" in failure.reason
    session = home.session()
    assert verify(session.catalog, session=session) == []
    home.assert_in_step()
    home.embedder.fail = lambda text: False
    assert home.run().exit_code == 0
    assert [text for text in home.embedder.asked if text != "chunk-assets"] == [
        text for text in home.column("chunks", "text") if "new 1." in text
    ]
    assert home.run().files_written == ()
    home.assert_in_step()


def test_an_edit_that_never_gets_its_vectors_is_parked_and_the_next_edit_is_tried(home: Home) -> None:
    home.write("a.md", prose("a", 3))
    home.run()
    home.write("a.md", prose("bad", 3))
    home.embedder.fail = lambda text: "bad 1." in text
    parked = [home.run().batches[0].failures[0].parked for _ in range(4)]
    assert parked == [False, False, True, True]
    before = home.files()
    home.write("b.md", prose("b", 1))
    home.run()
    assert not any("bad" in text for text in home.embedder.asked)
    assert len(home.rows("chunks")) == 4
    (home.docs / "b.md").unlink()
    home.run()
    assert {name: facts[0] for name, facts in before.items()} == home.hashes()
    home.write("a.md", prose("good", 3))
    assert home.run().exit_code == 0
    assert all("good" in text for text in home.column("chunks", "text"))
    home.write("a.md", prose("bad", 3))
    home.run()
    home.write("a.md", prose("good", 3))
    assert home.run().exit_code == 0
    assert home.column("raw_documents", "status") == ["ok"]


def test_an_outage_half_way_keeps_what_was_paid_for(home: Home) -> None:
    home.write("a.md", prose("a", 40))
    home.embedder.fail = lambda text: len(home.embedder.asked) >= 25
    report = home.run()
    assert report.errors
    first = set(home.embedder.asked)
    home.embedder.fail = lambda text: False
    home.run()
    assert not first & set(home.embedder.asked)
    assert len(first) + len(home.embedder.asked) == 40


def test_a_failing_text_is_tried_a_few_times_and_then_parked(home: Home) -> None:
    home.write("a.md", prose("a", 3))
    home.write("b.md", prose("b", 1))
    home.embedder.fail = lambda text: "b 0." in text
    attempts = []
    for _ in range(5):
        report = home.run()
        (failure,) = report.batches[0].failures
        attempts.append((failure.attempts, failure.parked))
    assert [parked for _, parked in attempts] == [False, False, True, True, True]
    before = home.files()
    home.run()
    assert home.files() == before
    home.embedder.fail = lambda text: False
    assert home.run(retry_parked=True).exit_code == 0


def test_a_model_switch_that_is_cut_short_shows_readers_the_old_model_only(home: Home) -> None:
    from homes import CountingEmbedder

    home.write("a.md", prose("a", 30))
    home.run()
    before = home.files()
    models = set(home.column("embeddings", "model_fingerprint"))
    home.embedder = CountingEmbedder(dimension=8)
    home.embedder.fail = lambda text: len(home.embedder.asked) > 10
    assert home.run().errors
    assert home.files() == before
    home.embedder.fail = lambda text: False
    home.run()
    now = home.rows("embeddings")
    assert {row["model_fingerprint"] for row in now}.isdisjoint(models)
    assert len({row["model_fingerprint"] for row in now}) == 1
    assert {len(row["vector"]) for row in now} == {8}
    home.assert_in_step()
