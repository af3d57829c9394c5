"""Small linear algebra on stacks of matrices, where numpy stops the whole stack for one bad matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutlayer.polytope.inputs import Floats


def diagonal(stack: Floats) -> Floats:
    """A writable view (N x d) of the diagonals of N x d x d."""
    return np.einsum("nii->ni", stack)


def solve(stack: Floats, right: Floats) -> Floats:
    """Solve every system; a tiny shift stands in for the inverse of an exactly singular matrix."""
    right = right if right.ndim == 3 else right[:, :, None]
    try:
        found = np.linalg.solve(stack, right)
    except np.linalg.LinAlgError:
        scale = np.abs(stack).max(axis=(1, 2), keepdims=True)
        found = np.linalg.solve(stack + 1e-13 * np.maximum(scale, 1e-300) * np.eye(stack.shape[1]), right)
    return found[:, :, 0] if found.shape[2] == 1 else found


def definite(stack: Floats) -> NDArray[np.bool_]:
    """Whether each symmetric matrix of N x n x n is positive definite: all pivots of its Cholesky are positive."""
    left, good = stack.copy(), np.ones(len(stack), dtype=np.bool_)
    for k in range(stack.shape[1]):
        pivot = left[:, k, k]
        good &= pivot > 0.0
        column = left[:, k + 1 :, k] / np.where(good, pivot, np.inf)[:, None]
        left[:, k + 1 :, k + 1 :] -= column[:, :, None] * left[:, k, None, k + 1 :]
    return good
