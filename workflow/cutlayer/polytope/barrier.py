"""Relaxed Chebyshev center by a barrier method on its dual, batched over all samples.

With δ = α - 1 and W an orthonormal basis of the null space of A, the dual (eq. 16) is

    minimize over α > 0, S = W' diag(δ) W ≻ 0:   max over A x = b of Σ α_i x_i (1 - x_i),

whose maximizer x(α) tends to the relaxed center. The barrier -μ (logdet S + Σ log α_i) gives the gradient
x (1 - x) - μ (diag M + 1/α) with M = W S^-1 W', so that μ M is the Π of the primal and μ / α its slack.
Newton centers at one μ; the path's tangent then predicts the point for a smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cutlayer.polytope.batched import definite, diagonal, inverse, solve
from cutlayer.polytope.inputs import Floats

START = 0.1  # the first μ
STOP = 1e-12  # the last μ
SHRINK = 0.1  # first factor on μ; it falls as the tangent proves right
LEAST_SHRINK = 1e-3  # a larger leap ends outside
GROW = 1.3  # the power that the factor is raised to after a leap that ended inside
CENTERED = 0.25  # Newton decrement from which the tangent is followed
FULL = 0.7  # below 1 a full step stays inside; a shorter one is slower
SOLVED = 0.1  # the last Newton step still counts
STEPS = 400
TRIES = 150  # Newton steps at one μ, after which rounding is in the way


@dataclass(frozen=True)
class _Null:
    """W (d x n), its rows' outer products (d x n²), and ½ - A^+ b for each sample (N x d)."""

    basis: Floats
    outer: Floats
    offset: Floats

    def of(self, rows: NDArray[np.intp]) -> _Null:
        return _Null(self.basis, self.outer, self.offset[rows])

    def inside(self, alpha: Floats) -> NDArray[np.bool_]:
        """Whether α is in the interior: α > 0 and S ≻ 0."""
        good = np.asarray((alpha > 0.0).all(axis=1), dtype=np.bool_)
        good[good] = definite(self.slack(alpha[good]))
        return good

    def slack(self, alpha: Floats) -> Floats:
        n = self.basis.shape[1]
        S = (alpha @ self.outer).reshape(-1, n, n)
        diagonal(S)[...] -= 1.0
        return S


@dataclass
class _Path:
    """The position of each sample on its central path, and its best center so far with the μ of it."""

    alpha: Floats
    mu: Floats
    shrink: Floats
    tries: NDArray[np.intp]
    centers: Floats
    reached: Floats

    @classmethod
    def start(cls, count: int, d: int) -> _Path:
        nothing = np.full((count, d), np.nan)
        return cls(
            np.full((count, d), 2.0),
            np.full(count, START),
            np.full(count, SHRINK),
            np.zeros(count, dtype=np.intp),
            nothing,
            np.full(count, np.inf),
        )

    def record(self, rows: NDArray[np.intp], centers: Floats) -> None:
        self.centers[rows], self.reached[rows] = centers, self.mu[rows]


@dataclass(frozen=True)
class _State:
    """Quantities at one α: y = 1 - 2 x(α), N = -dy/dα diag(1/y), Newton step, tangent dα/dμ, and the decrement."""

    y: Floats
    N: Floats
    step: Floats
    tangent: Floats
    decrement: Floats

    def limit(self, mu: Floats) -> Floats:
        """The limit x of the central path, extrapolated by the step and the tangent to μ = 0."""
        change = self.step - mu[:, None] * self.tangent
        return 0.5 * (1.0 - self.y + (self.N @ (self.y * change)[:, :, None])[:, :, 0])


def follow_path(V: Floats, c: Floats) -> tuple[Floats, Floats]:
    """Path-following: relaxed centers (N x d) and the last μ (N,) at which each was centered; V d x r, c N x r.

    No coordinate may be fixed at 0 or 1 on all of S_F, else the path has no limit.
    """
    d, r = V.shape
    basis = np.linalg.qr(V, mode="complete")[0][:, r:]
    null = _Null(basis, (basis[:, :, None] * basis[:, None, :]).reshape(d, -1), 0.5 - c @ V.T)
    path = _Path.start(len(c), d)
    rows = np.arange(len(c))
    for _ in range(STEPS):
        if not len(rows):
            break
        state = _newton(null.of(rows), path.alpha[rows], path.mu[rows])
        centered = state.decrement < CENTERED
        path.record(rows[centered], state.limit(path.mu[rows])[centered])
        damping = np.where(state.decrement < FULL, 1.0, 1.0 / (1.0 + state.decrement))
        path.alpha[rows] += damping[:, None] * state.step
        path.tries[rows] += 1
        sound = np.isfinite(state.decrement) & (path.alpha[rows] > 0.0).all(axis=1)
        finished = (state.decrement < SOLVED) & (path.mu[rows] <= STOP)
        going = sound & ~finished & (path.tries[rows] < TRIES)
        ahead = np.flatnonzero(centered & going & (path.mu[rows] > STOP))
        _advance(null, path, rows[ahead], state.tangent[ahead])
        rows = rows[going]
    return path.centers, path.reached


def _newton(null: _Null, alpha: Floats, mu: Floats) -> _State:
    W, S = null.basis, null.slack(alpha)
    M = W @ inverse(S) @ W.T
    diagonal(S)[...] += 1.0
    inner = inverse(S)
    N = W @ inner @ W.T
    move = (inner @ ((alpha * null.offset) @ W)[:, :, None])[:, :, 0]
    y = 2.0 * (null.offset - move @ W.T)
    push = diagonal(M) + 1.0 / alpha
    gradient = 0.25 * (1.0 - y * y) - mu[:, None] * push
    hessian = 0.5 * y[:, :, None] * N * y[:, None, :] + mu[:, None, None] * M * M
    diagonal(hessian)[...] += mu[:, None] / alpha**2
    hessian *= alpha[:, :, None] * alpha[:, None, :]
    both = alpha[:, :, None] * solve(hessian, np.stack([-alpha * gradient, alpha * push], axis=2))
    step, tangent = both[:, :, 0], both[:, :, 1]
    return _State(y, N, step, tangent, np.sqrt(np.abs((gradient * step).sum(axis=1)) / mu))


def _advance(null: _Null, path: _Path, rows: NDArray[np.intp], tangent: Floats) -> None:
    """Move centered samples along the tangent to the smallest μ that stays in the interior."""
    factor, first = path.shrink[rows], True
    while len(rows) and factor.min() < 0.99:
        target = np.maximum(path.mu[rows] * factor, STOP)
        trial = path.alpha[rows] + (target - path.mu[rows])[:, None] * tangent
        good = null.inside(trial)
        kept = rows[good]
        path.alpha[kept], path.mu[kept], path.tries[kept] = trial[good], target[good], 0
        path.shrink[kept] = np.maximum(factor[good] ** GROW if first else factor[good], LEAST_SHRINK)
        rows, tangent, factor, first = rows[~good], tangent[~good], np.sqrt(factor[~good]), False
