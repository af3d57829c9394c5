"""K-means clustering of gradients."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans


def groups(points: np.ndarray, k: int, starts: int, seed: int) -> np.ndarray:
    """K-means labels (B,) of points (B, d), with `k` clusters or as many as there are distinct points."""
    different = min(k, len(np.unique(points, axis=0)))
    return np.asarray(KMeans(different, n_init=starts, random_state=seed).fit_predict(points))
