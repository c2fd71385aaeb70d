"""Texts for the test provider, and the vectors that it must answer."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np


def numbers_of(text: str) -> list[float]:
    """As the test provider answers."""
    return [byte / 100 + 0.5 for byte in hashlib.sha256(text.encode()).digest()[:8]]


def texts(count: int) -> list[str]:
    return [f"text number {i}" for i in range(count)]


def expected(text: str) -> np.ndarray:
    wide = np.array(numbers_of(text))
    return (wide / np.linalg.norm(wide)).astype(np.float32)


def assert_all_right(results: list[Any], sent: list[str]) -> None:
    for result, text in zip(results, sent, strict=True):
        assert result.error == ""
        np.testing.assert_allclose(result.vector, expected(text), atol=1e-6)
