"""Reference implementations of `project` and `relaxed_center` by cvxpy, slow, for comparison in tests.

There is one problem for each shape, with right-hand sides as parameters; Clarabel solves it row by row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from cutlayer.core.errors import InputError
from cutlayer.polytope.feasible import settle
from cutlayer.polytope.inputs import Equations, Floats, orthonormal

TIGHT = 1e-13
SHORT_STEPS = 0.6  # of the way to the cone's boundary; with Clarabel's 0.99, x may stop 1e-5 from the optimum
RANGE = 1e-8  # of a coordinate over S_F, below which it counts as fixed

Options = dict[str, Any]


def project(A: Floats, b: Floats, target: Floats, tolerance: float = TIGHT) -> Floats:
    """Projections of `target` (N x d) on S_F, N x d; A is m x d, b is N x m."""
    equations = _feasible("project", A, b)
    solve = projector(equations.rows)
    return np.array(
        [solve(*given, clarabel(tolerance)) for given in zip(equations.values, target, strict=True)]
    ).reshape(target.shape)


def relaxed_center(A: Floats, b: Floats, tolerance: float = TIGHT) -> Floats:
    """Relaxed Chebyshev centers of S_F, N x d; A is m x d, b is N x m.

    The semidefinite program is posed in the affine hull of S_F: fixed coordinates are eliminated.
    """
    equations = _feasible("relaxed_center", A, b)
    low, high = _ranges(equations.rows, equations.values)
    fixed = high - low < RANGE
    centers = 0.5 * (low + high)
    patterns, which = np.unique(fixed, axis=0, return_inverse=True)
    for index, pattern in enumerate(patterns):
        rows, free = np.flatnonzero(which.ravel() == index), ~pattern
        inner = equations.of(rows).restricted(free, centers[rows])
        if len(inner.rows) > inner.rows.shape[1]:
            solve = centerer(inner.rows)
            for row, value in zip(rows, inner.values, strict=True):
                centers[row, free] = solve(value, clarabel(tolerance))
    return centers


def clarabel(tolerance: float) -> Options:
    """Clarabel's options at this tolerance on the gap and on the constraints."""
    close = {"tol_gap_abs": tolerance, "tol_gap_rel": tolerance, "tol_feas": tolerance}
    return {"solver": "CLARABEL", "max_iter": 500, "max_step_fraction": SHORT_STEPS, **close}


def projector(V: Floats) -> Callable[[Floats, Floats, Options], Floats]:
    """A function from (c, target, options) to the projection of the target on {V' x = c, 0 <= x <= 1}."""
    x, value, goal = cp.Variable(len(V)), cp.Parameter(V.shape[1]), cp.Parameter(len(V))
    rules = [x >= 0, x <= 1] + ([V.T @ x == value] if V.shape[1] else [])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - goal)), rules)

    def nearest(c: Floats, target: Floats, options: Options) -> Floats:
        value.value, goal.value = c, target
        _run(problem, options)
        return np.asarray(x.value, dtype=np.float64)

    return nearest


def centerer(V: Floats) -> Callable[[Floats, Options], Floats]:
    """A function from (c, options) to the relaxed center, where S_F has full dimension in {V' x = c}."""
    d, r = V.shape
    basis = np.linalg.qr(V, mode="complete")[0][:, r:]
    lifted = cp.Variable((d - r + 1, d - r + 1), PSD=True)
    shift, constant = cp.Parameter(d), cp.Parameter(d)
    square, u = lifted[:-1, :-1], lifted[:-1, -1]
    left = cp.diag(basis @ square @ basis.T) + 2 * cp.multiply(shift, basis @ u) + constant
    problem = cp.Problem(cp.Maximize(cp.trace(square) - cp.sum_squares(u)), [left <= 0, lifted[-1, -1] == 1])

    def center(c: Floats, options: Options) -> Floats:
        q = V @ c
        shift.value, constant.value = q - 0.5, -q * (1.0 - q)
        _run(problem, options)
        return q + basis @ np.asarray(u.value, dtype=np.float64)

    return center


def _run(problem: Any, options: Options) -> None:
    with warnings.catch_warnings():
        # Beyond Clarabel's reach the tolerance still buys digits: "inaccurate" is expected.
        warnings.simplefilter("ignore", UserWarning)
        problem.solve(**options)
    if problem.status not in {"optimal", "optimal_inaccurate"}:
        raise InputError("polytope.cvxpy", f"cvxpy stopped: {problem.status}", "try a looser tolerance")


def _feasible(where: str, A: Floats, b: Floats) -> Equations:
    return settle(where, A, b, orthonormal(A, b), np.ones(len(b), dtype=np.bool_))


def _ranges(V: Floats, c: Floats) -> tuple[Floats, Floats]:
    """The range of each coordinate on S_F: least and greatest values, N x d each."""
    bounds = np.empty((2, len(c), len(V)))
    for row, coordinate in np.ndindex(len(c), len(V)):
        for side, sign in enumerate((1.0, -1.0)):
            bounds[side, row, coordinate] = sign * _least(sign * np.eye(len(V))[coordinate], V, c[row])
    return bounds[0], bounds[1]


def _least(cost: Floats, V: Floats, c: Floats) -> float:
    equations: dict[str, NDArray[np.float64]] = {"A_eq": V.T, "b_eq": c} if V.shape[1] else {}
    found = linprog(cost, **equations, bounds=(0.0, 1.0), method="highs-ds")
    return float(found.fun) if found.success else float(min(cost.sum(), 0.0))
