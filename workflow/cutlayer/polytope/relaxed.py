"""Relaxed Chebyshev center (rcc1) of S_F, for many b that share A."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutlayer.core.errors import InputError
from cutlayer.polytope.barrier import follow_path
from cutlayer.polytope.certificate import certified
from cutlayer.polytope.faces import stuck
from cutlayer.polytope.inputs import Equations, Floats, check
from cutlayer.polytope.projection import Solver, solve

ENTRIES = 60_000  # of the d x d matrices of a batch, so that they stay in the cache
LEAST_CHUNK = 100
FAR = 1e-7  # last μ above which the limit of the path is uncertain


def relaxed_center(A: ArrayLike, b: ArrayLike, solver: Solver = "exact") -> Floats:
    """Relaxed Chebyshev center (rcc1) of S_F = {A x = b, 0 <= x <= 1}, N x d; A is m x d, b is N x m.

    The x of max tr Δ - ||x||² over A x = b, Δ ⪰ x x', A Δ = b x', Δ_ii <= x_i (rcc1): Rassouli, Varasteh,
    Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", Prop. 2, eqs. (16), (31).
    InputError for wrong shapes, values that are not finite and b with no x in the unit cube.
    """
    matrix, values = check("relaxed_center", A, b)
    if solver == "cvxpy":
        from cutlayer.polytope import with_cvxpy  # cvxpy is optional, and takes a second to import

        return with_cvxpy.relaxed_center(matrix, values)
    if solver != "exact":
        raise InputError("polytope.relaxed_center", f"solver {solver!r} is unknown", "known: exact, cvxpy")
    points, equations = solve("relaxed_center", matrix, values, np.full((len(values), matrix.shape[1]), 0.5))
    return np.clip(_centers(equations, points), 0.0, 1.0)


def _centers(equations: Equations, points: Floats) -> Floats:
    """The relaxed centers, given the points of S_F closest to ½ 1."""
    centers = points.copy()
    if equations.rows.shape[1] in {0, len(equations.rows)}:
        return centers
    held = stuck(equations.rows, equations.values, points)
    patterns, which = np.unique(held, axis=0, return_inverse=True)
    for index, pattern in enumerate(patterns):
        rows, free = np.flatnonzero(which.ravel() == index), ~pattern
        inner = equations.of(rows).restricted(free, points[rows]) if pattern.any() else equations.of(rows)
        if len(inner.rows) > inner.rows.shape[1]:
            centers[np.ix_(rows, free)] = _unstuck(inner, points[np.ix_(rows, free)])
    return centers


def _unstuck(equations: Equations, points: Floats) -> Floats:
    """The relaxed centers where no coordinate is 0 on all of S_F or 1 on all of it."""
    V, c, centers = equations.rows, equations.values, points.copy()
    if not V.shape[1]:
        return centers
    size = max(LEAST_CHUNK, ENTRIES // len(V) ** 2)
    proved = np.concatenate([certified(V, points[some]) for some in _chunks(np.arange(len(c)), size)])
    for some in _chunks(np.flatnonzero(~proved), size):
        found, reached = follow_path(V, c[some])
        centers[some[np.isfinite(reached)]] = found[np.isfinite(reached)]
        _warn(reached)
    return centers


def _chunks(rows: NDArray[np.intp], size: int) -> list[NDArray[np.intp]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _warn(reached: Floats) -> None:
    short = int((reached > FAR).sum())
    if short:
        warnings.warn(f"polytope.relaxed_center: {short} centers may be off by more than 1e-6", stacklevel=4)
