"""The Pareto front: what no other choice beats in both respects."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def front(cost: ArrayLike, gain: ArrayLike) -> np.ndarray:
    """Which points (n,) no other has at most the cost of and at least the gain of, one of them strictly."""
    costs, gains = np.asarray(cost, dtype=float), np.asarray(gain, dtype=float)
    kept = np.zeros(len(costs), dtype=bool)
    best, at = -np.inf, np.nan
    for i in np.lexsort((-gains, costs)):  # cheapest first, of equal cost the greatest gain first
        kept[i] = gains[i] > best or (gains[i] == best and costs[i] == at)
        if gains[i] > best:
            best, at = gains[i], costs[i]
    return kept
