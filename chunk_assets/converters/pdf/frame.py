"""Turning a page so that its prevailing text runs to the right and down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from chunk_assets.converters.pdf.model import Box, PageText, Rule, Style

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def prevailing_angle(styles: Sequence[Style], lengths: Iterable[int]) -> int:
    """The direction of most letters: 0, 90, 180 or 270."""
    angles = {style.angle for style in set(styles)} - {-1}
    if len(angles) < 2:
        return angles.pop() if angles else 0
    letters = dict.fromkeys(sorted(angles), 0)
    for style, length in zip(styles, lengths, strict=True):
        if style.angle >= 0:
            letters[style.angle] += length
    return max(letters, key=lambda angle: (letters[angle], -angle))


def relative(styles: Sequence[Style], angle: int) -> list[Style]:
    """The styles seen from a frame turned by ``angle``."""
    seen = {
        style: style if style.angle < 0 else replace(style, angle=(style.angle - angle) % 360)
        for style in dict.fromkeys(styles)
    }
    return [seen[style] for style in styles]


# Angle to the place and sign of each new side among left, top, right, bottom.
_TURNS = {
    0: ((0, 1), (1, -1), (2, 1), (3, -1)),
    90: ((3, 1), (0, 1), (1, 1), (2, 1)),
    180: ((2, -1), (3, 1), (0, -1), (1, 1)),
    270: ((1, -1), (2, -1), (3, -1), (0, -1)),
}


def turned(left: float, top: float, right: float, bottom: float, angle: int) -> Box:
    """A box of the page's axes (y up) in the reading frame (y down) of text that runs at ``angle``."""
    sides = left, top, right, bottom
    return Box(*[sides[place] * sign for place, sign in _TURNS[angle]])


def turned_corners(corners: NDArray[np.float64], angle: int) -> NDArray[np.float64]:
    """The words' first and last characters' boxes, shape (n, 8), in the reading frame."""
    import numpy as np

    sides = [corners[:, place + shift] * sign for shift in (0, 4) for place, sign in _TURNS[angle]]
    return np.stack(sides, axis=1)


def turned_rules(across: list[Rule], down: list[Rule], angle: int) -> tuple[list[Rule], list[Rule]]:
    """Rules across and down the page's axes as rules across and down the reading frame."""
    if angle == 0:
        return _mirrored(across), _reversed(down)
    if angle == 180:
        return _reversed(across), _mirrored(down)
    if angle == 90:
        return down, across
    return _mirrored(_reversed(down)), _mirrored(_reversed(across))


def _mirrored(rules: list[Rule]) -> list[Rule]:
    return [Rule(-at, start, end) for at, start, end in rules]


def _reversed(rules: list[Rule]) -> list[Rule]:
    return [Rule(at, -end, -start) for at, start, end in rules]


def mirror(page: PageText) -> None:
    """Turn a page of text that runs to the left over, so that it is laid out as if it ran to the right."""
    left, top, right, bottom = page.box
    page.box = Box(-right, top, -left, bottom)
    page.words = [word._replace(x0=-word.x1, x1=-word.x0) for word in page.words]
    page.across, page.down = _reversed(page.across), _mirrored(page.down)
