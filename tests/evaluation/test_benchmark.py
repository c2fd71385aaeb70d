"""The benchmark's own parts: places of other libraries' chunks, smaller sets, and the report's form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.retrieval import _cut_down, report
from benchmarks.retrieval_peers import cluster, peers, placed
from chunk_assets.evaluation import Bench, EvalDocument, QuestionSet, contender, evaluate, load_set

SEED = "seed/short_faq.md"


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    found = Bench()
    yield found
    found.close()


@pytest.fixture(scope="module")
def golden(root: Path) -> QuestionSet:
    return load_set(root / "data" / "golden")


def test_chunks_without_offsets_are_placed_in_order_even_where_texts_repeat() -> None:
    text = "one two one two three"
    assert placed(text, ["one two", "two one", "one two three"]) == [(0, 7), (4, 11), (8, 21)]


def test_cluster_semantic_covers_the_text_and_keeps_its_bound(golden: QuestionSet, bench: Bench) -> None:
    text = next(d.markdown for d in golden.documents if d.name == SEED)
    spans = list(cluster(bench, "static", 200)(text))
    covered = {i for start, end in spans for i in range(start, end)}
    assert all(i in covered for i, char in enumerate(text) if not char.isspace())
    assert max(end - start for start, end in spans) < 200 * 8


def test_every_installed_peer_gives_places_in_the_text(bench: Bench) -> None:
    document = EvalDocument("rules", "# Rules\n\nThe fee is due on Monday. Nobody pays twice.\n\n" * 12)
    found, _missing = peers(bench, "static")
    for entry in found:
        pieces = entry.chunk(document)
        assert pieces, entry.name
        assert all(0 <= p.start < p.end <= len(document.markdown) for p in pieces), entry.name


def test_a_cut_down_set_asks_only_about_the_documents_it_keeps(golden: QuestionSet) -> None:
    small = _cut_down(golden, 12_000)
    names = {d.name for d in small.documents}
    assert 1 < len(names) < len(golden.documents)
    assert all(p.document in names for q in small.questions for a in q.alternatives for p in a)
    assert "documents)" in small.name


def test_the_report_has_ratios_of_ours_over_theirs(golden: QuestionSet, bench: Bench) -> None:
    results = evaluate(
        [_cut_down(golden, 12_000)], [contender("auto"), contender("recursive")], ["bm25"], bench=bench
    )
    found = report(results, ["semchunk"])
    assert len(found["ratios"]) == 2
    assert all(value > 0 for value in found["ratios"].values())
    assert found["absent"] == ["semchunk"]
