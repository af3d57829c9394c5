"""The parts of SecDT as the paper prints them, for its errata.

Jiang et al., "Training on Fake Labels: Mitigating Label Leakage in Split Learning via Secure Dimension Transformation".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Pools = Sequence[Sequence[int]]  # of each class: which of the K classes stand for it


def normalized(gradients: np.ndarray) -> np.ndarray:
    """Rows (B, d) scaled to their mean norm (equations 12 and 13)."""
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients * (norms.mean() / norms)


def maximum_map_as_printed(probabilities: np.ndarray, pools: Pools) -> np.ndarray:
    """The class whose pool has the prediction (N, K) as an element (equation 9); -1 where none has."""
    vectors = np.eye(probabilities.shape[1])
    found = np.full(len(probabilities), -1)
    for label, pool in enumerate(pools):
        for element in pool:
            found[(probabilities == vectors[element]).all(axis=1)] = label
    return found


def maximum_map(probabilities: np.ndarray, pools: Pools) -> np.ndarray:
    """The class whose pool has the likeliest of the K classes, which equation 9 must mean."""
    owner = np.empty(probabilities.shape[1], dtype=int)
    for label, pool in enumerate(pools):
        owner[list(pool)] = label
    return owner[probabilities.argmax(axis=1)]


def weighted_map(probabilities: np.ndarray, pools: Pools) -> np.ndarray:
    """The class whose pool has the largest sum of probabilities (equations 10 and 11)."""
    return np.stack([probabilities[:, list(pool)].sum(axis=1) for pool in pools], axis=1).argmax(axis=1)
