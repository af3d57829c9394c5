"""Theorems 2 to 4 of the chebyshev paper: reconstruction errors and optimal defenses in closed form.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning".
All errors are per feature: theorem 3 and E||(I - H) X||^2 lack the 1/d in the paper (erratum 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def row_space(A: np.ndarray) -> np.ndarray:
    """The projection A^+ A (d x d) on the row space of A (m x d)."""
    _, s, rows = np.linalg.svd(np.asarray(A, dtype=float), full_matrices=False)
    kept = rows[s > s.max(initial=0.0) * max(A.shape) * np.finfo(float).eps]
    return kept.T @ kept


def theorem2(A: np.ndarray, X: np.ndarray) -> dict[str, float]:
    """Theorem 2: errors of least squares and half* in closed form, with bounds, for A (m x d) and features X (N x d).

    Equations 50 to 52: `ls_mse` and `half_star_mse` are the errors per feature; the bounds come from
    the eigenvalues of the correlation matrices about 0 and about 1/2; `covariance_lower` is equation 52.
    """
    A, X = np.asarray(A, dtype=float), np.asarray(X, dtype=float)
    d, hidden = A.shape[1], np.eye(A.shape[1]) - row_space(A)
    nullity = round(float(np.trace(hidden)))
    result = {}
    for name, center in (("ls", 0.0), ("half_star", 0.5)):
        correlation = _moment(X, center)
        spectrum = np.linalg.eigvalsh(correlation)
        result[f"{name}_mse"] = float(np.sum(hidden * correlation)) / d
        result[f"{name}_lower"] = float(spectrum[:nullity].sum()) / d
        result[f"{name}_upper"] = float(spectrum[d - nullity :].sum()) / d
    result["covariance_lower"] = float(np.sum(hidden * _moment(X, X.mean(axis=0)))) / d
    return result


def _moment(X: np.ndarray, center: float | np.ndarray) -> np.ndarray:
    centered = X - center
    return centered.T @ centered / len(X)


def theorem3(A: np.ndarray, K0: np.ndarray) -> dict[str, Any]:
    """Theorem 3: the orthonormal H (d x d) that maximizes the error of least squares, and that error (equation 81).

    A is m x d, K0 = E[X X'] is d x d. `mse` is per feature; `transform` is H = -V U' from the singular
    value decomposition U S V' of A^+ A K0.
    """
    seen = row_space(A)
    U, S, Vt = np.linalg.svd(seen @ K0)
    mse = (np.trace(K0) + np.sum(seen * K0) + 2 * S.sum()) / len(K0)
    return {"mse": float(mse), "transform": -Vt.T @ U.T}


def theorem4(A: np.ndarray, J: np.ndarray) -> dict[str, Any]:
    """Theorem 4: the direction of logit noise that adds the largest error per unit of power (equation 88).

    A is m x d, J (m x k) the difference matrix. `gain` is the squared largest singular value of A^+ J,
    `direction` (k,) its right singular vector, its entry of largest magnitude positive (the last such).
    """
    _, s, Vt = np.linalg.svd(np.linalg.pinv(A) @ J)
    v = Vt[0]
    largest = np.flatnonzero(np.isclose(np.abs(v), np.abs(v).max()))[-1]
    return {"gain": float(s[0] ** 2), "direction": v * np.sign(v[largest])}
