"""Projection on the first principal axis of a batch."""

from __future__ import annotations

import numpy as np


def score(matrix: np.ndarray) -> np.ndarray:
    """The projection (B,) of the column-centered (B, d) on its top right singular vector; 0 for equal rows.

    The vector's largest entry in magnitude (the first of several) is positive.
    """
    M = np.asarray(matrix, dtype=np.float64)
    centered = np.where(np.ptp(M, axis=0) > 0, M - M.mean(axis=0), 0)  # equal entries differ from their rounded mean
    top = np.linalg.svd(centered, full_matrices=False)[2][0]
    return centered @ (top * np.sign(top[np.abs(top).argmax()]))


def skewed(gradients: np.ndarray) -> np.ndarray:
    """Projections (B,) of gradients (B, d) on their first principal axis, with positive skewness; 0 for equal rows."""
    along = score(gradients)
    unit = along / (np.abs(along).max(initial=0) or 1)  # cubes cannot vanish
    return -along if np.sum(unit**3) < 0 else along
