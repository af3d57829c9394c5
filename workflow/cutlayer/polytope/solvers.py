"""Minimizers of ||A x - b||^2 over the unit cube as found by general-purpose solvers, where many points are optimal.

The program is the one that cvxpy generates for `sum_squares(A @ x - b)` with `0 <= x <= 1`: y'y with y = A x - b. The
settings are cvxpy's, except for at most 100,000 iterations, as in the chebyshev paper. Each prediction is solved
from the solver's own start, so that its point depends on no other one. The solvers are called without cvxpy, which
takes longer than they do.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", IV and VIII-A.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_matrix, diags

from cutlayer.polytope.inputs import Floats, check

ITERATIONS = 100_000
OSQP = {"eps_abs": 1e-5, "eps_rel": 1e-5, "polishing": True, "max_iter": ITERATIONS, "verbose": False}

Solve = Callable[[Floats, csc_matrix, Floats, int], Floats]  # (squares, rules, limits, equations) -> y and x


def with_clarabel(A: ArrayLike, b: ArrayLike) -> Floats:
    """Clarabel's minimizer, N x d; A is m x d, b is N x m.

    An interior-point method: it converges near the analytic center of the solutions in the cube.
    """
    return _each("with_clarabel", _clarabel, A, b)


def with_osqp(A: ArrayLike, b: ArrayLike) -> Floats:
    """OSQP's minimizer, N x d, cvxpy's default for this program; A is m x d, b is N x m."""
    return _each("with_osqp", _osqp, A, b)


def _each(where: str, solve: Solve, A: ArrayLike, b: ArrayLike) -> Floats:
    matrix, values = check(where, A, b)
    m, d = matrix.shape
    squares = csc_matrix(diags(np.repeat([2.0, 0.0], [m, d])))
    below, above = (np.hstack([np.zeros((d, m)), sign * np.eye(d)]) for sign in (-1.0, 1.0))
    rules = csc_matrix(np.vstack([np.hstack([-np.eye(m), matrix]), below, above]))
    limits = np.repeat([0.0, 0.0, 1.0], [m, d, d])
    found = np.empty((len(values), d))
    for row, value in enumerate(values):
        limits[:m] = value
        found[row] = solve(squares, rules, limits, m)[m:]
    return found


def _clarabel(squares: csc_matrix, rules: csc_matrix, limits: Floats, equations: int) -> Floats:
    import clarabel  # optional, as osqp is

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, ITERATIONS
    cones = [clarabel.ZeroConeT(equations), clarabel.NonnegativeConeT(len(limits) - equations)]
    solver = clarabel.DefaultSolver(squares, np.zeros(squares.shape[0]), rules, limits, cones, settings)
    return np.array(solver.solve().x)


def _osqp(squares: csc_matrix, rules: csc_matrix, limits: Floats, equations: int) -> Floats:
    import osqp

    low = np.where(np.arange(len(limits)) < equations, limits, -np.inf)
    solver = osqp.OSQP()
    solver.setup(squares, np.zeros(squares.shape[0]), rules, low, limits, **OSQP)
    return np.array(solver.solve(raise_error=False).x)
