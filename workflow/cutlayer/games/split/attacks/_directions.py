"""Gradients by their direction alone, in clusters."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans


def directions(gradients: np.ndarray) -> np.ndarray:
    """The rows (..., d) scaled to length 1; 0 stays 0."""
    G = np.asarray(gradients, dtype=np.float64)
    G = G / np.maximum(np.abs(G).max(axis=-1, keepdims=True, initial=0), np.finfo(float).tiny)  # squares cannot vanish
    return G / np.maximum(np.linalg.norm(G, axis=-1, keepdims=True), 1)


def groups(points: np.ndarray, k: int, starts: int, seed: int) -> np.ndarray:
    """The cluster (B,) of each of the points (B, d), of `k` or as many as there are different points."""
    different = min(k, len(np.unique(points, axis=0)))
    return np.asarray(KMeans(different, n_init=starts, random_state=seed).fit_predict(points))
