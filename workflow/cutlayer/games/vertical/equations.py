"""What prediction scores say of the passive party's features: A x = b (chebyshev, section III)."""

from __future__ import annotations

import numpy as np

from cutlayer.core.transcript import View


def difference_matrix(classes: int) -> np.ndarray:
    """J of equation 4, (k-1) x k: row i takes class i from class i+1."""
    return np.diff(np.eye(classes), axis=0)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Row-wise softmax of an N x k array."""
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def log_ratios(scores: np.ndarray) -> np.ndarray:
    """c' of equation 6, N x (k-1): logarithms of the ratio of consecutive scores."""
    return np.diff(np.log(np.maximum(scores, np.finfo(float).tiny)), axis=1)


def linear_system(view: View) -> tuple[np.ndarray, np.ndarray]:
    """A (k-1 x d), shared by all predictions, and b (N x k-1) with A x = b (equations 5 and 6)."""
    difference = difference_matrix(view.scores.shape[1])
    known = view.active_features @ view.active_weights.T + view.bias
    return difference @ view.passive_weights, log_ratios(view.scores) - known @ difference.T
