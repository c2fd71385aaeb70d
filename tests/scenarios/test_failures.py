"""Failures are rows: they hurt nobody else, are tried again within bounds, and say why."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from homes import CATALOG, Home, prose

from chunk_assets.pipeline import RunReport
from chunk_assets.verify import verify

pytestmark = pytest.mark.timeout(120)


def status(home: Home) -> dict[str, tuple[str, str]]:
    return {row["document_id"]: (row["status"], row["reason"]) for row in home.rows("raw_documents")}


def sent(report: RunReport) -> int:
    return sum(stage.texts for batch in report.batches for stage in batch.stages)


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


def test_one_rejected_text_of_a_thousand_is_quarantined_alone_and_not_sent_again(home: Home) -> None:
    for number in range(50):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 20))
    home.embedder.refuse = lambda text: "HTTP 400: bad input" if "n17 3." in text else ""
    report = home.run()
    assert len(home.rows("embeddings")) == 999
    (failure,) = report.batches[0].failures
    assert failure.document_id == "docs__d17.md"
    assert failure.status == "partial"
    assert "19/20 chunks embedded" in failure.reason
    assert "HTTP 400" in failure.reason
    report = home.run()
    assert sent(report) == 0
    assert report.exit_code == 1
    home.embedder.refuse = lambda text: ""
    home.write("d17.md", prose("n17", 20).replace("n17 3.", "n17 three."))
    report = home.run()
    assert report.exit_code == 0
    assert len(home.rows("embeddings")) == 1000


def test_a_document_with_a_rejected_chunk_is_partial_and_never_complete(home: Home) -> None:
    home.write("a.md", prose("a", 40))
    home.embedder.refuse = lambda text: "too odd" if "a 33." in text else ""
    home.run()
    assert len(home.rows("chunks")) == 40
    assert len(home.rows("embeddings")) == 39
    (document,) = home.rows("markdown_documents")
    assert document["status"] == "partial"
    assert "39/40" in document["reason"]
    assert status(home)["docs__a.md"][0] == "partial"
    before = home.hashes()
    home.run()
    assert home.hashes() == before


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


def test_a_broken_file_is_a_row_with_a_reason_and_its_neighbours_are_whole(home: Home) -> None:
    for number in range(20):
        home.write(f"d{number:02d}.md", prose(f"n{number}", 1))
    home.write("broken.pdf", b"%PDF-1.7\nnot really\n")
    home.write("nothing.txt", b"")
    home.write("noise.txt", bytes((i * 89 + 7) % 256 for i in range(4000)))
    home.write("latin.txt", "Le café est fermé jusqu'à l'été, à cause du marché d'août.\n".encode("latin-1"))
    report = home.run()
    assert report.exit_code == 1
    found = status(home)
    assert Counter(s for s, _ in found.values())["ok"] == 21
    assert found["docs__nothing.txt"][0] == "empty"
    assert found["docs__broken.pdf"][0] == "broken"
    assert found["docs__noise.txt"][0] != "ok"
    assert all(reason for s, reason in found.values() if s != "ok")
    assert "café" in next(r["text"] for r in home.rows("chunks") if r["document_id"] == "docs__latin.txt")
    assert not any("\ufffd" in text for text in home.column("chunks", "text"))
    before = home.files()
    again = home.run()
    assert home.files() == before
    assert again.exit_code == 1
    assert all(stage.worked == 0 for stage in again.batches[0].stages)


def test_a_document_over_a_limit_gets_another_chance_when_the_limit_is_raised(home: Home) -> None:
    home.catalog(CATALOG + "limits: {max_bytes: 300}\n")
    home.write("a.md", prose("a", 1))
    home.write("big.md", prose("b", 5))
    home.run()
    assert status(home)["docs__big.md"][0] == "too_large"
    home.catalog(CATALOG)
    report = home.run()
    assert status(home)["docs__big.md"] == ("ok", "")
    assert report.batches[0].stages[1].worked == 1


def test_a_file_that_vanishes_after_the_listing_is_not_an_error_of_the_run(home: Home) -> None:
    home.write("a.md", prose("a", 2))
    gone = home.write("b.md", prose("b", 2))
    session = home.session()
    session.listing("docs")
    gone.unlink()
    from chunk_assets.pipeline import run_sources

    report = run_sources(session.catalog, session=session)
    assert not report.errors
    assert status(home)["docs__b.md"][0] == "vanished"
    assert set(home.column("chunks", "document_id")) == {"docs__a.md"}
    assert home.run().exit_code == 0
    assert set(status(home)) == {"docs__a.md"}


def test_a_file_that_changes_between_hashing_and_conversion_is_taken_up_by_the_next_run(home: Home) -> None:
    from chunk_assets.pipeline import open_batch, stage_markdown, stage_raw

    path = home.write("a.md", prose("a", 2))
    session = home.session()
    with open_batch(session.catalog, "docs", "bucket-0", session.options, embedder=home.embedder) as context:
        stage_raw(context)
        path.write_text(prose("b", 2))
        report = stage_markdown(context)
        assert report.statuses == {"unreadable": 1}
    assert home.run().exit_code == 0
    assert any("b 1." in text for text in home.column("chunks", "text"))


@pytest.mark.parametrize("wrong", [[float("nan")] * 16, [0.0] * 16, [3.0] * 16, [1.0] * 3])
def test_a_vector_that_cannot_be_right_is_refused_alone_and_never_stored(
    home: Home, wrong: list[float]
) -> None:
    home.write("a.md", prose("a", 3))
    home.write("b.md", prose("b", 3))
    model = home.embedder._inner
    right = model.embed_query
    model.embed_query = lambda text: np.array(wrong, np.float32) if "b 1." in text else right(text)
    report = home.run()
    assert report.exit_code == 1
    assert len(home.rows("embeddings")) == 5
    assert "the embedder answered" in status(home)["docs__b.md"][1]
    model.embed_query = right
    assert home.run().exit_code == 0
    assert [text for text in home.embedder.asked if "b 1." in text] == home.embedder.asked[:1]
    home.assert_in_step()


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


def test_a_source_bound_over_the_model_s_limit_is_refused_with_figures(home: Home) -> None:
    home.catalog(
        CATALOG.replace("{path: docs}", "{path: docs, max_tokens: 400}")
        .replace("dimension: 16", "dimension: 16, max_tokens: 64")
        .replace("max_chars: 330", "max_chars: 2000")
    )
    from homes import CountingEmbedder

    home.embedder = CountingEmbedder(max_tokens=64)
    home.write("a.md", prose("a", 12))
    report = home.run()
    (error,) = report.errors
    assert "token_bounds" in str(error)
    assert "tokens would be lost" in str(error)
    assert home.rows("embeddings") == []
    assert home.embedder.asked == []
    home.catalog(CATALOG.replace("max_chars: 330", "max_chars: 2000"))
    report = home.run()
    assert report.exit_code == 0
    assert max(home.column("chunks", "model_token_count")) <= 64
