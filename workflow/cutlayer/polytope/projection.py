"""Projections on S = {A x = b} and on S_F, its intersection with the unit cube, for many b that share A."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from cutlayer.core.errors import InputError
from cutlayer.polytope.distance import least_distance
from cutlayer.polytope.feasible import settle
from cutlayer.polytope.inputs import FEASIBILITY_TOLERANCE, Equations, Floats, check, orthonormal
from cutlayer.polytope.newton import nearest

Solver = Literal["exact", "cvxpy"]


def least_squares(A: ArrayLike, b: ArrayLike) -> Floats:
    """Least squares attack: the solution A^+ b of least norm, N x d; A is m x d, b is N x m.

    Equations that contradict each other, as under noise where m > d, are weighed as if their rows had norm 1.

    Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning".
    """
    return orthonormal(*check("least_squares", A, b)).base


def half_star(A: ArrayLike, b: ArrayLike) -> Floats:
    """Half*: the solution A^+ b + ½ (I - A^+ A) 1 closest to ½ 1, N x d; A is m x d, b is N x m.

    Equations that contradict each other are weighed as by `least_squares`.

    Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", Prop. 1.
    """
    equations = orthonormal(*check("half_star", A, b))
    return equations.base + 0.5 * equations.along.sum(axis=1)


def project(A: ArrayLike, b: ArrayLike, target: ArrayLike, solver: Solver = "exact") -> Floats:
    """Projection of `target` on S_F = {A x = b, 0 <= x <= 1}, N x d.

    A is m x d, b is N x m, target a number, (d,) or N x d. Target 0 is constrained least squares,
    target 0.5 is rcc2: Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical
    Federated Learning", Prop. 3 and Remark 2. InputError for wrong shapes, values that are not finite
    and b with no x in the unit cube.
    """
    matrix, values = check("project", A, b)
    goal = _target(target, len(values), matrix.shape[1])
    if solver == "cvxpy":
        from cutlayer.polytope import with_cvxpy  # cvxpy is optional, and takes a second to import

        return with_cvxpy.project(matrix, values, goal)
    if solver != "exact":
        raise InputError("polytope.project", f"solver {solver!r} is unknown", "known: exact, cvxpy")
    return solve("project", matrix, values, goal)[0]


def solve(where: str, A: Floats, b: Floats, target: Floats) -> tuple[Floats, Equations]:
    """The projections (N x d) for checked input, and the orthonormal equations that they satisfy."""
    equations = orthonormal(A, b)
    points, solved = nearest(equations.rows, equations.values, target)
    doubtful = ~solved | (equations.stray > FEASIBILITY_TOLERANCE)
    if doubtful.any():
        equations = settle(where, A, b, equations, doubtful)
        points[doubtful] = _slowly(equations.rows, equations.values[doubtful], target[doubtful])
    return points, equations


def _slowly(V: Floats, c: Floats, target: Floats) -> Floats:
    points, solved = nearest(V, c, target)
    for row in np.flatnonzero(~solved):
        trial = least_distance(V, c[row], target[row])
        if np.abs(trial @ V - c[row]).max() < np.abs(points[row] @ V - c[row]).max():
            points[row] = trial
    return points


def _target(target: ArrayLike, count: int, d: int) -> Floats:
    array = np.asarray(target, dtype=np.float64)
    if array.shape not in {(), (d,), (count, d)} or not np.isfinite(array).all():
        raise InputError(
            "polytope.project",
            f"target has shape {array.shape}" if np.isfinite(array).all() else "target is not finite",
            f"allowed: a number, ({d},) or ({count}, {d})",
        )
    return np.broadcast_to(array, (count, d)).copy()
