"""Projection on S_F by non-negative least squares, one sample at a time, for the few on which Newton fails."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from cutlayer.polytope.inputs import Floats


def least_distance(V: Floats, c: Floats, target: Floats) -> Floats:
    """Least distance programming: the point (d,) of {V' x = c, 0 <= x <= 1} nearest to `target` (d,); V d x r, c (r,).

    With x = t' + W v, where t' solves V' x = c and W spans the null space, this is the least v with
    G v >= h, which non-negative least squares solves: Lawson and Hanson, "Solving Least Squares Problems",
    chapter 23.
    """
    W = np.linalg.qr(V, mode="complete")[0][:, V.shape[1] :]
    base = V @ c + W @ (W.T @ target)
    if not W.shape[1]:
        return np.clip(base, 0.0, 1.0)
    system = np.vstack([np.hstack([W.T, -W.T]), np.concatenate([-base, base - 1.0])])
    right = np.zeros(len(system))
    right[-1] = 1.0
    multipliers, _ = nnls(system, right, maxiter=100 * system.shape[1])
    rest = system @ multipliers - right
    move = -rest[:-1] / rest[-1] if rest[-1] else np.zeros(W.shape[1])
    return np.clip(base + W @ move, 0.0, 1.0)
