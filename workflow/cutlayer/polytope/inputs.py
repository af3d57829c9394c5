"""Checks of A and b, and the equations A x = b with orthonormal rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutlayer.core.errors import InputError

Floats = NDArray[np.float64]

# Relative singular value below which a combination of rows counts as zero: the values b of trained
# models are computed from float64 scores with relative errors near 1e-10, so that such a row has no information.
RANK_TOLERANCE = 1e-10

# The same among orthonormal rows, once coordinates are held.
DEPENDENT = 1e-9

# Distance to A [0,1]^d, rows of A scaled to norm 1, below which b counts as feasible but rounded.
FEASIBILITY_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Equations:
    """Equations A x = b in the form V' x = c: `rows` is V (d x r, orthonormal columns), `values` is c (N x r).

    `stray` (N,) is the norm of the part of b that is outside the range of A, in units of the rows' norms.
    """

    rows: Floats
    values: Floats
    stray: Floats

    def of(self, which: NDArray[np.intp]) -> Equations:
        """The equations of some of the predictions."""
        return Equations(self.rows, self.values[which], self.stray[which])

    @property
    def base(self) -> Floats:
        """A^+ b, N x d."""
        return self.values @ self.rows.T

    @property
    def along(self) -> Floats:
        """The projector I - A^+ A, d x d."""
        return np.eye(len(self.rows)) - self.rows @ self.rows.T

    def restricted(self, free: NDArray[np.bool_], points: Floats) -> Equations:
        """The equations of the coordinates `free`, with the others fixed at their values in `points` (N x d)."""
        values = self.values - points[:, ~free] @ self.rows[~free]
        U, s, Wt = np.linalg.svd(self.rows[free], full_matrices=False)
        kept = s > DEPENDENT
        return Equations(np.ascontiguousarray(U[:, kept]), values @ Wt[kept].T / s[kept], self.stray)


def check(where: str, A: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Check A (m x d) and b (N x m) and return them as float64; InputError if a shape or a value is wrong."""
    matrix, values = _array(where, "A", A), _array(where, "b", b)
    if values.shape[1] != matrix.shape[0]:
        raise InputError(
            f"polytope.{where}",
            f"A is {matrix.shape[0]} x {matrix.shape[1]} and b is {values.shape[0]} x {values.shape[1]}",
            "b holds one prediction a row and one equation a column",
        )
    return matrix, values


def _array(where: str, name: str, value: ArrayLike) -> Floats:
    array = np.asarray(value, dtype=np.float64)
    if array.ndim != 2:
        raise InputError(
            f"polytope.{where}", f"{name} has shape {array.shape}", "A is m x d and b is N x m, with two axes"
        )
    if name == "A" and 0 in array.shape:
        raise InputError(f"polytope.{where}", f"A has shape {array.shape}", "it needs a row and a column")
    if not np.isfinite(array).all():
        raise InputError(f"polytope.{where}", f"{name} is not finite", "NaN and inf are refused")
    return array


def row_norms(A: Floats) -> Floats:
    """The rows' norms (m,), with 1 for rows of zeros."""
    norms = np.linalg.norm(A, axis=1)
    norms[norms == 0] = 1.0
    return norms


def orthonormal(A: Floats, b: Floats) -> Equations:
    """Rewrite A x = b with orthonormal rows; dependent rows are merged."""
    norms = row_norms(A)
    U, s, Vt = np.linalg.svd(A / norms[:, None], full_matrices=False)
    kept = s > RANK_TOLERANCE * max(s[0], np.finfo(float).tiny)
    U, scaled = U[:, kept], b / norms
    coordinates = scaled @ U
    stray = np.linalg.norm(scaled - coordinates @ U.T, axis=1)
    return Equations(np.ascontiguousarray(Vt[kept].T), coordinates / s[kept], stray)
