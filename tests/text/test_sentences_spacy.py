"""spaCy as the splitter; skipped where the extra is not installed."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from chunk_assets.errors import ConfigurationError
from chunk_assets.text.sentences import splitter

pytest.importorskip("spacy", reason="needs the extra chunk-assets[spacy]")


def test_the_rules_of_any_language_give_spans_of_the_raw_text() -> None:
    text = "Das ist  ein Satz. Noch einer!\n\nएक वाक्य। दूसरा वाक्य।\n"
    starts = [*splitter("spacy:xx")(text).tolist(), len(text)]
    spans = [text[a:b] for a, b in itertools.pairwise(starts)]
    assert "".join(spans) == text
    assert [span.strip() for span in spans] == [
        "Das ist  ein Satz.",
        "Noch einer!",
        "एक वाक्य।",
        "दूसरा वाक्य।",
    ]


def test_blocks_leave_no_false_borders() -> None:
    text = "A sentence of several plain words. " * 3_000
    starts = splitter("spacy:en")(text)
    assert (np.diff(starts) == 35).all()
    assert len(starts) == 3_000


@pytest.mark.parametrize(
    "run", ["(" * 200_000, "a" * 1_100_000, "word " * 220_000], ids=["brackets", "a", "word"]
)
def test_long_runs_and_long_texts_stay_within_bounds(run: str) -> None:
    began = time.process_time()
    assert splitter("spacy:en")(run + ". End here.").tolist()[0] == 0
    assert time.process_time() - began < 15


def test_an_unknown_pipeline_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no_such_pipeline"):
        splitter("spacy:no_such_pipeline")
