"""What the page is made of, without a browser."""

from __future__ import annotations

import json
import re

import numpy as np

from chunk_assets.report import page
from chunk_assets.report.page import as_json
from chunk_assets.report.projection import project


def test_json_in_the_page_cannot_end_its_element_and_reads_back_the_same() -> None:
    value = {
        "a": "</script><!--\u2028\u2029&amp;<script>",
        "b": "😀",
        "c": "\ud83d".encode("utf-16", "surrogatepass").hex(),
    }
    text = as_json(value)
    assert not re.search(r"[<>&\u2028\u2029]", text)
    assert json.loads(text) == value


def test_no_place_of_the_template_is_filled_from_a_title() -> None:
    text = page("@DATA@ <b>", [])
    assert "<title>@DATA@ &lt;b&gt;</title>" in text
    assert len(re.findall(r"<script\b", text)) == 2


def test_the_page_names_no_address_to_load_from() -> None:
    text = page("x", [])
    assert set(re.findall(r"https?://[^\"'\s]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text


def test_the_same_vectors_give_the_same_places_within_the_unit_square() -> None:
    vectors = np.random.default_rng(3).normal(size=(40, 16)).astype(np.float32)
    places = project(vectors)
    assert places == project(vectors.copy())
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places)


def test_points_that_differ_most_lie_farthest_apart() -> None:
    vectors = np.array([[0, 0, 0], [10, 0, 0], [0, 1, 0], [10, 1, 0]], dtype=np.float32)
    places = project(vectors)
    assert abs(places[0][0] - places[1][0]) == 1.0
    assert places[0][0] == places[2][0]


def test_one_vector_or_equal_vectors_have_a_place() -> None:
    assert project(np.ones((1, 4), dtype=np.float32)) == [(0.0, 0.0)]
    assert set(project(np.ones((3, 4), dtype=np.float32))) == {(0.0, 0.0)}
