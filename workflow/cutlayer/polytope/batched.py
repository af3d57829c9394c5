"""Batched linear algebra that tolerates singular matrices, where numpy raises for the whole batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutlayer.polytope.inputs import Floats


def diagonal(stack: Floats) -> Floats:
    """A writable view (N x d) of the diagonals of N x d x d."""
    return np.einsum("nii->ni", stack)


def solve(stack: Floats, right: Floats) -> Floats:
    """Solve every linear system; an exactly singular matrix is shifted slightly."""
    flat = right.ndim == 2
    right = right[:, :, None] if flat else right
    found: Floats
    try:
        found = np.asarray(np.linalg.solve(stack, right), dtype=np.float64)
    except np.linalg.LinAlgError:
        scale = np.maximum(np.abs(stack).max(axis=(1, 2), keepdims=True), np.finfo(float).tiny)
        shifted = stack + 1e-13 * scale * np.eye(stack.shape[1])
        found = np.asarray(np.linalg.solve(shifted, right), dtype=np.float64)
    return found[:, :, 0] if flat else found


def inverse(stack: Floats) -> Floats:
    """The inverse of every matrix, computed by `solve`."""
    return solve(stack, np.broadcast_to(np.eye(stack.shape[1]), stack.shape))


def definite(stack: Floats) -> NDArray[np.bool_]:
    """Whether each symmetric matrix of N x n x n is positive definite, by the signs of its pivots."""
    left, good = stack.copy(), np.ones(len(stack), dtype=np.bool_)
    for k in range(stack.shape[1]):
        pivot = left[:, k, k]
        good &= pivot > 0.0
        column = left[:, k + 1 :, k] / np.where(good, pivot, np.inf)[:, None]
        left[:, k + 1 :, k + 1 :] -= column[:, :, None] * left[:, k, None, k + 1 :]
    return good
