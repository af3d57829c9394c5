"""Certificate that the relaxed Chebyshev center (rcc1) equals the point of S_F closest to ½ 1 (rcc2).

Call that point x and put p = x (1 - x). The relaxed center maximizes tr Π over x and Π ⪰ 0 with A Π = 0
and diag Π <= x (1 - x); dropping Π leaves the closest point. So the two agree when some Π ⪰ 0 with
A Π = 0 has diag Π = p. Divided by sqrt(p), that is a correlation matrix whose null space holds the r
columns of U = diag(sqrt p) V. It exists when the projector P on U has no diagonal entry above ½
(Saunderson, Chandrasekaran, Parrilo, Willsky, "Diagonal and Low-Rank Matrix Decompositions, Correlation
Matrices, and Ellipsoid Fitting"). Else Newton on sum(δ) - logdet(diag δ restricted to U's complement),
whose gradient is 1 - diag M with M = (Q diag(δ) Q)^+ and Q = I - P: each step proposes the correlation
matrix M diag(λ) M with (M ∘ M) λ = 1, a proof as soon as it is positive semidefinite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutlayer.polytope.batched import definite, inverse, solve
from cutlayer.polytope.inputs import Floats

STEPS = 8
CONDITION = 1e-9  # of V' diag(p) V, below which nothing is claimed
EXACT = 1e-9  # on the unit diagonal
LARGEST = 1e5  # terms of M diag(λ) M, above which rounding could make the proof
TOUCH = 1e-12  # leverage above ½ that is rounding


def certified(V: Floats, points: Floats) -> NDArray[np.bool_]:
    """Whether the points of S_F closest to ½ 1 (N x d) are certified to be the relaxed centers; V is d x r."""
    sides = points * (1.0 - points)
    gram = (sides @ _outer(V)).reshape(-1, V.shape[1], V.shape[1])
    spectrum = np.linalg.eigvalsh(gram)
    proved = np.zeros(len(points), dtype=np.bool_)
    n = len(V) - V.shape[1]
    enough = (sides > 0.0).sum(axis=1) <= n * (n + 1) // 2  # entries of Π in the null space of A
    usable = np.flatnonzero((spectrum[:, 0] > CONDITION * spectrum[:, -1]) & enough)
    roots = np.sqrt(sides[usable])[:, :, None] * V
    half = roots @ inverse(gram[usable])
    proved[usable] = (half * roots).sum(axis=2).max(axis=1) <= 0.5 + TOUCH
    rest = ~proved[usable]
    if V.shape[1] == 1:
        proved[usable[rest]] = _polygon(roots[rest, :, 0])
    elif rest.any():
        proved[usable[rest]] = _newton(half[rest] @ roots[rest].transpose(0, 2, 1))
    return proved


def _outer(V: Floats) -> Floats:
    return (V[:, :, None] * V[:, None, :]).reshape(len(V), -1)


def _polygon(sides: Floats) -> NDArray[np.bool_]:
    """Certificate for one equation: a correlation matrix is singular along u if no |u_i| exceeds the others' sum."""
    lengths = np.abs(sides)
    return 2.0 * lengths.max(axis=1) <= lengths.sum(axis=1) * (1.0 + TOUCH)


def _newton(P: Floats) -> NDArray[np.bool_]:
    count, d, _ = P.shape
    proved = np.zeros(count, dtype=np.bool_)
    weights, rows = np.ones((count, d)), np.arange(count)
    for _ in range(STEPS):
        some = P[rows]
        Q = np.eye(d) - some
        M = inverse((Q * weights[rows, None, :]) @ Q + some) - some
        curvature = M * M
        multipliers = solve(curvature, np.ones((len(rows), d)))
        step = weights[rows] - multipliers
        found = _proof(M, curvature, multipliers, some)
        proved[rows[found]] = True
        refuted = weights[rows].sum(axis=1) < 0.0
        length = (step * (curvature @ step[:, :, None])[:, :, 0]).sum(axis=1)
        weights[rows] += step / (1.0 + np.sqrt(np.abs(length)))[:, None]
        rows = rows[~found & ~refuted]
        if not len(rows):
            break
    return proved


def _proof(M: Floats, curvature: Floats, multipliers: Floats, P: Floats) -> NDArray[np.bool_]:
    error = np.abs((curvature @ multipliers[:, :, None])[:, :, 0] - 1.0).max(axis=1)
    size = (np.abs(M) @ np.abs(multipliers)[:, :, None])[:, :, 0].max(axis=1)
    exact = (error < EXACT) & (size < LARGEST)
    found = exact & (multipliers >= 0.0).all(axis=1)
    doubt = np.flatnonzero(exact & ~found)
    if len(doubt):
        found[doubt] = definite((M[doubt] * multipliers[doubt, None, :]) @ M[doubt] + P[doubt])
    return found
