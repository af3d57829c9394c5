"""Equations of SecDT as published, for its errata.

Jiang et al., "Training on Fake Labels: Mitigating Label Leakage in Split Learning via Secure Dimension Transformation".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Pools = Sequence[Sequence[int]]  # of each class: its fake classes, of K


def normalized(gradients: np.ndarray) -> np.ndarray:
    """Gradients (B, d) normalized to their mean norm (equations 12 and 13)."""
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients * (norms.mean() / norms)


def maximum_map_as_printed(probabilities: np.ndarray, pools: Pools) -> np.ndarray:
    """Maximum decoding as published: the class whose pool contains the prediction (N, K) (equation 9); -1 if none."""
    vectors = np.eye(probabilities.shape[1])
    found = np.full(len(probabilities), -1)
    for label, pool in enumerate(pools):
        for element in pool:
            found[(probabilities == vectors[element]).all(axis=1)] = label
    return found


def maximum_map(probabilities: np.ndarray, pools: Pools) -> np.ndarray:
    """Maximum decoding as intended by equation 9: the class whose pool has the most likely of the K fake classes."""
    owner = np.empty(probabilities.shape[1], dtype=int)
    for label, pool in enumerate(pools):
        owner[list(pool)] = label
    return owner[probabilities.argmax(axis=1)]


def weighted_map(probabilities: np.ndarray, pools: Pools) -> np.ndarray:
    """Weighted decoding: the class whose pool has the largest sum of probabilities (equations 10 and 11)."""
    return np.stack([probabilities[:, list(pool)].sum(axis=1) for pool in pools], axis=1).argmax(axis=1)
