"""Projection onto {V' x = c, 0 <= x <= 1} by semi-smooth Newton on its dual, batched over all samples.

The nearest point to t is clip(t + V y) for the y (r,) that minimizes a convex, piecewise quadratic
function with gradient V' clip(t + V y) - c; its pieces are the sets of coordinates strictly inside.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutlayer.polytope.batched import solve
from cutlayer.polytope.inputs import Floats

RESIDUAL = 1e-13  # on V' x - c, whose terms are of order 1
STEPS = 100
SLOPE = 1e-4  # Armijo's
SHIFT = 1e-5  # of the generalized Hessian, times the residual; its eigenvalues lie in [0, 1]


def nearest(V: Floats, c: Floats, target: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Project `target` (N x d): the nearest points (N x d), and whether each is feasible; V d x r, c N x r."""
    if not V.shape[1]:
        return np.clip(target, 0.0, 1.0), np.ones(len(c), dtype=np.bool_)
    duals = c - target @ V
    rows = np.arange(len(c))
    for _ in range(STEPS):
        point = target[rows] + duals[rows] @ V.T
        gradient = np.clip(point, 0.0, 1.0) @ V - c[rows]
        unsolved = np.abs(gradient).max(axis=1, initial=0.0) > RESIDUAL
        if not unsolved.any():
            break
        rows, point, gradient = rows[unsolved], point[unsolved], gradient[unsolved]
        step = _newton_step(V, point, gradient)
        duals[rows] += _length(point, step @ V.T, gradient, step, c[rows])[:, None] * step
    found = np.clip(target + duals @ V.T, 0.0, 1.0)
    return found, np.abs(found @ V - c).max(axis=1, initial=0.0) <= 10 * RESIDUAL


def _newton_step(V: Floats, point: Floats, gradient: Floats) -> Floats:
    d, r = V.shape
    inside = ((point > 0.0) & (point < 1.0)).astype(np.float64)
    outer = (V[:, :, None] * V[:, None, :]).reshape(d, r * r)
    shift = np.clip(SHIFT * np.abs(gradient).max(axis=1), 1e-14, None)
    hessian = (inside @ outer).reshape(-1, r, r) + shift[:, None, None] * np.eye(r)
    return solve(hessian, -gradient)


def _length(point: Floats, move: Floats, gradient: Floats, step: Floats, c: Floats) -> Floats:
    """Step length: 1 where that decreases the dual function enough, elsewhere the exact minimizer along the step."""
    slope = (gradient * step).sum(axis=1)
    drop = (c * step).sum(axis=1)
    change = _value(point + move) - _value(point) - drop
    length = np.ones(len(point))
    short = change > SLOPE * slope + 1e-15
    if short.any():
        length[short] = _root(point[short], move[short], drop[short])
    return length


def _value(point: Floats) -> Floats:
    inside = np.clip(point, 0.0, 1.0)
    return (inside * (point - 0.5 * inside)).sum(axis=1)


def _root(point: Floats, move: Floats, drop: Floats) -> Floats:
    """The zero of sum_i move_i clip(point_i + t move_i) - drop, increasing and piecewise linear in t > 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        breaks = np.concatenate([-point / move, (1.0 - point) / move], axis=1)
    breaks = np.sort(np.where(np.isfinite(breaks) & (breaks > 0.0), breaks, 0.0), axis=1)
    low, high = np.zeros(len(point), dtype=np.intp), np.full(len(point), breaks.shape[1] - 1)
    rows = np.arange(len(point))
    for _ in range(int(np.ceil(np.log2(breaks.shape[1]))) + 1):
        middle = (low + high) // 2
        below = _slope(point, move, drop, breaks[rows, middle]) < 0.0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    left, right = breaks[rows, low], breaks[rows, high]
    at_left, at_right = _slope(point, move, drop, left), _slope(point, move, drop, right)
    span = at_right - at_left
    share = np.clip(np.divide(-at_left, span, out=np.ones_like(span), where=span > 0.0), 0.0, 1.0)
    return left + share * (right - left)


def _slope(point: Floats, move: Floats, drop: Floats, t: Floats) -> Floats:
    return (move * np.clip(point + t[:, None] * move, 0.0, 1.0)).sum(axis=1) - drop
