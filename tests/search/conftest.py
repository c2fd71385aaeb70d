"""A home to search in, and the embedders of its tables."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from chunk_assets.embedders import load_embedder
from chunk_assets.search import open_index
from tests.embedders.tiny_splade import save_lexical_model
from tests.small_home import TOPICS, chunk_rows, many_rows, write_home

QUESTION = "How long is the notice period of the lease?"


@pytest.fixture(scope="module")
def static():
    return load_embedder("static")


@pytest.fixture(scope="module")
def splade(tmp_path_factory):
    folder = tmp_path_factory.mktemp("splade")
    words = [*TOPICS, QUESTION, "This is for an office. It starts in May. The rent is paid monthly."]
    return load_embedder("splade", model_dir=str(save_lexical_model(folder, words, {"flood": "water"})))


@pytest.fixture(scope="module")
def home(tmp_path_factory, static, splade) -> Path:
    lease = chunk_rows(
        "lease",
        [
            {"text": "This lease is for an office.", "page_start": 1, "page_end": 1},
            {
                "text": "It starts in May. The lease may be ended with a notice period of ninety days.",
                "page_start": 1,
                "page_end": 2,
                "heading_path": ["Lease", "Termination"],
                "context": "Lease > Termination",
            },
            {"text": "The rent is paid monthly.", "page_start": 2, "page_end": 2},
        ],
        company="Acme",
        filing_date=date(2024, 3, 1),
        tags=["contract", "legal"],
        metadata={"desk": "north"},
    )
    notes = chunk_rows(
        "notes",
        [{"text": text} for text in TOPICS if "lease" not in text],
        company="Other",
        filing_date=date(2023, 1, 1),
        metadata={"desk": "south"},
    )
    target = tmp_path_factory.mktemp("home")
    return write_home(
        target,
        {("contracts", "0"): lease, ("contracts", "1"): notes, ("memos", "0"): many_rows(4, 8)},
        static,
        sparse=splade,
    )


@pytest.fixture(scope="module")
def index(home, splade):
    return open_index(home, "contracts", sparse_embedder=splade)
