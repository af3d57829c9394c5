"""Exact Chebyshev center of S_F for small d, by vertex enumeration and the smallest enclosing ball."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from cutlayer.core.errors import InputError
from cutlayer.polytope.inputs import Floats, check
from cutlayer.polytope.projection import solve

MOST_CANDIDATES = 200_000  # choices of basic coordinates and of 0 or 1 for the others
SINGULAR = 1e-9
OUTSIDE = 1e-9  # slack on 0 <= x <= 1 for a vertex, and on the ball's radius for a point


def chebyshev_center(A: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Chebyshev center (N x d) and radius (N,) of S_F: of its smallest enclosing ball; A is m x d, b is N x m.

    The problem that the relaxed center approximates: Rassouli, Varasteh, Gündüz, "Privacy Against Inference
    Attacks in Vertical Federated Learning", eq. (28). InputError for infeasible b, as in `project`, and
    where enumerating the vertices would take more than `MOST_CANDIDATES` trials per prediction.
    """
    matrix, values = check("chebyshev_center", A, b)
    d = matrix.shape[1]
    points, equations = solve("chebyshev_center", matrix, values, np.full((len(values), d), 0.5))
    V = equations.rows
    trials = comb(d, V.shape[1]) * 2 ** (d - V.shape[1])
    if trials > MOST_CANDIDATES:
        raise InputError(
            "polytope.chebyshev_center",
            f"d = {d} with {V.shape[1]} independent equations is too large: {trials:,} candidate vertices",
            f"the limit is {MOST_CANDIDATES:,}; relaxed_center has none",
        )
    balls = [_enclose(_vertices(V, c, point)) for c, point in zip(equations.values, points, strict=True)]
    return np.array([center for center, _ in balls]).reshape(-1, d), np.array([radius for _, radius in balls])


def _vertices(V: Floats, c: Floats, point: Floats) -> Floats:
    """The vertices of S_F, where r basic coordinates solve V' x = c and the others are 0 or 1, and one point of it."""
    d, r = V.shape
    corners = np.array(list(product((0.0, 1.0), repeat=d - r))).reshape(2 ** (d - r), d - r)
    found = [point[None, :]]
    for basic, rest in _splits(d, r):
        if r and np.linalg.svd(V[basic], compute_uv=False)[-1] < SINGULAR:
            continue
        candidates = np.empty((len(corners), d))
        candidates[:, rest] = corners
        candidates[:, basic] = np.linalg.solve(V[basic].T, (c - corners @ V[rest]).T).T if r else 0.0
        inside = ((candidates > -OUTSIDE) & (candidates < 1.0 + OUTSIDE)).all(axis=1)
        found.append(np.clip(candidates[inside], 0.0, 1.0))
    return np.unique(np.concatenate(found).round(13), axis=0)


@cache
def _splits(d: int, r: int) -> list[tuple[list[int], list[int]]]:
    return [(list(some), [i for i in range(d) if i not in some]) for some in combinations(range(d), r)]


def _enclose(points: Floats) -> tuple[Floats, float]:
    """The smallest ball that encloses `points` (v x d); the farthest joins the support, which is then pruned."""
    support = [int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    while True:
        center, radius, support = _smallest(points, support)
        distances = np.linalg.norm(points - center, axis=1)
        farthest = int(np.argmax(distances))
        if distances[farthest] <= radius * (1.0 + OUTSIDE) + 1e-14 or farthest in support:
            return center, float(distances[farthest])
        support = [*support, farthest]


def _smallest(points: Floats, support: list[int]) -> tuple[Floats, float, list[int]]:
    """The smallest ball that encloses a support and one more point, and its support on the boundary."""
    best: tuple[Floats, float, list[int]] | None = None
    for size in range(1, len(support) + 1):
        for some in combinations(support, size):
            center, radius, convex = _through(points[list(some)])
            far = np.linalg.norm(points[support] - center, axis=1).max()
            if convex and far <= radius * (1.0 + OUTSIDE) + 1e-14 and (best is None or radius < best[1]):
                best = center, radius, list(some)
        if best is not None:
            return best
    center, radius, _ = _through(points[support])
    return center, radius, support


def _through(points: Floats) -> tuple[Floats, float, bool]:
    """The smallest ball with all points (s x d) on its boundary, and whether its center is in their hull."""
    edges = points[1:] - points[0]
    shares = np.linalg.lstsq(2.0 * edges @ edges.T, (edges**2).sum(axis=1), rcond=None)[0]
    center = points[0] + shares @ edges
    convex = bool((shares >= -1e-10).all() and shares.sum() <= 1.0 + 1e-10)
    return center, float(np.linalg.norm(points[0] - center)), convex
