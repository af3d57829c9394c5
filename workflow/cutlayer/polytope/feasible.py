"""Feasibility of A x = b in the unit cube, and the nearest feasible b."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import lsq_linear

from cutlayer.core.errors import InputError
from cutlayer.polytope.inputs import FEASIBILITY_TOLERANCE, Equations, Floats, check, orthonormal, row_norms
from cutlayer.polytope.newton import nearest


def nearest_feasible(A: ArrayLike, b: ArrayLike) -> Floats:
    """The nearest feasible values of each row of b, in A [0,1]^d, N x m; feasible rows are returned unchanged.

    A is m x d, b is N x m. For adversaries whose equations were perturbed by a defense.
    """
    matrix, values = check("nearest_feasible", A, b)
    equations = orthonormal(matrix, values)
    _, solved = nearest(equations.rows, equations.values, np.full((len(values), matrix.shape[1]), 0.5))
    found = values.copy()
    for row in np.flatnonzero(~solved | (equations.stray > FEASIBILITY_TOLERANCE)):
        if distance(matrix, values[row], row_norms(matrix)) > FEASIBILITY_TOLERANCE:
            found[row] = matrix @ _closest(matrix, values[row])
    return found


def settle(where: str, A: Floats, b: Floats, equations: Equations, doubtful: NDArray[np.bool_]) -> Equations:
    """Move values that are infeasible by rounding back to the feasible set; InputError if far from it."""
    norms, values = row_norms(A), equations.values.copy()
    for row in np.flatnonzero(doubtful):
        # Nearly parallel rows magnify b's rounding in c: what is far in c may still be near in b.
        trials = (_closest(equations.rows.T, values[row]), _closest(A / norms[:, None], b[row] / norms))
        near = [x for x in trials if np.linalg.norm((A @ x - b[row]) / norms) <= FEASIBILITY_TOLERANCE]
        if not near:
            raise InputError(
                f"polytope.{where}",
                f"row {row} of b is infeasible",
                f"its distance to A [0,1]^d is {distance(A, b[row]):.1e}",
            )
        values[row] = near[0] @ equations.rows
    return replace(equations, values=values)


def distance(A: Floats, b: Floats, scale: Floats | float = 1.0) -> float:
    """The distance of one b (m,) to A [0,1]^d, each equation divided by `scale`."""
    rows = A / np.broadcast_to(scale, len(A))[:, None]
    return float(np.linalg.norm(rows @ _closest(rows, b / scale) - b / scale))


def _closest(A: Floats, b: Floats) -> Floats:
    """A minimizer (d,) of ||A x - b|| over the unit cube."""
    if not A.size:
        return np.full(A.shape[1], 0.5)
    found = lsq_linear(A, b, bounds=(0.0, 1.0), method="bvls", tol=1e-15, max_iter=50 * A.shape[1])
    return np.clip(np.asarray(found.x, dtype=np.float64), 0.0, 1.0)
