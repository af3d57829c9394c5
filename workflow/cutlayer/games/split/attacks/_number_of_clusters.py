"""The number of clusters with the highest Calinski-Harabasz score, for attacks that guess how many classes train."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans


def evenly(cases: Sequence[Any], batches: int) -> Sequence[Any]:
    """So many evenly spaced cases, the last one included; all for 0."""
    wanted = min(batches or len(cases), len(cases))
    return [cases[(i + 1) * len(cases) // wanted - 1] for i in range(wanted)]


def clusters(points: np.ndarray, most: int, starts: int, rng: np.random.Generator) -> int:
    """The number from 2 to `most` of clusters of the points (B, d) with the highest Calinski-Harabasz score."""
    X = np.asarray(points, dtype=np.float64)
    numbers = np.arange(2, min(most, len(np.unique(X, axis=0)) - 1) + 1)
    if not len(numbers):
        return 2
    scores, total = [], np.square(X - X.mean(axis=0)).sum()
    for n in numbers:
        found = KMeans(n, n_init=starts, random_state=int(rng.integers(2**31))).fit(X)
        scores.append((total / found.inertia_ - 1) * (len(X) - n) / (n - 1))
    return int(numbers[np.argmax(scores)])
