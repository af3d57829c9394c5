"""Exact two-means clustering of numbers on a line."""

from __future__ import annotations

import numpy as np


def two_means(scores: np.ndarray) -> np.ndarray:
    """Labels (B,) of the optimal two-means clustering of numbers (B,): least squared deviations from the cluster means.

    The smaller cluster is 1.0, that of the larger numbers where sizes are equal; equal numbers are all 0.0. In one
    dimension clusters are intervals, so that all B - 1 splits of the sorted numbers can be tried.
    """
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    x = values[order] - values.mean()
    x /= np.abs(x).max(initial=0) or 1  # squares cannot vanish
    left = np.arange(1, len(x))
    right = len(x) - left
    between = (np.cumsum(x)[:-1] / left - np.cumsum(x[::-1])[-2::-1] / right) ** 2 * left * right
    between[np.diff(x) <= 0] = -1  # no boundary between equal numbers
    if between.max(initial=-1) < 0:
        return np.zeros(len(x))
    size = left[between.argmax()]
    labels = np.zeros(len(x))
    labels[order[:size] if size < len(x) - size else order[size:]] = 1
    return labels
