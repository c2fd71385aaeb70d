"""Changes are seen before they are paid for."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from homes import CATALOG, CountingEmbedder, Home, prose

from chunk_assets.embedders import load_embedder
from chunk_assets.errors import BudgetReached
from chunk_assets.plan import Plan, make_plan

pytestmark = pytest.mark.timeout(120)
OTHER_POLICY = CATALOG.replace("max_chars: 330", "max_chars: 700")


def plan(home: Home, **options: Any) -> Plan:
    session = home.session()
    return make_plan(session.catalog, session=session, **options)


def everything_in(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.stat().st_mtime_ns, p.stat().st_ino) for p in folder.rglob("*")}


def test_a_plan_calls_no_embedder_and_writes_nothing(home: Home) -> None:
    home.write("a.md", prose("a", 5))
    empty = everything_in(home.path)
    assert plan(home).total("texts_to_embed") == 5
    assert everything_in(home.path) == empty
    home.run()
    home.write("a.md", prose("b", 5))
    before = everything_in(home.path)
    plan(home, diff_samples=2)
    assert everything_in(home.path) == before
    assert home.embedder.asked == []


@pytest.mark.parametrize("change", ["edit", "add", "delete", "policy", "metadata", "model"])
def test_the_run_does_exactly_what_the_plan_said(home: Home, change: str) -> None:
    for number in range(6):
        home.write(f"d{number}.md", prose(f"n{number}", 4))
    home.run()
    before = len(home.rows("chunks"))
    if change == "edit":
        home.write("d3.md", prose("n3", 3) + prose("edited", 2))
    elif change == "add":
        home.write("d9.md", prose("n9", 4))
    elif change == "delete":
        (home.docs / "d2.md").unlink()
    elif change == "policy":
        home.catalog(OTHER_POLICY)
    elif change == "metadata":
        home.write("d1.md.meta.yaml", "company: Calder Ridge\n")
    else:
        home.embedder = CountingEmbedder(dimension=8)
    planned = plan(home)
    report = home.run()
    stages = report.batches[0].stages
    assert planned.total("convert") == stages[1].worked
    assert planned.total("texts_to_embed") == stages[3].texts
    assert planned.total("tokens_to_embed") == stages[3].tokens
    assert len(home.rows("chunks")) == before + planned.total("chunks_added") - planned.total(
        "chunks_removed"
    )
    reasons = {
        "edit": {"changed": 1},
        "add": {"new": 1},
        "delete": {"deleted": 1},
        "policy": {"policy_changed": 6},
        "metadata": {"metadata_changed": 1},
        "model": {"model_changed": 6},
    }
    assert planned.reasons == reasons[change]
    assert plan(home).reasons == {}


def change(home: Home, chance: random.Random, mark: str) -> None:
    """One of the things that happen to a home, at random."""
    documents = sorted(home.docs.rglob("*.md"))
    chosen = chance.choice(documents)
    happenings: list[Callable[[], object]] = [
        lambda: chosen.write_text(chosen.read_text() + prose(mark, 1)),
        lambda: home.write(f"{mark}.md", prose(mark, chance.randrange(1, 4))),
        lambda: chosen.unlink() if len(documents) > 3 else None,
        lambda: chosen.rename(chosen.with_name(f"{mark}-moved.md")),
        lambda: home.write(f"{mark}-copy.md", chosen.read_text()),
        lambda: home.write(f"{chosen.name}.meta.yaml", f"company: {mark}\n"),
        lambda: home.write(f"{mark}.pdf", b"%PDF-1.7\nnot really\n"),
        lambda: home.catalog(chance.choice([CATALOG, OTHER_POLICY])),
        lambda: setattr(home, "embedder", CountingEmbedder(dimension=chance.choice([8, 16]))),
        lambda: chance.choice(sorted((home.path / "tables").rglob("*.parquet"))).unlink(),
        lambda: shutil.rmtree(home.path / "state"),
    ]
    chance.choice(happenings)()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_to_a_home_the_run_does_what_the_plan_said(home: Home, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(5):
        home.write(f"d{number}.md", prose(f"n{number}", chance.randrange(1, 5)))
    home.run()
    for step in range(4):
        for turn in range(chance.randrange(1, 4)):
            change(home, chance, f"m{step}{turn}")
        planned = plan(home)
        stages = [stage for batch in home.run().batches for stage in batch.stages]
        converted = sum(stage.worked for stage in stages if stage.table == "markdown_documents")
        assert planned.total("convert") == converted
        assert planned.total("texts_to_embed") == sum(stage.texts for stage in stages)
        assert planned.total("tokens_to_embed") == sum(stage.tokens for stage in stages)
        assert plan(home).reasons == {}


def test_an_edit_is_counted_as_changed_and_added_chunks(home: Home) -> None:
    text = prose("a", 10)
    home.write("a.md", text)
    home.run()
    paragraphs = text.strip().split("\n\n")
    paragraphs[4] = prose("new", 1).strip()
    home.write("a.md", "\n\n".join([*paragraphs, prose("end", 1)]))
    planned = plan(home)
    assert (planned.total("chunks_kept"), planned.total("chunks_changed")) == (9, 1)
    assert (planned.total("chunks_added"), planned.total("chunks_removed")) == (1, 0)


def test_a_diff_shows_the_boundaries_that_move(home: Home) -> None:
    home.write("a.md", prose("a", 4))
    home.run()
    home.catalog(OTHER_POLICY)
    (diff,) = plan(home, diff_samples=1).diffs
    assert diff.document_id == "docs__a.md"
    assert [line.mark for line in diff.lines].count("-") == 4
    assert [line.mark for line in diff.lines].count("+") == len(diff.lines) - 4
    assert diff.lines[0].start_char == 0


def test_a_damaged_table_is_a_reason_of_its_own(home: Home) -> None:
    home.write("a.md", prose("a", 4))
    home.run()
    next(home.path.glob("tables/chunks/*/*/*.parquet")).unlink()
    assert plan(home).reasons == {"table_damaged": 1}


def test_touched_files_are_nothing_to_plan(home: Home) -> None:
    path = home.write("a.md", prose("a", 4))
    home.run()
    os.utime(path, ns=(1, 1_000_000_007))
    planned = plan(home)
    assert planned.reasons == {}
    assert planned.as_json()["convert"] == 0


def test_the_price_is_that_of_the_tokens(home: Home) -> None:
    home.catalog(CATALOG + "price_per_million_tokens: 20.0\ncurrency: EUR\n")
    home.write("a.md", prose("a", 5))
    planned = plan(home)
    assert planned.estimated_price == pytest.approx(20.0 * planned.total("tokens_to_embed") / 1e6)
    assert planned.currency == "EUR"
    assert planned.estimated_seconds > 0


def test_a_budget_is_never_exceeded_and_the_next_run_goes_on(home: Home) -> None:
    home.write("a.md", prose("a", 30))
    planned = plan(home)
    share = planned.total("tokens_to_embed") // 3
    report = home.run(budget_tokens=share)
    (error,) = report.errors
    assert isinstance(error, BudgetReached)
    assert "are left" in str(error)
    assert report.exit_code == 1
    counted = load_embedder("hash", dimension=16).count_tokens(home.embedder.asked)
    assert 0 < sum(counted) <= share
    assert home.rows("chunks") == []
    first = list(home.embedder.asked)
    home.run()
    assert len(first) + len(home.embedder.asked) == planned.total("texts_to_embed")
    assert not set(first) & set(home.embedder.asked)
    home.assert_in_step()


def test_an_emptied_source_is_named_as_a_problem(home: Home) -> None:
    home.write("a.md", prose("a", 2))
    home.run()
    (home.docs / "a.md").unlink()
    planned = plan(home)
    assert planned.reasons == {}
    assert "--allow-deletions" in planned.problems[0]
