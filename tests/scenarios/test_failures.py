"""Failures of single files, texts and vectors are rows with a reason and hurt nobody else."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from homes import CATALOG, Home, prose, status

from chunk_assets.pipeline import RunReport

pytestmark = pytest.mark.timeout(120)


def sent(report: RunReport) -> int:
    return sum(stage.texts for batch in report.batches for stage in batch.stages)


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
