"""Directions of gradients: unit vectors, for attacks that use no norms."""

from __future__ import annotations

import numpy as np


def directions(gradients: np.ndarray) -> np.ndarray:
    """The rows (..., d) scaled to length 1; 0 stays 0."""
    G = np.asarray(gradients, dtype=np.float64)
    G = G / np.maximum(np.abs(G).max(axis=-1, keepdims=True, initial=0), np.finfo(float).tiny)  # squares cannot vanish
    return G / np.maximum(np.linalg.norm(G, axis=-1, keepdims=True), 1)
