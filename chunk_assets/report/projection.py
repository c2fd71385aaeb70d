"""Vectors on a plane: the two directions in which they differ most."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def project(vectors: NDArray[np.float32]) -> list[tuple[float, float]]:
    """First two principal components, each scaled to 0…1 and rounded to three digits.

    Principal component analysis by the eigenvectors of the covariance (Pearson 1901). The sign of each
    direction is fixed by its largest entry, so that the same vectors give the same picture.
    """
    import numpy as np

    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, directions = np.linalg.eigh(centred.T @ centred)
    axes = directions[:, ::-1][:, :2]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    places = centred @ axes
    low, high = places.min(axis=0), places.max(axis=0)
    scaled = (places - low) / np.where(high > low, high - low, 1.0)
    return [(round(float(x), 3), round(float(y), 3)) for x, y in scaled]
