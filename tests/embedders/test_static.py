from __future__ import annotations

import numpy as np
import pytest

from chunk_assets.embedders import load_embedder, ordered
from chunk_assets.errors import ConfigurationError


def test_a_question_is_nearest_to_the_passage_about_the_same_thing():
    static = load_embedder("static")
    texts = [
        "The cat sleeps on the sofa.",
        "The lease may be ended with ninety days notice.",
        "Revenue rose.",
    ]
    vectors = np.stack([result.vector for result in ordered(static.embed(texts), 3)])
    assert int(np.argmax(vectors @ static.embed_query("notice period of the lease"))) == 1


def test_a_text_without_words_is_refused_not_given_a_zero_vector():
    static = load_embedder("static")
    (blank,) = static.embed([" \n "])
    assert blank.vector is None
    assert "no word" in blank.error
    with pytest.raises(ConfigurationError, match="no word"):
        static.embed_query("  ")
