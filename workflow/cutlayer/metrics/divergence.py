"""Divergences between probability vectors."""

from __future__ import annotations

import numpy as np
from scipy.special import rel_entr


def kullback_leibler(p: np.ndarray, q: np.ndarray) -> float:
    """Mean Kullback-Leibler divergence D(p_i || q_i) in bits over the rows of two N x k arrays of probabilities."""
    return float(rel_entr(p, q).sum(axis=1).mean() / np.log(2))
