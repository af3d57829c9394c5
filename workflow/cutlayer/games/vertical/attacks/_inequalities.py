"""The point of a polytope nearest to the center of the unit cube, under inequality constraints."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from cutlayer.core.errors import InputError

ROUNDING = 1e-9  # relaxation of the constraints, so that points on the boundary are feasible


def nearest_within(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The point (d,) of the unit cube with A x >= b that is nearest to 1/2; A is m x d, b (m,).

    Least distance programming: of min |u| with G u >= h the solution is -r_1..d / r_(d + 1), r the residual of the
    nonnegative least squares problem of the columns (G, h) against the last unit vector. Lawson and Hanson, "Solving
    Least Squares Problems", chapter 23.

    Raises:
        InputError: no point of the cube satisfies the inequalities.

    """
    d = A.shape[1]
    G = np.vstack([A, np.eye(d), -np.eye(d)])
    h = np.concatenate([b - A.sum(axis=1) / 2 - ROUNDING, np.full(2 * d, -0.5)])
    if (h <= 0).all():
        return np.full(d, 0.5)
    goal = np.eye(d + 1)[d]
    E = np.vstack([G.T, h])
    residual = E @ nnls(E, goal)[0] - goal
    if residual[d] > -np.sqrt(np.finfo(float).eps):
        raise InputError("attack.undo", "no features give what was revealed", "expected the published model")
    return np.clip(0.5 - residual[:d] / residual[d], 0, 1)
