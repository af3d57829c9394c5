"""The relaxed Chebyshev center (rcc1) of S_F, for many b that share A."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cutlayer.errors import InputError
from cutlayer.polytope.barrier import follow
from cutlayer.polytope.certificate import certified
from cutlayer.polytope.faces import stuck
from cutlayer.polytope.inputs import Floats, check, orthonormal
from cutlayer.polytope.projection import Solver, solve

CHUNK = 200  # samples a batch: their matrices stay in the cache


def relaxed_center(A: ArrayLike, b: ArrayLike, solver: Solver = "exact") -> Floats:
    """The relaxed Chebyshev center of S_F = {A x = b, 0 <= x <= 1}, N x d; A is m x d, b is N x m.

    The x of max tr Δ - ||x||² over A x = b, Δ ⪰ x x', A Δ = b x', Δ_ii <= x_i (rcc1): Rassouli, Varasteh,
    Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", Prop. 2, eqs. (16), (31).
    InputError for wrong shapes, values that are not finite and b with no x in the unit cube.
    """
    matrix, values = check("relaxed_center", A, b)
    if solver == "cvxpy":
        from cutlayer.polytope import reference

        return reference.relaxed_center(matrix, values)
    if solver != "exact":
        raise InputError("polytope.relaxed_center", f"solver {solver!r} is unknown", "known: exact, cvxpy")
    points, equations = solve("relaxed_center", matrix, values, np.full((len(values), matrix.shape[1]), 0.5))
    return _centers(equations.rows, equations.values, points)


def _centers(V: Floats, c: Floats, points: Floats) -> Floats:
    """The relaxed centers, given the points of S_F closest to ½ 1."""
    centers = points.copy()
    if V.shape[1] in {0, len(V)}:
        return centers
    held = stuck(V, c, points)
    whole = np.flatnonzero(~held.any(axis=1))
    centers[whole] = _unstuck(V, c[whole], points[whole])
    faces = np.flatnonzero(held.any(axis=1))
    patterns, which = np.unique(held[faces], axis=0, return_inverse=True)
    for index, pattern in enumerate(patterns):
        rows, free = faces[which.ravel() == index], ~pattern
        if free.sum() > np.linalg.matrix_rank(V[free], tol=1e-9):
            rest = c[rows] - points[np.ix_(rows, pattern)] @ V[pattern]
            inner = orthonormal(V[free].T, rest)
            centers[np.ix_(rows, free)] = _unstuck(inner.rows, inner.values, points[np.ix_(rows, free)])
    return centers


def _unstuck(V: Floats, c: Floats, points: Floats) -> Floats:
    """The same where no coordinate is 0 on all of S_F or 1 on all of it."""
    centers = points.copy()
    for start in range(0, len(c), CHUNK):
        some = np.arange(start, min(start + CHUNK, len(c)))
        open_rows = some[~certified(V, points[some])] if V.shape[1] else some[:0]
        if len(open_rows):
            found, converged = follow(V, c[open_rows])
            centers[open_rows[converged]] = found[converged]
            if not converged.all(): print("NOT CONVERGED", (~converged).sum())
    return centers
