"""The chebyshev paper's theorems measured on a run, for every window.

Quantities named `*_excess` are the largest violation of an inequality of theorem 1, 0 up to rounding when it holds.
Theorems 2 to 4 hold of any matrix, which tests show (tests/theory/test_theory.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cutlayer import polytope
from cutlayer.games.vertical.equations import difference_matrix
from cutlayer.games.vertical.windows import columns
from cutlayer.stages.theory import Case
from cutlayer.theory.chebyshev import theorem2


def measure(seen: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray], case: Case) -> Iterator[dict[str, Any]]:
    """Rows (d, start, metric, value) for one seed of an undefended vertical run."""
    for d, start in seen["windows"]:
        passive = columns(seen["features"].shape[1], d, start)
        weights = seen["weights"][0][:, passive]  # undefended: every window shows the same model
        A = difference_matrix(len(weights)) @ weights
        X, population = truth["features"][:, passive], truth["population"][:, passive]
        found = _one_feature(A, seen["bias"][0]) if A.shape == (1, 1) else {}
        found |= _theorem1(A, X) | _theorem2(A, X, population)
        for metric, value in found.items():
            yield {"d": int(d), "start": int(start), "metric": metric, "value": value}


def _one_feature(A: np.ndarray, bias: np.ndarray) -> dict[str, float]:
    """omega and b of section VI, for two classes and one passive feature, the second class first: the printed signs."""
    return {"omega": -float(A[0, 0]), "offset": float(bias[0] - bias[1])}


def _error(guess: np.ndarray, X: np.ndarray) -> np.ndarray:
    return np.mean(np.square(X - guess), axis=1)


def _theorem1(A: np.ndarray, X: np.ndarray) -> dict[str, float]:
    """MSE(rcc2) <= MSE(half*) <= MSE(half), sample by sample (equations 44 and 48)."""
    b = X @ A.T
    rcc2, star = _error(polytope.project(A, b, 0.5), X), _error(polytope.half_star(A, b), X)
    half = _error(np.full_like(X, 0.5), X)
    return {
        "rcc2_over_half_star_excess": float(np.max(rcc2 - star)),
        "half_star_over_half_excess": float(np.max(star - half)),
    }


def _theorem2(A: np.ndarray, X: np.ndarray, population: np.ndarray) -> dict[str, float]:
    """Closed-form errors and bounds on all rows, measured errors on the predicted ones (figure 5)."""
    b = X @ A.T
    empirical = {
        "ls": float(_error(polytope.least_squares(A, b), X).mean()),
        "half_star": float(_error(polytope.half_star(A, b), X).mean()),
    }
    return theorem2(A, population) | {f"{name}_empirical": value for name, value in empirical.items()}
