"""The unique minimizer of the penalized cross-entropy, by Newton's method.

Several models of the same rows, each on its own rescaling of the features, start from the first one's scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutlayer.core.errors import InputError
from cutlayer.games.vertical.equations import softmax

STEEPNESS = 1e-10  # largest entry of the gradient at the optimum
STEPS, HALVINGS = 100, 40
ENOUGH = 1e-4  # of the decrease that the slope predicts (Armijo)


@dataclass(frozen=True)
class Problem:
    """Training data X (n x d) and one-hot classes Y (n x k), and the L2 penalties of the weights and the bias."""

    X: np.ndarray
    Y: np.ndarray
    penalties: np.ndarray  # (d + 1,)

    def loss(self, rows: np.ndarray, weights: np.ndarray) -> float:
        """Penalized loss of weights (k x d + 1, the last the bias) on rows (n x d + 1, the last 1)."""
        logits = rows @ weights.T
        logits -= logits.max(axis=1, keepdims=True)
        entropy = np.log(np.exp(logits).sum(axis=1)) - (logits * self.Y).sum(axis=1)
        return float(entropy.mean() + (self.penalties * np.square(weights)).sum())

    def slope(self, rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gradient (k x d + 1) of the loss, and the scores (n x k)."""
        scores = softmax(rows @ weights.T)
        return (scores - self.Y).T @ rows / len(rows) + 2 * self.penalties * weights, scores

    def curvature(self, rows: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The Hessian of the loss, k (d + 1) x k (d + 1)."""
        (n, width), k = rows.shape, scores.shape[1]
        found = np.empty((k, width, k, width))
        for one in range(k):
            for other in range(one + 1):
                share = scores[:, one] * ((one == other) - scores[:, other])
                found[one, :, other] = found[other, :, one] = (rows.T * share) @ rows / n
        return found.reshape(k * width, -1) + 2 * np.diag(np.tile(self.penalties, k))


def optimum(problem: Problem, scale: np.ndarray, shift: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Optimal weights (V, k, d) and biases (V, k) on scale[v] * X + shift[v]; scale and shift V x d, scale not 0."""
    classes, d = problem.Y.shape[1], problem.X.shape[1]
    first = _descended(problem, problem.X, np.zeros((classes, d + 1)), name)
    found = np.empty((len(scale), classes, d + 1))
    for v, (factors, offsets) in enumerate(zip(scale, shift, strict=True)):
        weights = first[:, :-1] / factors
        start = np.column_stack([weights, first[:, -1] - weights @ offsets])
        found[v] = _descended(problem, factors * problem.X + offsets, start, name)
    return found[..., :-1], found[..., -1]


def _descended(problem: Problem, X: np.ndarray, weights: np.ndarray, name: str) -> np.ndarray:
    rows = np.column_stack([X, np.ones(len(X))])
    for _ in range(STEPS):
        gradient, scores = problem.slope(rows, weights)
        if not np.isfinite(gradient).all():
            raise InputError(f"run.{name}", "loss is not finite", "check the data")
        if np.abs(gradient).max() <= STEEPNESS:
            return weights
        # All biases together are free where they have no penalty: the least step leaves their sum as it is.
        step = np.linalg.lstsq(problem.curvature(rows, scores), gradient.ravel())[0].reshape(weights.shape)
        weights = _along(problem, rows, weights, step, gradient)
    raise InputError(f"run.{name}", f"no optimum after {STEPS} Newton steps", "check the data, or raise the model's l2")


def _along(
    problem: Problem, rows: np.ndarray, weights: np.ndarray, step: np.ndarray, gradient: np.ndarray
) -> np.ndarray:
    """The weights after a backtracking line search along the step (Armijo)."""
    before, slope = problem.loss(rows, weights), float((gradient * step).sum())
    for halving in range(HALVINGS):
        length = 0.5**halving
        if problem.loss(rows, weights - length * step) <= before - ENOUGH * length * slope + 1e-14:
            return weights - length * step
    return weights - step
