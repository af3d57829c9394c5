"""The linear equations A x = b that prediction scores reveal of the passive features x (chebyshev, section III)."""

from __future__ import annotations

import numpy as np

from cutlayer.core.transcript import View


def difference_matrix(classes: int) -> np.ndarray:
    """Difference matrix J (k-1 x k) of equation 4: row i subtracts class i from class i+1."""
    return np.diff(np.eye(classes), axis=0)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Row-wise softmax of an N x k array."""
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def log_ratios(scores: np.ndarray) -> np.ndarray:
    """Log-ratios c' (N x k-1) of consecutive scores, equation 6."""
    return np.diff(np.log(np.maximum(scores, np.finfo(float).tiny)), axis=1)


def linear_system(view: View) -> tuple[np.ndarray, np.ndarray]:
    """The score equations A x = b: A (k-1 x d), shared by all predictions, and b (N x k-1) (equations 5 and 6)."""
    difference = difference_matrix(view.scores.shape[1])
    known = view.active_features @ view.active_weights.T + view.bias
    return difference @ view.passive_weights, log_ratios(view.scores) - known @ difference.T
