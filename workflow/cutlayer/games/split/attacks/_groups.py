"""Points in clusters, by k-means."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans


def groups(points: np.ndarray, k: int, starts: int, seed: int) -> np.ndarray:
    """The cluster (B,) of each of the points (B, d), of `k` or as many as there are different points."""
    different = min(k, len(np.unique(points, axis=0)))
    return np.asarray(KMeans(different, n_init=starts, random_state=seed).fit_predict(points))
